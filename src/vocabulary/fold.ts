/** Normalises a text for comparison: no accents, lower case, single blanks. `SPÓNA ` and `spona` fold to the same. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Splits a folded text into words: runs of letters and digits. */
export function wordsOf(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Marks the edges of a word, so that its first and last letters occur in as many grams as the others. */
export function marked(word: string): string {
  return `^^${word}$`;
}

/** Returns the trigrams of a marked word, some of which `spna` and `spona` share. */
export function gramsOf(word: string): string[] {
  const letters = [...marked(word)];
  return [...new Set(letters.slice(2).map((letter, index) => `${letters[index]}${letters[index + 1]}${letter}`))];
}
