import type { Message } from '../base/message.ts';
import type { EntryScope } from '../outbox/entry-queries.ts';

/** Equal refusals in a row of different finds that end their kind and project for this push. */
const MAX_EQUAL_REFUSALS = 5;

/** The last equal refusals of a kind and project since one of it was accepted. Immutable. */
export type RefusalRow = EntryScope & {
  /** Status and text, equal for all of them. */
  readonly text: string;
  readonly status: number | null;
  readonly reason: Message;
  /** Names of the refused finds and records: each counts once. */
  readonly records: readonly string[];
};

type Refusal = Omit<RefusalRow, 'records'> & { readonly record: string };

export function isSameScope(one: EntryScope, other: EntryScope): boolean {
  return one.kind === other.kind && one.project === other.project;
}

/** Adds a refusal; another one than the last begins a new row. */
export function withRefusal(
  rows: readonly RefusalRow[],
  { record, ...refusal }: Refusal,
): RefusalRow[] {
  const before = rows.find((row) => isSameScope(row, refusal) && row.text === refusal.text);
  const records = [...new Set([...(before?.records ?? []), record])];
  return [...withoutRefusals(rows, refusal), { ...refusal, records }];
}

/** An accepted entry shows that the refusals concerned single finds. */
export function withoutRefusals(rows: readonly RefusalRow[], scope: EntryScope): RefusalRow[] {
  return rows.filter((row) => !isSameScope(row, scope));
}

/** Returns the kinds and projects that are ended for this push. */
export function listEnded(rows: readonly RefusalRow[]): RefusalRow[] {
  return rows.filter(({ records }) => records.length >= MAX_EQUAL_REFUSALS);
}
