/** How wide texts are on a terminal, whose characters take no cell, one, or two: `string-width` says it. */

const COLOURS = /\u001b\[\d+(?:;\d+)*m/g;
/** Latin letters with ready-made accents, and the signs of our own texts: one cell each. Most runs meet nothing else. */
const ONE_CELL_EACH = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2013-\u201e\u2026\u2190-\u2193█░✓✗]*$/;

let cellsOf = (text: string): number => text.length;

/**
 * To be awaited before texts of others are measured. The library takes half as long to load as Node itself, so it is loaded only
 * where a text needs it; until then every character counts as one cell.
 * @param texts those that will be; without them, any
 */
export async function learnWidths(texts?: readonly string[]): Promise<void> {
  if (texts?.every((text) => ONE_CELL_EACH.test(text)) !== true) cellsOf = (await import('string-width')).default;
}

/** Cells that a line takes; colours take none. */
export function displayWidth(line: string): number {
  const text = line.replace(COLOURS, '');
  return ONE_CELL_EACH.test(text) ? text.length : cellsOf(text);
}

/** Blanks behind the text, up to so many cells. */
export function padded(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - displayWidth(text)));
}

/** The text, or its beginning and `…` where it is wider than so many cells. For texts without colours. */
export function cutTo(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  if (ONE_CELL_EACH.test(text)) return `${text.slice(0, Math.max(0, cells - 1)).trimEnd()}…`;
  let kept = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (displayWidth(kept + segment) > cells - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
