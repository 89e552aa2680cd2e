import { type Message, msg } from '../../base/message.ts';
import type { EntryKind, EntryState } from '../../outbox/entry.ts';
import type { EvidenceVerdict } from '../../outbox/entry-facts.ts';

export { ENTRY_STATES } from '../../outbox/entry.ts';

/** Kinds of entries for people; programs read the kind itself. */
export const KIND_WORDS: Readonly<Record<EntryKind, Message>> = {
  import: msg`import`,
  number: msg`number`,
  photo: msg`photo`,
};

export const STATE_WORDS: Readonly<Record<EntryState, Message>> = {
  draft: msg`draft`,
  queued: msg`queued`,
  sending: msg`sending`,
  accepted: msg`accepted`,
  refused: msg`refused`,
  uncertain: msg`uncertain`,
  dropped: msg`dropped`,
};

/** Verdicts of a lookup for people. */
export const VERDICT_WORDS: Readonly<Record<EvidenceVerdict, Message>> = {
  found: msg`found`,
  absent: msg`absent`,
  undecided: msg`undecided`,
  person: msg`decided by a person`,
};

/** Formats `import of K-017`; a record without a find here has its identifier. */
export function formatEntry(kind: EntryKind, find: string | null): Message {
  const name = find ?? '?';
  return {
    import: msg`import of ${name}`,
    number: msg`number of ${name}`,
    photo: msg`photo of ${name}`,
  }[kind];
}
