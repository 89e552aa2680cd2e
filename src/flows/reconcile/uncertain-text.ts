import { momentText, t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { entryById } from '../../outbox/entries.ts';
import type { EntryKind } from '../../outbox/entry.ts';
import { evidenceOf } from '../../outbox/evidence.ts';
import { attemptsOf } from '../../outbox/journal.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import type { Basis } from './verdict.ts';

const WHAT: Readonly<Record<EntryKind, Message>> = {
  import: msg`this find`,
  number: msg`this number`,
  photo: msg`this photograph`,
};

/** Grounds on which a later look may tell more. */
const PASSING: readonly (Basis | null)[] = [
  ...(['maybe-under-way', 'copy-may-send', 'index-behind', 'index-may-lag', 'not-looked-up'] as const),
  null,
];

const MINUTE_MS = 60_000;

/** What is known of an entry of unknown end: in one sentence, and after it what that rests on. */
export function uncertainTexts(
  outbox: ServiceOutbox,
  entryId: number,
  settleMs: number,
): readonly [plainly: string, ...why: string[]] {
  const entry = entryById(outbox, entryId);
  const reasons = [entry?.reason, evidenceOf(outbox, entryId).at(-1)?.reason].flatMap((reason) =>
    reason == null ? [] : [String(reason)],
  );
  // The service answered well, and gave the record to two finds: that alone tells what is in doubt.
  if (attemptsOf(outbox, entryId).at(-1)?.outcome === 'accepted') return [reasons[0] ?? '', ...reasons.slice(1)];
  return [plainText(outbox, entryId, WHAT[entry?.kind ?? 'import'], settleMs), ...new Set(reasons)];
}

function plainText(outbox: ServiceOutbox, entryId: number, what: Message, settleMs: number): string {
  const [last, looked, nowMs] = [attemptsOf(outbox, entryId).at(-1), evidenceOf(outbox, entryId).at(-1), outbox.clock.now()];
  const untilMs = last === undefined ? nowMs : (last.endedAt ?? last.startedAt) + settleMs;
  const isFinal = looked?.verdict === 'undecided' && (untilMs <= nowMs || looked.candidates.length > 0);
  if (isFinal && !PASSING.includes(looked.basis as Basis | null))
    return t`What the service shows does not tell whether it has ${what}; look there, and decide.`;
  if (untilMs <= nowMs) return t`Nobody knows yet whether the service has ${what}; pas looks with the next push.`;
  // Said to the minute, and true then.
  const at = momentText(Math.ceil(untilMs / MINUTE_MS) * MINUTE_MS, nowMs);
  return t`Nobody knows yet whether the service has ${what}; pas looks again after ${at}.`;
}
