import type { Clock } from '../base/clock.ts';
import {
  AuthError,
  ConfigError,
  DatabaseError,
  PasError,
  UnavailableError,
  UsageError,
} from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { RETRY_POLICY } from '../base/retry-policy.ts';
import { openAdmission } from '../flows/finds/outbox-status.ts';
import { bindAndCheck, uniteAndCheck } from '../flows/queue/check-entered.ts';
import type { OaiClient } from '../oai/client.ts';
import { assertSoundEntries } from '../outbox/backup-copy.ts';
import { findKnownAccount, findKnownUsername } from '../outbox/bound-account.ts';
import { recoverOpenAttempts } from '../outbox/claims.ts';
import type { Entry, Photograph } from '../outbox/entry.ts';
import {
  clampFutureBackoff,
  clearBackoff,
  findEntryById,
  findNextScheduled,
  listEntriesInState,
  listHeldEntries,
} from '../outbox/entry-queries.ts';
import { type Outbox, readHeader, requireLedger, updateHeader } from '../outbox/open-outbox.ts';
import { type PushLockOptions, withPushLock } from '../outbox/push-lock.ts';
import { getPlace, takePlace } from '../outbox/unite.ts';
import type { Account } from '../pas-api/session.ts';
import { type OpenService, resolveAccount } from './account.ts';
import { openKeptPhotograph } from './departure.ts';
import { drainQueue, explainWaiting } from './drain-queue.ts';
import type { LookupContext } from './evidence.ts';
import { type GateContext, holdBeforeDeparture, holdEntriesWithQuestions } from './look.ts';
import {
  createServerClock,
  type PushSettings,
  reportSettled,
  type ServerClock,
} from './push-context.ts';
import { addResults, countToSend, NOTHING_SENT, type PushResult } from './push-result.ts';
import { type ReconciledEntry, reconcile } from './reconcile-entries.ts';
import { sendHeld } from './resolve-entries.ts';

