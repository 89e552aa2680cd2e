/** A word as a shell takes it for one: what a person copies from a message must work. */
export function shellWord(word: string): string {
  return /^[\p{L}\p{N}_./:@%+=-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
