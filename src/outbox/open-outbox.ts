import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import {
  convertDatabaseErrors,
  type Database,
  describeColumns,
  type GuardedDatabase,
  guardDatabase,
  isNumber,
  isText,
  makeMemberGuard,
  migrateDatabase,
  openDatabase,
  orNull,
  toDatabaseError,
} from '../base/disk/database.ts';
import { ConfigError, DatabaseError, PasError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import { makeUuid } from './facts.ts';
import type { Ledger, ServiceKind } from './ledger.ts';

/**
 * The open outbox of one account at one service; the other modules of this folder work on it. Every
 * change is one transaction that is on disk when its function returns.
 */
export type Outbox = GuardedDatabase & {
  readonly path: string;
  readonly clock: Clock;
  /** Undefined where it is unusable; only a push requires it. */
  readonly ledger: Ledger | undefined;
  readonly ledgerProblem: PasError | undefined;
  /** The running command of a person, and its id once it has changed something. */
  command: { words?: string; id?: string };
  /** Runs `work` after the current transaction is committed; not if it fails. */
  runAfterCommit(work: () => void): void;
  close(): void;
};

const HEADER = describeColumns('header', {
  outbox: isText,
  /** Id of the service in the ledger; empty where no ledger was usable yet. */
  service: isText,
  kind: makeMemberGuard<ServiceKind>(['production', 'training']),
  /** Normalised by `normalizeAddress`. */
  address: isText,
  /** Null where only a token is known. */
  username: orNull(isText),
  account: orNull(isText),
  ledger: isText,
  machine: isText,
  unitedSeq: isNumber,
  unitedFact: isText,
  mustLook: isNumber,
  lookedFrom: orNull(isNumber),
  lookedUntil: orNull(isNumber),
  copyMadeAt: orNull(isNumber),
});

/** The one row that says whose an outbox is, and how it and the ledger are united. */
export type Header = Omit<ReturnType<typeof HEADER.parse>, 'mustLook'> & {
  readonly mustLook: boolean;
};

/** Service and user of an outbox. */
export type Binding = Pick<Header, 'kind' | 'address' | 'username'>;

/** A service by its addresses, the one in use first, and a user, as far as they are known. */
export type Owner = {
  readonly kind: string;
  readonly addresses: readonly string[];
  readonly username: string | null;
  readonly account: string | null;
};

type OpenOptions = {
  /** Creates a missing outbox with this binding. */
  readonly binding?: Binding;
  readonly ledger?: () => Ledger;
};

/**
 * Opens or creates an outbox, and migrates it; a new one gets a header only by `binding`. A ledger
 * that does not know the service's address learns it; the error of one that cannot be opened
 * becomes `ledgerProblem`.
 * @throws DatabaseError where the file cannot be opened or is damaged, or this SQLite is not safe
 * for it; DatabaseTooNewError where a newer pas wrote it
 */
export function openOutbox(path: string, clock: Clock, options: OpenOptions = {}): Outbox {
  const database = openDatabase(path, { synchronous: 'full' });
  try {
    convertDatabaseErrors(path, () =>
      migrateDatabase(database, join(packageRoot, 'schemas', 'outbox')),
    );
    const outbox = withStatements(path, database, clock, openLedgerIfUsable(options.ledger));
    prepareHeader(outbox, options);
    return outbox;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}

type UsableLedger = Pick<Outbox, 'ledger' | 'ledgerProblem'>;

/** Opens the ledger, or returns the error of pas that prevents it. */
export function openLedgerIfUsable(open: (() => Ledger) | undefined): UsableLedger {
  try {
    return { ledger: open?.(), ledgerProblem: undefined };
  } catch (thrown) {
    if (thrown instanceof PasError) return { ledger: undefined, ledgerProblem: thrown };
    throw thrown;
  }
}

/** Makes a missing header, and gives the outbox the service's id in this ledger. */
function prepareHeader(outbox: Outbox, { binding }: OpenOptions): void {
  if (outbox.sql('select 1 from header').get() === undefined) {
    if (binding === undefined) return;
    outbox.change(() => {
      if (outbox.sql('select 1 from header').get() === undefined)
        writeHeader(outbox, makeHeader(binding));
    });
  }
  const { ledger } = outbox;
  const { address, kind, service } = readHeader(outbox);
  const known = ledger?.findOrAddService(address, kind, service === '' ? undefined : service);
  if (known !== undefined && known !== service)
    outbox.change(() => updateHeader(outbox, { service: known, unitedSeq: 0, unitedFact: '' }));
}

function makeHeader(binding: Binding): Header {
  return {
    ...binding,
    outbox: randomUUID(),
    service: '',
    account: null,
    ledger: '',
    machine: '',
    unitedSeq: 0,
    unitedFact: '',
    mustLook: false,
    lookedFrom: null,
    lookedUntil: null,
    copyMadeAt: null,
  };
}

function withStatements(
  path: string,
  database: Database,
  clock: Clock,
  { ledger, ledgerProblem }: UsableLedger,
): Outbox {
  const { sql, listTexts, change } = guardDatabase(database, (thrown) =>
    toDatabaseError(path, thrown),
  );
  let waiting: (() => void)[] = [];
  return {
    path,
    clock,
    ledger,
    ledgerProblem,
    command: {},
    sql,
    listTexts,
    change: (work) => {
      if (database.inTransaction) return work();
      waiting = [];
      const result = change(work);
      for (const each of waiting.splice(0)) each();
      return result;
    },
    runAfterCommit: (work) => {
      if (database.inTransaction) waiting.push(work);
      else work();
    },
    close: () => {
      ledger?.close();
      database.close();
    },
  };
}

/** Few enough that a parallel push waits for less than a quarter of a second. */
const MAX_BATCH = 100;

/** Yields items in batches of at most 100, each of which is to be stored in one transaction. */
export function* splitIntoBatches<T>(items: Iterable<T>): Generator<readonly T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < MAX_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Returns the id of the running command, which is made at the first call: its words joined by
 * hyphens, a blank, and a UUID that begins with the time, such as `photo-add 0193…`. Null where no
 * person gave a command.
 */
export function getOrMakeCommandId({ command, clock }: Outbox): string | null {
  const words = command.words?.replaceAll(' ', '-');
  if (words !== undefined) command.id ??= `${words} ${makeUuid(clock.now())}`;
  return command.id ?? null;
}

/**
 * Runs `work` as part of another command than the running one.
 * @param id null: what `work` changes is part of no command, so that no undo takes it back
 */
export function runAsCommand(outbox: Outbox, id: string | null, work: () => void): void {
  const { command } = outbox;
  outbox.command = id === null ? {} : { id };
  try {
    work();
  } finally {
    outbox.command = command;
  }
}

/**
 * Reads the header as it is in the file now, which another process may have changed.
 * @throws DatabaseError where the file has none, so it is no outbox
 */
export function readHeader(outbox: Outbox): Header {
  const row = outbox.sql(`select ${HEADER.selected} from header`).get();
  if (row === undefined)
    throw new DatabaseError(msg`${outbox.path}: the outbox does not say which service it is for.`);
  const { mustLook, ...header } = HEADER.parse(row);
  return { ...header, mustLook: mustLook === 1 };
}

function writeHeader(outbox: Outbox, header: Header): void {
  outbox
    .sql(`insert or replace into header (only, ${HEADER.columns}) values (1, ${HEADER.values})`)
    .run({ ...header, mustLook: header.mustLook ? 1 : 0 });
}

/**
 * Writes these fields of the header, and leaves the others.
 * @throws DatabaseError where the file has no header
 */
export function updateHeader(outbox: Outbox, changes: Partial<Header>): void {
  writeHeader(outbox, { ...readHeader(outbox), ...changes });
}

/** Tells if the outbox has no fact: nothing is or was wanted, and nothing was sent. */
export function isEmptyOutbox(outbox: Outbox): boolean {
  return outbox.sql('select exists (select 1 from facts) as filled').pluck().get() === 0;
}

/**
 * Returns the ledger, which a push requires.
 * @throws DatabaseError or DatabaseTooNewError where it is unusable: nothing may be sent without it
 */
export function requireLedger(outbox: Outbox): Ledger {
  if (outbox.ledger !== undefined) return outbox.ledger;
  throw (
    outbox.ledgerProblem ??
    new DatabaseError(msg`${outbox.path}: there is no ledger, so nothing can be sent.`)
  );
}

const ACCOUNT = describeColumns('account', {
  identCely: isText,
  /** With which it signed in last; empty where only a token is known. */
  username: isText,
  name: isText,
  email: isText,
  organisation: isText,
  role: isText,
  /** Prefix and namespace in the service's documents; empty where they are unknown. */
  prefix: isText,
  namespace: isText,
});

/** The account as the service last described it. */
type KnownAccount = ReturnType<typeof ACCOUNT.parse>;

/**
 * Stores how the service described the account, in place of the description before. Where role or
 * organisation differ from it, the next pull reads everything again.
 */
export function storeKnownAccount(outbox: Outbox, account: KnownAccount): void {
  outbox.change(() => {
    const before = findKnownAccount(outbox);
    // Other rights show other content of the same datestamp.
    if (
      before !== undefined &&
      (before.role !== account.role || before.organisation !== account.organisation)
    )
      outbox.sql('update pulled set datestamp_at = null').run();
    outbox
      .sql(
        `insert or replace into account (only, ${ACCOUNT.columns}, seen_at)
         values (1, ${ACCOUNT.values}, :now)`,
      )
      .run({ ...account, now: outbox.clock.now() });
  });
}

/** Returns the account as the service described it last; undefined where it never has. */
export function findKnownAccount({ sql }: Outbox): KnownAccount | undefined {
  const row = sql(`select ${ACCOUNT.selected} from account`).get();
  return row === undefined ? undefined : ACCOUNT.parse(row);
}

/**
 * Asserts that the outbox belongs to this account, or to none yet.
 * @param account the service's identifier of it
 * @throws ConfigError where it belongs to another one
 */
export function assertSameAccount(outbox: Outbox, account: string, hint?: Message): void {
  const { account: bound, address } = readHeader(outbox);
  if (bound === null || bound === account) return;
  throw new ConfigError(
    msg`This outbox sends as the account ${bound}, but ${address} says that you are signed in as ${account}. Nothing was sent.`,
    { hint },
  );
}

/**
 * Asserts that what an outbox has may become an owner's, as by a new address, a union of two
 * outboxes, or a restore: the kind is the owner's, the address is one of the owner's service, and
 * the account is the owner's, as far as both are known.
 * @param path of the outbox, or of the backup that it was copied from
 * @throws ConfigError where it may not
 */
export function assertMayBelongTo(
  outbox: Outbox,
  owner: Owner,
  hint?: Message,
  path = outbox.path,
): void {
  const { kind, address, account, username } = readHeader(outbox);
  const known = findKnownAccount(outbox);
  const isOwn = account === null || isAccountOf(owner, account, known);
  if (kind === owner.kind && owner.addresses.includes(address) && isOwn) return;
  const named = known?.username || username || account || '–';
  const [service = ''] = owner.addresses;
  const other = owner.username ?? owner.account ?? named;
  throw new ConfigError(
    msg`${path} is for ${address} (${kind}, ${named}), not for ${service} (${owner.kind}, ${other}). Nothing was changed.`,
    { hint },
  );
}

/**
 * Tells if an account is the owner's: by its identifier or, where the owner's is not known yet, by
 * its user names; true where these are not known either.
 */
function isAccountOf(owner: Owner, account: string, known: KnownAccount | undefined): boolean {
  const { username } = owner;
  if (owner.account !== null) return account === owner.account;
  if (username === null || known?.identCely !== account) return true;
  const names = [known.username, known.email].filter((name) => name !== '');
  return names.length === 0 || names.some((name) => isSameUser(name, username));
}

/**
 * Tells if two user names are equal; case and blanks around them do not count, since at the service
 * they are e-mail addresses.
 */
export function isSameUser(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

const UNDO = /^undo:(.+)$/;

/**
 * Makes the words of an undo, for the id of the command.
 * @param command id of the command that is taken back, or the UUID at its end
 */
export function makeUndoWords(command: string): string {
  return `undo:${command.split(' ').at(-1)}`;
}

/**
 * Parses what {@link getOrMakeCommandId} made. `at`: its time, in milliseconds since 1970 UTC; `words`:
 * `undo` for an undo; `undoes`: UUID of the command that an undo takes back, else undefined.
 */
export function parseCommandId(command: string): {
  readonly words: string;
  readonly at: number;
  readonly undoes: string | undefined;
} {
  const [words = '', uuid = ''] = command.split(' ');
  const [, undoes] = UNDO.exec(words) ?? [];
  const at = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
  return { words: undoes === undefined ? words.replaceAll('-', ' ') : 'undo', at, undoes };
}
