import { msg } from '../base/message.ts';
import { isNumber, parseValue } from '../store/database.ts';
import type {
  Entry,
  EntryId,
  EntryKind,
  FindId,
  ImportEntry,
  NumberEntry,
  PhotoEntry,
} from './entry.ts';
import { COLUMN_OF, type EntryRow, parseEntry, parseEntryRow } from './entry-row.ts';
import { assertOneRowChanged, type Outbox } from './open-outbox.ts';

export type Target = {
  /** The find's row; null for a record of the service without a find here. */
  readonly findId: FindId | null;
  /** The record's identifier, once it is known. */
  readonly identCely: string | null;
};

/**
 * Returns the key that entries of one record share, so that no two requests write to one record at
 * once.
 */
export function makeRecordKey(target: Target): string {
  return target.findId === null ? `record:${target.identCely}` : `find:${target.findId}`;
}

const COLUMNS = `entries.id, entries.uuid, entries.find_id as findId, finds.uuid as findUuid, finds.local_id as localId, entries.kind,
  entries.record_key as recordKey, entries.created_at as createdAt, entries.updated_at as updatedAt,
  ${Object.entries(COLUMN_OF)
    .map(([name, column]) => `entries.${column} as ${name}`)
    .join(', ')}`;

const FROM = 'from entries left join finds on finds.id = entries.find_id';

/** Entries that were not sent, or whose outcome is open, by the index `entries_by_state`. */
const UNSENT = `entries.kind in ('import', 'number', 'photo') and state in ('draft', 'queued', 'sending', 'refused', 'uncertain')`;

/**
 * Returns the row of an entry; undefined where it was removed.
 * @throws DatabaseError where it is damaged
 */
export function findRowById(outbox: Outbox, id: EntryId): EntryRow | undefined {
  const row = outbox.sql(`select ${COLUMNS} ${FROM} where entries.id = ?`).get(id);
  return row === undefined ? undefined : parseEntryRow(outbox, row);
}

/**
 * Returns the row of an entry.
 * @throws DatabaseError where it is damaged, or another process removed it
 */
export function getEntryRow(outbox: Outbox, id: EntryId): EntryRow {
  const row = outbox.sql(`select ${COLUMNS} ${FROM} where entries.id = ?`).get(id);
  assertOneRowChanged(outbox, row === undefined ? 0 : 1, msg`changing entry ${id}`);
  return parseEntryRow(outbox, row);
}

/**
 * Checks every entry by its checksum, or at most so many, and as many of the unsent ones. It uses
 * no index, since that may be damaged.
 * @throws DatabaseError where one differs from what was written
 */
export function assertSoundEntries(outbox: Outbox, most = Number.MAX_SAFE_INTEGER): void {
  const all = `select ${COLUMNS} from entries not indexed left join finds on finds.id = entries.find_id limit ?`;
  const unsent = `select ${COLUMNS} ${FROM} where ${UNSENT} limit ?`;
  for (const query of most === Number.MAX_SAFE_INTEGER ? [all] : [all, unsent])
    for (const row of outbox.sql(query).iterate(most)) parseEntryRow(outbox, row);
}

/**
 * Returns `find_id` of up to `limit` unsent entries, unchecked; null for an entry of a record
 * without a find here.
 */
export function listUnsentFindIds(outbox: Outbox, limit: number): unknown[] {
  return outbox.sql(`select find_id from entries where ${UNSENT} limit ?`).pluck().all(limit);
}

export function findEntryById(outbox: Outbox, id: EntryId): Entry | undefined {
  return selectEntries(outbox, 'entries.id = :id', { id }).at(0);
}

export function findEntryByUuid(outbox: Outbox, uuid: string): Entry | undefined {
  return selectEntries(outbox, 'entries.uuid = :uuid', { uuid }).at(0);
}

export function listEntriesOfFind(outbox: Outbox, findId: FindId): Entry[] {
  return selectEntries(outbox, 'find_id = :findId', { findId });
}

