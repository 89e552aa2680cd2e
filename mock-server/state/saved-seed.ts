import type { Database } from 'better-sqlite3';
import type { Archive } from './records/archive.ts';
import type { ArchiveRow } from './records/archive-table.ts';

/** Rows of any table, which are only restored. */
type Rows = readonly unknown[];

/**
 * Stored state of a filled server, which a reset restores without filling it anew. Of the records
 * only those written since are kept.
 */
export class SavedSeed {
  readonly #database: Database;
  /** Earlier values of the records written since; undefined: they did not exist. */
  readonly #before = new Map<string, ArchiveRow | undefined>();
  /** All tables but the records, which are small; undefined: the file is from an earlier run. */
  #tables: ReadonlyMap<string, Rows> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Called before every write to a record. */
  recordWrite(ident: string, before: () => ArchiveRow | undefined): void {
    if (this.#tables !== undefined && !this.#before.has(ident)) this.#before.set(ident, before());
  }

  /** Makes the current state the one that a reset restores. */
  save(): void {
    this.#before.clear();
    this.#tables = new Map(
      this.#listSmallTables().map((table) => [
        table,
        this.#database.prepare(`select * from ${table}`).all(),
      ]),
    );
  }

  /** @returns false where no state is saved */
  restore(archive: Archive): boolean {
    const tables = this.#tables;
    if (tables === undefined) return false;
    this.#database.transaction(() => {
      for (const [ident, row] of this.#before) archive.restoreRow(ident, row);
      for (const [table, rows] of tables) this.#refill(table, rows);
    })();
    this.#before.clear();
    return true;
  }

  #listSmallTables(): string[] {
    const tables = this.#database
      .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
      .pluck()
      .all();
    return tables.map(String).filter((table) => table !== 'records' && table !== 'origin');
  }

  #refill(table: string, rows: Rows): void {
    this.#database.exec(`delete from ${table}`);
    const [first] = rows;
    if (typeof first !== 'object' || first === null) return;
    const columns = Object.keys(first);
    const insert = this.#database.prepare(
      `insert into ${table} (${columns}) values (${columns.map((column) => `@${column}`)})`,
    );
    for (const row of rows) insert.run(row);
  }
}
