/** A word as the reader's shell takes it for one: what a person copies from a message must work. */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(word);
  return /^[\p{L}\p{N}_./:@%+=-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * For cmd and PowerShell alike where that can be: cmd knows double quotes alone, within which PowerShell fills in what
 * begins with `$`. A backslash before the last quote would take it for a part of the word.
 */
function windowsWord(word: string): string {
  if (/^[\p{L}\p{N}_.\\/:+=-]+$/u.test(word)) return word;
  return /[$`"]/.test(word) ? `'${word.replaceAll("'", "''")}'` : `"${word.replace(/\\+$/, '$&$&')}"`;
}