export function listEntriesOfRecord(outbox: Outbox, identCely: string): Entry[] {
  return selectEntries(outbox, 'ident_cely = :identCely', { identCely });
}

/** Returns the entries of the find, or of the record where the target has no find here. */
export function listEntriesOfTarget(outbox: Outbox, { findId, identCely }: Target): Entry[] {
  return findId === null
    ? listEntriesOfRecord(outbox, identCely ?? '')
    : listEntriesOfFind(outbox, findId);
}

/**
 * Returns the import of a find, even a dropped one.
 * @throws DatabaseError where it is missing since an entry is damaged
 */
export function findImportOfFind(outbox: Outbox, findId: FindId): ImportEntry | undefined {
  const [entry] = selectEntries(outbox, `find_id = :findId and entries.kind = 'import'`, {
    findId,
  });
  if (entry?.kind === 'import') return entry;
  assertSoundEntries(outbox);
  return undefined;
}

/** Returns the import that is known to have made a record. */
export function findImportOfRecord(outbox: Outbox, identCely: string): ImportEntry | undefined {
  const [entry] = selectEntries(
    outbox,
    `ident_cely = :identCely and +entries.kind = 'import' and +state = 'accepted'`,
    { identCely },
  );
  return entry?.kind === 'import' ? entry : undefined;
}

/**
 * Returns an uncertain import, other than this one, that had the record until the service gave it
 * to another find.
 */
export function findFormerOwner(outbox: Outbox, id: EntryId, identCely: string): Entry | undefined {
  return selectEntries(
    outbox,
    `state in ('draft', 'refused', 'sending', 'uncertain') and +state = 'uncertain' and +entries.kind = 'import' and entries.id <> :id
       and exists (select 1 from events where events.entry = entries.uuid and events.kind = 'decided'
         and body ->> 'answer' = 'release' and body ->> 'identCely' = :identCely)`,
    { id, identCely },
    'limit 1',
  ).at(0);
}

export function listAllEntries(outbox: Outbox): Entry[] {
  return selectEntries(outbox, 'true', {});
}

type UnsettledState = 'draft' | 'refused' | 'sending' | 'uncertain';

export function listEntriesInState(outbox: Outbox, state: UnsettledState): Entry[] {
  // SQLite uses the index `entries_unsettled` only for this exact condition; the plus excludes
  // other indexes.
  return selectEntries(
    outbox,
    `state in ('draft', 'refused', 'sending', 'uncertain') and +state = :state`,
    { state },
  );
}

/** Returns entries with a question that a person must answer. */
export function listHeldEntries(outbox: Outbox): Entry[] {
  return selectEntries(outbox, `held is not null and state = 'queued'`, {});
}

/** Returns photographs of which the service may not have a copy yet. */
export function listUnsentPhotoEntries(outbox: Outbox): PhotoEntry[] {
  return listPhotoEntries(outbox, `state <> 'accepted' and state <> 'dropped'`);
}

/** Returns all photographs, including dropped ones. */
export function listPhotoEntries(
  outbox: Outbox,
  condition = 'true',
  values: Record<string, unknown> = {},
): PhotoEntry[] {
  return selectEntries(outbox, `entries.kind = 'photo' and ${condition}`, values).filter(
    (entry) => entry.kind === 'photo',
  );
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
  const query = outbox.sql(`select ${COLUMNS} ${FROM} where ${condition} ${tail}`);
  return query.all(values).map((row) => parseEntry(outbox, row));
}

export function isDropped(outbox: Outbox, findId: FindId): boolean {
  return findImportOfFind(outbox, findId)?.state === 'dropped';
}

/**
 * Returns numbers and photographs of a find that have this record, or none, and are neither
 * accepted nor being sent.
 */
