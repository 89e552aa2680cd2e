/** How wide texts are on a terminal, whose characters take no cell, one, or two. */

const COLOURS = /\u001b\[\d+(?:;\d+)*m/g;
/** Latin letters, ready-made accents included: one cell each. */
const PLAIN = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff]*$/;
/** Made where it is first needed: it takes as long to make as all the rest of a help page. */
let graphemes: Intl.Segmenter | undefined;
const NO_CELL = /^[\p{Mark}\p{Default_Ignorable_Code_Point}\p{Control}]*$/u;
/** East Asian letters and signs, and what is shown as a picture. */
const TWO_CELLS =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;

function graphemesOf(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

/** Cells that a line takes; colours take none. */
export function displayWidth(line: string): number {
  const text = line.replace(COLOURS, '');
  if (PLAIN.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of graphemesOf(text)) cells += cellsOf(segment);
  return cells;
}

function cellsOf(grapheme: string): number {
  if (NO_CELL.test(grapheme)) return 0;
  return TWO_CELLS.test(grapheme) ? 2 : 1;
}

/** Blanks behind the text, up to so many cells. */
export function padded(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - displayWidth(text)));
}

/** The text, or its beginning and `…` where it is wider than so many cells. For texts without colours. */
export function cutTo(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    used += cellsOf(segment);
    if (used > cells - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}
