import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { DatabaseError, isDamaged, PasError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/package-root.ts';
import {
  asDatabaseError,
  assertSafeSqlite,
  createRowGuard,
  type Database,
  isNumber,
  isSchemaDamage,
  isText,
  migrate,
  openDatabase,
  orNull,
  type RowOf,
  readSqliteVersion,
  runTransaction,
  type Statement,
  toDatabaseError,
} from '../store/database.ts';
import { computeChecksum, parseEvent } from './events.ts';
import type { Journal } from './journal.ts';

/**
 * The open outbox of one account at one service; the other modules of this folder work on it. Every
 * change is one transaction that is on disk when its function returns.
 */
export type Outbox = {
  readonly path: string;
  readonly clock: Clock;
  /** Undefined where it is unusable; only a push requires it. */
  readonly journal: Journal | undefined;
  readonly journalProblem: PasError | undefined;
  /** The running command, and the id of its row once it has changed a find. */
  readonly command: { words?: string; id?: string };
  sql(text: string): Statement;
  /** Runs `work` on one snapshot of the outbox. */
  read<T>(work: () => T): T;
  /** Runs `work` in a transaction. @throws DatabaseError where the disk fails */
  change<T>(work: () => T): T;
  /** Runs `work` after the current transaction is committed; not if it fails. */
  runAfterCommit(work: () => void): void;
  close(): void;
};

/** Service of an outbox. The address is normalised by `normalizeAddress`. */
export type Binding = {
  readonly address: string;
  readonly prefix: string;
  readonly schemaVersion: string;
};

const OF_BINDING = ['address', 'prefix', 'schemaVersion'] as const;

/** Tells if two bindings have the same service and document form. */
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
  /** Creates a missing outbox with this binding. */
  readonly binding?: Binding;
  /** UUID of a new outbox; random by default. */
  readonly id?: string;
  readonly journal?: () => Journal;
};

/**
 * @throws DatabaseError when the file cannot be opened or is damaged, or this SQLite is not safe
 * for it
 * @throws DatabaseTooNewError when a newer pas wrote it
 */
export function openOutbox(path: string, clock: Clock, options: OpenOptions = {}): Outbox {
  const outbox = openUnverified(path, clock, options);
  try {
    assertHeader(outbox, options);
    return outbox;
  } catch (thrown) {
    outbox.close();
    throw thrown;
  }
}

