import { ConfigError, PasError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import type { OaiClient } from '../../oai/client.ts';
import { knownAccount } from '../../outbox/accounts.ts';
import { forgetWaits, nextInTime, recoverInterrupted } from '../../outbox/claims.ts';
import { entriesInState } from '../../outbox/entries.ts';
import type { Entry, Photograph } from '../../outbox/entry.ts';
import { gapsOf, releaseHeld } from '../../outbox/gaps.ts';
import { noteLook, waitingSinceLook } from '../../outbox/history.ts';
import { takeLease } from '../../outbox/lease.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { countQueued } from '../../outbox/overview.ts';
import { unnamedServices } from '../../outbox/services.ts';
import { readRecordIdent } from '../harvest/read-record-ident.ts';
import { openKeptPhotograph } from '../queue/open-kept-photograph.ts';
import type { LookContext } from '../reconcile/gather-evidence.ts';
import { currentRecord } from '../reconcile/judge-number.ts';
import { type Reconciled, reconcile } from '../reconcile/reconcile-entries.ts';
import { type Identified, identifyAccount, type OpenService } from './identify-account.ts';
import { leftOutNow } from './left-out.ts';
import { meetCopies } from './meet-copies.ts';
import { type PushResult, push, waitingText } from './push-due.ts';
import type { PushContext } from './push-run.ts';
import { type Recognition, recogniseOutbox, refuseCopy } from './recognise-outbox.ts';

/** How a service is asked what it has. */
export type Harvesting = {
  open(): Promise<OaiClient>;
  /** How it is signed in: by `bearer` as the account that writes, by `basic` as the one of the profile's user name. */
  readonly auth: 'none' | 'bearer' | 'basic';
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  /** How long after an attempt the service may still be working on it. */
  readonly settleMs: number;
  /** How long after that a new record may take to appear in a harvest. */
  readonly indexAllowanceMs: number;
};

/** A service that is written to, and where there is harvesting, read from. */
export type SyncContext = Pick<PushContext, 'clock' | 'recordKeys'> & {
  readonly outbox: ServiceOutbox;
  readonly service: OpenService;
  /** Undefined where a person settles what is uncertain. */
  readonly harvesting: Harvesting | undefined;
  readonly takeOver: boolean;
  /** Ends what is asked. */
  readonly stop?: AbortSignal;
  /** How far the look at the service is. */
  readonly onLook?: (done: number, total: number | undefined) => void;
};

export type PushToEnd = SyncContext &
  Omit<PushContext, 'outbox' | 'accountId' | 'openPhotograph' | 'readIdentCely' | keyof OpenService> & {
    /** How an outbox is told from a copy of it. */
    readonly recognition: Recognition;
    /** Where copies of queued photographs are. */
    readonly photosFolder: string;
    /** A person has asked for these records by name: what has to wait is tried now. */
    readonly isUrgent?: boolean;
    /** Told how many entries are to be sent, before each round of sending. */
    readonly onRound?: (queued: number) => void;
    /** Told what was found out about entries of unknown end. */
    readonly onReconciled?: (settled: readonly Reconciled[]) => void;
    /** What is uncertain could not be looked up; it stays as it is, and is no reason for a push to fail. */
    readonly onLookFailed?: (error: PasError) => void;
  };

/**
 * Sends what is due until nothing is, looks at the service for what that left in doubt, and sends once more what is proven not to be
 * there.
 * @throws OutboxLeasedError while another process pushes; ConfigError where it cannot be told what this service was sent before, or
 *   who the account is; AuthError, UnavailableError, ContractError
 */
export async function pushToEnd(given: PushToEnd): Promise<PushResult> {
  const { service, onRound } = given;
  refuseUnnamed(given.outbox);
  const lease = takeLease(given.outbox, { takeOver: given.takeOver });
  try {
    await recogniseOutbox(given.outbox, given.recognition);
    if (given.isUrgent === true && given.recordKeys !== undefined) forgetWaits(given.outbox, given.recordKeys);
    let identified: Promise<Identified> | undefined;
    let sender = given.outbox;
    const lookAt = lookingAt(given);
    const sendDue = async (): Promise<PushResult> => {
      // Without anything to send nobody need be there. Whose a token is that came from outside is open before it is asked.
      const isIdle =
        countToSend(given.outbox, given, given.anyAccount || service.tokenIsLent) === 0 && !isInterrupted(given.outbox);
      if (isIdle) return NOTHING_SENT;
      identified ??= identifyAccount(given.outbox, service, given.stop);
      const known = await identified.catch((thrown: unknown) => {
        if (given.stop.aborted) return undefined;
        throw thrown;
      });
      if (known === undefined) return { ...NOTHING_SENT, stopCause: { kind: 'interrupted' } };
      const { outbox, accountId } = known;
      sender = outbox;
      onRound?.(countToSend(outbox, given, given.anyAccount));
      const openPhotograph = (photograph: Photograph) => openKeptPhotograph(given.photosFolder, photograph);
      const onClaimed = () => refuseCopy(outbox, given.recognition.memory);
      return push({ ...given, ...service, outbox, accountId, lookAt, onClaimed, openPhotograph, readIdentCely: readRecordIdent });
    };
    await lookForCopies(given);
    let result = await sendDue();
    const released = new Set<number>();
    for (;;) {
      const settled = await settleDoubts(given, result);
      const isFreed = ({ entry: { id, kind }, verdict }: Reconciled): boolean =>
        verdict.kind === 'absent' ? !result.oddlyAnswered.includes(id) : verdict.kind === 'found' && kind === 'import';
      const again = settled.filter((one) => !released.has(one.entry.id) && isFreed(one));
      if (given.stop.aborted && entriesInState(given.outbox, 'uncertain').length > 0)
        return { ...result, stopCause: result.stopCause ?? { kind: 'interrupted' } };
      const mayGoOn = result.stopCause === undefined && given.limit === undefined && !given.stop.aborted;
      if (!mayGoOn) return result;
      if (again.length === 0) return namingRest(given, sender, result);
      // What is proven absent is in the queue again. It is sent now, but only once, so that a service that loses it each time is left.
      // What was found has freed its photographs and numbers.
      for (const { entry } of again) released.add(entry.id);
      result = joined(result, await sendDue());
    }
  } finally {
    lease.release();
  }
}

export const NOTHING_SENT: PushResult = {
  ...{ accepted: 0, refused: 0, requests: 0, throttled: 0, locked: 0, elapsedMs: 0 },
  sentAs: undefined,
  oddlyAnswered: [],
  leftOut: [],
  stopCause: undefined,
};

/** Of these kinds and records; some may have to wait. */
export function countToSend(outbox: ServiceOutbox, { kinds, recordKeys }: PushToEnd, anyAccount: boolean): number {
  const counts = countQueued(outbox, { recordKeys, anyAccount });
  return kinds.reduce((sum, kind) => sum + counts[kind], 0);
}

/** A push that was stopped left entries that the next one takes up. */
function isInterrupted(outbox: ServiceOutbox): boolean {
  const uncertain = entriesInState(outbox, 'uncertain');
  return entriesInState(outbox, 'sending').length > 0 || uncertain.some(({ kind }) => kind === 'number');
}

/** What an earlier pas sent may have gone to this very service: sending it again could make a second record. */
function refuseUnnamed(outbox: ServiceOutbox): void {
  const open = unnamedServices(outbox).find(({ sent }) => sent > 0);
  if (open === undefined) return;
  const { knownAs, sent } = open;
  throw new ConfigError(
    msg`${sent} finds were sent with a profile ${knownAs} that is not here any more, and nobody knows to which service. Nothing is sent until that is known.`,
    { hint: msg`Say where that was: ${cmd`pas service moved ${knownAs}`} ADDRESS` },
  );
}

export function joined(first: PushResult, second: PushResult): PushResult {
  return {
    accepted: first.accepted + second.accepted,
    refused: first.refused + second.refused,
    requests: first.requests + second.requests,
    throttled: first.throttled + second.throttled,
    locked: first.locked + second.locked,
    elapsedMs: first.elapsedMs + second.elapsedMs,
    sentAs: second.sentAs ?? first.sentAs,
    oddlyAnswered: [...first.oddlyAnswered, ...second.oddlyAnswered],
    leftOut: second.leftOut,
    stopCause: second.stopCause,
  };
}

/** Nothing that could be sent is left without a word: it was sent in vain, or must wait. */
function namingRest(given: PushToEnd, outbox: ServiceOutbox, result: PushResult): PushResult {
  const { clock, walls } = given;
  const rest = nextInTime(outbox, { ...given, busyRecords: [], busyProjects: [], leftOut: leftOutNow(walls, clock) });
  if (rest === undefined || result.oddlyAnswered.includes(rest.id)) return result;
  const untilMs = Math.max(rest.notBeforeAt, clock.now());
  return { ...result, stopCause: { kind: 'not-yet', reason: waitingText(rest), untilMs } };
}

async function settleDoubts(given: PushToEnd, { stopCause }: PushResult): Promise<readonly Reconciled[]> {
  const { outbox } = given;
  const isOpen = entriesInState(outbox, 'uncertain').length > 0 || gapsOf(outbox).length > 0;
  const isOnline = stopCause === undefined || stopCause.kind === 'in-doubt';
  if (given.harvesting === undefined || !isOpen || !isOnline) return [];
  try {
    const settled = await lookAndSettle(given, given.harvesting);
    given.onReconciled?.(settled);
    return settled;
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    if (!given.stop.aborted) given.onLookFailed?.(thrown);
    return [];
  }
}

/**
 * Settles what is uncertain by looking at the service.
 * @returns also how many entries are uncertain nevertheless
 * @throws OutboxLeasedError, OaiError, and what asking for the account throws
 */
export async function reconcileNow(given: SyncContext & { readonly harvesting: Harvesting }) {
  const lease = takeLease(given.outbox, { takeOver: given.takeOver });
  try {
    recoverInterrupted(given.outbox);
    const settled = await lookAndSettle(given, given.harvesting);
    return { settled, left: entriesInState(given.outbox, 'uncertain').length };
  } finally {
    lease.release();
  }
}

/** A person knows that nothing that was added since a restore was sent before it. @returns what is queued now */
export function releaseNew(outbox: ServiceOutbox, takeOver: boolean): Entry[] {
  const lease = takeLease(outbox, { takeOver });
  try {
    recoverInterrupted(outbox);
    return releaseHeld(outbox);
  } finally {
    lease.release();
  }
}

async function lookAndSettle(given: SyncContext, harvesting: Harvesting): Promise<Reconciled[]> {
  const context = await lookContext(given, harvesting);
  const settled = await reconcile({ ...context, recordKeys: given.recordKeys });
  noteLook(given.outbox);
  return settled;
}

/** What has waited since before the last look may have been sent by a copy of this outbox that nothing tells from it. */
async function lookForCopies(given: PushToEnd): Promise<void> {
  const { harvesting, outbox } = given;
  const waiting = harvesting === undefined ? [] : waitingSinceLook(outbox);
  if (harvesting === undefined || waiting.length === 0) return;
  try {
    const met = await meetCopies(await lookContext(given, harvesting), waiting);
    noteLook(outbox);
    if (met.length > 0) given.onReconciled?.(met);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    if (!given.stop.aborted) given.onLookFailed?.(thrown);
  }
}

async function lookContext(
  { outbox, service, clock, stop, onLook }: SyncContext,
  { open, auth, ...harvesting }: Harvesting,
): Promise<LookContext> {
  const writer = await writerOf(outbox, service, auth, stop);
  const harvesters = {
    none: undefined,
    bearer: writer?.identCely,
    basic: service.tokenIsLent ? knownAccount(outbox)?.identCely : writer?.identCely,
  };
  return {
    ...harvesting,
    outbox,
    client: await open(),
    ...(stop === undefined ? {} : { signal: stop }),
    clock,
    user: writer?.identCely,
    harvester: harvesters[auth],
    ...(onLook === undefined ? {} : { onProgress: onLook }),
  };
}

function lookingAt({ harvesting, stop }: PushToEnd): PushContext['lookAt'] {
  if (harvesting === undefined) return undefined;
  let client: Promise<OaiClient> | undefined;
  return async (identCely) => {
    client ??= harvesting.open();
    return currentRecord({ client: await client, format: harvesting.format, signal: stop }, identCely);
  };
}

/** Asked for where it is not known. An anonymous harvest proves no absence, whoever writes. */
async function writerOf(
  outbox: ServiceOutbox,
  service: OpenService,
  auth: Harvesting['auth'],
  stop: AbortSignal | undefined,
): Promise<{ readonly identCely: string } | undefined> {
  const known = service.tokenIsLent ? undefined : knownAccount(outbox);
  return known ?? (auth === 'none' ? undefined : (await identifyAccount(outbox, service, stop)).account);
}
