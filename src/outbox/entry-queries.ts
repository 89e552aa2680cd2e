import {
  createRowParser,
  describeColumns,
  isBytes,
  isNumber,
  isText,
  orNull,
  parseValue,
} from '../base/disk/database.ts';
import { type FindElements, replaceNumber } from '../finds/fields.ts';
import { KEPT_AS_DRAFT } from '../finds/find.ts';
import {
  ENTRY_COLUMNS,
  type Entry,
  type EntryKind,
  type EntryState,
  type HeldQuestion,
  type ImportEntry,
  type InconclusiveLookup,
  isAboutRow,
  type NumberEntry,
  type PhotoEntry,
} from './entry.ts';
import {
  convertReadErrors,
  deserializeIssues,
  listQuestionCodes,
  makeStoredMessage,
  parseStoredMessage,
} from './facts.ts';
import { IMPORT_KEY, parseRecordSubject } from './intents.ts';
import { AWAITS_OTHER_NUMBER } from './number-chain.ts';
import type { Outbox } from './open-outbox.ts';
import type { StoredFind } from './stored-finds.ts';

// Queries of the table `entries`.

const OWN_COLUMNS = {
  id: isNumber,
  ...ENTRY_COLUMNS,
  held: orNull(isText),
  lookup: orNull(isText),
};

const COLUMNS = `${describeColumns('entries', OWN_COLUMNS).selected}, intents.id as intent, intents.document,
  iif(entries.state in ('draft', 'queued'), intents.issues, entries.refusal) as issues,
  (select finds.local_id from finds where uuid = entries.subject) as localId`;

const FROM = `from entries join intents on intents.row = entries.intent`;

const parseRow = createRowParser({
  ...OWN_COLUMNS,
  intent: isText,
  document: orNull(isBytes),
  issues: orNull(isText),
  localId: orNull(isText),
});

/** @throws DatabaseError where the row differs from what was written */
function parseEntry(outbox: Outbox, stored: unknown): Entry {
  const row = parseRow(stored);
  return convertReadErrors(outbox.path, `entry ${row.id}`, () => makeEntry(row));
}

function makeEntry(row: ReturnType<typeof parseRow>): Entry {
  const isWaiting = row.state === 'queued' || row.state === 'draft';
  const held = deserializeHeld(row.held);
  const isOpenQuestion =
    held !== null && row.state !== 'dropped' && (isWaiting || isAboutRow(held));
  const { changed, value, expects, photograph, document, ...common } = row;
  const base = {
    ...common,
    find: row.localId ?? row.identCely ?? '',
    differsFromAccepted: changed === 1,
    held: isOpenQuestion ? held : null,
    lookup: row.lookup === null ? null : deserializeLookup(row.lookup),
    reason: row.reason === null ? null : parseStoredMessage(JSON.parse(row.reason)),
    issues: deserializeIssues(row.issues),
  };
  switch (row.kind) {
    case 'import':
      return { ...base, kind: 'import', document };
    case 'number':
      return { ...base, kind: 'number', value: value ?? '', expects };
    case 'photo':
      return { ...base, kind: 'photo', photograph: JSON.parse(photograph ?? '') };
  }
}

/** Serialises a question as JSON for the column `held`, its text without a language. */
export function serializeHeldQuestion(held: HeldQuestion): string {
  return JSON.stringify({ ...held, question: makeStoredMessage(held.question) });
}

function deserializeHeld(text: string | null): HeldQuestion | null {
  if (text === null) return null;
  const { question, ...held } = JSON.parse(text);
  return { ...held, question: parseStoredMessage(question) };
}

function deserializeLookup(text: string): InconclusiveLookup {
  const { reason, ...lookup } = JSON.parse(text);
  return { ...lookup, reason: parseStoredMessage(reason) };
}

/**
 * Stores a question about an entry in place of the one before, which null removes.
 * @param id row of the entry in the table
 */
export function storeQuestion(outbox: Outbox, id: number, held: HeldQuestion | null): void {
  const text = held === null ? null : serializeHeldQuestion(held);
  outbox.sql('update entries set held = ? where id = ? and held is not ?').run(text, id, text);
}

