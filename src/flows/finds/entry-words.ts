import { momentText, t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { type Doubt, type EntryKind, type EntryState, OPEN_END_MS } from '../../outbox/entry.ts';
import type { EvidenceVerdict } from '../../outbox/evidence.ts';

export { ENTRY_STATES } from '../../outbox/entry.ts';

/** What people read where an entry's kind is meant; programs read the kind itself. */
export const KIND_WORDS: Readonly<Record<EntryKind, Message>> = {
  import: msg`import`,
  number: msg`number`,
  photo: msg`photo`,
};

/** The same for its state. */
export const STATE_WORDS: Readonly<Record<EntryState, Message>> = {
  draft: msg`draft`,
  queued: msg`queued`,
  sending: msg`sending`,
  accepted: msg`accepted`,
  refused: msg`refused`,
  uncertain: msg`uncertain`,
  dropped: msg`dropped`,
};

/** What became of an attempt, where its state does not say it. */
export const OUTCOME_WORDS: Readonly<Record<string, Message>> = {
  accepted: STATE_WORDS.accepted,
  'already-current': msg`the same already`,
  refused: STATE_WORDS.refused,
  'refused-with-detail': STATE_WORDS.refused,
  forbidden: msg`not allowed`,
  unauthorised: msg`not signed in`,
  throttled: msg`too many requests`,
  busy: msg`record busy`,
  closed: msg`service closed`,
  'never-arrived': msg`did not arrive`,
  'never-left': msg`did not leave`,
  cut: msg`cut off`,
  'file-changed': msg`file changed`,
  asked: msg`only asked`,
  lost: msg`lost`,
  uncertain: STATE_WORDS.uncertain,
};

/** What a look at the service says of an entry. */
export const VERDICT_WORDS: Readonly<Record<EvidenceVerdict, Message>> = {
  found: msg`found`,
  absent: msg`absent`,
  undecided: msg`undecided`,
  person: msg`decided by a person`,
};

/** `import of K-017`; a record that is no find here is called by its identifier. */
export function entryText(kind: EntryKind, find: string | null): Message {
  const name = find ?? '?';
  return { import: msg`import of ${name}`, number: msg`number of ${name}`, photo: msg`photo of ${name}` }[kind];
}

/** When it may have been sent without this outbox knowing. */
export function doubtText({ fromMs, untilMs }: Doubt): string {
  const [from, until] = [momentText(fromMs), momentText(untilMs)];
  return untilMs === OPEN_END_MS
    ? t`a copy of this outbox may have sent it since ${from}, or may still send it`
    : t`it may have been sent between ${from}, when the backup was made, and ${until}, when it was put back`;
}
