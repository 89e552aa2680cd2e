import { msgid } from '../base/language.ts';
import { type Message, nmsg } from '../base/message.ts';
import type { Table } from '../tables/table.ts';
import { columnKeys } from './column-rule.ts';

export type ColumnProfile = {
  /** See `columnKeys`. */
  readonly key: string;
  readonly header: string;
  readonly index: number;
  /** Rows with a text. */
  readonly filled: number;
  /** Distinct texts with their number of rows, in the order of the table; of a long column the first ones. */
  readonly values: ReadonlyMap<string, number>;
  /** The first distinct texts, by which a person recognises the column. */
  readonly examples: readonly string[];
  /** No two rows have the same text. */
  readonly unique: boolean;
  readonly rowCount: number;
};

/** Further distinct texts do not change the judgement of a column. */
const MAX_VALUES = 3000;
const MAX_EXAMPLES = 3;

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
      if (count !== undefined || counts.size < MAX_VALUES) counts.set(text, (count ?? 0) + 1);
    }
  }
  return columnKeys(table.header).map((key, index) => ({
    key,
    header: table.header[index] ?? '',
    index,
    filled: filled[index] ?? 0,
    values: values[index] ?? new Map(),
    examples: [...(values[index]?.keys() ?? [])].slice(0, MAX_EXAMPLES),
    unique: repeated[index] === false,
    rowCount,
  }));
}

/** Returns the share of filled rows whose text fits. */
export function shareOf({ values }: ColumnProfile, fits: (text: string) => boolean): number {
  let [fitting, all] = [0, 0];
  for (const [text, count] of values) {
    all += count;
    if (fits(text)) fitting += count;
  }
  return all === 0 ? 0 : fitting / all;
}

/** Reports how many values cannot be used without a conversion. */
export function unreadableDoubt(profile: ColumnProfile, share: number): Message | undefined {
  const all = profile.filled;
  const bad = Math.round(all * (1 - share));
  return bad === 0
    ? undefined
    : nmsg(
        msgid`${bad} of ${all} values cannot be read as it is; its row will say so`,
        msgid`${bad} of ${all} values cannot be read as they are; their rows will say so`,
        bad,
      );
}
