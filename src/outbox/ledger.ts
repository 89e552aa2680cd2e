import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  createRowParser,
  type Database,
  type GuardedDatabase,
  guardDatabase,
  isNumber,
  isText,
  migrateDatabase,
  openDatabase,
  parseValue,
  type Statement,
  toDatabaseError,
} from '../base/disk/database.ts';
import { DatabaseError, getErrorMessage, isDamageError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import { FACT_COLUMNS, type Fact, type FactRow, parseFact, selectFacts } from './facts.ts';
import {
  findStoredIntent,
  INTENT_COLUMNS,
  parseStoredIntent,
  type StoredIntent,
  storeForeignIntent,
} from './intents.ts';

/** Finds that are sent to `training` are no real ones. */
export type ServiceKind = 'production' | 'training';

/** The facts of one account at one service. */
export type LedgerScope = { readonly service: string; readonly account: string };

/**
 * This machine's copy of what was attempted, for all outboxes of this user. Every function throws
 * DatabaseError where the disk fails.
 */
export type Ledger = ReturnType<typeof openLedger>;

type LedgerOptions = {
  /** Maximum wait for another process's write, in milliseconds. */
  readonly busyTimeoutMs?: number;
  /** Verifies the whole file first, so that damage is found before anything is sent. */
  readonly isChecked?: boolean;
};

/**
 * Opens the ledger of this machine's user, or creates it.
 * @throws DatabaseError where it cannot be opened or written, or, with `isChecked`, where a page is
 * damaged; DatabaseTooNewError where a newer pas wrote it
 */
export function openLedger(path: string, options: LedgerOptions = {}) {
  let database: Database | undefined;
  try {
    // A commit must survive a power cut: otherwise an attempt could be lost.
    database = openDatabase(path, {
      synchronous: 'full',
      busyTimeoutMs: options.busyTimeoutMs ?? 5000,
    });
    migrateDatabase(database, join(packageRoot, 'schemas', 'ledger'));
    if (options.isChecked === true) assertSoundFile(path, database);
    assertKnownServices(path, database);
    return withStatements(path, database, readOrMakeId(database));
  } catch (thrown) {
    database?.close();
    throw toLedgerError(path, thrown);
  }
}

function assertSoundFile(path: string, database: Database): void {
  const result = String(database.pragma('integrity_check(1)', { simple: true }));
  if (result !== 'ok') throw makeDamagedLedgerError(path, result);
}

/** An address of an unknown service would count as that of another service. */
function assertKnownServices(path: string, database: Database): void {
  const unknown = 'select 1 from addresses where service not in (select id from services)';
  if (database.prepare(unknown).get() !== undefined) throw makeDamagedLedgerError(path, 'services');
}

/**
 * Asserts that a ledger is undamaged: its file, its services, and each fact and intent by its id.
 * @throws DatabaseError where one differs from what was written
 */
export function assertSoundLedger(path: string): void {
  const database = openDatabase(path, { synchronous: 'normal', readonly: true });
  try {
    assertSoundFile(path, database);
    assertKnownServices(path, database);
    assertSoundRows(path, (text) => database.prepare(text));
  } catch (thrown) {
    throw toLedgerError(path, thrown);
  } finally {
    database.close();
  }
}

/**
 * Asserts that each fact and intent of an outbox or ledger has the id that follows from its
 * content.
 * @throws DatabaseError where one differs from what was written
 */
export function assertSoundRows(path: string, prepare: (text: string) => Statement): void {
  for (const row of prepare('select * from facts not indexed').iterate()) parseFact(path, row);
  for (const row of prepare(`select ${INTENT_COLUMNS} from intents not indexed`).iterate())
    parseStoredIntent(path, row);
}

function makeDamagedLedgerError(path: string, result: string, cause?: unknown): DatabaseError {
  return new DatabaseError(msg`${path}: the ledger is damaged (${result}).`, {
    cause,
    damaged: true,
    hint: msg`\`${cmd`pas doctor --repair`}\` moves it aside and makes it again from the outboxes.`,
  });
}

/** Damage that SQLite reports has the remedy of the ledger. */
function toLedgerError(path: string, thrown: unknown): unknown {
  const error = toDatabaseError(path, thrown);
  return isDamageError(error) && error.cause !== undefined
    ? makeDamagedLedgerError(path, getErrorMessage(error.cause), error.cause)
    : error;
}

/** Returns what tells this ledger from another one; a new ledger gets it now. */
function readOrMakeId(database: Database): string {
  const read = database.prepare('select ledger from identity').pluck();
  if (read.get() === undefined)
    database
      .prepare('insert or ignore into identity (only, ledger) values (1, ?)')
      .run(randomUUID());
  return parseValue(isText, read.get());
}

const INSERT = `insert into facts (${FACT_COLUMNS.columns}, service, account)
  values (${FACT_COLUMNS.values}, :service, :account) on conflict (subject, id) do nothing`;

const parseNumbered = createRowParser({ seq: isNumber });

function withStatements(path: string, database: Database, id: string) {
  const guarded = guardDatabase(database, (thrown) => toLedgerError(path, thrown));
  return {
    path,
    id,
    ...makeServiceFunctions(guarded),
    ...makeFactFunctions(path, guarded),
    close: (): void => void database.close(),
  };
}

function makeServiceFunctions({ sql, listTexts, change }: GuardedDatabase) {
  const setAddress = (address: string, service: string): void =>
    void sql('insert or replace into addresses (address, service) values (?, ?)').run(
      address,
      service,
    );
  const findService = (address: string): string | undefined =>
    listTexts('select service from addresses where address = ?', address).at(0);
  return {
    /**
     * Returns the service of an address; an unknown one is added, with `proposedId` or a new id.
     */
    findOrAddService: (address: string, kind: ServiceKind, proposedId?: string): string =>
      findService(address) ??
      change(() => {
        const service = proposedId ?? randomUUID();
        sql('insert or ignore into services (id, kind) values (?, ?)').run(service, kind);
        if (findService(address) === undefined) setAddress(address, service);
        return findService(address) ?? service;
      }),
    /** Returns the services of this kind for which the ledger has facts of the account. */
    listServicesOfAccount: (account: string, kind: ServiceKind): string[] =>
      listTexts(
        'select id from services where kind = ? and exists (select 1 from facts where service = services.id and account = ?)',
        kind,
        account,
      ),
    findService,
    /** Returns the kind of the service at an address; undefined where nothing was sent to it. */
    findKind: (address: string): string | undefined =>
      listTexts(
        'select kind from services where id = ? and exists (select 1 from facts where service = services.id)',
        findService(address) ?? '',
      ).at(0),
    /** Returns all addresses of a service, in no certain order. */
    listAddresses: (service: string): string[] =>
      listTexts('select address from addresses where service = ?', service),
    /** Assigns an address to a service, in place of the one to which it belonged. */
    moveAddress: (address: string, service: string): void =>
      change(() => setAddress(address, service)),
  };
}

function makeFactFunctions(path: string, { sql, listTexts, change }: GuardedDatabase) {
  return {
    /**
     * Appends the facts that are missing, and stores intents that no attempt carries; all is on
     * disk when this returns. Without facts the intents are not stored either.
     */
    append: (
      scope: LedgerScope,
      rows: readonly FactRow[],
      intents: readonly StoredIntent[] = [],
    ): void => {
      if (rows.length === 0) return;
      change(() => {
        for (const intent of intents) storeForeignIntent({ path, sql }, path, intent);
        for (const row of rows) sql(INSERT).run({ ...row, ...scope });
      });
    },
    /** Returns an intent, verified; undefined where it is unknown, or its content was deleted. */
    findIntent: (subject: string, id: string) => findStoredIntent({ path, sql }, subject, id),
    /**
     * Returns the id of the fact with this number, which tells this ledger from another one;
     * undefined where it has no such fact.
     */
    findFactIdAt: (seq: number): string | undefined =>
      listTexts('select id from facts where seq = ?', seq).at(0),
    hasFact: (subject: string, id: string): boolean =>
      sql('select 1 from facts where subject = ? and id = ?').get(subject, id) !== undefined,
    /** Returns at most `limit` facts with a higher number than `seq`, in the order of numbers. */
    listFactsSince: ({ service, account }: LedgerScope, seq: number, limit: number) =>
      sql('select * from facts where service = ? and account = ? and seq > ? order by seq limit ?')
        .all(service, account, seq, limit)
        .map((row) => ({ seq: parseNumbered(row).seq, fact: parseFact(path, row) })),
    /** Tells if any account has attempted to send a find to the service. */
    hasAttemptedFinds: (service: string): boolean =>
      sql(
        `select 1 from facts where service = ? and kind = 'attempted' and slot = 'import ' || subject limit 1`,
      ).get(service) !== undefined,
    /** Returns the facts of other accounts. */
    listFactsOfOtherAccounts: ({ service, account }: LedgerScope): Fact[] =>
      selectFacts({ sql, path }, 'service = ? and account <> ? order by seq', service, account),
  };
}
