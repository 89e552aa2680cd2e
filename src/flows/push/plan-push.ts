import { ENTRY_KINDS } from '../../outbox/entry.ts';
import { draftImports, entryById, heldEntries } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { countQueued } from '../../outbox/overview.ts';
import { entryTotals } from '../finds/outbox-status.ts';
import { recordsNamed } from '../queue/named-finds.ts';
import type { PushResult } from './drain-queue.ts';

export const SENDABLE_KINDS = ENTRY_KINDS;

/**
 * Counts what a push would send.
 * @param names of finds; none means all
 * @throws UsageError for a name of which nothing is known
 */
export function planPush(outbox: Outbox, names: readonly string[]) {
  const recordKeys = names.length === 0 ? undefined : recordsNamed(outbox, names);
  return {
    recordKeys,
    queued: countQueued(outbox, recordKeys),
    /** Finds that are not complete, and are named or have numbers or photographs waiting: nothing of them can be sent. */
    drafts: draftImports(outbox, recordKeys).flatMap(({ localId }) => localId ?? []),
  };
}

export function remainingAfterPush(outbox: Outbox, { nonConforming }: PushResult) {
  return {
    totals: entryTotals(outbox),
    /** Entries with a question that a person must answer. */
    held: heldEntries(outbox).length,
    /** Entries with an answer outside the contract that a look proved absent: they are to be sent again. */
    stillNonConforming: nonConforming.filter((id) => entryById(outbox, id)?.state === 'queued').length,
  };
}