/**
 * Stores the last inconclusive lookup of an entry in place of the one before.
 * @param id row of the entry in the table
 */
export function storeLookup(outbox: Outbox, id: number, lookup: InconclusiveLookup): void {
  const text = { ...lookup, reason: makeStoredMessage(lookup.reason) };
  outbox.sql('update entries set lookup = ? where id = ?').run(JSON.stringify(text), id);
}

/** Ends the backoff of all queued entries of these subjects, so that they may be sent at once. */
export function clearBackoff(outbox: Outbox, subjects: readonly string[]): void {
  outbox
    .sql(
      `update entries set not_before_at = 0 where state = 'queued' and not_before_at > 0
         and entries.subject in (select value from json_each(?))`,
    )
    .run(JSON.stringify(subjects));
}

/**
 * Ends each backoff of a queued entry that only a wrong clock can have set: it ends more than
 * `maxBackoffMs` from now, or the entry was changed last at a time that is still to come.
 */
export function clearImplausibleBackoff(outbox: Outbox, maxBackoffMs: number): void {
  outbox
    .sql(
      `update entries set not_before_at = 0 where state = 'queued'
         and (not_before_at > :now + :maxBackoffMs or (updated_at > :now and not_before_at > 0))`,
    )
    .run({ now: outbox.clock.now(), maxBackoffMs });
}

/**
 * Returns an entry, also a dropped one; undefined where there is none.
 * @param id row of the entry in the table
 */
export function findEntryById(outbox: Outbox, id: number): Entry | undefined {
  return selectEntries(outbox, 'entries.id = :id', { id }).at(0);
}

/**
 * Returns the identifier of a subject's record; null for a find without one, or an unknown find.
 */
export function findIdentOfSubject({ sql }: Outbox, subject: string): string | null {
  const record = parseRecordSubject(subject);
  if (record !== undefined) return record;
  const made = sql('select ident_cely from finds where uuid = ?').pluck().get(subject);
  return typeof made === 'string' ? made : null;
}

/** Returns all entries with this identifier, also dropped ones, in the order of the queue. */
export function listEntriesOfRecord(outbox: Outbox, identCely: string): Entry[] {
  return selectEntries(outbox, 'ident_cely = :identCely', { identCely });
}

/** Condition of SQL: an entry of a find or record, also where a person named the find's record. */
const OF_SUBJECT = '(entries.subject = :subject or ident_cely = :identCely)';

function makeSubjectValues(outbox: Outbox, subject: string) {
  return { subject, identCely: findIdentOfSubject(outbox, subject) };
}

/**
 * Returns the entries of a find or record, also dropped ones, in the order of the queue: for a find
 * with a record those of {@link listEntriesOfRecord} as well.
 */
export function listEntriesOfSubject(outbox: Outbox, subject: string): Entry[] {
  return selectEntries(outbox, OF_SUBJECT, makeSubjectValues(outbox, subject));
}

/** Returns the import of a find, also a dropped one; undefined for a record or an unknown find. */
export function findImportOfFind(outbox: Outbox, uuid: string): ImportEntry | undefined {
  return selectEntries(outbox, 'entries.subject = :uuid and entries.key = :key', {
    uuid,
    key: IMPORT_KEY,
  }).find((entry) => entry.kind === 'import');
}

/** Returns the first accepted import with this record; undefined where no find here has it. */
export function findImportOfRecord(outbox: Outbox, identCely: string): ImportEntry | undefined {
  return selectOfKind(outbox, 'import', `ident_cely = :identCely and +state = 'accepted'`, {
    identCely,
  }).at(0);
}

type UnsettledState = 'draft' | 'refused' | 'sending' | 'uncertain';

/** Returns the entries in a state, also those of removed finds, in the order of the queue. */
export function listEntriesInState(outbox: Outbox, state: UnsettledState): Entry[] {
  // SQLite uses the index `entries_unsettled` only for this exact condition; the plus excludes
  // other indexes.
  return selectEntries(
    outbox,
    `state in ('draft', 'refused', 'sending', 'uncertain') and +state = :state`,
    { state },
  );
}

