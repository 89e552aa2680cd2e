import type { Database } from 'better-sqlite3';
import type { ClockState, MockClock } from '../base/clock.ts';
import type { Faults } from './active-faults.ts';
import type { Locks } from './lock.ts';
import type { FaultRule } from './parse-fault-rules.ts';
import type { Archive } from './records/archive.ts';
import type { ArchiveRow } from './records/archive-table.ts';
import type { HarvestIndex, PendingWrites } from './records/harvest-index.ts';
import type { Settings } from './settings.ts';
import type { Throttle } from './throttle.ts';

/** State that a snapshot saves. */
type Parts = {
  readonly database: Database;
  readonly archive: Archive;
  readonly harvestIndex: HarvestIndex;
  readonly clock: MockClock;
  readonly faults: Faults;
  readonly throttle: Throttle;
  readonly locks: Locks;
  readonly settings: Settings;
  applySettings(patch: Partial<Settings>): void;
};

const MAX_SNAPSHOTS = 50;

/** Rows of any table, which are only restored. */
type Rows = readonly unknown[];

type Snapshot = {
  /** Earlier values of the records written since; undefined: they did not exist. */
  readonly before: Map<string, ArchiveRow | undefined>;
  /** All other tables, which are small. */
  readonly tables: ReadonlyMap<string, Rows>;
  readonly settings: Settings;
  readonly faults: readonly FaultRule[];
  readonly clock: ClockState;
  readonly pending: PendingWrites;
};

/**
 * Named states of one service. A snapshot stores only records written after it, so it costs the
 * same for any number.
 */
export class Snapshots {
  readonly #byName = new Map<string, Snapshot>();
  #seed: Snapshot | undefined;

  /** Called before every write to a record. */
  recordWrite(ident: string, before: () => ArchiveRow | undefined): void {
    if (this.#seed !== undefined && !this.#seed.before.has(ident))
      this.#seed.before.set(ident, before());
    for (const { before: recordsBefore } of this.#byName.values())
      if (!recordsBefore.has(ident)) recordsBefore.set(ident, before());
  }

  /** Makes the current state the one that a reset restores. */
  saveAsSeed(mock: Parts): void {
    this.#seed = captureState(mock);
  }

  /** @returns false without a stored seed: the file is from an earlier run */
  restoreSeed(mock: Parts): boolean {
    if (this.#seed === undefined) return false;
    restoreState(this.#seed, mock);
    return true;
  }

  /**
   * Takes a snapshot, and replaces one of that name.
   * @returns false where there are too many
   */
  take(name: string, mock: Parts): boolean {
    if (!this.#byName.has(name) && this.#byName.size >= MAX_SNAPSHOTS) return false;
    this.#byName.set(name, captureState(mock));
    return true;
  }

  /**
   * Restores a state; the journal continues.
   * @returns false for an unknown name
   */
  restore(name: string, mock: Parts): boolean {
    const snapshot = this.#byName.get(name);
    if (snapshot === undefined) return false;
    restoreState(snapshot, mock);
    return true;
  }

  remove(name: string): boolean {
    return this.#byName.delete(name);
  }

  listNames(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** Removes all named snapshots. */
  clear(): void {
    this.#byName.clear();
  }
}

function captureState(mock: Parts): Snapshot {
  return {
    before: new Map(),
    tables: new Map(
      listSmallTables(mock).map((table) => [
        table,
        mock.database.prepare(`select * from ${table}`).all(),
      ]),
    ),
    settings: mock.settings,
    faults: mock.faults.listRules(),
    clock: mock.clock.getState(),
    pending: mock.harvestIndex.getPending(),
  };
}

function restoreState(snapshot: Snapshot, mock: Parts): void {
  mock.database.transaction(() => {
    for (const [ident, row] of snapshot.before) mock.archive.restoreRow(ident, row);
    for (const table of listSmallTables(mock))
      refill(mock, table, snapshot.tables.get(table) ?? []);
  })();
  snapshot.before.clear();
  mock.applySettings(snapshot.settings);
  mock.faults.set(snapshot.faults);
  mock.clock.take(snapshot.clock);
  mock.harvestIndex.take(snapshot.pending);
  mock.throttle.clear();
  mock.locks.clear();
}

function listSmallTables({ database }: Parts): string[] {
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
    .pluck()
    .all();
  return tables.map(String).filter((table) => table !== 'records' && table !== 'origin');
}

function refill({ database }: Parts, table: string, rows: Rows): void {
  database.exec(`delete from ${table}`);
  const [first] = rows;
  if (typeof first !== 'object' || first === null) return;
  const columns = Object.keys(first);
  const insert = database.prepare(
    `insert into ${table} (${columns}) values (${columns.map((column) => `@${column}`)})`,
  );
  for (const row of rows) insert.run(row);
}
