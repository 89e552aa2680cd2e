/** Names of files in one text, with `;` between them. A name that has one itself stands in double quotes, as in CSV. */
export function joinNames(names: readonly string[], between: ';' | '; ' = ';'): string {
  return names.map((name) => (/[;"]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(between);
}

/** The names that `joinNames` put together; a quotation mark that does not begin and end a name is part of it. */
export function splitNames(text: string): string[] {
  return [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?=;|$)|[^;]+/g)]
    .map(([plain, quoted]) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter((name) => name !== '');
}
