import { createServerClock } from '../base/clock.ts';
import {
  AuthError,
  ConfigError,
  DatabaseError,
  PasError,
  UnavailableError,
  UsageError,
} from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { RETRY_POLICY } from '../base/outcomes.ts';
import { recordOrphanedAttempts } from '../outbox/attempts.ts';
import type { Entry } from '../outbox/entry.ts';
import {
  clearImplausibleBackoff,
  findNextClaimableEntry,
  listEntriesInState,
  listHeldEntries,
} from '../outbox/entry-queries.ts';
import {
  findKnownAccount,
  type Outbox,
  readHeader,
  requireLedger,
  updateHeader,
} from '../outbox/open-outbox.ts';
import { getPushPlace, storePushPlace, withPushLock } from '../outbox/push-lock.ts';
import { assertSoundEntries } from '../outbox/repair-outbox.ts';
import { uniteWithLedger } from '../outbox/unite.ts';
import { makePeopleAdmission } from '../outbox/views/outbox-status.ts';
import { fetchAccountOfOutbox } from './account.ts';
import { drainQueue, explainWaiting } from './drain-queue.ts';
import type { ReconciledEntry } from './judge-import.ts';
import { holdEntriesWithQuestions, holdEntryBeforeDeparture, type LookContext } from './look.ts';
import {
  type HarvestAccess,
  type PushContext,
  type RefusalSeries,
  reportSettledEntry,
  type ServiceAccess,
  type SignedInPush,
  type StopCause,
} from './push-context.ts';
import {
  addPushResults,
  countEntriesToSend,
  NOTHING_SENT,
  type PushResult,
} from './push-session.ts';
import { reconcileEntries, type SearchContext } from './reconcile-entries.ts';
import { answerHeldEntriesWithSend } from './resolve-entries.ts';

/**
 * Pushes an outbox under the push lock: unites it with the ledger, checks its place, signs in, and
 * in rounds looks at the service, sends what the gate lets pass, and searches for uncertain
 * entries, which are sent once more where they are proven absent.
 * @throws OutboxLeasedError while another process pushes; UsageError where a person must first
 * decide about the outbox; ConfigError where it belongs to another account; DatabaseError where the
 * disk fails; AuthError, UnavailableError or ContractError where it cannot sign in or look
 */
export async function pushOutbox(push: PushContext): Promise<PushResult> {
  return withPushLock(push.lock, () => pushUnderLock(push));
}

/** Runs rounds until none has freed an entry that can be sent, or the push must end. */
async function pushUnderLock(push: PushContext): Promise<PushResult> {
  await prepareOutbox(push);
  const runRound = makeRounds(push);
  let result = await runRound(push.ended ?? []);
  const freed = new Set<number>();
  for (;;) {
    const settled = await reconcileUncertain(push, result.stopCause);
    result = { ...result, accepted: result.accepted + countFound(settled) };
    const isFreed = ({ entry: { id, kind }, verdict }: ReconciledEntry): boolean =>
      verdict.kind === 'absent'
        ? !result.nonConforming.includes(id)
        : verdict.kind === 'found' && kind !== 'photo';
    const again = settled.filter((one) => !freed.has(one.entry.id) && isFreed(one));
    if (push.stop.aborted && listEntriesInState(push.outbox, 'uncertain').length > 0)
      return { ...result, stopCause: result.stopCause ?? { kind: 'interrupted' } };
    const mayGoOn =
      result.stopCause === undefined && push.limit === undefined && !push.stop.aborted;
    if (!mayGoOn) return result;
    if (again.length === 0) return withStopCauseForRemaining(push, result);
    // Entries proven absent are sent once more, so that the push ends even if the service loses
    // them each time. A found import has freed its photographs and numbers, and a number the
    // later ones of its record.
    for (const { entry } of again) freed.add(entry.id);
    result = addPushResults(result, await runRound(result.leftOut));
  }
}

