import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** Element names and values as the find layer made them; the outbox keeps them and does not look inside. */
export type StoredElements = Readonly<Record<string, unknown>>;

export type StoredFind = {
  readonly id: number;
  readonly localId: string;
  readonly elements: StoredElements;
  readonly sourceFile: string | null;
  readonly sourceRow: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

type FindToStore = {
  readonly localId: string;
  readonly elements: StoredElements;
  readonly source?: { readonly file: string; readonly row: number };
};

const COLUMNS = `id, local_id as localId, elements, source_file as sourceFile, source_row as sourceRow,
  created_at as createdAt, updated_at as updatedAt`;

const INSERT = `insert into finds (local_id, elements, source_file, source_row, created_at, updated_at)
  values (:localId, :elements, :file, :row, :now, :now)`;

const BY_LOCAL_ID = `select ${COLUMNS} from finds where local_id = ?`;

type FindRow = Omit<StoredFind, 'elements'> & { readonly elements: string };

/** @returns the row's id */
export function insertFind(outbox: Outbox, find: FindToStore): number {
  const { lastInsertRowid } = outbox.sql(INSERT).run(values(find, Math.floor(outbox.clock.now())));
  return Number(lastInsertRowid);
}

export function updateFind(outbox: Outbox, find: FindToStore): void {
  outbox
    .sql(
      `update finds set elements = :elements, source_file = coalesce(:file, source_file),
         source_row = coalesce(:row, source_row), updated_at = :now where local_id = :localId`,
    )
    .run(values(find, Math.floor(outbox.clock.now())));
}

function values(find: FindToStore, now: number): Record<string, unknown> {
  return {
    localId: find.localId,
    elements: JSON.stringify(find.elements),
    file: find.source?.file ?? null,
    row: find.source?.row ?? null,
    now,
  };
}

export function findByLocalId(outbox: Outbox, localId: string): StoredFind | undefined {
  return one(outbox.sql(BY_LOCAL_ID).get(localId));
}

export function findById(outbox: Outbox, id: number): StoredFind | undefined {
  return one(outbox.sql(`select ${COLUMNS} from finds where id = ?`).get(id));
}

/** The find that the service gave this identifier. */
export function findByIdentCely(outbox: ServiceOutbox, identCely: string): StoredFind | undefined {
  return one(
    outbox
      .sql(
        `select ${COLUMNS} from finds where id = (
           select find_id from entries where ident_cely = ? and service_id = ? and kind = 'import' and state = 'accepted')`,
      )
      .get(identCely, outbox.serviceId),
  );
}

/** In the order in which they were entered. */
export function* allFinds(outbox: Outbox, limit = Number.MAX_SAFE_INTEGER): Generator<StoredFind> {
  for (const row of outbox.sql(`select ${COLUMNS} from finds order by id limit ?`).iterate(limit)) yield toFind(row as FindRow);
}

/** The newest first. */
export function latestFinds(outbox: Outbox, limit: number): StoredFind[] {
  return (outbox.sql(`select ${COLUMNS} from finds order by id desc limit ?`).all(limit) as FindRow[]).map(toFind);
}

/** Gives a find another key of the user's; the find must be there, and the new key free. */
export function renameFind(outbox: Outbox, localId: string, newLocalId: string): void {
  outbox
    .sql('update finds set local_id = ?, updated_at = ? where local_id = ?')
    .run(newLocalId, Math.floor(outbox.clock.now()), localId);
}

function one(row: unknown): StoredFind | undefined {
  return row === undefined ? undefined : toFind(row as FindRow);
}

function toFind(row: FindRow): StoredFind {
  return { ...row, elements: JSON.parse(row.elements) as StoredElements };
}
