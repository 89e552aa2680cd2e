import type { FileStanding } from '../store/file-folder.ts';
import type { Ledger } from './ledger.ts';

/** Files of a folder of records, as they were written. Functions that write must run inside {@link Ledger.change}. */

export type StoredFile = FileStanding & { readonly name: string; readonly identifier: string };

export function putFile(ledger: Ledger, file: StoredFile): void {
  ledger
    .sql(
      `insert or replace into files (name, identifier, size_bytes, changed_at, digest)
       values (:name, :identifier, :sizeBytes, :changedNs, :digest)`,
    )
    .run(file);
}

export function filesOf(ledger: Ledger): StoredFile[] {
  const rows = ledger.sql('select name, identifier, size_bytes as sizeBytes, changed_at as changedNs, digest from files');
  return rows.all() as StoredFile[];
}

/** Marks lost files to be requested one by one, until the service returns or deletes the record. */
export function forgetFiles(ledger: Ledger, files: readonly StoredFile[]): void {
  for (const { name, identifier } of files) {
    ledger.sql('delete from files where name = ?').run(name);
    ledger.sql(`update met_records set digest = x'00', skipped = 1 where identifier = ?`).run(identifier);
  }
}