/** Asserts the place, takes it over where a person says so, and unites with the ledger. */
async function prepareOutbox(push: PushContext): Promise<void> {
  const { outbox, machine } = push;
  assertSameOutbox(push);
  const place = getPushPlace(outbox, machine);
  if (place === 'foreign' && (await push.confirmTakeOver?.()) !== true)
    throw makeForeignError(outbox);
  assertSoundEntries(outbox);
  if (place === 'lost-ledger') push.onLostLedger?.();
  storePushPlace(outbox, machine, place);
  uniteWithLedger(outbox);
}

/**
 * An address from which nothing was sent may be a new one of a service to which this account has
 * sent: asked before the first request that writes.
 * @throws UsageError where no person can be asked
 */
async function identifyService(push: PushContext, account: string): Promise<void> {
  const { outbox } = push;
  const ledger = requireLedger(outbox);
  const { address, kind, service } = readHeader(outbox);
  const used = ledger.listServicesOfAccount(account, kind);
  const [other] = used;
  if (other === undefined || used.includes(service)) return;
  const addresses = ledger.listAddresses(other);
  if (push.confirmSameService === undefined) {
    const names = addresses.join(', ');
    throw new UsageError(
      msg`This account has sent from this machine to ${names}. pas cannot tell whether ${address} is the same service, moved. Nothing was sent.`,
      { hint: msg`Push once on a terminal: pas asks, and remembers the answer.` },
    );
  }
  if (!(await push.confirmSameService(addresses, account))) return;
  ledger.moveAddress(address, other);
  outbox.change(() => updateHeader(outbox, { service: other, account: null }));
}

function makeForeignError({ path }: Outbox): UsageError {
  return new UsageError(msg`The outbox ${path} was pushed from another place. Nothing was sent.`, {
    hint: msg`If you no longer push from there: ${cmd`pas push --take-over`}. It must not be pushed from both.`,
  });
}

/** @throws ConfigError where the file was replaced by another outbox since it was opened */
function assertSameOutbox({ outbox, service }: PushContext): void {
  if (readHeader(outbox).address === service.baseUrl) return;
  throw new ConfigError(
    msg`${outbox.path} is no longer the outbox that was opened. Nothing was sent.`,
    {
      hint: msg`Run the command again.`,
    },
  );
}

/** Makes the function that runs a round of a push, of which the first one signs in. */
function makeRounds(push: PushContext): (ended: readonly RefusalSeries[]) => Promise<PushResult> {
  const { outbox, subjects } = push;
  const admit = push.admitNewPeople ?? (async () => true);
  const admission = makePeopleAdmission(outbox, subjects, admit);
  let signed: SignedInPush | undefined;
  return async (ended) => {
    recordOrphans(push);
    clearImplausibleBackoff(outbox, RETRY_POLICY.slow.maxMs);
    // Without an entry to send, or a question to answer, no request is needed.
    if (countEntriesToSend(push) === 0 && listMeantHeld(push).length === 0) return NOTHING_SENT;
    if (!(await admission.admitAll())) return { ...NOTHING_SENT, stopCause: NEW_PEOPLE };
    const isFirst = signed === undefined;
    try {
      signed ??= await signIn(push);
    } catch (thrown) {
      if (push.stop.aborted) return INTERRUPTED;
      throw thrown;
    }
    // The records of what is found must not count as equals of unsent finds.
    const found = isFirst ? countFound(await reconcileUncertain(push, undefined)) : 0;
    const sent = await sendThroughGate({ ...signed, ended }, admission.admitIfNew);
    return { ...sent, accepted: sent.accepted + found };
  };
}

/** Requests the account, and unites the outbox with all that this machine has sent for it. */
async function signIn(push: PushContext): Promise<SignedInPush> {
  const { outbox } = push;
  const serverClock = createServerClock(push.clock);
  const service = { ...push.service, send: serverClock.observe(push.service.send) };
  const { identCely: account } = await fetchAccountOfOutbox(outbox, service, push.stop);
  await identifyService(push, account);
  uniteWithLedger(outbox, account);
  // The account's attempts have come from the ledger, also those of a push that was killed.
  recordOrphans(push);
  return { ...push, service, account, serverClock };
}

