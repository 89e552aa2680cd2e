import { isReadable } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { type Message, nmsg } from '../base/message.ts';
import { parseDecimal } from '../place/geometry.ts';
import { parsePosition } from '../place/read-position.ts';
import type { Table } from '../tables/table.ts';
import { makeColumnKeys } from './column-rule.ts';

export type ColumnProfile = {
  /** See `makeColumnKeys`. */
  readonly key: string;
  readonly header: string;
  /** Rows with a text. */
  readonly filled: number;
  /** Distinct texts with their number of rows, the first {@link MAX_VALUES} of the table. */
  readonly values: ReadonlyMap<string, number>;
  /** The first distinct texts, by which a person recognises the column. */
  readonly examples: readonly string[];
  /** Each row has a text of its own. */
  readonly isKey: boolean;
};

/** Further distinct texts do not change the judgement of a column. */
const MAX_VALUES = 3000;
const MAX_EXAMPLES = 3;

/** Reads all rows once; blank cells do not count. */
export function profileColumns(table: Table): ColumnProfile[] {
  const columns = table.header.map(() => ({
    filled: 0,
    values: new Map<string, number>(),
    /** Undefined after the first text that repeats or is missing. */
    unique: new Set<string>() as Set<string> | undefined,
  }));
  for (const { cells } of table.rows) {
    for (const [index, column] of columns.entries()) {
      const text = (cells[index] ?? '').trim();
      if (text === '' || column.unique?.has(text)) column.unique = undefined;
      column.unique?.add(text);
      if (text === '') continue;
      column.filled += 1;
      const count = column.values.get(text);
      if (count !== undefined || column.values.size < MAX_VALUES)
        column.values.set(text, (count ?? 0) + 1);
    }
  }
  return makeColumnKeys(table.header).map((key, index) => {
    const { filled = 0, values = new Map(), unique } = columns[index] ?? {};
    const examples = [...values.keys()].slice(0, MAX_EXAMPLES);
    return {
      key,
      header: table.header[index] ?? '',
      filled,
      values,
      examples,
      isKey: unique !== undefined,
    };
  });
}

/** Returns the share (0 to 1) of the rows whose text fits; 0 for an empty column. */
export function getShare({ values }: ColumnProfile, fits: (text: string) => boolean): number {
  let fitting = 0;
  let all = 0;
  for (const [text, count] of values) {
    all += count;
    if (fits(text)) fitting += count;
  }
  return all === 0 ? 0 : fitting / all;
}

/** Tells if a column has numbers of finds: at least half of its values name one. */
export function isOfFinds(profile: ColumnProfile, isFind: (text: string) => boolean): boolean {
  return getShare(profile, isFind) >= 0.5;
}

/** Reports how many values cannot be used without a conversion. */
export function makeUnreadableDoubt({ filled }: ColumnProfile, share: number): Message | undefined {
  const all = filled;
  const bad = Math.round(all * (1 - share));
  return bad === 0
    ? undefined
    : nmsg(
        msgid`${bad} of ${all} values cannot be read this way; its row will show the error`,
        msgid`${bad} of ${all} values cannot be read this way; their rows will show the errors`,
        bad,
      );
}

/**
 * Parses a decimal and drops a unit of length or `ks` behind it, without conversion; undefined
 * where it is no number.
 */
export function parsePlainNumber(text: string): number | undefined {
  const reading = parseDecimal(text.replace(/(?<!\s)\s*(?:mm|cm|dm|m|ks)\.?$/i, ''));
  return isReadable(reading) ? Number(reading.value) : undefined;
}

/** Texts of a column in which positions are sought. */
const MAX_POSITIONS = 200;

/**
 * Returns the share of cells with both coordinates. Two short whole numbers, such as `12/45`, are
 * no evidence.
 */
export function measurePositionShare({ values }: ColumnProfile): number {
  const texts = [...values.keys()].slice(0, MAX_POSITIONS);
  const found = texts.filter(
    (text) => !/^\D*\d{1,3}\D+\d{1,3}\D*$/.test(text) && isReadable(parsePosition(text)),
  );
  return texts.length === 0 ? 0 : found.length / texts.length;
}
