import type { Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import {
  ENTRY_KINDS,
  type Entry,
  type EntryId,
  type EntryKind,
  type EntryState,
  type FindId,
  type HeldQuestion,
  type ImportEntry,
  type NumberEntry,
  type PhotoEntry,
  type Photograph,
} from './entry.ts';
import {
  findRowById,
  getEntryRow,
  listUnsettledChanges,
  makeRecordKey,
  type Target,
} from './entry-queries.ts';
import {
  type Changes,
  COLUMN_OF,
  type Content,
  computeEntryChecksum,
  type EntryRow,
  serializeHeld,
} from './entry-row.ts';
import {
  makeDamagedRowError,
  makeUuid,
  type OutboxEvent,
  parseEvent,
  serializeIssues,
} from './events.ts';
import { computeState, foldEvents } from './fold-events.ts';
import { assertOneRowChanged, type Outbox } from './open-outbox.ts';

/** Content of an import; a draft has no document. */
export type ImportContent = {
  readonly document: Buffer | null;
  readonly documentSha512: Buffer | null;
  /** Digest of the find as it was found. */
  readonly digest: string | null;
  readonly project: string | null;
  readonly issues: readonly Issue[];
};

/** Queues an import, or stores it as a draft without a document. */
export function addImport(
  outbox: Outbox,
  findId: FindId,
  content: ImportContent,
  uuid?: string,
): EntryId {
  const { issues, ...wanted } = content;
  return insertEntry(
    outbox,
    'import',
    { findId, identCely: null },
    { ...wanted, issues: serializeIssues(issues) },
    uuid,
  );
}

/** Replaces the content of an import that was not sent, or was refused. */
export function replaceImport(outbox: Outbox, entry: ImportEntry, content: ImportContent): void {
  const { issues, ...wanted } = content;
  writeContent(outbox, entry, { ...wanted, issues: serializeIssues(issues) });
}

/**
 * Queues a number.
 * @param expects number of the record that it may replace: '' for none, null where unknown
 */
export function addNumber(
  outbox: Outbox,
  target: Target,
  value: string,
  expects: string | null,
  uuid?: string,
): EntryId {
  return insertEntry(outbox, 'number', target, { value, expects }, uuid);
}

/**
 * Replaces an unsent number, which overrules a refusal of the old one; no effect where the entry
 * was removed.
 */
export function replaceNumber(
  outbox: Outbox,
  entry: NumberEntry,
  value: string,
  expects: string | null,
): void {
  writeContent(outbox, entry, { value, expects, issues: null });
}

export function addPhoto(
  outbox: Outbox,
  target: Target,
  photograph: Photograph,
  uuid?: string,
): EntryId {
  return insertEntry(outbox, 'photo', target, makePhotoColumns(photograph), uuid);
}

export function replacePhoto(outbox: Outbox, entry: PhotoEntry, photograph: Photograph): void {
  writeContent(outbox, entry, { ...makePhotoColumns(photograph), issues: null });
}

function makePhotoColumns({
  name,
  mediaType,
  sha512,
  originalSha512,
  sizeBytes,
  source,
  link,
}: Photograph): Changes {
  return {
    photoName: name,
    photoType: mediaType,
    photoSha512: sha512,
    photoOriginalSha512: originalSha512 ?? null,
    photoBytes: sizeBytes,
    photoLink: link ?? null,
    photoSource: source ?? null,
  };
}

/** Deletes an entry that was never attempted. */
export function removeEntry(outbox: Outbox, id: EntryId): void {
  outbox.sql('delete from entries where id = ?').run(id);
}

function insertEntry(
  outbox: Outbox,
  kind: EntryKind,
  target: Target,
  changes: Changes,
  givenUuid?: string,
): EntryId {
  const { findId, identCely } = target;
  const now = Math.floor(outbox.clock.now());
  const uuid = givenUuid ?? makeUuid(now);
  const head = {
    uuid,
    findId,
    kind,
    recordKey: makeRecordKey(target),
    createdAt: now,
    updatedAt: now,
  };
  const state: EntryState = kind === 'import' && changes.document == null ? 'draft' : 'queued';
  const crc = computeEntryChecksum(head, { ...changes, identCely });
  const values: unknown[] = [uuid, findId, kind, head.recordKey, now, now, identCely, state, crc];
  for (const name of WANTED[kind]) values.push(changes[name] ?? null);
  return Number(outbox.sql(INSERTS.get(kind) ?? '').run(...values).lastInsertRowid);
}

/** Content columns of each kind at creation. */
const WANTED = {
  import: ['document', 'documentSha512', 'digest', 'project', 'issues'],
  number: ['value', 'expects'],
  photo: [
    'photoName',
    'photoType',
    'photoSha512',
    'photoOriginalSha512',
    'photoBytes',
    'photoLink',
    'photoSource',
  ],
} as const satisfies Record<EntryKind, readonly (keyof Content)[]>;

/** Cache: building a statement's text takes as long as running it. */
const INSERTS = new Map(
  ENTRY_KINDS.map((kind) => {
    const head = [
      'uuid',
      'find_id',
      'kind',
      'record_key',
      'created_at',
      'updated_at',
      'ident_cely',
      'state',
      'crc',
    ];
    const columns = [...head, ...WANTED[kind].map((name) => COLUMN_OF[name])];
    return [
      kind,
      `insert into entries (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    ];
  }),
);

/**
 * Replaces the content of an entry that was not sent; this overrules a refusal of the old content.
 */
function writeContent(outbox: Outbox, entry: Entry, changes: Changes): void {
  const row = findRowById(outbox, entry.id);
  if (row === undefined) return;
  const retryOf = foldEvents(listEventsOfEntry(outbox, entry.uuid)).refusal?.attempt ?? row.retryOf;
  // The gate checks new content again. Only a person can tell if an earlier content was sent.
  const isOfEarlier =
    entry.held?.basis === 'local-id-in-use' || entry.held?.basis === 'not-searched';
  const held = isOfEarlier ? row.held : null;
  update(outbox, row, { ...changes, retryOf, notBeforeAt: 0, reason: null, held });
  refreshState(outbox, entry.id);
}

/** Gives an entry another UUID: the content belongs to the entry that events name. */
export function assignEntryUuid(outbox: Outbox, id: EntryId, uuid: string): void {
  const row = findRowById(outbox, id);
  if (row === undefined) return;
  outbox
    .sql('update entries set uuid = ?, crc = ? where id = ?')
    .run(uuid, computeEntryChecksum({ ...row, uuid }, row), id);
}

/**
 * Stores the sent content of an import instead of that of the file, for comparison with the
 * service's record.
 */
export function assignSentContent(outbox: Outbox, id: EntryId, sent: ImportContent): void {
  const { issues: _issues, ...content } = sent;
  update(outbox, getEntryRow(outbox, id), content);
}

/** Sets the record of a number or a photograph; null where it must wait for one. */
export function assignRecord(outbox: Outbox, id: EntryId, identCely: string | null): void {
  update(outbox, getEntryRow(outbox, id), { identCely });
}

/**
 * Columns that change without an event: when an entry may be sent, the reason of the delay, and a
 * question for a person.
 */
type Schedule = {
  readonly notBeforeAt?: number;
  readonly retryOf?: string | null;
  readonly reason?: string | null;
  readonly issues?: string | null;
  readonly held?: HeldQuestion | null;
};

/** Changes when an entry may be sent, and why not now. */
export function schedule(outbox: Outbox, id: EntryId, changes: Schedule): void {
  scheduleRow(outbox, getEntryRow(outbox, id), changes);
}

/**
 * Changes the schedules of entries in one transaction.
 * @throws DatabaseError where one is missing
 */
export function scheduleEach(
  outbox: Outbox,
  ids: readonly EntryId[],
  getChanges: (row: EntryRow) => Schedule,
): void {
  outbox.change(() => {
    for (const id of ids) {
      const row = getEntryRow(outbox, id);
      scheduleRow(outbox, row, getChanges(row));
    }
  });
}

function scheduleRow(outbox: Outbox, row: EntryRow, { held, ...columns }: Schedule): void {
  update(outbox, row, { ...columns, ...(held === undefined ? {} : { held: serializeHeld(held) }) });
  if (columns.retryOf !== undefined) refreshState(outbox, row.id);
}

function update(outbox: Outbox, row: EntryRow, changes: Changes): void {
  const updatedAt = Math.floor(outbox.clock.now());
  const all = {
    ...changes,
    crc: computeEntryChecksum({ ...row, updatedAt }, { ...row, ...changes }),
  };
  const columns = Object.entries(COLUMN_OF).filter(([name]) => name in all);
  const { changes: changed } = outbox
    .sql(
      `update entries set updated_at = :updatedAt, ${columns.map(([name, column]) => `${column} = :${name}`).join(', ')} where id = :id`,
    )
    .run({ id: row.id, updatedAt, ...all });
  assertOneRowChanged(outbox, changed, msg`changing entry ${row.id}`);
}

/** Returns the events of an entry for foldEvents. @throws DatabaseError where one is damaged */
export function listEventsOfEntry(outbox: Outbox, uuid: string): OutboxEvent[] {
  const rows = outbox.sql('select * from events where entry = ? order by position, id').all(uuid);
  return rows.map((row) => parseEvent(outbox.path, row));
}

/** Tells if the outbox has an event of this kind, or of any. */
export function hasEvent(outbox: Outbox, kind: OutboxEvent['kind'] | null = null): boolean {
  return (
    outbox.sql('select 1 from events where :kind is null or kind = :kind limit 1').get({ kind }) !==
    undefined
  );
}

/** Returns the sequence number of an event in this outbox; 0 where it has no such event. */
export function getEventSeq(outbox: Outbox, id: string): number {
  const seq = outbox.sql('select seq from events where id = ?').pluck().get(id);
  return typeof seq === 'number' ? seq : 0;
}

/**
 * Derives the state of an entry from its events and its content; no other code writes a state.
 * @param events its events, where they were read already
 * @returns true if the state changed
 * @throws DatabaseError where fewer attempts are found than before: events are never removed
 */
export function refreshState(
  outbox: Outbox,
  id: EntryId,
  events?: readonly OutboxEvent[],
): boolean {
  const row = findRowById(outbox, id);
  if (row === undefined) return false;
  const facts = foldEvents(events ?? listEventsOfEntry(outbox, row.uuid));
  if (events === undefined && facts.attempts < row.attempts)
    throw makeDamagedRowError(outbox.path, msg`entry ${id}`);
  const state = computeState(facts, {
    hasContent: row.kind !== 'import' || row.document !== null,
    retryOf: row.retryOf,
  });
  const identCely = row.kind === 'import' ? (facts.accepted?.identCely ?? null) : row.identCely;
  const unknownAttempts = facts.open.size + facts.unknown.size;
  const isChanged =
    state !== row.state ||
    identCely !== row.identCely ||
    unknownAttempts !== row.unknownAttempts ||
    facts.attempts !== row.attempts;
  if (!isChanged) return false;
  const refusal = state === 'refused' ? { issues: facts.refusal?.body.issues ?? null } : {};
  const settled = state === 'accepted' || state === 'sending' ? { issues: null } : refusal;
  const question = state === 'queued' || state === 'draft' ? {} : { held: null };
  update(outbox, row, {
    state,
    identCely,
    unknownAttempts,
    attempts: facts.attempts,
    ...settled,
    ...question,
  });
  if (row.kind === 'import' && identCely !== row.identCely) moveDependents(outbox, row, identCely);
  return true;
}

/**
 * Moves entries that are queued for the record of an import along with it; without a record they
 * wait again.
 */
function moveDependents(
  outbox: Outbox,
  { findId, identCely: before }: EntryRow,
  identCely: string | null,
): void {
  for (const { id } of listUnsettledChanges(outbox, findId, before))
    assignRecord(outbox, id, identCely);
}

/**
 * Stores the reason of an entry, or deletes it (null).
 * @throws DatabaseError where the entry is missing
 */
export function setReason(outbox: Outbox, id: EntryId, reason: string | null): void {
  update(outbox, getEntryRow(outbox, id), { reason });
}

/**
 * Returns the project of an entry; null where it is unknown. An identifier begins with its
 * project's.
 */
export function getProject(entry: Entry): string | null {
  return entry.kind === 'import'
    ? entry.project
    : (entry.identCely?.match(/^(.+)-N\d+$/)?.[1] ?? null);
}

export function hasEntry(outbox: Outbox, uuid: string): boolean {
  return outbox.sql('select 1 from entries where uuid = ?').get(uuid) !== undefined;
}
