import { t } from '../base/language.ts';
import type { EntryKind, EntryState } from './entry.ts';

/** What people read where an entry's kind is meant; programs read the kind itself. */
export const KIND_WORDS: Readonly<Record<EntryKind, string>> = {
  import: t`import`,
  number: t`number`,
  photo: t`photo`,
};

/** The same for its state. */
export const STATE_WORDS: Readonly<Record<EntryState, string>> = {
  draft: t`draft`,
  queued: t`queued`,
  sending: t`sending`,
  accepted: t`accepted`,
  refused: t`refused`,
  uncertain: t`uncertain`,
  dropped: t`dropped`,
};
