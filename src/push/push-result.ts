import type { Issue } from '../base/issue.ts';
import { formatMoment, t } from '../base/language.ts';
import { getTemplate, type Message, msg } from '../base/message.ts';
import { NUMBER_USED } from '../finds/value-rules.ts';
import { resolveRecordNames } from '../outbox/changes/resolve-finds.ts';
import { listAttempts, listEvidence } from '../outbox/decisions.ts';
import type { Entry, EntryKind } from '../outbox/entry.ts';
import {
  findEntryById,
  listDraftImports,
  listEntriesInState,
  listHeldEntries,
} from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { countQueued, countWaiting, listDroppedWithDependents } from '../outbox/overview.ts';
import { countEntryTotals } from '../outbox/views/outbox-status.ts';
import type { Push, StopCause } from './push-parts.ts';
import type { RefusalRow } from './settle.ts';
import type { Basis } from './verdict.ts';

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

const WHAT: Readonly<Record<EntryKind, Message>> = {
  import: msg`this find`,
  number: msg`this number`,
  photo: msg`this photograph`,
};

/** Bases on which a later lookup may find more. */
const PASSING: readonly (Basis | null)[] = [
  ...(['maybe-under-way', 'index-behind', 'index-may-lag', 'not-looked-up'] as const),
  null,
];

const MINUTE_MS = 60_000;

/** Describes an entry of unknown outcome: a sentence, then its basis. */
export function explainUncertain(
  outbox: Outbox,
  entryId: number,
  settleMs: number,
): readonly [plainly: string, ...why: string[]] {
  const entry = findEntryById(outbox, entryId);
  if (entry === undefined) return [''];
  const reasons = [entry.reason, listEvidence(outbox, entry).at(-1)?.reason].flatMap((reason) =>
    reason == null ? [] : [String(reason)],
  );
  // The service accepted it, and gave the record to two finds: that reason suffices.
  if (listAttempts(outbox, entry).at(-1)?.outcome === 'accepted')
    return [reasons[0] ?? '', ...reasons.slice(1)];
  return [explainPlainly(outbox, entry, WHAT[entry.kind], settleMs), ...new Set(reasons)];
}

/**
 * Returns the template of the reason for which an accepted entry is uncertain: the service gave one
 * record to two finds. A service restored from a backup does so with many.
 */
export function findReassignment(outbox: Outbox, entryId: number): string | undefined {
  const entry = findEntryById(outbox, entryId);
  if (entry?.state !== 'uncertain' || listAttempts(outbox, entry).at(-1)?.outcome !== 'accepted')
    return undefined;
  return getTemplate(entry.reason ?? '');
}

function explainPlainly(outbox: Outbox, entry: Entry, what: Message, settleMs: number): string {
  const last = listAttempts(outbox, entry).at(-1);
  const looked = listEvidence(outbox, entry).at(-1);
  const nowMs = outbox.clock.now();
  const untilMs = last === undefined ? nowMs : (last.endedAt ?? last.startedAt) + settleMs;
  const isFinal =
    looked?.verdict === 'undecided' && (untilMs <= nowMs || looked.candidates.length > 0);
  if (isFinal && !PASSING.includes(looked.basis as Basis | null))
    return t`The service's data does not show whether it has ${what}; check its website, and decide.`;
  if (untilMs <= nowMs)
    return t`It is not known yet whether the service has ${what}; pas checks with the next push.`;
  // Rounded up to the minute, so that the text is true then.
  const at = formatMoment(Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS, nowMs);
  return t`It is not known yet whether the service has ${what}; pas checks again after ${at}.`;
}
