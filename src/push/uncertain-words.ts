import { formatMoment, type Message, msg, t } from '../base/message.ts';
import { listAttempts, listEvidence } from '../outbox/attempts.ts';
import type { Entry, EntryKind } from '../outbox/entry.ts';
import { findEntryById } from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { Basis } from './judge-import.ts';

const WHAT: Readonly<Record<EntryKind, Message>> = {
  import: msg`this find`,
  number: msg`this number`,
  photo: msg`this photograph`,
};

/** Bases on which a later lookup may find more. */
const PASSING: readonly string[] = [
  'maybe-under-way',
  'index-behind',
  'index-may-lag',
  'not-looked-up',
] satisfies Basis[];

const MINUTE_MS = 60_000;

/**
 * Explains an uncertain entry in the language of pas: a sentence that says what is to be done, then
 * the reasons that are known; [''] where there is no such entry.
 * @param entryId row of the entry
 * @param settleMs maximum time for which the service may work on a request, in milliseconds;
 * undefined where it cannot be searched, so that only a person can tell
 */
export function explainUncertain(
  outbox: Outbox,
  entryId: number,
  settleMs: number | undefined,
): readonly [plainly: string, ...why: string[]] {
  const entry = findEntryById(outbox, entryId);
  if (entry === undefined) return [''];
  const reasons = [entry.reason, listEvidence(outbox, entry).at(-1)?.reason].flatMap((reason) =>
    reason == null ? [] : [String(reason)],
  );
  // The service accepted it, and gave the record to two finds: that reason suffices.
  if (listAttempts(outbox, entry).at(-1)?.outcome === 'accepted')
    return [reasons[0] ?? '', ...reasons.slice(1)];
  return [explainPlainly(outbox, entry, settleMs), ...new Set(reasons)];
}

function explainPlainly(outbox: Outbox, entry: Entry, settleMs: number | undefined): string {
  const what = WHAT[entry.kind];
  const isUnseen = t`The service's data does not show whether it has ${what}; check its website, and decide.`;
  if (settleMs === undefined) return isUnseen;
  const last = listAttempts(outbox, entry).at(-1);
  const looked = listEvidence(outbox, entry).at(-1);
  const nowMs = outbox.clock.now();
  const endedAt = last?.endedAt ?? last?.startedAt ?? 0;
  // Where this machine's clock was set back since, the service's counts.
  const untilMs = endedAt > nowMs ? (last?.bounds?.untilMs ?? nowMs) : endedAt + settleMs;
  const isFinal =
    looked?.verdict === 'undecided' && (untilMs <= nowMs || looked.candidates.length > 0);
  if (isFinal && !PASSING.includes(looked.basis)) return isUnseen;
  if (untilMs <= nowMs)
    return t`It is not known yet whether the service has ${what}; pas checks with the next push.`;
  // Rounded up to the minute, so that the text is true then.
  const at = formatMoment(Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS, nowMs);
  return t`It is not known yet whether the service has ${what}; pas checks again after ${at}.`;
}