export type Harvesting = {
  open(): Promise<OaiClient>;
  /** Sign-in: `bearer` as the writing account, `basic` as the user name of the profile. */
  readonly auth: 'none' | 'bearer' | 'basic';
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  /** Maximum time until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
};

/** Write access to a service, and read access where it has a harvest. */
export type SyncContext = {
  readonly clock: Clock;
  /** Keys of the records; undefined for all. */
  readonly subjects?: readonly string[] | undefined;
  readonly outbox: Outbox;
  readonly service: OpenService;
  /** Undefined where a person settles uncertain entries. */
  readonly harvesting: Harvesting | undefined;
  readonly lock: PushLockOptions;
  /** Aborts the requests of the harvest. */
  readonly stop?: AbortSignal;
  readonly onSearch?: (doneCount: number, total: number | undefined) => void;
};

/** Reason for which the service was not searched before sending. */
export type NotChecked = 'no-harvesting' | 'anonymous' | 'not-signed-in';

export type PushAllOptions = SyncContext &
  PushSettings & {
    /** Identifier of this machine; empty where it has none. */
    readonly machine: string;
    readonly photosFolder: string;
    /** Ends the backoff of these records, since the user named them. */
    readonly isUrgent?: boolean;
    /** Treatment of held entries where no person can be asked. */
    readonly onQuestion: 'hold' | 'send';
    readonly lookBackMs: number;
    /** Asks a person about held entries, and records the answers. */
    readonly askHeld?: (held: readonly Entry[]) => Promise<void>;
    /**
     * Asks if a service that this machine knows by these addresses has another address now;
     * undefined where no person can be asked.
     */
    readonly confirmSameService?: (
      addresses: readonly string[],
      account: string,
    ) => Promise<boolean>;
    /** Takes over an outbox of another place; false asks, where a person can be asked. */
    readonly takesOver?: boolean;
    readonly confirmTakeOver?: () => Promise<boolean>;
    /**
     * Settles which new people the service may create; false where some are not accepted. Without
     * it, all are.
     */
    readonly admitNewPeople?: (mayAsk: boolean) => Promise<boolean>;
    /** Called before each round with the number of entries to send. */
    readonly onRound?: (queued: number) => void;
    readonly onReconciled?: (settled: readonly ReconciledEntry[]) => void;
    /** Called with the error of a failed search for uncertain entries; the push continues. */
    readonly onSearchFailed?: (error: PasError) => void;
    /** Called once if imports are sent without a search. */
    readonly onNotChecked?: (why: NotChecked) => void;
    /** Called if the ledger of this machine was missing, or is an older one. */
    readonly onLostLedger?: () => void;
  };

/**
 * Pushes: unites with the ledger, checks place and gate, drains the queue, searches the service for
 * uncertain entries, and sends those once more that are proven absent.
 * @throws OutboxLeasedError while another process pushes; UsageError where a person must first
 * decide about the outbox; ConfigError where it belongs to another account; DatabaseError,
 * AuthError, UnavailableError, ContractError
 */
export async function pushAll(options: PushAllOptions): Promise<PushResult> {
  return withPushLock(options.lock, () => pushUnderLock(options));
}

/** As {@link pushAll}, for a caller that holds the lock. */
export async function pushUnderLock(options: PushAllOptions): Promise<PushResult> {
  await prepareOutbox(options);
  const push = createPush(options);
  let result = await push.runRound();
  const released = new Set<number>();
  for (;;) {
    const settled = await push.reconcile(result);
    result = { ...result, accepted: result.accepted + countFound(settled) };
    const isFreed = ({ entry: { id, kind }, verdict }: ReconciledEntry): boolean =>
      verdict.kind === 'absent'
        ? !result.nonConforming.includes(id)
        : verdict.kind === 'found' && kind !== 'photo';
    const again = settled.filter((one) => !released.has(one.entry.id) && isFreed(one));
    if (options.stop.aborted && listEntriesInState(options.outbox, 'uncertain').length > 0)
      return { ...result, stopCause: result.stopCause ?? { kind: 'interrupted' } };
    const mayGoOn =
      result.stopCause === undefined && options.limit === undefined && !options.stop.aborted;
    if (!mayGoOn) return result;
    if (again.length === 0) return withStopCauseForRemaining(options, result);
    // Entries proven absent are sent once more, so that the push ends even if the service loses
    // them each time. A found import has released its photographs and numbers, and a number the
    // later ones of its record.
    for (const { entry } of again) released.add(entry.id);
    result = addResults(result, await push.runRound());
  }
}

/** Asserts the place, takes it over where a person says so, and unites with the ledger. */
async function prepareOutbox(options: PushAllOptions): Promise<void> {
  const { outbox, machine } = options;
  assertSameOutbox(options);
  const place = getPlace(outbox, machine);
  if (place.kind === 'foreign' && options.takesOver !== true)
    if ((await options.confirmTakeOver?.()) !== true) throw makeForeignError(outbox);
  assertSoundEntries(outbox);
  if (place.kind === 'lost-ledger') options.onLostLedger?.();
  takePlace(outbox, machine, place);
  uniteAndCheck(outbox);
  if (options.isUrgent === true && options.subjects !== undefined)
    clearBackoff(outbox, options.subjects);
}

/**
 * A new address of a service at which the account is known may be a moved one: asked once, before
 * the account is bound.
 * @throws UsageError where no person can be asked
 */
async function identifyService(options: PushAllOptions, account: string): Promise<void> {
  const { outbox } = options;
  const ledger = requireLedger(outbox);
  const { account: bound, address, kind, service } = readHeader(outbox);
  const [other] = bound === null ? ledger.listServicesOfAccount(account, kind, service) : [];
  if (other === undefined) return;
  const addresses = ledger.listAddresses(other);
  if (options.confirmSameService === undefined) {
    const names = addresses.join(', ');
    throw new UsageError(
      msg`This account has sent from this machine to ${names}. pas cannot tell whether ${address} is the same service, moved. Nothing was sent.`,
      { hint: msg`Push once on a terminal: pas asks, and remembers the answer.` },
    );
  }
  if (!(await options.confirmSameService(addresses, account))) return;
  ledger.moveAddress(address, other);
  outbox.change(() => updateHeader(outbox, { service: other, unitedSeq: 0, unitedFact: '' }));
}

function makeForeignError({ path }: Outbox): UsageError {
  return new UsageError(msg`The outbox ${path} was pushed from another place. Nothing was sent.`, {
    hint: msg`If you no longer push from there: ${cmd`pas push --take-over`}. It must not be pushed from both.`,
  });
}

/** @throws ConfigError where the file was replaced by another outbox since it was opened */
function assertSameOutbox({ outbox, service }: PushAllOptions): void {
  if (readHeader(outbox).address === service.baseUrl) return;
  throw new ConfigError(
    msg`${outbox.path} is no longer the outbox that was opened. Nothing was sent.`,
    {
      hint: msg`Run the command again.`,
    },
  );
}

type Push = {
  /** Checks the gate and drains the queue, unless it is empty. */
  runRound(): Promise<PushResult>;
  reconcile(result: PushResult): Promise<readonly ReconciledEntry[]>;
};

function createPush(options: PushAllOptions): Push {
  const { outbox, clock } = options;
  const serverClock = createServerClock(clock);
  const service = { ...options.service, send: serverClock.observe(options.service.send) };
  const admission = openAdmission(
    outbox,
    options.subjects,
    options.admitNewPeople ?? (async () => true),
  );
  let account: Account | undefined;
  let hasSearched = false;
  const recover = (): void => {
    for (const entry of recoverOpenAttempts(outbox)) reportSettled(options, entry);
  };
  const runRound = async (): Promise<PushResult> => {
    recover();
    clampFutureBackoff(outbox, RETRY_POLICY.entry.slowMaxMs);
    // Without an entry to send, or a question to answer, no request is needed.
    if (
      countToSend(options) === 0 &&
      !listHeldEntries(outbox).some((entry) => isMeant(options, entry))
    )
      return NOTHING_SENT;
    if (!(await admission.admitAll())) return { ...NOTHING_SENT, stopCause: NEW_PEOPLE };
    try {
      account ??= await resolveAccount(outbox, service, options.stop);
    } catch (thrown) {
      if (options.stop.aborted) return { ...NOTHING_SENT, stopCause: { kind: 'interrupted' } };
      throw thrown;
    }
    await identifyService(options, account.identCely);
    bindAndCheck(outbox, account.identCely);
    // The account's attempts have come from the ledger, also those of a push that was killed.
    recover();
    const found = hasSearched ? 0 : await reconcileBeforeGate(options);
    hasSearched = true;
    const gate = createGate(options, await makeGateContext(options, account, serverClock));
    const isStopped = await passGate(options, gate);
    if (isStopped) return { ...NOTHING_SENT, accepted: found, stopCause: { kind: 'interrupted' } };
    options.onRound?.(countToSend(options));
    const drained = await drainQueue({
      ...options,
      ...service,
      account: account.identCely,
      serverClock,
      holdBeforeDeparture: async (entry) =>
        (await gate.holdBeforeDeparture(entry)) ||
        ((await admission.isAdmitted(entry)) ? false : NEW_PEOPLE),
      openPhotograph: (photograph: Photograph) =>
        openKeptPhotograph(options.photosFolder, photograph),
    });
    return { ...drained, accepted: drained.accepted + found };
  };
  return { runRound, reconcile: (result) => reconcileUncertain(options, result) };
}

/**
 * Settles uncertain entries of earlier pushes first, so that their records do not count as equals
 * of unsent ones.
 */
async function reconcileBeforeGate(options: PushAllOptions): Promise<number> {
  return listEntriesInState(options.outbox, 'uncertain').length === 0
    ? 0
    : countFound(await reconcileUncertain(options, NOTHING_SENT));
}

function countFound(settled: readonly ReconciledEntry[]): number {
  return settled.filter(({ verdict }) => verdict.kind === 'found').length;
}

async function makeGateContext(
  options: PushAllOptions,
  { identCely: account }: Account,
  serverClock: ServerClock,
): Promise<GateContext> {
  const { outbox, lookBackMs } = options;
  const why = findReasonNotToSearch(options);
  const lookup = why === undefined ? await openSearch(options, account) : undefined;
  const notChecked = why ?? (lookup === undefined ? 'not-signed-in' : undefined);
  if (notChecked !== undefined && countToSend(options) > 0) options.onNotChecked?.(notChecked);
  return {
    outbox,
    account,
    lookup,
    lookBackMs,
    stop: options.stop,
    serverNowMs: serverClock.now(),
    judged: new Map(),
  };
}

const NEW_PEOPLE = {
  kind: 'new-people',
  reason: msg`some finders would be new people at the service`,
} as const;

type Gate = {
  /** @returns the entries of this push that are held */
  hold(): Promise<Entry[]>;
  holdBeforeDeparture(entry: Entry): Promise<boolean>;
};

/**
 * Creates the gate of a push. A service that refuses the account for harvesting is not searched
 * again.
 */
function createGate(options: PushAllOptions, context: GateContext): Gate {
  let current = context;
  const runUnlessRefused = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof AuthError) || current.lookup === undefined) throw thrown;
      current = { ...current, lookup: undefined };
      options.onNotChecked?.('not-signed-in');
      return work();
    }
  };
  const hold = async (): Promise<Entry[]> =>
    (await holdEntriesWithQuestions(current)).filter((entry) => isMeant(options, entry));
  return {
    hold: () => runUnlessRefused(hold),
    holdBeforeDeparture: (entry) =>
      runUnlessRefused(async () => {
        const isHeld = await holdBeforeDeparture(current, entry);
        // The question is asked in the next push, but the answer may be given before.
        if (isHeld && options.onQuestion === 'send')
          sendHeld(
            options.outbox,
            listHeldEntries(options.outbox).filter((held) => isMeant(options, held)),
          );
        return isHeld;
      }),
  };
}

