import { setMaxListeners } from 'node:events';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { ConfigError, FileError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import type { Find } from '../find/find.ts';
import { enqueueNumber, enqueuePhoto, type NumberChange, type PhotoChange, targetOf } from '../flows/enqueue-change.ts';
import { type EnqueueReport, enqueueFinds } from '../flows/enqueue-finds.ts';
import { keepingPhotographs } from '../flows/kept-photographs.ts';
import { openKeptPhotograph } from '../flows/open-kept-photograph.ts';
import { type PushResult, push } from '../flows/push.ts';
import type { PushEvent } from '../flows/push-run.ts';
import { readAccount } from '../flows/read-account.ts';
import { readRecordIdent } from '../flows/read-record-ident.ts';
import { reconcile } from '../flows/reconcile.ts';
import { type Decision, resolveDoubts } from '../flows/resolve-doubt.ts';
import { HARVEST_RETRY, retrying } from '../http/retry.ts';
import { type OaiClientOptions, openOaiClient } from '../oai/client.ts';
import { identOfAccount, knownAccount, rememberAccount } from '../outbox/accounts.ts';
import { entriesOfFind, entriesOfRecord, selectEntries } from '../outbox/entries.ts';
import { ENTRY_KINDS, type Entry, type EntryKind, type EntryState } from '../outbox/entry.ts';
import { takeLease } from '../outbox/lease.ts';
import { openOutbox } from '../outbox/outbox.ts';
import { ROLES, type Role } from '../pas-api/account.ts';
import { type Connection, checkAddress, openConnection, type ServiceOptions } from './connection.ts';
import { type CheckOptions, checkFinds } from './finds.ts';

export { OutboxLeasedError, PasError } from '../base/errors.ts';
export type { Issue } from '../base/issue.ts';
export type { Find, FindElements, Reference, TargetState } from '../find/find.ts';
export type { Enqueued, EnqueueReport } from '../flows/enqueue-finds.ts';
export type { PushResult } from '../flows/push.ts';
export type { PushEvent, StopCause } from '../flows/push-run.ts';
export type { Decision } from '../flows/resolve-doubt.ts';
export type { EntryKind, EntryState } from '../outbox/entry.ts';
export type { ServiceOptions } from './connection.ts';

export type OutboxOptions = {
  /** The SQLite file. It is precious: it alone knows what was sent. */
  readonly file: string;
  /** Where copies of queued photographs go; default: `photos` beside the file. */
  readonly photosFolder?: string;
  readonly service: ServiceOptions &
    Omit<CheckOptions, 'role'> & {
      /** `{oai_base}`: needed for settling what is uncertain. */
      readonly oaiBase?: string;
      /** How to sign in for harvesting; default `basic`, with the account that writes. */
      readonly oaiAuth?: 'none' | 'basic' | 'bearer';
      /** Most requests under way at once; default 16. */
      readonly maxInFlight?: number;
      /** How long the service may still be working on a request without answer, in milliseconds; default 600000. */
      readonly settleMs?: number;
      /** How long after that a new record may take to appear in harvests, in milliseconds; default 900000. */
      readonly indexAllowanceMs?: number;
    };
  /** Which entries of the file are meant, where several services or accounts share it; default `default`. */
  readonly profile?: string;
  /** A person knows that the process that holds the file is gone, where that cannot be seen from here: it is taken over, once. */
  readonly takeOver?: boolean;
};

/** One write that the service must see once. */
export type OutboxEntry = {
  readonly entry: number;
  readonly kind: EntryKind;
  /** The find's local id; null for a record that is not kept in this outbox. */
  readonly find: string | null;
  readonly state: EntryState;
  /** The service's identifier of the record, once it is known. */
  readonly identCely: string | null;
  readonly reason: string | null;
  readonly issues: readonly Issue[];
};

export type PushOptions = {
  readonly kinds?: readonly EntryKind[];
  /** Most requests to send. */
  readonly limit?: number;
  /** Start nothing more, but wait for what is under way. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PushEvent) => void;
};

/** A verdict about an uncertain entry; what is `undecided` waits for a person, or for later evidence. */
export type Settled = {
  readonly entry: OutboxEntry;
  readonly verdict: 'found' | 'absent' | 'undecided';
  readonly reason: string;
};

/**
 * Finds and changes on their way to the service, each of them sent once, whatever fails: a crash, a power cut, a lost
 * answer. Keys are the caller's own (`localId`): adding the same find again changes nothing. One process pushes at a time.
 */
export type FindOutbox = AsyncDisposable & {
  /** Checks finds and queues them with their photographs. A find with errors is kept as a draft and never sent. */
  add(finds: readonly Find[]): Promise<EnqueueReport>;
  /** @param find local id, or the service's identifier */
  setNumber(find: string, value: string): NumberChange;
  /** @throws FileError for what is no photograph that the service takes */
  addPhoto(find: string, path: string): Promise<PhotoChange>;
  /** Sends what is due, at the pace that the service permits. @throws OutboxLeasedError while another process pushes */
  push(options?: PushOptions): Promise<PushResult>;
  /** Settles uncertain entries by harvest: found, or proven absent and queued again, or left as they are. */
  reconcile(): Promise<readonly Settled[]>;
  /** What a person found out about the uncertain or refused entries of a find, or wants. Returns how many it settled. */
  resolve(find: string, decision: Decision): number;
  /** All entries, or those of one find, in the order in which they were queued. */
  entries(find?: string): readonly OutboxEntry[];
  close(): Promise<void>;
};

/**
 * ```ts
 * await using outbox = await openFindOutbox({ file: 'outbox.sqlite', service });
 * await outbox.add(finds);
 * await outbox.push();
 * ```
 * @throws ConfigError, DatabaseError, DatabaseTooNewError
 */
export async function openFindOutbox(options: OutboxOptions): Promise<FindOutbox> {
  const { service, file, photosFolder = join(dirname(file), 'photos'), profile = 'default' } = options;
  const connection = openConnection(service);
  const outbox = openOutbox(file, systemClock);
  const role = roleNamed(knownAccount(outbox, profile)?.role);
  const checks = await checkFinds({ ...service, ...(role === undefined ? {} : { role }) });
  const keeping = keepingPhotographs(photosFolder, { maxBytes: 262_144_000, link: false });
  // Nothing tells what other profiles of the file write to. A find is not sent twice for that, and a record of theirs is theirs.
  const isOtherService = (): boolean => true;
  let { takeOver = false } = options;
  const hold = () => {
    const once = takeOver;
    takeOver = false;
    return takeLease(outbox, { takeOver: once });
  };
  const underLease = async <T>(work: () => T | Promise<T>): Promise<T> => {
    const lease = hold();
    try {
      return await work();
    } finally {
      lease.release();
    }
  };

  return {
    add: (finds) =>
      enqueueFinds(finds, { outbox, profile, validate: checks.check, ...keeping, isOtherService: () => false, dryRun: false }),
    setNumber: (find, value) => enqueueNumber(outbox, targetOf(outbox, profile, find), value),
    addPhoto: async (find, path) => {
      const target = targetOf(outbox, profile, find);
      const { photograph, issues } = await keeping.inspectPhotograph(path);
      if (photograph === undefined || hasErrors(issues)) {
        throw new FileError(path, issues.map(({ message }) => message).join(' '));
      }
      return enqueuePhoto(outbox, target, await keeping.keepPhotograph(photograph));
    },
    push: ({ kinds = ENTRY_KINDS, limit, signal, onEvent } = {}) => {
      const never = new AbortController();
      const stop = signal ?? never.signal;
      // One listener for each request under way: that many is no leak.
      setMaxListeners(0, stop, never.signal);
      return underLease(() =>
        push({
          ...connection,
          outbox,
          profile,
          isOtherService,
          account: identOfAccount(outbox, profile, service.username),
          kinds,
          recordKeys: undefined,
          limit,
          maxInFlight: service.maxInFlight ?? 16,
          openPhotograph: (photograph) => openKeptPhotograph(photosFolder, photograph),
          readIdentCely: readRecordIdent,
          clock: systemClock,
          report: (event) => onEvent?.(event),
          stop,
          abort: never.signal,
        }),
      );
    },
    reconcile: () =>
      underLease(async () => {
        const client = openOaiClient(harvestingOf(service, connection));
        const account = knownAccount(outbox, profile) ?? (await readAccount(connection));
        rememberAccount(outbox, profile, { ...account, username: service.username });
        const settled = await reconcile({
          outbox,
          profile,
          client,
          format: `oai_${service.prefix ?? 'svc'}`,
          clock: systemClock,
          user: account.identCely,
          settleMs: service.settleMs ?? 600_000,
          indexAllowanceMs: service.indexAllowanceMs ?? 900_000,
          isOtherService,
          recordKeys: undefined,
        });
        return settled.map(({ entry, verdict }) => ({ entry: toPublic(entry), verdict: verdict.kind, reason: verdict.reason }));
      }),
    resolve: (find, decision) => {
      const lease = hold();
      try {
        return resolveDoubts({ outbox, isOtherService }, targetOf(outbox, profile, find), decision).length;
      } finally {
        lease.release();
      }
    },
    entries: (find) => {
      if (find === undefined) return selectEntries(outbox, 'profile = :profile', { profile }).map(toPublic);
      const { findId, identCely } = targetOf(outbox, profile, find);
      const entries =
        findId === null ? entriesOfRecord(outbox, identCely ?? '', profile) : entriesOfFind(outbox, findId, profile);
      return entries.map(toPublic);
    },
    close,
    [Symbol.asyncDispose]: close,
  };

  async function close(): Promise<void> {
    checks[Symbol.dispose]();
    outbox.close();
    await connection.close();
  }
}

function harvestingOf(service: OutboxOptions['service'], { send, session }: Connection): OaiClientOptions {
  const { oaiBase, oaiAuth = 'basic', schemaVersion = '2.2', username, password } = service;
  if (oaiBase === undefined)
    throw new ConfigError('What is uncertain is settled by harvest, so the outbox needs service.oaiBase.');
  const credentials = {
    none: { kind: 'none' },
    basic: { kind: 'basic', username, password },
    bearer: { kind: 'bearer', token: () => session.token() },
  } as const;
  return {
    oaiBase: checkAddress('oaiBase', oaiBase, service.allowHttp === true),
    version: schemaVersion,
    credentials: credentials[oaiAuth],
    exchange: retrying(send, { clock: systemClock, random: Math.random, ...HARVEST_RETRY }),
  };
}

function toPublic({ id, kind, localId, state, identCely, reason, issues }: Entry): OutboxEntry {
  return { entry: id, kind, find: localId, state, identCely, reason, issues };
}

function roleNamed(name: string | undefined): Role | undefined {
  return ROLES.find((role) => role === name);
}
