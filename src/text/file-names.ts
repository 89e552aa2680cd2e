/** Joins file names with `;`. A name that contains a `;` stands in double quotes, as in CSV. */
export function joinNames(names: readonly string[], between: ';' | '; ' = ';'): string {
  return names.map((name) => (/[;"]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(between);
}

/** Splits a text that `joinNames` made; a quotation mark inside a name is a part of it. */
export function splitNames(text: string): string[] {
  return [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?=;|$)|[^;]+/g)]
    .map(([plain, quoted]) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter((name) => name !== '');
}
