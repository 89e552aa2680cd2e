import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import {
  createRowGuard,
  createRowParser,
  isNumber,
  isText,
  orNull,
  parseTexts,
  parseValue,
  type RowOf,
} from '../store/database.ts';
import { normalizeId } from '../text/characters.ts';
import type { FindId } from './entry.ts';
import { listUnsentFindIds } from './entry-queries.ts';
import { computeChecksum, makeDamagedRowError, makeUuid } from './events.ts';
import type { Outbox } from './open-outbox.ts';

/** Element names and values from the find layer; the outbox does not interpret them. */
export type StoredElements = Readonly<Record<string, unknown>>;

/**
 * A row of a table as last imported: its elements, and its photographs with their SHA-512; null for
 * a missing one.
 */
export type ImportedRow = {
  readonly elements: StoredElements;
  readonly photos: Readonly<Record<string, string | null>>;
};

export type StoredFind = {
  readonly id: FindId;
  readonly uuid: string;
  readonly localId: string;
  readonly elements: StoredElements;
  /** Incremented by each change. */
  readonly version: number;
  readonly sourceFile: string | null;
  readonly sourceRow: number | null;
  /** Full path of the table, with the sheet. */
  readonly sourcePath: string | null;
  /** Its row as last imported, for {@link getImportedRow}; null for a find without a table. */
  readonly base: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** A person removed it after an attempt. */
  readonly isHidden: boolean;
};

/**
 * @property unit absent for a row of a spreadsheet; a waypoint or feature is not stored by its
 * number, but known by its name
 */
type FoundIn = { readonly file: string; readonly row: number | null; readonly unit?: string };

type FindToStore = {
  readonly localId: string;
  readonly elements: StoredElements;
  readonly source?: FoundIn;
  readonly sourcePath?: string | null;
  readonly base?: ImportedRow | null;
  readonly uuid?: string;
  readonly createdAt?: number;
};

const COLUMNS = `finds.id, finds.uuid, finds.local_id as localId, finds.elements, finds.version, finds.source_file as sourceFile,
  finds.source_row as sourceRow, finds.source_path as sourcePath, finds.base, finds.created_at as createdAt, finds.updated_at as updatedAt, finds.hidden_at as hiddenAt, finds.crc`;

/** Columns that the checksum covers, in the order of {@link INSERT_FIND}. */
const COVERED = {
  uuid: isText,
  localId: isText,
  elements: isText,
  version: isNumber,
  sourceFile: orNull(isText),
  sourceRow: orNull(isNumber),
  sourcePath: orNull(isText),
  base: orNull(isText),
  createdAt: isNumber,
  updatedAt: isNumber,
  hiddenAt: orNull(isNumber),
};
type FindContent = RowOf<typeof COVERED>;

const isFindRow = createRowGuard({ ...COVERED, id: isNumber, crc: isNumber });
/** A row as it is logged before a command changes it. */
export type LoggedFindRow = FindContent & { readonly id: FindId };

function listValues(row: FindContent): readonly (string | number | null)[] {
  const {
    uuid,
    localId,
    elements,
    version,
    sourceFile,
    sourceRow,
    sourcePath,
    base,
    createdAt,
    updatedAt,
    hiddenAt,
  } = row;
  return [
    uuid,
    localId,
    elements,
    version,
    sourceFile,
    sourceRow,
    sourcePath,
    base,
    createdAt,
    updatedAt,
    hiddenAt,
  ];
}