function findReasonNotToSearch({ harvesting, outbox }: PushAllOptions): NotChecked | undefined {
  if (harvesting === undefined) return 'no-harvesting';
  // After another place, public headers count as well.
  return harvesting.auth === 'none' && !readHeader(outbox).mustLook ? 'anonymous' : undefined;
}

async function openSearch(
  options: PushAllOptions,
  account: string,
): Promise<LookupContext | undefined> {
  try {
    return options.harvesting === undefined
      ? undefined
      : await makeLookupContext(options, options.harvesting, account);
  } catch (thrown) {
    if (thrown instanceof AuthError || thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

/**
 * Holds entries with open questions, and asks a person.
 * @returns true if the push was stopped meanwhile
 * @throws UnavailableError where the search fails: nothing is sent without it
 */
async function passGate(options: PushAllOptions, gate: Gate): Promise<boolean> {
  let held: readonly Entry[];
  try {
    held = await gate.hold();
  } catch (thrown) {
    if (options.stop.aborted) return true;
    throw thrown instanceof PasError && !(thrown instanceof DatabaseError)
      ? toLookupError(options, thrown)
      : thrown;
  }
  if (held.length === 0) return options.stop.aborted;
  if (options.onQuestion === 'send') sendHeld(options.outbox, held);
  else await options.askHeld?.(held);
  return options.stop.aborted;
}

/** Tells if the push covers the entry, by kind and record. */
function isMeant({ kinds, subjects }: PushAllOptions, { kind, subject }: Entry): boolean {
  return kinds.includes(kind) && (subjects === undefined || subjects.includes(subject));
}

function toLookupError({ outbox }: PushAllOptions, thrown: PasError): UnavailableError {
  return new UnavailableError(
    msg`pas could not search the service before sending: ${thrown.says}`,
    {
      cause: thrown,
      hint: readHeader(outbox).mustLook
        ? msg`Nothing was sent. Try again later: the outbox was pushed from another place before, so pas must search the service before it sends anything.`
        : msg`Nothing was sent. Try again later.`,
    },
  );
}

/** Adds the cause for which sendable entries are left: failures, or a wait. */
function withStopCauseForRemaining(options: PushAllOptions, result: PushResult): PushResult {
  const { clock, kinds, outbox, subjects } = options;
  const closed = result.leftOut.map(({ kind, project }) => ({ kind, project }));
  const rest = findNextScheduled(outbox, { kinds, subjects, busyRecords: [], closed });
  if (rest === undefined || result.nonConforming.includes(rest.id)) return result;
  const untilMs = Math.max(rest.notBeforeAt, clock.now());
  return { ...result, stopCause: { kind: 'not-yet', reason: explainWaiting(rest), untilMs } };
}

async function reconcileUncertain(
  options: PushAllOptions,
  { stopCause }: PushResult,
): Promise<readonly ReconciledEntry[]> {
  const { harvesting, outbox } = options;
  const isOnline = stopCause === undefined || stopCause.kind === 'in-doubt';
  if (harvesting === undefined || !isOnline || listEntriesInState(outbox, 'uncertain').length === 0)
    return [];
  try {
    const writer = findKnownAccount(outbox)?.identCely;
    const context = await makeLookupContext(options, harvesting, writer);
    const settled = await reconcile({ ...context, subjects: options.subjects });
    options.onReconciled?.(settled);
    for (const { entry, verdict } of settled)
      if (verdict.kind !== 'undecided')
        reportSettled(options, findEntryById(outbox, entry.id) ?? entry);
    return settled;
  } catch (thrown) {
    if (!(thrown instanceof PasError) || thrown instanceof DatabaseError) throw thrown;
    if (!options.stop.aborted) options.onSearchFailed?.(thrown);
    return [];
  }
}

/**
 * Settles uncertain entries by a search of the service.
 * @returns also the number of those that stay uncertain
 * @throws OutboxLeasedError, OaiError; as the request for the account
 */
export async function reconcileNow(options: SyncContext & { readonly harvesting: Harvesting }) {
  const { harvesting, outbox } = options;
  return withPushLock(options.lock, async () => {
    uniteAndCheck(outbox);
    recoverOpenAttempts(outbox);
    const writer = await resolveWriter(options, harvesting);
    const context = await makeLookupContext(options, harvesting, writer);
    const settled = await reconcile({ ...context, subjects: options.subjects });
    return { settled, left: listEntriesInState(outbox, 'uncertain').length };
  });
}

async function resolveWriter(
  { outbox, service, stop }: SyncContext,
  { auth }: Harvesting,
): Promise<string | undefined> {
  const account = service.usesExternalToken ? undefined : findKnownAccount(outbox);
  if (account !== undefined || auth === 'none') return account?.identCely;
  return (await resolveAccount(outbox, service, stop)).identCely;
}

/** @param writer the sending account; undefined where it is unknown */
async function makeLookupContext(
  options: SyncContext,
  harvesting: Harvesting,
  writer: string | undefined,
): Promise<LookupContext> {
  const { clock, outbox, onSearch, service, stop } = options;
  const { auth, format, indexAllowanceMs, open } = harvesting;
  const harvesters = {
    none: undefined,
    bearer: writer,
    // The token may belong to another account than the user name.
    basic:
      service.usesExternalToken && findKnownUsername(outbox) !== service.username
        ? undefined
        : writer,
  };
  return {
    clock,
    format,
    indexAllowanceMs,
    outbox,
    harvester: harvesters[auth],
    client: await open(),
    signal: stop,
    onProgress: onSearch,
  };
}
