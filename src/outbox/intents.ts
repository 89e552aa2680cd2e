import { hash } from 'node:crypto';
import {
  createRowParser,
  describeColumns,
  type GuardedDatabase,
  isBytes,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
  parseValue,
} from '../base/disk/database.ts';
import type { Issue } from '../base/issue.ts';
import type { FindElements } from '../finds/fields.ts';
import { canonicalizeElements } from '../finds/match-finds.ts';
import { ENTRY_KINDS, type EntryKind } from './entry.ts';
import { LAST_COMMANDS, makeDamagedError, type Slot, serializeIssues } from './facts.ts';

/** A version of a find. The document follows from it and from the profile. */
type ImportIntent = {
  readonly kind: 'import';
  /** UUID of the find. */
  readonly subject: string;
  readonly elements: FindElements;
};

/** A registration number that a record is to get. */
export type NumberIntent = {
  readonly kind: 'number';
  readonly subject: string;
  readonly value: string;
  /** The intent that was attempted before it, so that X, Y, X are three; null for the first. */
  readonly after: string | null;
};

/** A photograph that a record is to get. */
export type PhotoIntent = {
  readonly kind: 'photo';
  readonly subject: string;
  /** SHA-512 of the file before its place was removed, hexadecimal. */
  readonly original: string;
  /** Raised only where a person wants the same picture added once more. */
  readonly occasion: number;
};

/**
 * One thing that the service is to be told once. It never changes: its id is a hash of its content,
 * so that the same content is the same intent in every copy.
 */
export type Intent = ImportIntent | NumberIntent | PhotoIntent;

/** Makes the subject of a record that has no find here: `record:IDENTIFIER`. */
export function makeRecordSubject(identCely: string): string {
  return `record:${identCely}`;
}

/** Parses the identifier in the subject of a record; undefined for the UUID of a find. */
export function parseRecordSubject(subject: string): string | undefined {
  return subject.startsWith('record:') ? subject.slice('record:'.length) : undefined;
}

/** Key of the import of a find, among its entries; that of a change is its intent. */
export const IMPORT_KEY = 'import';

/**
 * Makes the name of the slot for a find's import: `import UUID`.
 * @param find its UUID
 */
export function makeImportSlotName(find: string): string {
  return `import ${find}`;
}

/**
 * Makes the slot of a find's import, with the find as subject; its intents are the find's versions.
 * @param find its UUID
 */
export function makeImportSlot(find: string): Slot {
  return { subject: find, slot: makeImportSlotName(find) };
}

/** Tells if this names the slot of an import, not of a number or a photograph. */
export function isImportSlot(slot: string): boolean {
  return slot.startsWith('import ');
}

/**
 * Makes the name of an intent's slot: `import UUID`, `number SUBJECT`, or `photo SUBJECT DIGEST
 * OCCASION`, with the digest of the file before its place was removed. Of the intents in one slot
 * at most one is wanted.
 */
export function makeSlotName(intent: Intent): string {
  switch (intent.kind) {
    case 'import':
    case 'number':
      return `${intent.kind} ${intent.subject}`;
    case 'photo':
      return `photo ${intent.subject} ${intent.original} ${intent.occasion}`;
  }
}

/** Parses the kind with which the name of a slot begins; `import` for any other text. */
export function parseSlotKind(slot: string): EntryKind {
  return ENTRY_KINDS.find((kind) => slot.startsWith(`${kind} `)) ?? 'import';
}

/**
 * Makes the id of an intent: the SHA-256 of its kind, subject and content, in base64url. Elements
 * of a find are hashed in their canonical form, so that equal content has one id.
 */
export function makeIntentId(intent: Intent): string {
  const content = JSON.stringify(['intent', intent.kind, intent.subject, ...listContent(intent)]);
  return hash('sha256', content, 'base64url');
}

function listContent(intent: Intent): unknown[] {
  switch (intent.kind) {
    case 'import':
      return [canonicalizeElements(intent.elements)];
    case 'number':
      return [intent.value, intent.after];
    case 'photo':
      return [intent.original, intent.occasion];
  }
}

