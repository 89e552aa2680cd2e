/** What a sheet says of its cells beside their values, read from its text: the library that reads the values leaves it out. */
export type SheetMarks = {
  readonly merged: readonly CellRange[];
  /** Numbers of the rows that are hidden. */
  readonly hiddenRows: readonly number[];
  /** Cells whose value is an error such as `#DIV/0!`, or a formula whose result was not saved. */
  readonly withoutValue: readonly FaultyCell[];
};

/** Rows and columns from 1, both ends included. */
type CellRange = {
  /** Such as `B4:D4`. */
  readonly name: string;
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
};

type FaultyCell = { readonly row: number; readonly column: number; readonly fault: 'unsaved' | string };

export function readMarks(source: string): SheetMarks {
  return { merged: mergedIn(source), hiddenRows: hiddenIn(source), withoutValue: faultsIn(source) };
}

export type SheetExtent = { readonly rows: number; readonly lastRow: number; readonly cells: number };

/**
 * How many rows a sheet has, how many up to the last that it mentions, and how many cells are made for them, each row up to its last.
 * @returns undefined where a row or a cell is not written as spreadsheets write them
 */
export function extentOf(source: string): SheetExtent | undefined {
  // The library looks for the end of such a tag in all that follows, each time.
  if (/<[^!<>][^<>]*</.test(source)) return undefined;
  let [rows, lastRow, lastFilled, row, cells, column, widest] = [0, 0, 0, 0, 0, 0, 0];
  for (const [, kind, attributes = ''] of source.matchAll(/<(?:\w+:)?(row|c)(?=[\s>/])([^<>]*)>/g)) {
    const [, letters = '', digits = ''] = /\sr\s*=\s*["']([A-Z]*)(\d*)["']/.exec(attributes) ?? [];
    const isNamed = /\sr\s*=/.test(attributes);
    if (!/^(?:\s+[\w:]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\/?$/.test(attributes)) return undefined;
    if (kind === 'row') {
      if (isNamed && (letters !== '' || digits === '')) return undefined;
      row = isNamed ? Number(digits) : row + 1;
      rows += 1;
      lastRow = Math.max(lastRow, row);
      column = 0;
      continue;
    }
    if (isNamed && (letters === '' || digits === '' || letters.length > 3)) return undefined;
    const next = isNamed ? columnNumber(letters) : column + 1;
    cells += Math.max(0, next - column);
    column = Math.max(column, next);
    if (attributes.endsWith('/')) continue;
    widest = Math.max(widest, column);
    lastFilled = Math.max(lastFilled, row);
  }
  return { rows, lastRow, cells: Math.max(cells, lastFilled * widest) };
}

/** Whether a sheet has any value at all. */
export function hasValues(source: string): boolean {
  return /<(?:\w+:)?(?:v|is)>/.test(source);
}

function mergedIn(source: string): CellRange[] {
  return [...source.matchAll(/<(?:\w+:)?mergeCell\s[^<>]*?ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"/g)].map(
    ([, from = '', top, to = '', bottom]) => ({
      name: `${from}${top}:${to}${bottom}`,
      firstRow: Number(top),
      lastRow: Number(bottom),
      firstColumn: columnNumber(from),
      lastColumn: columnNumber(to),
    }),
  );
}

function hiddenIn(source: string): number[] {
  const rows = source.matchAll(/<(?:\w+:)?row\s([^<>]*)>/g);
  return [...rows].flatMap(([, attributes = '']) =>
    /\bhidden="(?:1|true)"/.test(attributes) ? [Number(/\br="(\d+)"/.exec(attributes)?.[1] ?? 0)] : [],
  );
}

/** Up to its own end or the next cell, so that a sheet of cells without an end is looked at once. */
const CELL = /<(?:\w+:)?c\s([^<>]*?)(?:\/>|>([^<]*(?:<(?!\/?(?:\w+:)?c[\s>])[^<]*)*)<\/(?:\w+:)?c>)/g;

/** Most sheets have neither, so that their cells need not be looked at one by one. */
function faultsIn(source: string): FaultyCell[] {
  if (!/\bt="e"/.test(source) && !/<(?:\w+:)?f[\s>/]/.test(source)) return [];
  const faults: FaultyCell[] = [];
  for (const [, attributes = '', content = ''] of source.matchAll(CELL)) {
    const fault = faultOf(attributes, content);
    const address = /\br="([A-Z]+)(\d+)"/.exec(attributes);
    if (fault !== undefined && address !== null) {
      faults.push({ row: Number(address[2]), column: columnNumber(address[1] ?? ''), fault });
    }
  }
  return faults;
}

function faultOf(attributes: string, content: string): string | undefined {
  const value = /<(?:\w+:)?v>([^<]*)<|<(?:\w+:)?v\/>/.exec(content);
  if (/\bt="e"/.test(attributes)) return value?.[1] ?? '#';
  return value === null && /<(?:\w+:)?f[\s>/]/.test(content) ? 'unsaved' : undefined;
}

/** `A` is 1, `AA` is 27. */
function columnNumber(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + (letter.codePointAt(0) ?? 0) - 64;
  return number;
}
