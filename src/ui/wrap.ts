/** Breaks a text between words, so that no line is wider than `columns`; its own line breaks stay. Longer words stand alone. */
export function wrapped(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  const lines: string[] = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if ([...longer].length <= columns || last === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join('\n');
}