/** Returns queued entries with a question that a person must answer, in the order of the queue. */
export function listHeldEntries(outbox: Outbox): Entry[] {
  return listEntriesWithQuestion(outbox).filter(({ state }) => state === 'queued');
}

/**
 * Returns the entries with a question that may be answered now, in the order of the queue: queued
 * ones, and with a question about a row those in any state but `dropped`. Any other question about
 * a draft waits until the draft is queued.
 */
export function listEntriesWithQuestion(outbox: Outbox): Entry[] {
  return selectEntries(outbox, 'held is not null', {}).filter(
    ({ held, state }) => held !== null && (state === 'queued' || isAboutRow(held)),
  );
}

/**
 * Returns the photographs that are neither accepted nor dropped, whose copies here are still
 * needed, in the order of the queue.
 */
export function listUnacceptedPhotoEntries(outbox: Outbox): PhotoEntry[] {
  return listPhotoEntries(outbox).filter(({ state }) => !['accepted', 'dropped'].includes(state));
}

/** Returns all photographs, also dropped ones, in the order of the queue. */
export function listPhotoEntries(outbox: Outbox): PhotoEntry[] {
  return selectOfKind(outbox, 'photo', `entries.kind = 'photo'`, {});
}

/**
 * Returns entries that match a condition over the table's columns, by default in the order of the
 * queue.
 */
function selectEntries(
  outbox: Outbox,
  condition: string,
  values: Record<string, unknown>,
  tail = 'order by entries.id',
): Entry[] {
  const rows = outbox.sql(`select ${COLUMNS} ${FROM} where ${condition} ${tail}`).all(values);
  return rows.map((row) => parseEntry(outbox, row));
}

/**
 * The plus keeps SQLite from scanning all entries of the kind; a condition that is about all of
 * them names the kind without it.
 */
function selectOfKind<Kind extends EntryKind>(
  outbox: Outbox,
  kind: Kind,
  condition: string,
  values: Record<string, unknown>,
) {
  return selectEntries(outbox, `+entries.kind = '${kind}' and ${condition}`, values).filter(
    (entry): entry is Extract<Entry, { readonly kind: Kind }> => entry.kind === kind,
  );
}

/** Tells if the import of a find is dropped; false for an unknown find, and for a record. */
export function isDroppedFind({ sql }: Outbox, uuid: string): boolean {
  return sql(`select 1 from finds where uuid = ? and state = 'dropped'`).get(uuid) !== undefined;
}

/** Returns the numbers among {@link listEntriesOfSubject}. */
export function listNumberEntries(outbox: Outbox, subject: string): NumberEntry[] {
  return selectOfKind(outbox, 'number', OF_SUBJECT, makeSubjectValues(outbox, subject));
}

/**
 * Returns the entry of the last number that was queued for a find or record, sent or not, if any.
 * @param without states of entries that do not count
 */
export function findLastNumberEntry(
  outbox: Outbox,
  subject: string,
  without: readonly EntryState[] = ['dropped', 'refused'],
): NumberEntry | undefined {
  return listNumberEntries(outbox, subject).findLast(({ state }) => !without.includes(state));
}

/**
 * Returns the elements of a find with the registration number that was set last for it, sent or
 * not. A number that was dropped or refused does not count.
 */
export function getWantedElements(
  outbox: Outbox,
  { uuid, elements }: Pick<StoredFind, 'uuid' | 'elements'>,
): FindElements {
  return replaceNumber(elements, findLastNumberEntry(outbox, uuid)?.value);
}

/** Returns all numbers but the dropped and the refused ones, in the order of the queue. */
export function listEffectiveNumberEntries(outbox: Outbox): NumberEntry[] {
  return selectOfKind(
    outbox,
    'number',
    `entries.kind = 'number' and state not in ('dropped', 'refused')`,
    {},
  );
}

