import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { DatabaseError, PasError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import {
  asDatabaseError,
  type Database,
  openDatabase,
  refuseUnsafeSqlite,
  type Statement,
  sqliteVersion,
  toDatabaseError,
} from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import type { Journal } from './journal.ts';
import { isSchemaDamage } from './schema-damage.ts';

/**
 * The outbox of one account at one service, open. The modules beside this one hold what is done with it. Every change is one transaction
 * that is on disk when its function returns.
 */
export type Outbox = {
  readonly path: string;
  readonly clock: Clock;
  /** Undefined where it cannot be used now; only a push needs it. */
  readonly journal: Journal | undefined;
  /** Why it cannot be used. */
  readonly journalProblem: PasError | undefined;
  /** The command that changes finds through it, and its row once it changed one. */
  readonly command: { words?: string; seq?: number };
  /** A prepared statement, made once. */
  sql(text: string): Statement;
  /** All of `work` or nothing. @throws DatabaseError for what the disk refuses */
  change<T>(work: () => T): T;
  close(): void;
};

/** The service that an outbox is for. The address is in the spelling of `normalAddress`. */
export type Binding = { readonly address: string; readonly prefix: string; readonly schemaVersion: string };

const OF_BINDING = ['address', 'prefix', 'schemaVersion'] as const;

/** The same service with the same documents. */
export function isSameBinding(one: Binding, other: Binding): boolean {
  return OF_BINDING.every((key) => one[key] === other[key]);
}

export type Header = Binding & {
  readonly outbox: string;
  readonly journal: string;
  readonly machine: string;
  readonly mergedSeq: number;
  readonly mergedEvent: string;
  readonly mustLook: boolean;
  readonly account: string | null;
  readonly separateFrom: readonly string[];
  readonly copyMadeAt: number | null;
};

type OpenOptions = {
  /** Makes the outbox where there is none yet. */
  readonly binding?: Binding;
  /** Its UUID, where it is not a new one. */
  readonly id?: string;
  readonly journal?: () => Journal;
};

/**
 * @throws DatabaseError when the file cannot be opened or is damaged, or this SQLite is not safe for it
 * @throws DatabaseTooNewError when a newer pas wrote it
 */
export function openOutbox(path: string, clock: Clock, options: OpenOptions = {}): Outbox {
  const database = openDatabase(path, { synchronous: 'full' });
  let outbox: Outbox | undefined;
  try {
    refuseUnsafeSqlite(path, sqliteVersion(database));
    asDatabaseError(path, () => migrate(database, join(packageRoot, 'schemas', 'outbox')));
    const [journal, journalProblem] = openedJournal(options.journal);
    outbox = withStatements(path, database, clock, journal, journalProblem);
    if (options.binding !== undefined) insertHeader(outbox, options.binding, options.id ?? randomUUID());
    return outbox;
  } catch (thrown) {
    if (outbox === undefined) database.close();
    else outbox.close();
    throw thrown;
  }
}

function openedJournal(open: (() => Journal) | undefined): [Journal | undefined, PasError | undefined] {
  if (open === undefined) return [undefined, undefined];
  try {
    return [open(), undefined];
  } catch (thrown) {
    if (thrown instanceof PasError) return [undefined, thrown];
    throw thrown;
  }
}

function insertHeader(outbox: Outbox, { address, prefix, schemaVersion }: Binding, id: string): void {
  if (outbox.sql('select 1 from header').get() !== undefined) return;
  outbox.change(() =>
    outbox
      .sql('insert or ignore into header (only, outbox, address, prefix, schema_version) values (1, ?, ?, ?, ?)')
      .run(id, address, prefix, schemaVersion),
  );
}

function withStatements(
  path: string,
  database: Database,
  clock: Clock,
  journal: Journal | undefined,
  journalProblem: PasError | undefined,
): Outbox {
  const statements = new Map<string, Statement>();
  return {
    path,
    clock,
    journal,
    journalProblem,
    command: {},
    sql(text) {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const statement = guardedStatement(path, () => database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
    change: (work) => asDatabaseError(path, () => (database.inTransaction ? work() : database.transaction(work).immediate())),
    close: () => {
      journal?.close();
      database.close();
    },
  };
}

/** Turns what the disk refuses while a statement runs into a readable error, also a table that is not as its schema says. */
function guardedStatement(path: string, prepare: () => Statement): Statement {
  const statement = guarded(path, prepare);
  const { get, all, run, iterate } = statement;
  return Object.assign(statement, {
    get: (...values: unknown[]) => guarded(path, () => get.apply(statement, values)),
    all: (...values: unknown[]) => guarded(path, () => all.apply(statement, values)),
    run: (...values: unknown[]) => guarded(path, () => run.apply(statement, values)),
    *iterate(...values: unknown[]) {
      try {
        yield* iterate.apply(statement, values);
      } catch (thrown) {
        throw readable(path, thrown);
      }
    },
  });
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw readable(path, thrown);
  }
}

function readable(path: string, thrown: unknown): unknown {
  return isSchemaDamage(thrown) ? damagedSchema(path, thrown) : toDatabaseError(path, thrown);
}

function damagedSchema(path: string, cause: Error): DatabaseError {
  return new DatabaseError(msg`${path}: the database is damaged (${cause.message}).`, {
    ...{ cause, damaged: true },
    hint: msg`Put the last backup back: ${cmd`pas restore`} FILE --replace keeps the damaged file aside.`,
  });
}

type HeaderRow = Omit<Header, 'mustLook' | 'separateFrom'> & { readonly mustLook: number; readonly separateFrom: string };

/** @throws DatabaseError where the file has none: it is no outbox */
export function headerOf(outbox: Outbox): Header {
  const row = outbox
    .sql(
      `select outbox, address, prefix, schema_version as schemaVersion, journal, machine, merged_seq as mergedSeq,
         merged_event as mergedEvent, must_look as mustLook, account, separate_from as separateFrom, copy_made_at as copyMadeAt
       from header`,
    )
    .get() as HeaderRow | undefined;
  if (row === undefined) throw new DatabaseError(msg`${outbox.path}: the outbox does not say which service it is for.`);
  return { ...row, mustLook: row.mustLook === 1, separateFrom: parseUuids(outbox.path, row.separateFrom) };
}

function parseUuids(path: string, text: string): string[] {
  try {
    return JSON.parse(text) as string[];
  } catch (thrown) {
    throw damagedSchema(path, thrown as Error);
  }
}

const COLUMN_OF = {
  address: 'address',
  prefix: 'prefix',
  schemaVersion: 'schema_version',
  journal: 'journal',
  machine: 'machine',
  mergedSeq: 'merged_seq',
  mergedEvent: 'merged_event',
  mustLook: 'must_look',
  account: 'account',
  separateFrom: 'separate_from',
} as const;

export function updateHeader(outbox: Outbox, changes: Partial<Pick<Header, keyof typeof COLUMN_OF>>): void {
  const names = Object.keys(changes) as (keyof typeof COLUMN_OF)[];
  if (names.length === 0) return;
  const values = Object.fromEntries(names.map((name) => [name, storedValue(changes[name])]));
  outbox.sql(`update header set ${names.map((name) => `${COLUMN_OF[name]} = :${name}`).join(', ')}`).run(values);
}

function storedValue(value: Header[keyof typeof COLUMN_OF] | undefined): string | number | null {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? null);
}

/** A row that must be there: its absence means that two processes disagree. */
export function assertOneRowChanged(outbox: Outbox, changes: number, what: Message): void {
  if (changes !== 1) {
    throw new DatabaseError(msg`${outbox.path}: ${what} did not find the entry in the state it was read in.`, {
      hint: msg`Another pas changed it meanwhile. Run \`${cmd`pas status`}\`, then the command again.`,
    });
  }
}
