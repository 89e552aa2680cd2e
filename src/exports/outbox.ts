import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { ConfigError, FileError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { readConfigFile } from '../context/config.ts';
import {
  chooseJournalLayout,
  type JournalPlaces,
  makeJournalPlaces,
  makePlaces,
  readMachineId,
  thisSystem,
} from '../context/places.ts';
import type { Find } from '../find/find.ts';
import { validateFind } from '../find/rules.ts';
import { createBreakers } from '../push/circuit-breaker.ts';
import type { PushResult } from '../push/drain-queue.ts';
import {
  type Harvesting,
  pushAll,
  reconcileNow,
  type SyncContext,
} from '../push/push.ts';
import type { PushEvent } from '../push/push-context.ts';
import {
  addPhotograph,
  enqueueNumber,
  type NumberChange,
  type PhotoChange,
} from '../flows/queue/enqueue-change.ts';
import { type EnqueueReport, enqueueFinds } from '../flows/queue/enqueue-finds.ts';
import { type ImportReport, importTable } from '../flows/queue/import-table.ts';
import { findTarget, findTargetForChange } from '../flows/queue/resolve-finds.ts';
import { makePhotographKeeping } from '../flows/queue/store-photographs.ts';
import { type Decision, resolveEntries, sendHeld } from '../push/resolve.ts';
import { HARVEST_RETRY, withRetry } from '../http/exchange.ts';
import { type OaiClientOptions, openOaiClient } from '../oai/client.ts';
import { findKnownAccount } from '../outbox/bound-account.ts';
import {
  ENTRY_KINDS,
  type Entry,
  type EntryKind,
  type EntryState,
  type HeldBasis,
} from '../outbox/entry.ts';
import { listAllEntries, listEntriesOfTarget } from '../outbox/entry-queries.ts';
import { openJournal } from '../outbox/journal.ts';
import { mergeJournal } from '../outbox/merge.ts';
import { type Outbox, openOutbox, readHeader } from '../outbox/open-outbox.ts';
import { acquirePushLock } from '../outbox/push-lock.ts';
import { ROLES, type Role } from '../pas-api/session.ts';
import { readTable } from '../tables/readers.ts';
import {
  type Connection,
  checkAddress,
  openConnection,
  type ServiceOptions,
} from './connection.ts';
import { type DocumentOptions, openKnowledge } from './knowledge.ts';

export { OutboxLeasedError, PasError } from '../base/errors.ts';
export type { Issue } from '../base/issue.ts';
export type { Reference, TargetState } from '../find/field.ts';
export type { FindElements } from '../find/fields.ts';
export type { Find } from '../find/find.ts';
export type { PushResult } from '../push/drain-queue.ts';
export type { PushEvent, StopCause } from '../push/push-context.ts';
export type { Enqueued, EnqueueReport } from '../flows/queue/enqueue-finds.ts';
export type { ImportReport } from '../flows/queue/import-table.ts';
export type { Decision } from '../push/resolve.ts';
export type { EntryKind, EntryState, HeldBasis } from '../outbox/entry.ts';
export type { ServiceOptions } from './connection.ts';

export type OutboxOptions = {
  /** The SQLite file. Back it up: no other file knows what was sent. */
  readonly file: string;
  /** Folder for copies of queued photographs; default: `photos` beside the file. */
  readonly photosFolder?: string;
  readonly service: ServiceOptions &
    DocumentOptions & {
      /** `{oai_base}`: required for settling uncertain entries. */
      readonly oaiBase?: string;
      /** Authentication for harvesting; default `basic`, with the account that writes. */
      readonly oaiAuth?: 'none' | 'basic' | 'bearer';
      /** Maximum of parallel requests; default 16. */
      readonly maxInFlight?: number;
      /**
       * Maximum time for which the service may still work on a request without answer, in
       * milliseconds; default 600000.
       */
      readonly settleMs?: number;
      /**
       * Number of days before the oldest unsent entry at which the first lookup begins; default 30.
       */
      readonly lookBackDays?: number;
      /**
       * Maximum time until a new record appears in harvests after that, in milliseconds; default
       * 900000.
       */
      readonly indexAllowanceMs?: number;
    };
  /**
   * SQLite file with this machine's copy of what was sent; the locks are beside it. The default is
   * that of the program `pas`. Keep it outside any copy or backup of the outbox.
   */
  readonly journalFile?: string;
  /** Answers the questions about held entries; without it such entries stay held. */
  readonly onQuestion?: (question: Question) => Answer | Promise<Answer>;
};

/** One write that the service must execute once. */
export type OutboxEntry = {
  readonly entry: number;
  readonly kind: EntryKind;
  /** Local id of the find; null for a record without a find in this outbox. */
  readonly find: string | null;
  readonly state: EntryState;
  /** The service's identifier of the record, once it is known. */
  readonly identCely: string | null;
  readonly reason: string | null;
  readonly issues: readonly Issue[];
  /** Question that must be answered before the entry is sent. */
  readonly held?: Question;
};

export type PushOptions = {
  readonly kinds?: readonly EntryKind[];
  /** Maximum of requests. */
  readonly limit?: number;
  /** False: send without looking for existing records of the same finds first. */
  readonly look?: boolean;
  /** Aborting it starts no further request and waits for those under way. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PushEvent) => void;
};

/** Verdict about an uncertain entry; `undecided` waits for a person, or for later evidence. */
export type Settled = {
  readonly entry: OutboxEntry;
  readonly verdict: 'found' | 'absent' | 'undecided';
  readonly reason: string;
};

/**
 * Outbox of finds and changes, each of which is sent once despite crashes, power cuts and lost
 * answers. The caller chooses the keys (`localId`): adding the same find again changes nothing.
 * Only one process pushes at a time.
 */
export type FindOutbox = AsyncDisposable & {
  /**
   * Checks finds and queues them with their photographs. A find with errors is stored as a draft
   * and never sent.
   */
  add(finds: readonly Find[]): Promise<EnqueueReport>;
  /**
   * Imports a table with the columns that README.md lists. A row with an identifier of the service
   * is refused.
   * @throws PasError where the table cannot be read at all
   */
  importTable(path: string): Promise<ImportReport>;
  /** @param find local id, or the service's identifier */
  setNumber(find: string, value: string): NumberChange;
  /** @throws FileError for a file that the service does not accept as a photograph */
  addPhoto(find: string, path: string): Promise<PhotoChange>;
  /**
   * Sends due entries within the rate limit of the service. @throws OutboxLeasedError while another
   * process pushes
   */
  push(options?: PushOptions): Promise<PushResult>;
  /** Settles uncertain entries by harvest: found; proven absent and queued again; or undecided. */
  reconcile(): Promise<readonly Settled[]>;
  /**
   * Records a decision about the uncertain or refused entries of a find. Returns the number of
   * settled entries.
   */
  resolve(find: string, decision: Decision): number;
  /** Returns all entries, or those of one find, in the order of the queue. */
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
  const { service, file, photosFolder = join(dirname(file), 'photos') } = options;
  const connection = openConnection(service);
  const { outbox, lock } = openOutboxFile(options, connection.baseUrl);
  const role = parseRole(findKnownAccount(outbox)?.role);
  const knowledge = await openKnowledge({ ...service, ...(role === undefined ? {} : { role }) });
  const keeping = makePhotographKeeping(photosFolder, { maxBytes: 262_144_000, link: false });
  const sync = {
    outbox,
    lock,
    service: { ...connection, username: service.username, usesExternalToken: false },
    harvesting:
      service.oaiBase === undefined
        ? undefined
        : makeHarvesting(service, service.oaiBase, connection),
    clock: systemClock,
    recordKeys: undefined,
  };
  const close = async (): Promise<void> => {
    knowledge.close();
    outbox.close();
    await connection.close();
  };
  return {
    add: (finds) =>
      enqueueFinds(finds, {
        ...keeping,
        outbox,
        validate: (find) => validateFind(find, knowledge.makeRuleContext()),
        dryRun: false,
      }),
    importTable: async (path) =>
      importTable(await readTable(path), {
        ...keeping,
        outbox,
        ruleContext: knowledge.makeRuleContext(),
        dryRun: false,
        photoFolder: dirname(path),
      }),
    setNumber: (find, value) => enqueueNumber(outbox, findTargetForChange(outbox, find), value),
    addPhoto: async (find, path) => {
      const { queued, issues } = await addPhotograph(
        outbox,
        findTargetForChange(outbox, find),
        path,
        keeping,
      );
      if (queued === undefined)
        throw new FileError(path, issues.map(({ message }) => message).join(' '));
      return queued.change;
    },
    push: makePusher(options, sync, connection, photosFolder),
    reconcile: () => reconcileWith(sync),
    resolve: (find, decision) => {
      const held = acquirePushLock(lock);
      try {
        return resolveEntries(outbox, find, decision, undefined, (work) => work(true)).settled
          .length;
      } finally {
        held.release();
      }
    },
    entries: (find) => {
      const entries =
        find === undefined
          ? listAllEntries(outbox)
          : listEntriesOfTarget(outbox, findTarget(outbox, find));
      return entries.map(toPublic);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function makePusher(
  options: OutboxOptions,
  sync: SyncContext,
  connection: Connection,
  photosFolder: string,
): FindOutbox['push'] {
  const { service, onQuestion } = options;
  const [breakerMemory, never] = [createBreakers(), new AbortController()];
  return ({ kinds = ENTRY_KINDS, limit, look = true, signal = never.signal, onEvent } = {}) => {
    // One listener per parallel request, which is no leak.
    setMaxListeners(0, signal, never.signal);
    return pushAll({
      ...connection,
      ...sync,
      recordKeys: undefined,
      ...{ kinds, limit, breakerMemory, photosFolder, onMatch: 'hold', mayLook: look },
      machine: readMachineId(thisSystem),
      maxInFlight: service.maxInFlight ?? 16,
      settleMs: service.settleMs ?? 600_000,
      lookBackMs: (service.lookBackDays ?? 30) * 24 * 3600 * 1000,
      ...(onQuestion === undefined
        ? {}
        : { askHeld: (held) => answerHeld(sync.outbox, held, onQuestion) }),
      report: (event) => onEvent?.(event),
      stop: signal,
      abort: never.signal,
    });
  };
}

async function reconcileWith({ harvesting, ...sync }: SyncContext): Promise<Settled[]> {
  if (harvesting === undefined)
    throw new ConfigError(
      'What is uncertain is settled by harvest, so the outbox needs service.oaiBase.',
    );
  const { settled } = await reconcileNow({ ...sync, harvesting });
  return settled.map(({ entry, verdict }) => ({
    entry: toPublic(entry),
    verdict: verdict.kind,
    reason: String(verdict.reason),
  }));
}

function makeHarvesting(
  service: OutboxOptions['service'],
  oaiBase: string,
  { send, session }: Connection,
): Harvesting {
  const { oaiAuth = 'basic', schemaVersion = '2.2', username, password } = service;
  const credentials = {
    none: { kind: 'none' },
    basic: { kind: 'basic', username, password },
    bearer: { kind: 'bearer', ...session },
  } as const;
  const options: OaiClientOptions = {
    oaiBase: checkAddress('oaiBase', oaiBase, service.allowHttp === true),
    version: schemaVersion,
    credentials: credentials[oaiAuth],
    exchange: withRetry(send, { clock: systemClock, random: Math.random, ...HARVEST_RETRY }),
  };
  return {
    open: async () => openOaiClient(options),
    auth: oaiAuth,
    format: `oai_${service.prefix ?? 'svc'}`,
    indexAllowanceMs: service.indexAllowanceMs ?? 900_000,
  };
}

function toPublic(entry: Entry): OutboxEntry {
  const { id, kind, localId, state, identCely, reason, issues } = entry;
  const held = questionOf(entry);
  return {
    ...{
      entry: id,
      kind,
      find: localId,
      state,
      identCely,
      reason: reason === null ? null : String(reason),
      issues,
    },
    ...(held === undefined ? {} : { held }),
  };
}

function parseRole(name: string | undefined): Role | undefined {
  return ROLES.find((role) => role === name);
}

/** Question about a held entry. `candidates`: identifiers of records, file names or numbers. */
export type Question = {
  /** Local id of the find; null for a record without a find in this outbox. */
  readonly find: string | null;
  /** Stable code. */
  readonly basis: HeldBasis;
  readonly question: string;
  readonly candidates: readonly string[];
};

/** `send`: it is another find. `created`: the service has it as this record. */
export type Answer = 'send' | 'hold' | { readonly created: string };

/** Asks the program about held entries and records its answers. The caller holds the push lock. */
async function answerHeld(
  outbox: Outbox,
  held: readonly Entry[],
  onQuestion: (question: Question) => Answer | Promise<Answer>,
): Promise<void> {
  for (const entry of held) {
    const question = questionOf(entry);
    const answer = question === undefined ? 'hold' : await onQuestion(question);
    if (answer === 'hold') continue;
    if (answer === 'send') sendHeld(outbox, [entry]);
    else {
      const name = entry.localId ?? entry.identCely ?? '';
      // The running push holds the lock already.
      resolveEntries(
        outbox,
        name,
        { kind: 'created', identCely: answer.created },
        entry.id,
        (work) => work(false),
      );
    }
  }
}

/**
 * Returns the open question of a held entry, in the current language; undefined where the entry is
 * not held.
 */
export function questionOf({ held, localId }: Entry): Question | undefined {
  if (held === null) return undefined;
  const { basis, question, candidates } = held;
  return { find: localId, basis, question: String(question), candidates };
}

type OutboxFile = {
  readonly file: string;
  readonly journalFile?: string;
  readonly service: { readonly prefix?: string; readonly schemaVersion?: string };
};

type Opened = { readonly outbox: Outbox; readonly lock: Parameters<typeof acquirePushLock>[0] };

/**
 * Opens the file with its journal, and merges that. @throws ConfigError where it is for another
 * service
 */
function openOutboxFile({ file, service, journalFile }: OutboxFile, address: string): Opened {
  const { prefix = 'svc', schemaVersion = '2.2' } = service;
  const journal = getJournalPlaces(file, journalFile);
  const outbox = openOutbox(file, systemClock, {
    binding: { address, prefix, schemaVersion },
    journal: () =>
      openJournal(journal.journalFile, {
        machine: () => readMachineId(thisSystem),
        clock: systemClock,
      }),
  });
  try {
    const header = readHeader(outbox);
    if (
      header.address !== address ||
      header.prefix !== prefix ||
      header.schemaVersion !== schemaVersion
    ) {
      const [here, there] = [
        `${address} ${prefix} ${schemaVersion}`,
        `${header.address} ${header.prefix} ${header.schemaVersion}`,
      ];
      throw new ConfigError(`${file} is an outbox for ${there}, not for ${here}.`, {
        hint: 'Use another file for another service. Where the service has moved, run pas service moved OLD NEW.',
      });
    }
    mergeJournal(outbox, { withOpen: false });
    return { outbox, lock: getPushLock(outbox, journal) };
  } catch (thrown) {
    outbox.close();
    throw thrown;
  }
}

/**
 * Returns the journal of the program `pas`, so that this process and `pas` never push one file at
 * once.
 */
function getJournalPlaces(file: string, givenFile: string | undefined): JournalPlaces {
  const places = makePlaces(process.env);
  if (givenFile !== undefined)
    return {
      journalFile: givenFile,
      locksFolder: join(dirname(givenFile), 'locks'),
      layout: 'state',
    };
  return makeJournalPlaces(
    places,
    chooseJournalLayout(readConfigFile(places.configFile).journal, thisSystem),
    dirname(file),
  );
}

function getPushLock(outbox: Outbox, { locksFolder }: JournalPlaces): Opened['lock'] {
  const holder = { pid: process.pid, host: hostname() };
  return { folder: locksFolder, outboxId: readHeader(outbox).outbox, clock: systemClock, holder };
}