export function listUnsettledChanges(
  outbox: Outbox,
  findId: FindId | null,
  identCely: string | null,
): Entry[] {
  return selectEntries(
    outbox,
    `find_id = :findId and entries.kind <> 'import' and ident_cely is :identCely and state not in ('accepted', 'sending')`,
    { findId, identCely },
  );
}

/**
 * Returns all numbers of a record, by its find or by its identifier, in the order of the queue. The
 * plus, here and below, keeps SQLite from scanning all numbers of the outbox.
 */
export function listNumbers(outbox: Outbox, { findId, identCely }: Target): NumberEntry[] {
  return selectEntries(
    outbox,
    `+entries.kind = 'number' and (find_id = :findId or ident_cely = :identCely)`,
    { findId, identCely },
  ).filter(isNumberEntry);
}

const LATER_NUMBERS = `select 1 from entries as later
    where +later.kind = 'number' and later.ident_cely = entries.ident_cely and later.id > entries.id`;

/**
 * An earlier number of the record may still be under way: arriving later, it would overwrite this
 * one.
 */
const AWAITS_EARLIER = `exists (
    select 1 from entries as earlier
    where +earlier.kind = 'number' and earlier.ident_cely = entries.ident_cely and earlier.id < entries.id and earlier.unknown_attempts > 0
      and earlier.state <> 'dropped')`;

/** A later number of the record was sent, or is queued. */
const SUPERSEDED = `exists (${LATER_NUMBERS} and later.state in ('sending', 'uncertain', 'accepted', 'queued') and later.held is null)`;

/**
 * Returns unsent numbers with a later one of their record that was sent.
 * @param identCely only those of this record
 */
export function listSupersededNumbers(outbox: Outbox, identCely: string | undefined): Entry[] {
  return selectEntries(
    outbox,
    `+entries.kind = 'number' and +state in ('queued', 'refused') ${identCely === undefined ? '' : 'and ident_cely = :identCely'}
       and exists (${LATER_NUMBERS} and later.state in ('accepted', 'sending'))`,
    { identCely },
  );
}

/** Returns the numbers that are set or queued, in the order of the queue. */
export function listEffectiveNumbers(outbox: Outbox): NumberEntry[] {
  return selectEntries(
    outbox,
    `entries.kind = 'number' and state not in ('dropped', 'refused')`,
    {},
  ).filter((entry) => entry.kind === 'number');
}

export type ClaimableQuery = {
  readonly kinds: readonly EntryKind[];
  /** Keys of the records whose entries may be claimed; undefined for all. */
  readonly recordKeys: readonly string[] | undefined;
  /** Records with a request under way, by their keys and their identifiers. */
  readonly busyRecords: readonly string[];
  /** Projects whose imports are sent one at a time, and that have one under way. */
  readonly busyProjects: readonly string[];
  readonly openCircuits: readonly EntryScope[];
};

/** Entries of a kind, optionally of one project, or of one record of it. */
export type EntryScope = {
  readonly kind: EntryKind;
  readonly project: string | null;
  readonly record?: string | null;
};

/** Matches entries that create or change a find of this project. */
const OF_PROJECT = `project = :project or substr(ident_cely, 1, length(:project) + 2) = :project || '-N'`;

const CLAIMABLE = `state = 'queued' and held is null and (entries.kind = 'import' or ident_cely is not null)
  and +entries.kind in (select value from json_each(:kinds))
  and (:recordKeys is null or record_key in (select value from json_each(:recordKeys)))
  and record_key not in (select value from json_each(:busyRecords))
  and (ident_cely is null or ident_cely not in (select value from json_each(:busyRecords)))
  and (project is null or project not in (select value from json_each(:busyProjects)))
  and not exists (
    select 1 from json_each(:openCircuits) as part
    where part.value ->> 'kind' = entries.kind and (part.value ->> 'project' is null or ${OF_PROJECT.replaceAll(':project', `(part.value ->> 'project')`)})
      and coalesce(part.value ->> 'record', ident_cely) is ident_cely)
  and (entries.kind <> 'number' or not (${SUPERSEDED} or ${AWAITS_EARLIER}))`;