/** Content of an intent as it is stored, without kind and subject. */
function serializeIntent(intent: Intent): string {
  switch (intent.kind) {
    case 'import':
      return JSON.stringify(intent.elements);
    case 'number':
      return JSON.stringify({ value: intent.value, after: intent.after });
    case 'photo':
      return JSON.stringify({ original: intent.original, occasion: intent.occasion });
  }
}

/**
 * Restores an intent from the column `content`; what the JSON has is not checked.
 * @throws SyntaxError where the content is no JSON
 */
export function parseIntent(kind: EntryKind, subject: string, content: string): Intent {
  const parsed = JSON.parse(content);
  return kind === 'import' ? { kind, subject, elements: parsed } : { ...parsed, kind, subject };
}

const COLUMNS = describeColumns('intents', {
  id: isText,
  kind: isText,
  subject: isText,
  content: orNull(isText),
  document: orNull(isBytes),
  issues: orNull(isText),
  preparedId: orNull(isText),
});
/**
 * An intent as outbox and ledger store it; {@link deleteUnneededIntentContents} empties its
 * content.
 */
export type StoredIntent = ReturnType<typeof COLUMNS.parse>;

/** Columns of {@link StoredIntent}, from the table `intents`. */
export const INTENT_COLUMNS = COLUMNS.selected;

/**
 * Makes the checksum of a prepared document, the column `prepared_id`: the SHA-256 of intent,
 * issues and bytes, in base64url. Null where the intent has neither document nor issues.
 */
export function makePreparedId(
  intent: string,
  { document, issues }: Pick<StoredIntent, 'document' | 'issues'>,
): string | null {
  if (document === null && issues === null) return null;
  const made = Buffer.concat([Buffer.from(`${intent}\0${issues ?? ''}\0`), document ?? NOTHING]);
  return hash('sha256', made, 'base64url');
}

const NOTHING = Buffer.alloc(0);

/**
 * Verifies a row of the table `intents` by the hashes of its content and its prepared document.
 * @param path of the outbox or ledger, for the error
 * @throws DatabaseError where anything differs from what was written
 */
export function parseStoredIntent(path: string, row: unknown): StoredIntent {
  if (!COLUMNS.isRow(row)) throw makeDamagedError(path, 'intents');
  if (!hasSoundContent(row) || !hasSoundDocument(row)) throw makeDamagedError(path, row.id);
  return row;
}

/**
 * Tells if an intent's id is the hash of its content; true where the content was deleted (null).
 */
export function hasSoundContent({ id, kind, subject, content }: StoredIntent): boolean {
  return content === null || findIdOfContent(kind, subject, content) === id;
}

/** Tells if an intent's document and issues are as they were written; true where it has neither. */
export function hasSoundDocument(stored: StoredIntent): boolean {
  return makePreparedId(stored.id, stored) === stored.preparedId;
}

/** Returns the id of the content; undefined where it is none. */
function findIdOfContent(kind: string, subject: string, content: string): string | undefined {
  const known = ENTRY_KINDS.find((each) => each === kind);
  try {
    return known && makeIntentId(parseIntent(known, subject, content));
  } catch {
    // Damaged JSON has no canonical form.
    return undefined;
  }
}

/** Outbox or ledger. */
type IntentStore = Pick<GuardedDatabase, 'sql'> & { readonly path: string };

/** Result of validating an import with the profile: the bytes that passed validation, or none. */
export type PreparedDocument = {
  readonly document: Buffer | null;
  readonly issues: readonly Issue[];
};

const NOTHING_PREPARED: PreparedDocument = { document: null, issues: [] };

const parseRow = createRowParser({
  row: isNumber,
  kind: makeMemberGuard(ENTRY_KINDS),
  content: orNull(isText),
  hasDocument: isNumber,
});

/** An intent as the cache uses it, without the bytes of its document. */
export type KnownIntent = {
  /** Its row in the table `intents`. */
  readonly row: number;
  readonly id: string;
  /** Undefined where its content was deleted. */
  readonly intent: Intent | undefined;
  readonly hasDocument: boolean;
};

