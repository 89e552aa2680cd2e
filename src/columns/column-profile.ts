import { msgid } from '../base/language.ts';
import { type Message, nmsg } from '../base/message.ts';
import type { Table } from '../tables/table.ts';
import { columnKeys } from './column-rule.ts';

/** What a column of a table holds. */
export type ColumnProfile = {
  /** See `columnKeys`. */
  readonly key: string;
  readonly header: string;
  readonly index: number;
  /** Rows that say something. */
  readonly filled: number;
  /** Different texts with the number of rows that have them, in the order of the table; of a long one the first. */
  readonly values: ReadonlyMap<string, number>;
  /** The first different texts, for a person to recognise the column by. */
  readonly examples: readonly string[];
  /** No two rows say the same. */
  readonly unique: boolean;
  readonly rowCount: number;
};

/** More different texts than these say nothing more of what a column holds. */
const MOST_VALUES = 3000;
const MOST_EXAMPLES = 3;

export function profileColumns(table: Table): ColumnProfile[] {
  const values = table.header.map(() => new Map<string, number>());
  const filled = table.header.map(() => 0);
  const repeated = table.header.map(() => false);
  let rowCount = 0;
  for (const { cells } of table.rows) {
    rowCount += 1;
    for (const [index, counts] of values.entries()) {
      const text = (cells[index] ?? '').trim();
      if (text === '') continue;
      filled[index] = (filled[index] ?? 0) + 1;
      const count = counts.get(text);
      if (count !== undefined) repeated[index] = true;
      if (count !== undefined || counts.size < MOST_VALUES) counts.set(text, (count ?? 0) + 1);
    }
  }
  return columnKeys(table.header).map((key, index) => ({
    key,
    header: table.header[index] ?? '',
    index,
    filled: filled[index] ?? 0,
    values: values[index] ?? new Map(),
    examples: [...(values[index]?.keys() ?? [])].slice(0, MOST_EXAMPLES),
    unique: repeated[index] === false,
    rowCount,
  }));
}

/** Of all rows that say something, the share whose text fits. */
export function shareOf({ values }: ColumnProfile, fits: (text: string) => boolean): number {
  let [fitting, all] = [0, 0];
  for (const [text, count] of values) {
    all += count;
    if (fits(text)) fitting += count;
  }
  return all === 0 ? 0 : fitting / all;
}

/** Of values some of which are of no use as they stand. */
export function unreadableDoubt(profile: ColumnProfile, share: number): Message | undefined {
  const all = profile.filled;
  const bad = Math.round(all * (1 - share));
  return bad === 0
    ? undefined
    : nmsg(
        msgid`${bad} of ${all} values cannot be read as it stands; its row will say so`,
        msgid`${bad} of ${all} values cannot be read as they stand; their rows will say so`,
        bad,
      );
}
