import type { Issue } from '../base/issue.ts';
import { createRowParser, isNumber, isText, makeMemberGuard, orNull } from '../store/database.ts';
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

/** Verifies an intent before it is sent. @throws DatabaseError where it is missing or damaged */
export function getVerifiedIntent(outbox: Outbox, id: string): Intent {
  const intent = findIntent(outbox, id);
  if (intent !== undefined && makeIntentId(intent) === id) return intent;
  throw makeDamagedError(outbox.path, id);
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
      `insert into intents (id, kind, subject, content, document, issues) values (?, ?, ?, ?, ?, ?)
       on conflict (id) do update set content = coalesce(content, excluded.content),
         document = excluded.document, issues = excluded.issues`,
    )
    .run(
      id,
      intent.kind,
      intent.subject,
      serializeIntent(intent),
      document,
      serializeIssues(issues),
    );
  return id;
}

/** Stores an intent that came with its attempt; the document is that which was sent. */
export function storeSentIntent(
  outbox: Outbox,
  id: string,
  { kind, subject }: Pick<Intent, 'kind' | 'subject'>,
  { content, document }: { readonly content: string; readonly document: string | null },
): void {
  if (makeIntentId(parseIntent(kind, subject, content)) !== id)
    throw makeDamagedError(outbox.path, id);
  outbox
    .sql(
      `insert into intents (id, kind, subject, content, document) values (?, ?, ?, ?, ?)
       on conflict (id) do update set content = coalesce(content, excluded.content),
         document = coalesce(document, excluded.document)`,
    )
    .run(id, kind, subject, content, document === null ? null : Buffer.from(document, 'utf8'));
}