/**
 * Returns an intent whose content was not compared with its id; undefined where it is unknown.
 * @throws DatabaseError or SyntaxError where its row is damaged
 */
export function findUnverifiedIntent(
  store: IntentStore,
  subject: string,
  id: string,
): KnownIntent | undefined {
  const found = store
    .sql(
      `select row, kind, content, document is not null as hasDocument
       from intents where subject = ? and id = ?`,
    )
    .get(subject, id);
  if (found === undefined) return undefined;
  const { row, kind, content, hasDocument } = parseRow(found);
  const intent = content === null ? undefined : parseIntent(kind, subject, content);
  return { row, id, intent, hasDocument: hasDocument === 1 };
}

/**
 * Returns an intent, verified by its id; undefined where it is unknown, or its content was deleted.
 * @throws DatabaseError where it is damaged
 */
export function findStoredIntent(
  store: IntentStore,
  subject: string,
  id: string,
): (StoredIntent & { readonly content: string }) | undefined {
  const row = store
    .sql(`select ${INTENT_COLUMNS} from intents where subject = ? and id = ?`)
    .get(subject, id);
  const stored = row === undefined ? undefined : parseStoredIntent(store.path, row);
  return stored?.content == null ? undefined : { ...stored, content: stored.content };
}

/**
 * Stores an intent with what validation made of it. A known intent gets this document and these
 * issues in place of its own; where its content was deleted, it gets that again.
 * @param prepared by default, neither document nor issues
 * @returns the intent with its row
 */
export function storeIntent(
  store: IntentStore,
  intent: Intent,
  prepared: PreparedDocument = NOTHING_PREPARED,
): KnownIntent {
  const id = makeIntentId(intent);
  const { kind, subject } = intent;
  const { document } = prepared;
  const made = { document, issues: serializeIssues(prepared.issues) };
  const preparedId = makePreparedId(id, made);
  const row = storeRow(
    store,
    { id, kind, subject, content: serializeIntent(intent), ...made, preparedId },
    'document = :document, issues = :issues, prepared_id = :preparedId',
  );
  return { row, id, intent, hasDocument: document !== null };
}

/**
 * @param changes to one that is known
 * @returns its row
 */
function storeRow({ sql }: IntentStore, row: StoredIntent, changes: string): number {
  const { changes: count, lastInsertRowid } = sql(
    `insert into intents (${COLUMNS.columns}) values (${COLUMNS.values})
     on conflict (subject, id) do nothing`,
  ).run(row);
  if (count > 0) return Number(lastInsertRowid);
  const known = sql(
    `update intents set content = coalesce(content, :content), ${changes}
     where subject = :subject and id = :id returning rowid`,
  ).pluck();
  return parseValue(isNumber, known.get(row));
}

/**
 * Stores an intent of another outbox or ledger; one that is known here gets only what it lacks.
 * @param path of the file from which the row is, for the error
 * @throws DatabaseError where the row is damaged
 */
export function storeForeignIntent(store: IntentStore, path: string, row: unknown): void {
  storeRow(
    store,
    parseStoredIntent(path, row),
    `document = coalesce(document, :document), issues = iif(document is null, :issues, issues),
     prepared_id = iif(document is null, :preparedId, prepared_id)`,
  );
}

/**
 * Deletes content and document of each intent that no entry has, that was never attempted, and that
 * none of the last 50 commands wanted. Its id and the facts stay.
 */
export function deleteUnneededIntentContents({ change, sql }: GuardedDatabase): void {
  change(
    () =>
      void sql(
        `update intents set content = null, document = null, issues = null, prepared_id = null
           where content is not null and row not in (select intent from entries)
             and id not in (select body ->> 'intent' from facts where kind = 'attempted')
             and id not in (
               select coalesce(body ->> 'intent', body ->> 'was', '') from facts where kind = 'current' and command in (${LAST_COMMANDS}))`,
      ).run(),
  );
}
