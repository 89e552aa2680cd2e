/** Aligned columns; the last one runs on. Widths count characters, not bytes. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => width(row[column] ?? ''))));
  return all.map((row) =>
    row
      .map((cell, column) => (column === header.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - width(cell))))
      .join('  ')
      .trimEnd(),
  );
}

function width(text: string): number {
  return [...text].length;
}