function openUnverified(path: string, clock: Clock, options: OpenOptions): Outbox {
  const database = openDatabase(path, { synchronous: 'full' });
  try {
    assertSafeSqlite(path, readSqliteVersion(database));
    asDatabaseError(path, () => migrate(database, join(packageRoot, 'schemas', 'outbox')));
    const [journal, journalProblem] = attemptOpenJournal(options.journal);
    return withStatements(path, database, clock, journal, journalProblem);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

function attemptOpenJournal(
  open: (() => Journal) | undefined,
): [Journal | undefined, PasError | undefined] {
  if (open === undefined) return [undefined, undefined];
  try {
    return [open(), undefined];
  } catch (thrown) {
    if (thrown instanceof PasError) return [undefined, thrown];
    throw thrown;
  }
}

function makeHeader(binding: Binding, outbox: string): Header {
  return {
    ...binding,
    outbox,
    journal: '',
    machine: '',
    mergedSeq: 0,
    mergedEvent: '',
    mustLook: false,
    account: null,
    separateFrom: [],
    copyMadeAt: null,
  };
}

/** @throws DatabaseError where the header is damaged, or missing in an outbox with content */
function assertHeader(outbox: Outbox, { binding, id = randomUUID() }: OpenOptions): void {
  if (outbox.sql('select 1 from header').get() !== undefined) readHeader(outbox);
  else if (
    outbox
      .sql('select exists (select 1 from finds) or exists (select 1 from events)')
      .pluck()
      .get() === 1
  )
    throw makeDamagedHeaderError(outbox.path);
  else if (binding !== undefined) insertHeader(outbox, makeHeader(binding, id));
}

function insertHeader(outbox: Outbox, header: Header): void {
  outbox.change(() => {
    if (outbox.sql('select 1 from header').get() === undefined)
      outbox.sql(REPLACE_HEADER).run(makeHeaderValues(header));
  });
}

/**
 * Rebuilds a damaged header: the service from the profile, the account from the events. The next
 * push looks up everything unsent, and where the journal is unknown the outbox must be adopted.
 * @returns true if it was damaged
 */
export function repairHeader(path: string, clock: Clock, binding: Binding, id: string): boolean {
  const outbox = openUnverified(path, clock, {});
  try {
    assertHeader(outbox, {});
    return false;
  } catch (thrown) {
    if (!isDamaged(thrown)) throw thrown;
    outbox.change(() => {
      const journalId = outbox.sql('select journal from header').pluck().get();
      const journal =
        typeof journalId === 'string' && journalId !== '' ? journalId : UNKNOWN_JOURNAL;
      const bound = outbox
        .sql(`select * from events where kind = 'bound' order by seq limit 1`)
        .get();
      const event = bound === undefined ? undefined : parseEvent(path, bound);
      const account = event?.kind === 'bound' ? event.body.account : null;
      outbox.sql('delete from header').run();
      insertHeader(outbox, { ...makeHeader(binding, id), journal, account, mustLook: true });
      outbox.sql('update events set in_journal = 0').run();
    });
    return true;
  } finally {
    outbox.close();
  }
}

/** An identifier of no journal, so that the outbox must be adopted. */
const UNKNOWN_JOURNAL = 'unknown';

function withStatements(
  path: string,
  database: Database,
  clock: Clock,
  journal: Journal | undefined,
  journalProblem: PasError | undefined,
): Outbox {
  const statements = new Map<string, Statement>();
  let waiting: (() => void)[] = [];
  const commit = <T>(work: () => T): T => {
    waiting = [];
    const result = runTransaction(database, work);
    for (const each of waiting.splice(0)) each();
    return result;
  };
  return {
    path,
    clock,
    journal,
    journalProblem,
    command: {},
    sql(text) {
      const prepared = statements.get(text);
      if (prepared !== undefined) return prepared;
      const statement = guardStatement(path, () => database.prepare(text));
      statements.set(text, statement);
      return statement;
    },
    read: (work) =>
      asDatabaseError(path, () => (database.inTransaction ? work() : database.transaction(work)())),
    change: (work) => asDatabaseError(path, () => (database.inTransaction ? work() : commit(work))),
    runAfterCommit: (work) => {
      if (database.inTransaction) waiting.push(work);
      else work();
    },
    close: () => {
      journal?.close();
      database.close();
    },
  };
}

/**
 * Converts errors of a running statement to readable ones, including a table that differs from its
 * schema.
 */
function guardStatement(path: string, prepare: () => Statement): Statement {
  const guard =
    <V extends unknown[], T>(work: (...values: V) => T) =>
    (...values: V): T => {
      try {
        return work(...values);
      } catch (thrown) {
        throw toReadableError(path, thrown);
      }
    };
  const statement = guard(prepare)();
  const get = statement.get.bind(statement);
  const all = statement.all.bind(statement);
  const run = statement.run.bind(statement);
  const { iterate } = statement;
  return Object.assign(statement, {
    get: guard(get),
    all: guard(all),
    run: guard(run),
    *iterate(...values: unknown[]) {
      try {
        yield* iterate.apply(statement, values);
      } catch (thrown) {
        throw toReadableError(path, thrown);
      }
    },
  });
}

function toReadableError(path: string, thrown: unknown): unknown {
  return isSchemaDamage(thrown)
    ? makeDamagedSchemaError(path, thrown)
    : toDatabaseError(path, thrown);
}

function makeDamagedSchemaError(path: string, cause: Error): DatabaseError {
  return new DatabaseError(msg`${path}: the database is damaged (${cause.message}).`, {
    cause,
    damaged: true,
    hint: msg`Restore the last backup: ${cmd`pas restore`} FILE --replace moves the damaged file aside.`,
  });
}

/** Columns of the header. The checksum covers a new one automatically. */
const HEADER_COLUMN_OF = {
  outbox: 'outbox',
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
  copyMadeAt: 'copy_made_at',
} as const satisfies Record<keyof Header, string>;

const HEADER_NAMES = Object.keys(HEADER_COLUMN_OF) as (keyof Header)[];

const COVERED = {
  outbox: isText,
  address: isText,
  prefix: isText,
  schemaVersion: isText,
  journal: isText,
  machine: isText,
  mergedSeq: isNumber,
  mergedEvent: isText,
  mustLook: isNumber,
  account: orNull(isText),
  separateFrom: isText,
  copyMadeAt: orNull(isNumber),
} satisfies Record<keyof Header, unknown>;
type HeaderContent = RowOf<typeof COVERED>;

const isHeaderRow = createRowGuard({ ...COVERED, crc: isNumber });

const SELECT_HEADER = `select ${HEADER_NAMES.map((name) => `${HEADER_COLUMN_OF[name]} as ${name}`).join(', ')}, crc from header`;
const REPLACE_HEADER = `insert or replace into header (only, ${Object.values(HEADER_COLUMN_OF).join(', ')}, crc)
  values (1, ${HEADER_NAMES.map((name) => `:${name}`).join(', ')}, :crc)`;

function makeHeaderValues(header: Header): HeaderContent & { readonly crc: number } {
  const row = {
    ...header,
    mustLook: header.mustLook ? 1 : 0,
    separateFrom: JSON.stringify(header.separateFrom),
  };
  return { ...row, crc: computeHeaderChecksum(row) };
}

function computeHeaderChecksum(row: HeaderContent): number {
  return computeChecksum(HEADER_NAMES.map((name) => row[name]));
}

function parseHeader(path: string, row: unknown): Header {
  if (!isHeaderRow(row) || computeHeaderChecksum(row) !== row.crc)
    throw makeDamagedHeaderError(path);
  const { mustLook, separateFrom, crc: _crc, ...header } = row;
  return { ...header, mustLook: mustLook === 1, separateFrom: JSON.parse(separateFrom) };
}

function makeDamagedHeaderError(path: string): DatabaseError {
  return new DatabaseError(
    msg`${path}: the header of the outbox is damaged: its checksum does not match.`,
    {
      damaged: true,
      hint: msg`Restore the last backup: ${cmd`pas restore`} FILE --replace moves the damaged file aside. Without a backup, \`${cmd`pas outbox check --repair`}\` writes the header again from the profile.`,
    },
  );
}

/** @throws DatabaseError where the file has no header, so it is no outbox, or a damaged one */
export function readHeader(outbox: Outbox): Header {
  const row = outbox.sql(SELECT_HEADER).get();
  if (row === undefined)
    throw new DatabaseError(msg`${outbox.path}: the outbox does not say which service it is for.`);
  return parseHeader(outbox.path, row);
}

/** Returns a text that differs after any change of the outbox, by this process or another one. */
export function getDataVersion(outbox: Outbox): string {
  const ofOthers = outbox.sql('pragma data_version').pluck().get();
  return `${ofOthers} ${outbox.sql('select total_changes()').pluck().get()}`;
}

/**
 * Writes changed fields of the header.
 * @throws DatabaseError where the file has no header, or a damaged one
 */
export function updateHeader(outbox: Outbox, changes: Partial<Header>): void {
  outbox.sql(REPLACE_HEADER).run(makeHeaderValues({ ...readHeader(outbox), ...changes }));
}

/** Writes the time of the backup into its header. @param madeAt milliseconds since 1970 UTC */
export function recordCopy(copy: Database, path: string, madeAt: number): void {
  const header = parseHeader(path, copy.prepare(SELECT_HEADER).get());
  copy.prepare(REPLACE_HEADER).run(makeHeaderValues({ ...header, copyMadeAt: madeAt }));
}

/** Checks that one row was changed; a missing one means that another process changed it. */
export function assertOneRowChanged(outbox: Outbox, changes: number, what: Message): void {
  if (changes !== 1) {
    throw new DatabaseError(
      msg`${outbox.path}: ${what} failed, because the entry changed in the meantime.`,
      {
        hint: msg`Another pas process changed it. Run \`${cmd`pas status`}\`, then the command again.`,
      },
    );
  }
}
