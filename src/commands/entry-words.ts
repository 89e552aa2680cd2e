import { t } from '../base/language.ts';
import type { EntryKind } from '../outbox/entry.ts';
import type { EvidenceVerdict } from '../outbox/evidence.ts';

/** Words for people where programs read a code. */

/** What a look at the service says of an entry. */
export const VERDICT_WORDS: Readonly<Record<EvidenceVerdict, string>> = {
  found: t`found`,
  absent: t`absent`,
  undecided: t`undecided`,
  person: t`decided by a person`,
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
