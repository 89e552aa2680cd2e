import { basename, extname } from 'node:path';
import { msgid } from '../base/language.ts';
import { joinMessages, type Message, msg, nmsg } from '../base/message.ts';
import type { Table } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import type { ColumnCandidate } from './candidates.ts';
import { type ColumnProfile, shareOf } from './column-profile.ts';

/**
 * Proposes a column that could be the local id, with a doubt, since none has that name. Without one, a find whose row is edited
 * later would become another find.
 */
export function guessKeyColumn(
  free: readonly ColumnProfile[],
  chosen: ReadonlyMap<number, ColumnCandidate>,
): [number, ColumnCandidate] | undefined {
  const profile = free.find(
    ({ index, unique, filled, rowCount, values }) =>
      unique && rowCount > 1 && filled === rowCount && !chosen.has(index) && [...values.keys()].every(mayBeKey),
  );
  if (profile === undefined) return undefined;
  const doubt = msg`no column looks like a number of the find; is it this one?`;
  return [profile.index, { element: 'local_id', score: 0, rule: { kind: 'read', element: 'local_id' }, reasons: [], doubt }];
}

/** Tells if a text may be a key: short, with a digit, and no measurement. */
function mayBeKey(text: string): boolean {
  return /^(?=.*\d).{1,30}$/.test(text) && !/^\d+[.,]\d+$/.test(text);
}

/** Judges a column of local ids: duplicates, empty cells, and bare numbers, which get a prefix. */
export function judgedKey(table: Table, profile: ColumnProfile, candidate: ColumnCandidate): ColumnCandidate {
  const repeated = repeatedTexts(table, profile.index);
  const empty = profile.rowCount - profile.filled;
  const counts = isCounter(profile);
  const prefix = prefixOf(table.file);
  const first = `${prefix}${profile.examples[0] ?? ''}`;
  const doubts = [
    ...(candidate.doubt === undefined ? [] : [candidate.doubt]),
    ...(repeated.length === 0 ? [] : [repeatedDoubt(repeated)]),
    ...(empty === 0
      ? []
      : [nmsg(msgid`${empty} row has none and will be skipped`, msgid`${empty} rows have none and will be skipped`, empty)]),
    ...(counts ? [msg`plain numbers, which another table may use too: with the prefix "${prefix}" the first is ${first}`] : []),
  ];
  const reasons =
    repeated.length === 0 && empty === 0
      ? [...candidate.reasons, msg`every row has one, and no two are the same`]
      : candidate.reasons;
  const { doubt: _doubt, ...rest } = candidate;
  return {
    ...rest,
    reasons,
    rule: counts ? { ...candidate.rule, prefix } : candidate.rule,
    ...(doubts.length === 0 ? {} : { doubt: joinMessages(doubts, '; ') }),
  };
}

type Repeated = { readonly text: string; readonly rows: readonly number[] };

const MAX_NAMED = 3;

function repeatedDoubt(repeated: readonly Repeated[]): Message {
  const named = repeated.slice(0, MAX_NAMED).map(({ text, rows }) => {
    const numbers = `${rows.slice(0, MAX_NAMED).join(', ')}${rows.length > MAX_NAMED ? ' …' : ''}`;
    return msg`"${text}" in rows ${numbers}`;
  });
  const all = joinMessages([...named, ...(repeated.length > MAX_NAMED ? ['…'] : [])], ', ');
  return msg`the same number appears twice: ${all}; these rows are skipped until each has its own`;
}

/** Finds duplicate texts of all rows, in the order of the table. */
function repeatedTexts({ rows }: Table, index: number): Repeated[] {
  const rowsOf = new Map<string, number | number[]>();
  for (const { row, cells } of rows) {
    const text = (cells[index] ?? '').trim();
    const before = rowsOf.get(text);
    if (text === '') continue;
    if (before === undefined) rowsOf.set(text, row);
    else if (typeof before === 'number') rowsOf.set(text, [before, row]);
    else before.push(row);
  }
  return [...rowsOf].flatMap(([text, numbers]) => (typeof numbers === 'number' ? [] : [{ text, rows: numbers }]));
}

/** Tells if a column has nearly consecutive whole numbers, such as each table counts its rows with. */
function isCounter(profile: ColumnProfile): boolean {
  if (shareOf(profile, (text) => /^\d{1,6}\.?$/.test(text)) < 1) return false;
  const numbers = [...profile.values.keys()].map((text) => Number.parseInt(text, 10));
  const [least, most] = numbers.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [
    Infinity,
    -Infinity,
  ] as [number, number]);
  return most - least < 2 * numbers.length;
}

const MAX_PREFIX = 40;

/** Makes a prefix from the table's name: `Všesoky 2024.csv` → `vsesoky-2024-`. */
function prefixOf(file: string): string {
  const name = foldName(basename(file, extname(file)))
    .replaceAll('_', '-')
    .slice(0, MAX_PREFIX);
  return `${name === '' ? 'table' : name}-`;
}
