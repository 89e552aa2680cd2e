import type { Message } from '../base/message.ts';
import type { EntryKind } from '../outbox/entry.ts';

/** Equal refusals in a row of different finds that end their kind and project for this push. */
export const MAX_EQUAL_REFUSALS = 5;

/** The last refusals of a kind and project since one of it was accepted. Immutable. */
export type RefusalRow = {
  readonly kind: EntryKind;
  readonly project: string;
  /** Status and text, equal for all of them. */
  readonly text: string;
  readonly status: number | null;
  readonly reason: Message;
  /** Records of the refused entries, so that each counts once. */
  readonly records: readonly string[];
};

/** By kind and project; nothing outlives the push. */
export type Refusals = ReadonlyMap<string, RefusalRow>;

export const NO_REFUSALS: Refusals = new Map();

type Scope = { readonly kind: EntryKind; readonly project: string };
type Refusal = Omit<RefusalRow, 'records'> & { readonly record: string };

function makeKey({ kind, project }: Scope): string {
  return `${kind} ${project}`;
}

/** Adds a refusal; another one than the last begins a new row. */
export function withRefusal(refusals: Refusals, { record, ...refusal }: Refusal): Refusals {
  const before = refusals.get(makeKey(refusal));
  const records = before?.text === refusal.text ? before.records : [];
  return new Map(refusals).set(makeKey(refusal), {
    ...refusal,
    records: records.includes(record) ? records : [...records, record],
  });
}

/** An accepted entry shows that the refusals concerned single finds. */
export function withoutRefusals(refusals: Refusals, scope: Scope): Refusals {
  if (!refusals.has(makeKey(scope))) return refusals;
  const left = new Map(refusals);
  left.delete(makeKey(scope));
  return left;
}

/** Returns the kinds and projects that are ended for this push. */
export function listEnded(refusals: Refusals): RefusalRow[] {
  return [...refusals.values()].filter(({ records }) => records.length >= MAX_EQUAL_REFUSALS);
}

/** Returns the kinds and projects of which one request at a time is sent, until one is accepted. */
export function listSuspected(refusals: Refusals): RefusalRow[] {
  return [...refusals.values()].filter(({ records }) => records.length > 0);
}