/** Entries that a push may send now. */
export type ClaimableQuery = {
  readonly kinds: readonly EntryKind[];
  /** Subjects whose entries may be claimed; undefined for all. */
  readonly subjects: readonly string[] | undefined;
  /** Finds and records with a request under way: their subjects and their identifiers. */
  readonly busyRecords: readonly string[];
  /** Kinds and projects of which nothing is sent now. */
  readonly closed: readonly EntryScope[];
};

/** Entries of a kind and a project; '' for those without one. */
export type EntryScope = { readonly kind: EntryKind; readonly project: string };

/** Returns kind and project of an entry, by which a push counts refusals and leaves entries out. */
export function getEntryScope({ kind, project }: Entry): EntryScope {
  return { kind, project: project ?? '' };
}

const CLAIMABLE = `state = 'queued' and held is null and (entries.kind = 'import' or ident_cely is not null)
  and +entries.kind in (select value from json_each(:kinds))
  and (:subjects is null or entries.subject in (select value from json_each(:subjects)))
  and entries.subject not in (select value from json_each(:busyRecords))
  and (ident_cely is null or ident_cely not in (select value from json_each(:busyRecords)))
  and not exists (select 1 from json_each(:closed) as scope
    where scope.value ->> 'kind' = entries.kind and scope.value ->> 'project' = coalesce(project, ''))
  and (entries.kind <> 'number' or not ${AWAITS_OTHER_NUMBER})`;

/**
 * Returns the claimable entry that is due first, also where its `notBeforeAt` is still to come;
 * undefined for none. Claimable is what is queued without a question; a number or a photograph only
 * once its record is known, and a number only while no other one of the record is under way or
 * uncertain.
 */
export function findNextClaimableEntry(
  outbox: Outbox,
  { kinds, subjects, busyRecords, closed }: ClaimableQuery,
): Entry | undefined {
  return selectEntries(
    outbox,
    CLAIMABLE,
    {
      kinds: JSON.stringify(kinds),
      subjects: subjects === undefined ? null : JSON.stringify(subjects),
      busyRecords: JSON.stringify(busyRecords),
      closed: JSON.stringify(closed.map(({ kind, project }) => ({ kind, project }))),
    },
    'order by not_before_at, entries.id limit 1',
  ).at(0);
}

/** Counts the queued entries of a kind and project, also those that wait or have a question. */
export function countQueuedEntriesOfScope(outbox: Outbox, { kind, project }: EntryScope): number {
  const count = outbox
    .sql(
      `select count(*) from entries where state = 'queued' and kind = :kind and coalesce(project, '') = :project`,
    )
    .pluck()
    .get({ kind, project });
  return parseValue(isNumber, count);
}

const parseQueuedHead = createRowParser({ id: isNumber, createdAt: isNumber });

/**
 * Returns of all queued entries, also of held ones, the row in the table and the time of creation
 * by the wall clock, in the order of the queue.
 */
export function listQueuedSummaries({ sql }: Outbox): ReturnType<typeof parseQueuedHead>[] {
  return sql(`select id, created_at as createdAt from entries where state = 'queued' order by id`)
    .all()
    .map(parseQueuedHead);
}

/**
 * Returns those of these entries that are queued, also held ones, in the order of the queue.
 * @param ids rows of the entries in the table
 */
export function listQueuedEntries(outbox: Outbox, ids: readonly number[]): Entry[] {
  const condition = `state = 'queued' and entries.id in (select value from json_each(:ids))`;
  return selectEntries(outbox, condition, { ids: JSON.stringify(ids) });
}

/**
 * Returns the photographs of a subject, also dropped ones, that were made from the file with this
 * SHA-512: as it is, or without its position.
 */
export function listPhotographsByDigest(
  outbox: Outbox,
  subject: string,
  digest: string,
): PhotoEntry[] {
  return selectOfKind(
    outbox,
    'photo',
    `(photograph ->> 'sha512' = :digest or photograph ->> 'originalSha512' = :digest) and ${OF_SUBJECT}`,
    { ...makeSubjectValues(outbox, subject), digest },
  );
}

