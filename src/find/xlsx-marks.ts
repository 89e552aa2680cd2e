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

/** Whether a sheet has any value at all. */
export function hasValues(source: string): boolean {
  return /<(?:\w+:)?(?:v|is)>/.test(source);
}

function mergedIn(source: string): CellRange[] {
  return [...source.matchAll(/<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"/g)].map(
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
  const rows = source.matchAll(/<(?:\w+:)?row\s([^>]*)>/g);
  return [...rows].flatMap(([, attributes = '']) =>
    /\bhidden="(?:1|true)"/.test(attributes) ? [Number(/\br="(\d+)"/.exec(attributes)?.[1] ?? 0)] : [],
  );
}

/** Most sheets have neither, so that their cells need not be looked at one by one. */
function faultsIn(source: string): FaultyCell[] {
  if (!/\bt="e"/.test(source) && !/<(?:\w+:)?f[\s>/]/.test(source)) return [];
  const faults: FaultyCell[] = [];
  for (const [, attributes = '', content = ''] of source.matchAll(/<(?:\w+:)?c\s([^>]*?)(?:\/>|>([\s\S]*?)<\/(?:\w+:)?c>)/g)) {
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
