import { t } from '../base/language.ts';
import type { EntryKind, EntryState } from '../outbox/entry.ts';
import type { EvidenceVerdict } from '../outbox/evidence.ts';
import type { Role } from '../pas-api/account.ts';

/** Words for people where programs read a code. */

export const KIND_WORDS: Readonly<Record<EntryKind, string>> = { import: t`import`, number: t`number`, photo: t`photo` };

export const STATE_WORDS: Readonly<Record<EntryState, string>> = {
  draft: t`draft`,
  queued: t`queued`,
  sending: t`sending`,
  accepted: t`accepted`,
  refused: t`refused`,
  uncertain: t`uncertain`,
  dropped: t`dropped`,
};

/** What a look at the service says of an entry. */
export const VERDICT_WORDS: Readonly<Record<EvidenceVerdict, string>> = {
  found: t`found`,
  absent: t`absent`,
  undecided: t`undecided`,
  person: t`decided by a person`,
};

export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  researcher: t`researcher`,
  archaeologist: t`archaeologist`,
  archivist: t`archivist`,
  administrator: t`administrator`,
};

export const INSTANCE_WORDS = { production: t`production`, training: t`training` } as const;

/** `import of K-017`; a record that is no find here is called by its identifier. */
export function entryText(kind: EntryKind, find: string | null): string {
  const name = find ?? '?';
  switch (kind) {
    case 'import':
      return t`import of ${name}`;
    case 'number':
      return t`number of ${name}`;
    case 'photo':
      return t`photo of ${name}`;
  }
}
