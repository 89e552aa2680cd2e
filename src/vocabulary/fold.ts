/** Text made comparable: without accents and case, white space single. `SPÓNA ` and `spona` fold to the same. */
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

/** The words of a folded text: runs of letters and digits. */
export function wordsOf(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A word with its edges marked, so that its first and last letters count as much as those between. */
export function marked(word: string): string {
  return `^^${word}$`;
}

/** Every three letters of a marked word: what `spna` and `spona` share. */
export function gramsOf(word: string): string[] {
  const letters = [...marked(word)];
  return [...new Set(letters.slice(2).map((letter, index) => `${letters[index]}${letters[index + 1]}${letter}`))];
}
