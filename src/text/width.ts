/** Widths of texts in terminal cells; a character takes none, one, or two (`string-width`). */

const COLOURS = /\u001b\[\d+(?:;\d+)*m/g;
/** Latin letters with composed accents, and the signs of pas's own texts: one cell each. Most runs meet no other characters. */
const ONE_CELL_EACH = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2013-\u201e\u2026\u2190-\u2193█░✓✗]*$/;

let countCells = (text: string): number => text.length;

/**
 * Loads `string-width` where a text needs it; await this before foreign texts are measured. The library takes half as long to
 * load as Node itself, and until then every character counts as one cell.
 * @param texts that will be measured; without them the library is loaded
 */
export async function learnWidths(texts?: readonly string[]): Promise<void> {
  if (texts?.every((text) => ONE_CELL_EACH.test(text)) !== true) countCells = (await import('string-width')).default;
}

/** Returns the width of a line in terminal cells; colour codes take none. */
export function displayWidth(line: string): number {
  const text = line.replace(COLOURS, '');
  return ONE_CELL_EACH.test(text) ? text.length : countCells(text);
}

/** Pads a text with blanks to a width in terminal cells. */
export function padText(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - displayWidth(text)));
}

/** Cuts a text that is wider than so many cells and ends it with `…`. For texts without colours. */
export function cutTo(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  if (ONE_CELL_EACH.test(text)) return `${text.slice(0, Math.max(0, cells - 1)).trimEnd()}…`;
  let shortened = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (displayWidth(shortened + segment) > cells - 1) break;
    shortened += segment;
  }
  return `${shortened.trimEnd()}…`;
}

/**
 * Breaks a text between words at `columns` cells and keeps its own line breaks. A longer word has a line of its own, and so has a
 * command in backticks, which a person may copy. Continuation lines are indented as the text of the first.
 */
export function wrapText(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns))
    .join('\n');
}

function wrapLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns || COMMAND.test(line)) return line;
  const head = HEAD.exec(line)?.[0] ?? '';
  const blanks = head.length - head.trimStart().length;
  const indent = [displayWidth(head), blanks].find((cells) => cells <= columns / 2) ?? 4;
  const lines: string[] = [];
  let current = head;
  let isEmpty = true;
  for (const [, gap = '', word = ''] of line.slice(head.length).matchAll(WORD)) {
    if (!isEmpty && displayWidth(`${current}${gap}${word}`) > columns) {
      lines.push(current);
      current = ' '.repeat(indent) + word;
    } else current += isEmpty ? word : gap + word;
    isEmpty = false;
  }
  return [...lines, current].join('\n');
}

/** A line that is a command; it is not broken. */
const COMMAND = /^ +(?:\$ )?(?:pas|chmod|source) /;
/** Indent, mark and label of a line. */
const HEAD = /^ *(?:(?:\u001b\[\d+m)*[✓✗!–→](?:\u001b\[\d+m)* )?(?:\S* {2,})?/;
const WORD = /( *)((?:`[^`]*`|[^ ])+)/g;