/** Returns the photographs of a subject that were read from this path, without dropped ones. */
export function listPhotographsBySource(
  outbox: Outbox,
  subject: string,
  source: string,
): PhotoEntry[] {
  return selectOfKind(
    outbox,
    'photo',
    `${OF_SUBJECT} and photograph ->> 'source' = :source and state <> 'dropped'`,
    { ...makeSubjectValues(outbox, subject), source },
  );
}

/** Returns at most `limit` accepted imports, those that changed last first. */
export function listLatestAcceptedImports(outbox: Outbox, limit: number): Entry[] {
  return selectEntries(
    outbox,
    `entries.kind = 'import' and state = 'accepted'`,
    { limit },
    'order by entries.updated_at desc limit :limit',
  );
}

/**
 * Returns the imports of these finds that are drafts.
 * @param subjects undefined for all drafts that block queued numbers or photographs
 */
export function listDraftImports(outbox: Outbox, subjects: readonly string[] | undefined): Entry[] {
  const ofRecords = 'entries.subject in (select value from json_each(:subjects))';
  const withDependents = `exists (select 1 from entries as waiting where waiting.subject = entries.subject and waiting.kind <> 'import' and waiting.state = 'queued')`;
  return selectEntries(
    outbox,
    `state = 'draft' and ${subjects === undefined ? withDependents : ofRecords}`,
    { subjects: JSON.stringify(subjects ?? []) },
  );
}

/** Occasion on which finds are validated again, in {@link listOutdatedFinds}. */
export type Renewal = 'change' | 'harvest';

/**
 * Returns the UUIDs of finds that must be validated again, in the order of the queue: queued or
 * refused ones whose document does not begin with `head`, and drafts that no person keeps as
 * drafts. Removed finds are left out.
 * @param head the first bytes of each document that the profile makes now
 * @param after `change` of profile or schema; after a `harvest` of vocabularies all queued finds
 * are returned, since an entry or a project may have changed
 */
export function listOutdatedFinds(outbox: Outbox, head: Buffer, after: Renewal): string[] {
  return outbox.listTexts(
    `select entries.subject ${FROM}
     where entries.kind = 'import' and state in ('draft', 'queued', 'refused') and hidden = 0
       and case when document is null then state = 'draft' and instr(coalesce(issues, ''), :kept) = 0
           else state <> 'draft' and substr(document, 1, length(:head)) <> :head
             or :after = 'harvest' and state = 'queued' end
     order by entries.id`,
    { head, after, kept: JSON.stringify(KEPT_AS_DRAFT) },
  );
}

/**
 * Returns at most `limit` entries that a person must look at: those of
 * {@link listEntriesWithQuestion}, then drafts, refused and uncertain ones, without those of
 * removed finds. An uncertain number or photograph without a record is left out: it waits for its
 * find.
 */
export function listEntriesNeedingPerson(outbox: Outbox, limit: number): Entry[] {
  const held = listEntriesWithQuestion(outbox);
  const otherEntries = selectEntries(
    outbox,
    `state <> 'sending' and not (state = 'uncertain' and entries.kind <> 'import' and ident_cely is null)
     and state in ('draft', 'refused', 'sending', 'uncertain') and not exists (select 1 from finds where uuid = entries.subject and finds.hidden = 1)
     and coalesce(held ->> 'basis', '') not in (select value from json_each(:asked))`,
    { limit, asked: JSON.stringify(listQuestionCodes('row')) },
    'order by state, entries.id limit :limit',
  );
  return [...held, ...otherEntries].slice(0, limit);
}

/** Returns ten attempted entries that are queued until a time, the earliest first. */
export function listDelayedEntries(outbox: Outbox): Entry[] {
  const condition = `state = 'queued' and held is null and not_before_at > 0 and reason is not null
     and (entries.kind = 'import' or ident_cely is not null)`;
  return selectEntries(outbox, condition, {}, 'order by not_before_at, entries.id limit 10');
}
