import type { Issue } from '../base/issue.ts';
import { NUMBER_USED } from '../find/value-rules.ts';
import { countEntryTotals } from '../flows/finds/outbox-status.ts';
import { resolveRecordNames } from '../flows/queue/resolve-finds.ts';
import {
  findEntryById,
  listDraftImports,
  listEntriesInState,
  listHeldEntries,
} from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { countQueued, countWaiting, listDroppedWithDependents } from '../outbox/overview.ts';
import type { Push, StopCause } from './push-parts.ts';
import type { RefusalRow } from './refusals.ts';

export { ENTRY_KINDS } from '../outbox/entry.ts';

export type PushResult = {
  readonly accepted: number;
  readonly refused: number;
  readonly requests: number;
  readonly throttled: number;
  readonly locked: number;
  readonly elapsedMs: number;
  /** Entries whose last answer was outside the contract. */
  readonly nonConforming: readonly number[];
  /** Kinds and projects that ended with equal refusals: their other entries stay queued. */
  readonly leftOut: readonly RefusalRow[];
  /** Undefined when nothing is left to send. */
  readonly stopCause: StopCause | undefined;
};

export const NOTHING_SENT: PushResult = {
  accepted: 0,
  refused: 0,
  requests: 0,
  throttled: 0,
  locked: 0,
  elapsedMs: 0,
  nonConforming: [],
  leftOut: [],
  stopCause: undefined,
};

/** Counts queued entries of these kinds and records, also those that must wait. */
export function countToSend({
  outbox,
  kinds,
  subjects,
}: Pick<Push, 'outbox' | 'kinds' | 'subjects'>): number {
  const counts = countQueued(outbox, subjects);
  return kinds.reduce((sum, kind) => sum + counts[kind], 0);
}

/** Adds the counts of two rounds; `leftOut` and `stopCause` are those of the second. */
export function addResults(first: PushResult, second: PushResult): PushResult {
  return {
    accepted: first.accepted + second.accepted,
    refused: first.refused + second.refused,
    requests: first.requests + second.requests,
    throttled: first.throttled + second.throttled,
    locked: first.locked + second.locked,
    elapsedMs: first.elapsedMs + second.elapsedMs,
    nonConforming: [...first.nonConforming, ...second.nonConforming],
    leftOut: second.leftOut,
    stopCause: second.stopCause,
  };
}

/**
 * Counts what a push would send.
 * @param names of finds; empty means all
 * @throws UsageError for an unknown name
 */
export function planPush(outbox: Outbox, names: readonly string[]) {
  const subjects = names.length === 0 ? undefined : resolveRecordNames(outbox, names);
  return {
    subjects,
    queued: countQueued(outbox, subjects),
    /** Incomplete finds that are named, or block numbers or photographs. */
    drafts: listDraftImports(outbox, subjects).flatMap(({ localId }) => localId ?? []),
    usedNumbers: listUsedNumbers(outbox, subjects),
  };
}

/** Returns the errors of finds that are not sent, because another one has their number. */
function listUsedNumbers(outbox: Outbox, subjects: readonly string[] | undefined): Issue[] {
  return listEntriesInState(outbox, 'draft')
    .filter(({ subject }) => subjects === undefined || subjects.includes(subject))
    .flatMap(({ issues }) => issues.filter(({ rule }) => rule === NUMBER_USED));
}

export function countRemainingAfterPush(outbox: Outbox, { nonConforming }: PushResult) {
  return {
    totals: countEntryTotals(outbox),
    waiting: countWaiting(outbox),
    droppedWithDependents: listDroppedWithDependents(outbox),
    held: listHeldEntries(outbox).length,
    /** Entries that a search proved absent after an answer outside the contract. */
    stillNonConforming: nonConforming.filter((id) => findEntryById(outbox, id)?.state === 'queued')
      .length,
  };
}