/**
 * Returns the oldest entry that may be sent now. A number or a photograph is claimable once its
 * record has an identifier.
 */
export function findNextClaimable(outbox: Outbox, query: ClaimableQuery): Entry | undefined {
  return selectEntries(
    outbox,
    `${CLAIMABLE} and not_before_at <= :now`,
    { ...makeQueryValues(query), now: Math.floor(outbox.clock.now()) },
    'order by not_before_at, entries.id limit 1',
  ).at(0);
}

/** Returns the first claimable entry by `notBeforeAt`, whether it is due or not. */
export function findNextScheduled(outbox: Outbox, query: ClaimableQuery): Entry | undefined {
  return selectEntries(
    outbox,
    CLAIMABLE,
    makeQueryValues(query),
    'order by not_before_at, entries.id limit 1',
  ).at(0);
}

/**
 * Returns the earliest `notBeforeAt` of claimable entries, by the wall clock; undefined when there
 * are none.
 */
export function findNextClaimableAt(outbox: Outbox, query: ClaimableQuery): number | undefined {
  const at = outbox
    .sql(`select min(not_before_at) from entries where ${CLAIMABLE}`)
    .pluck()
    .get(makeQueryValues(query));
  return typeof at === 'number' ? at : undefined;
}

function makeQueryValues(query: ClaimableQuery): Record<string, unknown> {
  return {
    kinds: JSON.stringify(query.kinds),
    recordKeys: query.recordKeys === undefined ? null : JSON.stringify(query.recordKeys),
    busyRecords: JSON.stringify(query.busyRecords),
    busyProjects: JSON.stringify(query.busyProjects),
    openCircuits: JSON.stringify(query.openCircuits),
  };
}

/** Counts queued entries of a scope and those being sent. */
export function countOpen(outbox: Outbox, { kind, project, record = null }: EntryScope): number {
  const count = outbox
    .sql(
      `select count(*) from entries
       where state in ('queued', 'sending') and kind = :kind and (:project is null or ${OF_PROJECT})
         and (:record is null or ident_cely = :record)`,
    )
    .pluck()
    .get({ kind, project, record });
  return parseValue(isNumber, count);
}

export function listQueuedOfScope(
  outbox: Outbox,
  { kind, project, record = null }: EntryScope,
): EntryId[] {
  return selectIds(
    outbox,
    `state = 'queued' and kind = :kind and (${OF_PROJECT}) and (:record is null or ident_cely = :record)`,
    { kind, project, record },
  );
}

/**
 * Returns queued entries with more backoff than the maximum, and those that were changed in the
 * future of the clock.
 */
export function listQueuedTooFarAhead(outbox: Outbox, maxBackoffMs: number): EntryId[] {
  return selectIds(
    outbox,
    `state = 'queued' and (not_before_at > :now + :maxBackoffMs or (updated_at > :now and not_before_at > 0))`,
    { now: Math.floor(outbox.clock.now()), maxBackoffMs },
  );
}

/** Returns queued entries of the records that have a backoff, even if its end has passed. */
export function listQueuedWithBackoff(outbox: Outbox, recordKeys: readonly string[]): EntryId[] {
  return selectIds(
    outbox,
    `state = 'queued' and not_before_at > 0 and record_key in (select value from json_each(:recordKeys))`,
    { recordKeys: JSON.stringify(recordKeys) },
  );
}

/**
 * Returns queued entries of a project that are held since it has records that this account is not
 * shown.
 */
export function listHeldAboutHiddenRecords(outbox: Outbox, project: string): EntryId[] {
  return selectIds(
    outbox,
    `project = :project and held ->> 'basis' = 'hidden-records' and state = 'queued'`,
    { project },
  );
}