/** Records and reports attempts that a killed push has left without an answer. */
function recordOrphans(push: PushContext): void {
  for (const { id } of recordOrphanedAttempts(push.outbox)) reportSettledEntry(push, id);
}

/**
 * Holds entries that the service may have already with a question, and sends the others.
 * @param admitIfNew admits the finder of an entry that is new to the service; false where he may
 * not be made
 */
async function sendThroughGate(
  push: SignedInPush,
  admitIfNew: (entry: Entry) => Promise<boolean>,
): Promise<PushResult> {
  const gate = await openLookContext(push);
  const isStopped = await passGate(push, gate);
  if (isStopped) return INTERRUPTED;
  push.onRound?.(countEntriesToSend(push));
  return drainQueue(push, async (entry) => {
    if (await holdEntryBeforeDeparture(gate, entry)) {
      // The question is asked in the next push, but the answer may be given before.
      if (push.onQuestion === 'send') answerHeldEntriesWithSend(push.outbox, listMeantHeld(push));
      return true;
    }
    return (await admitIfNew(entry)) ? false : NEW_PEOPLE;
  });
}

const INTERRUPTED: PushResult = { ...NOTHING_SENT, stopCause: { kind: 'interrupted' } };

function countFound(settled: readonly ReconciledEntry[]): number {
  return settled.filter(({ verdict }) => verdict.kind === 'found').length;
}

const NEW_PEOPLE = {
  kind: 'new-people',
  reason: msg`some finders would be new people at the service`,
} as const;

/** Opens what the gate of a round needs, and says where nothing can be searched. */
async function openLookContext(push: SignedInPush): Promise<LookContext> {
  const { account, harvesting, lookBackMs, outbox, serverClock, stop } = push;
  // Another account may not see what this one has sent.
  const isOwn = harvesting !== undefined && findHarvester(push, harvesting, account) === account;
  if (!isOwn && countEntriesToSend(push) > 0)
    push.onNotChecked?.(harvesting === undefined ? 'no-harvesting' : 'anonymous');
  return {
    outbox,
    account,
    lookup: isOwn ? await openLookup(push, harvesting, account, stop) : undefined,
    onNotChecked: push.onNotChecked,
    lookBackMs,
    stop,
    serverNowMs: serverClock.now(),
    judged: new Map(),
  };
}

/**
 * Holds entries with open questions, unless they are to be sent.
 * @returns true if the push was stopped meanwhile
 * @throws AuthError, UnavailableError where the search fails: nothing is sent without it
 */
async function passGate(push: PushContext, gate: LookContext): Promise<boolean> {
  try {
    await holdEntriesWithQuestions(gate);
  } catch (thrown) {
    if (push.stop.aborted) return true;
    throw thrown instanceof PasError && !(thrown instanceof DatabaseError)
      ? toLookupError(push, thrown)
      : thrown;
  }
  if (push.onQuestion === 'send') answerHeldEntriesWithSend(push.outbox, listMeantHeld(push));
  return push.stop.aborted;
}

/** Returns the held entries that the push covers, by kind and subject. */
function listMeantHeld({ outbox, kinds, subjects }: PushContext): Entry[] {
  return listHeldEntries(outbox).filter(
    ({ kind, subject }) =>
      kinds.includes(kind) && (subjects === undefined || subjects.includes(subject)),
  );
}

function toLookupError({ outbox }: PushContext, thrown: PasError): PasError {
  const todo = thrown.hintSays ?? msg`Try again later.`;
  const Failure = thrown instanceof AuthError ? AuthError : UnavailableError;
  return new Failure(msg`pas could not search the service before sending: ${thrown.says}`, {
    cause: thrown,
    hint: readHeader(outbox).mustLook
      ? msg`Nothing was sent: the outbox was pushed from another place before, so pas must search the service before it sends anything. ${todo}`
      : msg`Nothing was sent. ${todo}`,
  });
}

