import {
  createRowParser,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../base/disk/database.ts';
import type { Issue } from '../base/issue.ts';
import { makeDamagedError, serializeIssues } from './facts.ts';
import {
  INTENT_COLUMNS,
  INTENT_KINDS,
  type Intent,
  makeIntentId,
  makePreparedId,
  parseIntent,
  parseStoredIntent,
  type StoredIntent,
  serializeIntent,
} from './intents.ts';
import type { Outbox } from './open-outbox.ts';

/** Result of validating an import with the profile: the bytes that passed validation, or none. */
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

export function findIntentRow(outbox: Outbox, subject: string, id: string): IntentRow | undefined {
  const row = outbox
    .sql(
      'select row, id, kind, subject, content, document is not null as hasDocument, issues from intents where subject = ? and id = ?',
    )
    .get(subject, id);
  return row === undefined ? undefined : parseRow(row);
}

/** Returns an intent; undefined where it is unknown, or was thinned. */
export function findIntent(outbox: Outbox, subject: string, id: string): Intent | undefined {
  const row = findIntentRow(outbox, subject, id);
  return row === undefined || row.content === null
    ? undefined
    : parseIntent(row.kind, row.subject, row.content);
}

/**
 * Returns an intent with its content; undefined where it is unknown, or was thinned.
 * @throws DatabaseError where it is damaged
 */
export function findStoredIntent(
  outbox: Outbox,
  subject: string,
  id: string,
): (StoredIntent & { readonly content: string }) | undefined {
  const row = outbox
    .sql(`select ${INTENT_COLUMNS} from intents where subject = ? and id = ?`)
    .get(subject, id);
  const stored = row === undefined ? undefined : parseStoredIntent(outbox.path, row);
  return stored?.content == null ? undefined : { ...stored, content: stored.content };
}

/**
 * Returns an intent before it is sent.
 * @throws DatabaseError where it is missing or damaged
 */
export function getStoredIntent(
  outbox: Outbox,
  subject: string,
  id: string,
): StoredIntent & { content: string } {
  const stored = findStoredIntent(outbox, subject, id);
  if (stored === undefined) throw makeDamagedError(outbox.path, id);
  return stored;
}

/**
 * Stores an intent; one that is known stays, with the newest document.
 * @returns its id
 */
export function storeIntent(
  outbox: Outbox,
  intent: Intent,
  { document, issues }: Prepared = NOTHING_PREPARED,
): string {
  const id = makeIntentId(intent);
  const { kind, subject } = intent;
  const prepared = { document, issues: serializeIssues(issues) };
  const preparedId = makePreparedId(id, prepared);
  outbox
    .sql(
      `${INSERT} document = excluded.document, issues = excluded.issues, prepared_id = excluded.prepared_id`,
    )
    .run({ id, kind, subject, content: serializeIntent(intent), ...prepared, preparedId });
  return id;
}

const INSERT = `insert into intents (id, kind, subject, content, document, issues, prepared_id)
  values (:id, :kind, :subject, :content, :document, :issues, :preparedId)
  on conflict (subject, id) do update set content = coalesce(content, excluded.content),`;

/**
 * Stores an intent of another place; one that is known gets only what it lacks.
 * @throws DatabaseError where it is damaged
 */
export function storeIntentFrom(outbox: Outbox, path: string, row: unknown): void {
  outbox
    .sql(
      `${INSERT} document = coalesce(document, excluded.document),
         issues = iif(document is null, excluded.issues, issues),
         prepared_id = iif(document is null, excluded.prepared_id, prepared_id)`,
    )
    .run(parseStoredIntent(path, row));
}