function selectIds(outbox: Outbox, condition: string, values: Record<string, unknown>): EntryId[] {
  const ids = outbox.sql(`select id from entries where ${condition}`).pluck().all(values);
  return ids.map((id) => parseValue(isNumber, id));
}

/** @param ids undefined for all */
export function listQueuedEntries(outbox: Outbox, ids?: readonly EntryId[]): Entry[] {
  if (ids === undefined) return selectEntries(outbox, `state = 'queued'`, {});
  return selectEntries(
    outbox,
    `state = 'queued' and entries.id in (select value from json_each(:ids))`,
    { ids: JSON.stringify(ids) },
  );
}

/** Returns photographs of a record with this content, including dropped ones. */
export function listPhotographsByDigest(
  outbox: Outbox,
  record: string,
  digest: Buffer,
): PhotoEntry[] {
  const condition = 'photo_sha512 = :digest and record_key = :record';
  return listPhotoEntries(outbox, condition, { digest, record });
}

/** Returns photographs of a record that were read from this file, without dropped ones. */
export function listPhotographsBySource(
  outbox: Outbox,
  record: string,
  source: string,
): PhotoEntry[] {
  const condition = `record_key = :record and photo_source = :source and state <> 'dropped'`;
  return listPhotoEntries(outbox, condition, { record, source });
}

/** Returns queued numbers of a record that were never attempted, except one. */
export function listUntriedNumbers(outbox: Outbox, record: string, except: string): NumberEntry[] {
  return selectEntries(
    outbox,
    `record_key = :record and attempts = 0 and entries.kind = 'number' and state = 'queued' and entries.uuid <> :except`,
    { record, except },
  ).filter(isNumberEntry);
}

/** Returns an entry of a record with this number or photograph that was never attempted. */
export function findUntriedAlike(
  outbox: Outbox,
  record: string,
  { value, sha512 }: { readonly value: string | null; readonly sha512: Buffer | undefined },
): Entry | undefined {
  const condition =
    sha512 === undefined
      ? `entries.kind = 'number' and value = :value`
      : `entries.kind = 'photo' and photo_sha512 = :sha512`;
  return selectEntries(outbox, `record_key = :record and attempts = 0 and ${condition}`, {
    record,
    value,
    sha512,
  }).at(0);
}

/** Returns accepted imports, newest first. */
export function listLatestAccepted(outbox: Outbox, limit: number): Entry[] {
  return selectEntries(
    outbox,
    `entries.kind = 'import' and state = 'accepted'`,
    { limit },
    'order by entries.updated_at desc limit :limit',
  );
}

/**
 * Returns incomplete imports: those of these records, or all those that block numbers or
 * photographs.
 */
export function listDraftImports(
  outbox: Outbox,
  recordKeys: readonly string[] | undefined,
): Entry[] {
  const ofRecords = 'record_key in (select value from json_each(:recordKeys))';
  const withDependents = `exists (select 1 from entries as waiting where waiting.find_id = entries.find_id and waiting.kind <> 'import' and waiting.state = 'queued')`;
  return selectEntries(
    outbox,
    `state = 'draft' and ${recordKeys === undefined ? withDependents : ofRecords}`,
    recordKeys === undefined ? {} : { recordKeys: JSON.stringify(recordKeys) },
  );
}

/** Returns entries that only a person or evidence can settle: held ones first, then the oldest. */
export function listNeedingPerson(outbox: Outbox, limit: number): Entry[] {
  const held = listHeldEntries(outbox);
  const otherEntries = selectEntries(
    outbox,
    `state <> 'sending' and not (state = 'uncertain' and entries.kind <> 'import' and ident_cely is null)
     and state in ('draft', 'refused', 'sending', 'uncertain') and finds.hidden_at is null`,
    { limit },
    'order by state, entries.id limit :limit',
  );
  return [...held, ...otherEntries].slice(0, limit);
}

function isNumberEntry(entry: Entry): entry is NumberEntry {
  return entry.kind === 'number';
}