const INSERT_FIND = `insert into finds
  (id, uuid, local_id, elements, version, source_file, source_row, source_path, base, created_at, updated_at, hidden_at, crc)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

function computeFindChecksum(row: FindContent): number {
  return computeChecksum(listValues(row));
}

/** @returns the row's id */
export function insertFind(outbox: Outbox, find: FindToStore): FindId {
  const now = Math.floor(outbox.clock.now());
  const elements = JSON.stringify(find.elements);
  return insertRow(outbox, {
    uuid: find.uuid ?? makeUuid(now),
    localId: find.localId,
    elements,
    version: 1,
    ...getSourceColumns(find.source),
    sourcePath: find.sourcePath ?? null,
    base: serializeBase(find.base, find.elements),
    createdAt: find.createdAt ?? now,
    updatedAt: now,
    hiddenAt: null,
  });
}

/** @param id of a find that was removed; without it, a new one */
function insertRow(outbox: Outbox, row: FindContent, id: FindId | null = null): FindId {
  const values = listValues(row);
  return Number(
    outbox.sql(INSERT_FIND).run(id, ...values, computeChecksum(values)).lastInsertRowid,
  );
}

/**
 * Replaces the elements of a find.
 * @throws UsageError where another process changed it since it was read as `version`
 */
export function updateFind(outbox: Outbox, find: FindToStore, version?: number): void {
  outbox.change(() => {
    const row = findRowByLocalId(outbox, find.localId);
    if (row === undefined || (version !== undefined && row.version !== version))
      throw makeChangedError(find.localId);
    const sourcePath = find.sourcePath === undefined ? row.sourcePath : find.sourcePath;
    const base = serializeBase(
      find.base === undefined
        ? getImportedRow({ ...row, elements: JSON.parse(row.elements) })
        : find.base,
      find.elements,
    );
    const source = find.source && getSourceColumns(find.source);
    replaceRow(outbox, {
      ...row,
      elements: JSON.stringify(find.elements),
      ...source,
      sourcePath,
      base,
    });
  });
}

function getSourceColumns({
  file,
  row,
  unit,
}: Partial<FoundIn> = {}): Pick<FindContent, 'sourceFile' | 'sourceRow'> {
  return { sourceFile: file ?? null, sourceRow: (unit === undefined ? row : null) ?? null };
}

/** Returns a find's row as last imported. */
export function getImportedRow({
  base,
  elements,
}: Pick<StoredFind, 'base' | 'elements'>): ImportedRow | undefined {
  return base === null ? undefined : { elements, ...JSON.parse(base) };
}

/** Elements that are equal to those of the find are stored once. */
function serializeBase(
  base: ImportedRow | null | undefined,
  elements: StoredElements,
): string | null {
  if (base == null) return null;
  return JSON.stringify(
    isDeepStrictEqual(base.elements, elements) ? { photos: base.photos } : base,
  );
}

/** Writes a find as a new version. */
function replaceRow(outbox: Outbox, before: LoggedFindRow): void {
  const row = { ...before, version: before.version + 1, updatedAt: Math.floor(outbox.clock.now()) };
  outbox
    .sql(
      `update finds set uuid = :uuid, local_id = :localId, elements = :elements, version = :version, source_file = :sourceFile,
         source_row = :sourceRow, source_path = :sourcePath, base = :base, updated_at = :updatedAt, hidden_at = :hiddenAt, crc = :crc where id = :id`,
    )
    .run({ ...row, crc: computeFindChecksum(row) });
}

/** Returns the row of a find, also of a hidden one. @throws DatabaseError where it is damaged */
export function findStoredRowById(outbox: Outbox, id: FindId): LoggedFindRow | undefined {
  return findRowWhere(outbox, 'id = ?', id);
}

/**
 * Restores a row from {@link findStoredRowById} as a new version; inserts it where it was removed.
 */
export function restoreFind(outbox: Outbox, before: LoggedFindRow): void {
  const now = findRowWhere(outbox, 'id = ?', before.id);
  if (now === undefined) insertRow(outbox, before, before.id);
  else replaceRow(outbox, { ...before, version: now.version });
}

/** Hides a removed find, or shows it again, as a new version; no effect where it is missing. */
export function setHidden(outbox: Outbox, id: FindId, isHidden: boolean): void {
  const row = findRowWhere(outbox, 'id = ?', id);
  if (row !== undefined)
    replaceRow(outbox, { ...row, hiddenAt: isHidden ? Math.floor(outbox.clock.now()) : null });
}

function makeChangedError(localId: string): UsageError {
  return new UsageError(msg`Another pas process changed ${localId}.`, {
    hint: msg`Run the command again.`,
  });
}

/** @param localId as stored, or as typed */
export function findByLocalId(outbox: Outbox, localId: string): StoredFind | undefined {
  const find = readOneFind(outbox, `select ${COLUMNS} from finds where local_id = ?`, localId);
  const normal = find === undefined ? normalizeId(localId) : localId;
  return normal === localId
    ? find
    : readOneFind(outbox, `select ${COLUMNS} from finds where local_id = ?`, normal);
}

/** Returns an unused local id, derived from a used one. */
export function freeLocalId(outbox: Outbox, localId: string): string {
  for (let count = 2; ; count += 1) {
    const name = `${localId}-${count}`;
    if (findByLocalId(outbox, name) === undefined) return name;
  }
}

export function findById(outbox: Outbox, id: FindId): StoredFind | undefined {
  return readOneFind(outbox, `select ${COLUMNS} from finds where id = ?`, id);
}

export function findByUuid(outbox: Outbox, uuid: string): StoredFind | undefined {
  return readOneFind(outbox, `select ${COLUMNS} from finds where uuid = ?`, uuid);
}

/** Returns the find to which the service gave this identifier. */
export function findByIdentCely(outbox: Outbox, identCely: string): StoredFind | undefined {
  return readOneFind(
    outbox,
    `select ${COLUMNS} from finds join entries on entries.find_id = finds.id
     where entries.ident_cely = ? and +kind = 'import' and +state = 'accepted'`,
    identCely,
  );
}

/** Yields finds in the order of entry, without removed ones. */
export function* iterateFinds(outbox: Outbox): Generator<StoredFind> {
  const rows = outbox
    .sql(`select ${COLUMNS} from finds where hidden_at is null order by id`)
    .iterate();
  for (const row of rows) yield parseFind(outbox, row);
}

/**
 * Checks every find by its checksum, including removed ones; or at most so many, and as many of the
 * unsent ones.
 * @throws DatabaseError where one differs from what was written
 */
export function assertSoundFinds(outbox: Outbox, most = Number.MAX_SAFE_INTEGER): void {
  for (const row of outbox.sql(`select ${COLUMNS} from finds not indexed limit ?`).iterate(most))
    parseFind(outbox, row);
  if (most === Number.MAX_SAFE_INTEGER) return;
  const unsent = outbox.sql(
    `select ${COLUMNS} from finds where id in (select value from json_each(?))`,
  );
  for (const row of unsent.iterate(JSON.stringify(listUnsentFindIds(outbox, most))))
    parseFind(outbox, row);
}

/** Returns the newest finds first. */
export function listLatestFinds(outbox: Outbox, limit: number): StoredFind[] {
  const rows = outbox
    .sql(`select ${COLUMNS} from finds where hidden_at is null order by id desc limit ?`)
    .all(limit);
  return rows.map((row) => parseFind(outbox, row));
}

/** Counts the finds that are not hidden. */
export function countFinds(outbox: Outbox): number {
  const count = outbox
    .sql(
      'select (select count(*) from finds) - (select count(*) from finds where hidden_at is not null)',
    )
    .pluck()
    .get();
  return parseValue(isNumber, count);
}

const parseDigest = createRowParser({ digest: isText, localId: isText });

/** Returns local ids of finds that are queued or sent, by the digests of their imports. */
export function listImportDigests(outbox: Outbox): Map<string, string[]> {
  const rows = outbox
    .sql(
      `select digest, local_id as localId from entries join finds on finds.id = find_id
       where kind = 'import' and digest is not null and state <> 'dropped' and hidden_at is null order by finds.id`,
    )
    .iterate();
  const digestsByFind = new Map<string, string[]>();
  for (const row of rows) {
    const { digest, localId } = parseDigest(row);
    const equal = digestsByFind.get(digest);
    if (equal === undefined) digestsByFind.set(digest, [localId]);
    else equal.push(localId);
  }
  return digestsByFind;
}

const parseName = createRowParser({ name: isText, localId: isText });

/** Returns the local ids and identifiers of finds, each with the local id. */
export function listNamesOfFinds(outbox: Outbox): ReturnType<typeof parseName>[] {
  const rows = outbox
    .sql(
      `select local_id as name, local_id as localId from finds
       union all select entries.ident_cely, finds.local_id from entries join finds on finds.id = entries.find_id
         where entries.kind = 'import' and entries.state = 'accepted'`,
    )
    .all();
  return rows.map(parseName);
}

/** Returns local ids of finds from a table. @param path its full path, with the sheet */
export function listLocalIdsFrom(outbox: Outbox, path: string): string[] {
  const ids = outbox
    .sql('select local_id from finds where source_path = ? and hidden_at is null order by id')
    .pluck()
    .all(path);
  return parseTexts(ids);
}

/** Changes the local id of an existing find to an unused one. */
export function renameFind(outbox: Outbox, localId: string, newLocalId: string): void {
  const row = findRowByLocalId(outbox, localId);
  if (row === undefined) throw makeChangedError(localId);
  replaceRow(outbox, { ...row, localId: newLocalId });
}

/** Gives the stored find with this local id another UUID; no effect where it is missing. */
export function assignFindUuid(outbox: Outbox, { localId }: StoredFind, uuid: string): void {
  const row = findRowByLocalId(outbox, localId);
  if (row !== undefined) replaceRow(outbox, { ...row, uuid });
}

function findRowByLocalId(outbox: Outbox, localId: string): LoggedFindRow | undefined {
  return findRowWhere(outbox, 'local_id = ?', localId);
}

function findRowWhere(
  outbox: Outbox,
  condition: string,
  value: string | number,
): LoggedFindRow | undefined {
  const row = outbox.sql(`select ${COLUMNS} from finds where ${condition}`).get(value);
  return row === undefined ? undefined : parseFindRow(outbox, row);
}

function readOneFind(
  outbox: Outbox,
  query: string,
  value: string | number,
): StoredFind | undefined {
  const row = outbox.sql(query).get(value);
  return row === undefined ? undefined : parseFind(outbox, row);
}

/** @throws DatabaseError where the row differs from what was written */
function parseFindRow({ path }: Outbox, row: unknown): LoggedFindRow {
  if (!isFindRow(row)) throw makeDamagedRowError(path, msg`a find`);
  const { crc, ...find } = row;
  if (computeFindChecksum(find) !== crc) throw makeDamagedRowError(path, msg`find ${find.localId}`);
  return find;
}

/** @throws DatabaseError where the row differs from what was written */
function parseFind(outbox: Outbox, stored: unknown): StoredFind {
  const { hiddenAt, ...row } = parseFindRow(outbox, stored);
  return { ...row, elements: JSON.parse(row.elements), isHidden: hiddenAt !== null };
}
