/** Quotes a word for the shell of the platform, so that a copied command works. */
export function shellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return windowsWord(word);
  return /^[\p{L}\p{N}_./:@%+=-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Quotes for cmd and PowerShell alike where possible: cmd knows double quotes only, and PowerShell expands `$` inside them. A
 * backslash before the closing quote would escape it, so it is doubled.
 */
function windowsWord(word: string): string {
  if (/^[\p{L}\p{N}_.\\/:+=-]+$/u.test(word)) return word;
  return /[$`"]/.test(word) ? `'${word.replaceAll("'", "''")}'` : `"${word.replace(/\\+$/, '$&$&')}"`;
}
