import { hash } from 'node:crypto';
import type { Issue } from '../base/issue.ts';
import {
  createRowParser,
  isBytes,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../store/database.ts';
import { makeDamagedError } from './facts.ts';
import {
  INTENT_KINDS,
  type Intent,
  makeIntentId,
  parseIntent,
  serializeIntent,
} from './intents.ts';
import type { Outbox } from './open-outbox.ts';
import { serializeIssues } from './stored-text.ts';

/** What follows from an import and the profile: the bytes that passed validation, or none. */
export type Prepared = { readonly document: Buffer | null; readonly issues: readonly Issue[] };

const NOTHING_PREPARED: Prepared = { document: null, issues: [] };

const parseRow = createRowParser({
  row: isNumber,
  id: isText,
  kind: makeMemberGuard(INTENT_KINDS),
  subject: isText,
  content: orNull(isText),
  hasDocument: isNumber,
  issues: orNull(isText),
});
export type IntentRow = ReturnType<typeof parseRow>;

export function findIntentRow(outbox: Outbox, id: string): IntentRow | undefined {
  const row = outbox
    .sql(
      'select row, id, kind, subject, content, document is not null as hasDocument, issues from intents where id = ?',
    )
    .get(id);
  return row === undefined ? undefined : parseRow(row);
}

/** Returns an intent; undefined where it is unknown, or was thinned. */
export function findIntent(outbox: Outbox, id: string): Intent | undefined {
  const row = findIntentRow(outbox, id);
  return row === undefined || row.content === null
    ? undefined
    : parseIntent(row.kind, row.subject, row.content);
}

/**
 * Verifies an intent and its document before it is sent.
 * @throws DatabaseError where it is missing or damaged
 */
export function getVerifiedIntent(outbox: Outbox, id: string): Intent {
  const intent = findIntent(outbox, id);
  if (intent === undefined || makeIntentId(intent) !== id || !isSoundDocument(outbox, id))
    throw makeDamagedError(outbox.path, id);
  return intent;
}

/** Tells if the stored document is the one that was written. */
export function isSoundDocument(outbox: Outbox, id: string): boolean {
  const row = outbox.sql('select document, digest from intents where id = ?').get(id);
  const { document, digest } = parseDocument(row);
  return digest === hashDocument(document);
}

const parseDocument = createRowParser({ document: orNull(isBytes), digest: orNull(isText) });

export function hashDocument(document: Uint8Array | null): string | null {
  return document === null ? null : hash('sha256', document, 'base64url');
}

/** Stores an intent; one that is known stays, with the newest document. @returns its id */
export function storeIntent(
  outbox: Outbox,
  intent: Intent,
  { document, issues }: Prepared = NOTHING_PREPARED,
): string {
  const id = makeIntentId(intent);
  outbox
    .sql(
      `insert into intents (id, kind, subject, content, document, digest, issues) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set content = coalesce(content, excluded.content),
         document = excluded.document, digest = excluded.digest, issues = excluded.issues`,
    )
    .run(
      id,
      intent.kind,
      intent.subject,
      serializeIntent(intent),
      document,
      hashDocument(document),
      serializeIssues(issues),
    );
  return id;
}

/** Stores an intent that came with its attempt; the document is that which was sent. */
export function storeSentIntent(
  outbox: Outbox,
  id: string,
  { kind, subject }: Pick<Intent, 'kind' | 'subject'>,
  { content, document: text }: { readonly content: string; readonly document: string | null },
): void {
  if (makeIntentId(parseIntent(kind, subject, content)) !== id)
    throw makeDamagedError(outbox.path, id);
  const document = text === null ? null : Buffer.from(text, 'utf8');
  outbox
    .sql(
      `insert into intents (id, kind, subject, content, document, digest) values (?, ?, ?, ?, ?, ?)
       on conflict (id) do update set content = coalesce(content, excluded.content),
         document = coalesce(document, excluded.document), digest = coalesce(digest, excluded.digest)`,
    )
    .run(id, kind, subject, content, document, hashDocument(document));
}
