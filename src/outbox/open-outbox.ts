import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { DatabaseError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import {
  asDatabaseError,
  type Database,
  openDatabase,
  refuseUnsafeSqlite,
  type Statement,
  sqliteVersion,
} from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { type ProcessTable, systemProcesses } from './process-table.ts';

/**
 * The outbox file, open. The modules beside this one hold what is done with it: finds, entries, claims, the journal of
 * attempts, the lease, the overview. Every change is one transaction that is on disk when its function returns.
 */
export type Outbox = {
  readonly path: string;
  readonly clock: Clock;
  /** Those that may be at work on it, too. */
  readonly processes: ProcessTable;
  /** A prepared statement, made once. */
  sql(text: string): Statement;
  /** All of `work` or nothing; what the disk refuses is thrown as DatabaseError. */
  change<T>(work: () => T): T;
  close(): void;
};

/**
 * The outbox as one account of one service is to see it, which is what every flow is given. What is for another service, or was said
 * by one, is not in it, whatever profile names either of them.
 */
export type ServiceOutbox = Outbox & {
  readonly serviceId: number;
  /** The write address, in the spelling of `normalAddress`. */
  readonly address: string;
  /** Who queues, and whose entries are sent; empty where only a token is known. */
  readonly username: string;
};

/** Smaller ones are brought up to date before anybody wonders. */
const LONG_UPGRADE_BYTES = 32 * 1024 * 1024;

/**
 * @param onLongUpgrade told before a large outbox of an earlier pas is brought up to date, which takes seconds
 * @throws DatabaseError when the file cannot be opened or is damaged, or this SQLite is not safe for it
 * @throws DatabaseTooNewError when a newer pas wrote it
 */
export function openOutbox(
  path: string,
  clock: Clock,
  onLongUpgrade?: () => void,
  processes: ProcessTable = systemProcesses,
): Outbox {
  const database = openDatabase(path, { synchronous: 'full' });
  try {
    const onUpgrade = (): void => {
      if (statSync(path).size > LONG_UPGRADE_BYTES) onLongUpgrade?.();
    };
    refuseUnsafeSqlite(path, sqliteVersion(database));
    asDatabaseError(path, () => migrate(database, join(packageRoot, 'schemas', 'outbox'), onUpgrade));
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  const outbox = withStatements(path, database, clock, processes);
  noteMachine(outbox);
  return outbox;
}

/** A copy of it that comes to another machine can be told from it from then on. */
function noteMachine({ sql, change, processes }: Outbox): void {
  const machine = sql('select machine from history').pluck().get();
  if (machine !== '') return;
  const own = processes.machine();
  if (own !== '') change(() => sql(`update history set machine = ? where machine = ''`).run(own));
}

function withStatements(path: string, database: Database, clock: Clock, processes: ProcessTable): Outbox {
  const statements = new Map<string, Statement>();
  return {
    path,
    clock,
    processes,
    sql(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const statement = asDatabaseError(path, () => database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
    change: (work) => asDatabaseError(path, () => (database.inTransaction ? work() : database.transaction(work).immediate())),
    close: () => database.close(),
  };
}

/** A row that must be there: its absence means that two processes disagree, and going on would be guessing. */
export function expectOneChange(outbox: Outbox, changes: number, what: Message): void {
  if (changes !== 1) {
    throw new DatabaseError(msg`${outbox.path}: ${what} did not find the entry in the state it was read in.`, {
      hint: msg`Another pas changed it meanwhile. Run \`${cmd`pas status`}\`, then the command again.`,
    });
  }
}