/** Adds the cause `not-yet` where an entry is left that may be sent now or later. */
function withStopCauseForRemaining(push: PushContext, result: PushResult): PushResult {
  const { clock, outbox } = push;
  const query = { ...push, busyRecords: [], closed: result.leftOut };
  const rest = findNextClaimableEntry(outbox, query);
  if (rest === undefined || result.nonConforming.includes(rest.id)) return result;
  const untilMs = Math.max(rest.notBeforeAt, clock.now());
  return { ...result, stopCause: { kind: 'not-yet', reason: explainWaiting(rest), untilMs } };
}

/**
 * Settles uncertain entries by a search. Does nothing without harvesting, or where the push ends
 * for another cause than doubtful answers; a failed search is reported, and none is settled.
 */
async function reconcileUncertain(
  push: PushContext,
  stopCause: StopCause | undefined,
): Promise<readonly ReconciledEntry[]> {
  const { harvesting, outbox, stop, subjects } = push;
  const isOnline = stopCause === undefined || stopCause.kind === 'in-doubt';
  if (harvesting === undefined || !isOnline || listEntriesInState(outbox, 'uncertain').length === 0)
    return [];
  try {
    const writer = findKnownAccount(outbox)?.identCely;
    const settled = await reconcileEntries(
      await openLookup(push, harvesting, writer, stop),
      subjects,
    );
    push.onReconciled?.(settled);
    for (const { entry, verdict } of settled)
      if (verdict.kind !== 'undecided') reportSettledEntry(push, entry.id);
    return settled;
  } catch (thrown) {
    if (!(thrown instanceof PasError) || thrown instanceof DatabaseError) throw thrown;
    if (!stop.aborted) push.onSearchFailed?.(thrown);
    return [];
  }
}

/**
 * Settles uncertain entries of an outbox by a search of the service, under the push lock, and sends
 * nothing.
 * @param subjects those whose entries are settled; undefined for all
 * @returns the verdicts, and in `left` how many entries of the whole outbox are uncertain still
 * @throws OutboxLeasedError during a push; ConfigError where the outbox belongs to another account;
 * DatabaseError, OaiError; as {@link fetchAccountOfOutbox}
 */
export async function reconcileOutbox(
  sync: ServiceAccess,
  harvesting: HarvestAccess,
  subjects: readonly string[] | undefined,
): Promise<{ readonly settled: readonly ReconciledEntry[]; readonly left: number }> {
  const { lock, outbox } = sync;
  return withPushLock(lock, async () => {
    uniteWithLedger(outbox);
    recordOrphanedAttempts(outbox);
    const writer = await findWriter(sync, harvesting);
    const settled = await reconcileEntries(await openLookup(sync, harvesting, writer), subjects);
    return { settled, left: listEntriesInState(outbox, 'uncertain').length };
  });
}

/** Returns the sending account; undefined where only an anonymous harvest is possible. */
async function findWriter(
  { outbox, service }: ServiceAccess,
  { auth }: HarvestAccess,
): Promise<string | undefined> {
  const account = service.usesExternalToken ? undefined : findKnownAccount(outbox);
  if (account !== undefined || auth === 'none') return account?.identCely;
  return (await fetchAccountOfOutbox(outbox, service)).identCely;
}

/** Returns the account whose records a harvest shows; undefined for none, or an unknown one. */
function findHarvester(
  { outbox, service }: ServiceAccess,
  { auth }: HarvestAccess,
  writer: string | undefined,
): string | undefined {
  if (auth === 'none') return undefined;
  // The token may belong to another account than the user name.
  const isOther =
    service.usesExternalToken && findKnownAccount(outbox)?.username !== service.username;
  return auth === 'basic' && isOther ? undefined : writer;
}

/** @param writer the sending account; undefined where it is unknown */
async function openLookup(
  access: ServiceAccess,
  harvesting: HarvestAccess,
  writer: string | undefined,
  stop?: AbortSignal,
): Promise<SearchContext> {
  const { clock, outbox, onSearch } = access;
  const { format, indexAllowanceMs, open } = harvesting;
  return {
    clock,
    format,
    indexAllowanceMs,
    outbox,
    harvester: findHarvester(access, harvesting, writer),
    client: await open(),
    signal: stop,
    onProgress: onSearch,
  };
}
