import type { FileStanding } from '../store/file-folder.ts';
import {
  createRowGuard,
  createRowParser,
  type Guarded,
  isBytes,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../store/row.ts';
import type { Ledger } from './ledger.ts';

/** A row of `records`; see schemas/harvest. */
export type StoredRecord = Guarded<typeof isRecord>;
const isRecord = createRowGuard({
  ...{ identifier: isText, datestamp: isText, sets: isText, deleted: makeMemberGuard([0, 1]), masked: makeMemberGuard([0, 1]) },
  ...{ metadata: orNull(isText), xml: isText },
});

const COLUMNS = ['identifier', 'datestamp', 'sets', 'deleted', 'masked', 'metadata', 'xml'] as const;

export function hasRecord(ledger: Ledger, record: StoredRecord): boolean {
  const row = ledger.sql(`select ${COLUMNS.join(', ')} from records where identifier = ?`).get(record.identifier);
  return isRecord(row) && COLUMNS.every((column) => row[column] === record[column]);
}

/** Counts the rows of the table; undefined where its triggers are missing. */
export function countRows(ledger: Ledger): number | undefined {
  const triggers = ledger.sql(
    `select count(*) from sqlite_master where type = 'trigger' and name in ('record_added', 'record_changed', 'record_removed')`,
  );
  return triggers.pluck().get() === 3 ? Number(ledger.sql('select count(*) from records').pluck().get()) : undefined;
}

export function isEdited(ledger: Ledger): boolean {
  return ledger.sql('select edited from outputs').pluck().get() === 1;
}

/** Resets the mark of foreign writes after a complete comparison. Must run inside {@link Ledger.change}. */
export function settleTable(ledger: Ledger): void {
  ledger.sql('update outputs set edited = 0').run();
  const has = 'select 1 from records where records.identifier = met_records.identifier';
  ledger.sql(`update met_records set digest = x'' where length(digest) > 0 and not exists (${has})`).run();
}

/** Deletes rows that the harvest did not write. Must run inside {@link Ledger.change}. */
export function removeForeign(ledger: Ledger): void {
  const seenQuery = 'select 1 from met_records as met where met.identifier = records.identifier and length(digest) > 0';
  ledger.sql(`delete from records where not exists (${seenQuery})`).run();
}

/** Inserts or replaces a row. Must run inside {@link Ledger.change}. */
export function saveRecord(ledger: Ledger, record: StoredRecord): void {
  ledger
    .sql(
      `insert into records (identifier, datestamp, sets, deleted, masked, metadata, xml)
       values (:identifier, :datestamp, :sets, :deleted, :masked, :metadata, :xml)
       on conflict (identifier) do update set datestamp = excluded.datestamp, sets = excluded.sets,
         deleted = excluded.deleted, masked = excluded.masked, metadata = excluded.metadata, xml = excluded.xml`,
    )
    .run(record);
}

export function countHeld(ledger: Ledger): number {
  return Number(ledger.sql('select count(distinct identifier) from met_records where length(digest) > 0').pluck().get());
}

/** Files of a folder of records, as they were written. Functions that write must run inside {@link Ledger.change}. */

const parseFile = createRowParser({
  ...{ name: isText, identifier: isText, sizeBytes: isNumber, changedNs: isText, digest: isBytes },
});

export type StoredFile = FileStanding & { readonly name: string; readonly identifier: string };

export function saveFile(ledger: Ledger, file: StoredFile): void {
  ledger
    .sql(
      `insert or replace into files (name, identifier, size_bytes, changed_at, digest)
       values (:name, :identifier, :sizeBytes, :changedNs, :digest)`,
    )
    .run(file);
}

export function listStoredFiles(ledger: Ledger): StoredFile[] {
  const rows = ledger.sql('select name, identifier, size_bytes as sizeBytes, changed_at as changedNs, digest from files');
  return rows.all().map(parseFile);
}

/** Marks lost files to be requested one by one, until the service returns or deletes the record. */
export function requestAgain(ledger: Ledger, files: readonly StoredFile[]): void {
  for (const { name, identifier } of files) {
    ledger.sql('delete from files where name = ?').run(name);
    ledger.sql(`update met_records set digest = x'00', skipped = 1 where identifier = ?`).run(identifier);
  }
}
