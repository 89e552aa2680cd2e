import { formatMoment, t } from '../base/language.ts';
import { getTemplate, type Message, msg } from '../base/message.ts';
import type { Entry, EntryKind } from '../outbox/entry.ts';
import { listAttempts, listEvidence } from '../outbox/entry-facts.ts';
import { findEntryById } from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { Basis } from './verdict.ts';

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
