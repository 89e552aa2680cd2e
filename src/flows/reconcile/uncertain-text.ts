import { momentText, t } from '../../base/language.ts';
import { type Message, msg, templateOf } from '../../base/message.ts';
import { attemptsOf, evidenceOf } from '../../outbox/attempts.ts';
import { entryById } from '../../outbox/entries.ts';
import type { Entry, EntryKind } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { Basis } from './verdict.ts';

const WHAT: Readonly<Record<EntryKind, Message>> = {
  import: msg`this find`,
  number: msg`this number`,
  photo: msg`this photograph`,
};

/** Grounds on which a later look may tell more. */
const PASSING: readonly (Basis | null)[] = [
  ...(['maybe-under-way', 'index-behind', 'index-may-lag', 'not-looked-up'] as const),
  null,
];

const MINUTE_MS = 60_000;

/** What is known of an entry of unknown end: in one sentence, and after it what that rests on. */
export function uncertainTexts(outbox: Outbox, entryId: number, settleMs: number): readonly [plainly: string, ...why: string[]] {
  const entry = entryById(outbox, entryId);
  if (entry === undefined) return [''];
  const reasons = [entry.reason, evidenceOf(outbox, entry).at(-1)?.reason].flatMap((reason) =>
    reason == null ? [] : [String(reason)],
  );
  // The service answered, and gave the record to two finds: that alone says what is uncertain.
  if (attemptsOf(outbox, entry).at(-1)?.outcome === 'accepted') return [reasons[0] ?? '', ...reasons.slice(1)];
  return [plainText(outbox, entry, WHAT[entry.kind], settleMs), ...new Set(reasons)];
}

/**
 * The reason for which an entry is uncertain that the service accepted, without names and numbers: it gave one record to two finds.
 * A service that was put back from a backup does so with many.
 */
export function reassignmentOf(outbox: Outbox, entryId: number): string | undefined {
  const entry = entryById(outbox, entryId);
  if (entry?.state !== 'uncertain' || attemptsOf(outbox, entry).at(-1)?.outcome !== 'accepted') return undefined;
  return templateOf(entry.reason ?? '');
}

function plainText(outbox: Outbox, entry: Entry, what: Message, settleMs: number): string {
  const [last, looked, nowMs] = [attemptsOf(outbox, entry).at(-1), evidenceOf(outbox, entry).at(-1), outbox.clock.now()];
  const untilMs = last === undefined ? nowMs : (last.endedAt ?? last.startedAt) + settleMs;
  const isFinal = looked?.verdict === 'undecided' && (untilMs <= nowMs || looked.candidates.length > 0);
  if (isFinal && !PASSING.includes(looked.basis as Basis | null))
    return t`What the service shows does not say whether it has ${what}; look there, and decide.`;
  if (untilMs <= nowMs) return t`It is not known yet whether the service has ${what}; pas looks with the next push.`;
  // Said to the minute, and true then.
  const at = momentText(Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS, nowMs);
  return t`It is not known yet whether the service has ${what}; pas looks again after ${at}.`;
}
