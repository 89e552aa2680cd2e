import { createHash } from 'node:crypto';
import { createRowGuard, type GuardedType, isBytes, isText, orNull } from '../store/database.ts';
import { makeDamagedError } from './facts.ts';
import { INTENT_KINDS, makeIntentId, parseIntent } from './intents.ts';

const isIntentRow = createRowGuard({
  id: isText,
  kind: isText,
  subject: isText,
  content: orNull(isText),
  document: orNull(isBytes),
  issues: orNull(isText),
  preparedId: orNull(isText),
});
/** An intent as outbox and ledger store it; its content is null after thinning. */
export type StoredIntent = GuardedType<typeof isIntentRow>;

/** Columns of {@link StoredIntent}, from the table `intents`. */
export const INTENT_COLUMNS =
  'id, kind, subject, content, document, issues, prepared_id as preparedId';

/** Returns the SHA-256 of what the profile made of an intent; null where it made nothing. */
export function makePreparedId(
  intent: string,
  { document, issues }: Pick<StoredIntent, 'document' | 'issues'>,
): string | null {
  if (document === null && issues === null) return null;
  const made = createHash('sha256').update(`${intent}\0${issues ?? ''}\0`);
  return made.update(document ?? '').digest('base64url');
}

/** @throws DatabaseError where anything differs from what was written */
export function parseStoredIntent(path: string, row: unknown): StoredIntent {
  if (!isIntentRow(row)) throw makeDamagedError(path, 'intents');
  if (!isSoundContent(row) || !isSoundlyPrepared(row)) throw makeDamagedError(path, row.id);
  return row;
}

export function isSoundContent({ id, kind, subject, content }: StoredIntent): boolean {
  return content === null || findIdOfContent(kind, subject, content) === id;
}

/** Tells if document and findings are as they were written. */
export function isSoundlyPrepared(stored: StoredIntent): boolean {
  return makePreparedId(stored.id, stored) === stored.preparedId;
}

/** Returns the id of the content; undefined where it is none. */
function findIdOfContent(kind: string, subject: string, content: string): string | undefined {
  const known = INTENT_KINDS.find((each) => each === kind);
  try {
    return known && makeIntentId(parseIntent(known, subject, content));
  } catch {
    // Damaged JSON has no canonical form.
    return undefined;
  }
}
