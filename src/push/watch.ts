import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import {
  ConfigError,
  ContractError,
  getLocalizedMessage,
  type PasError,
  UnavailableError,
} from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { RETRY_POLICY } from '../base/outcomes.ts';
import {
  type EntryScope,
  findNextClaimableEntry,
  listEntriesInState,
} from '../outbox/entry-queries.ts';
import { probeAccess } from './account.ts';
import { pushOutbox } from './push-all.ts';
import { findStopCauseOfProbe, type PushContext, type StopCause } from './push-context.ts';
import { addPushResults, NOTHING_SENT, type PushResult } from './push-session.ts';

/** Result of one push of a watch; without a cause it sent all that was due. */
export type WatchRound = { readonly accepted: number; readonly stopCause: StopCause | undefined };

/** Reason of a wait, and its latest end. */
export type WatchEvent = {
  readonly type: 'waiting';
  readonly for: 'service' | 'time' | 'entries';
  readonly reason: Message | null;
  readonly untilMs: number | null;
};

type WatchOptions = {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly push: () => Promise<WatchRound>;
  /** Sends one cheap request within the pace; true where the service is open. */
  readonly probeService: () => Promise<boolean>;
  /** Returns the time of the next retry; undefined where no entry waits for a time. */
  readonly dueAtMs: () => number | undefined;
  readonly report: (event: WatchEvent) => void;
};

const NEVER = Number.POSITIVE_INFINITY;
const { minPauseMs, maxPauseMs, maxUncertainPauseMs, pollMs } = RETRY_POLICY.watch;

/**
 * Pushes again and again, until it is stopped, or a push ends for a cause that only a person
 * changes. Between two pushes it waits:
 *
 * | the last push ended because | until the next one |
 * |---|---|
 * | the service is closed or out of reach | a probe succeeds: after 1, 2, 4 … 60 s |
 * | answers settled nothing | the same, but the first probe after 1, 2, 4 s … 1 h, a step each time |
 * | the service asked for a pause | it is over, a minute at most |
 * | nothing is due | an entry is due, or queued by another process |
 *
 * Both series of pauses begin anew once an entry is accepted.
 * @returns why it ended: `interrupted`, or the person's cause, `not-allowed` or `new-people`
 */
export async function runWatchLoop(options: WatchOptions): Promise<StopCause> {
  const { clock, stop } = options;
  const tell = (waitsFor: WatchEvent['for'], reason: Message | null, untilMs: number | null) =>
    options.report({ type: 'waiting', for: waitsFor, reason, untilMs });
  let probePauseMs: number = minPauseMs;
  let doubtPauseMs: number = minPauseMs;
  for (;;) {
    const { accepted, stopCause: cause } = await options.push();
    if (stop.aborted) return { kind: 'interrupted' };
    if (accepted > 0) {
      probePauseMs = minPauseMs;
      doubtPauseMs = minPauseMs;
    }
    if (cause?.kind === 'in-doubt') {
      probePauseMs = Math.max(probePauseMs, doubtPauseMs);
      doubtPauseMs = Math.min(doubtPauseMs * 2, maxUncertainPauseMs);
    }
    switch (cause?.kind) {
      case 'interrupted':
      case 'not-allowed':
      case 'new-people':
        return cause;
      case 'closed':
      case 'unreachable':
      case 'in-doubt':
        do {
          tell('service', cause.reason, clock.now() + probePauseMs);
          await pause(options, probePauseMs);
          probePauseMs = Math.min(probePauseMs * 2, maxPauseMs);
        } while (!stop.aborted && !(await options.probeService()));
        break;
      case 'waiting':
        tell('time', cause.reason, cause.untilMs);
        await pause(options, Math.max(pollMs, Math.min(cause.untilMs - clock.now(), maxPauseMs)));
        break;
      case 'not-yet':
      case undefined: {
        const dueAt = options.dueAtMs();
        tell(dueAt === undefined ? 'entries' : 'time', null, dueAt ?? null);
        await waitUntilDue(options);
      }
    }
    if (stop.aborted) return { kind: 'interrupted' };
  }
}

/**
 * Waits until an entry is due, or queued by another process. A clock that is set back does not
 * lengthen the wait.
 */
async function waitUntilDue(options: WatchOptions): Promise<void> {
  const { clock, stop, dueAtMs } = options;
  const leftUntilDueMs = (): number => (dueAtMs() ?? NEVER) - clock.now();
  let leftMs = leftUntilDueMs();
  do {
    const beganMs = clock.monotonicMs();
    await pause(options, pollMs);
    leftMs = Math.min(leftMs - (clock.monotonicMs() - beganMs), leftUntilDueMs());
  } while (!stop.aborted && leftMs > 0);
}

async function pause({ clock, stop }: WatchOptions, ms: number): Promise<void> {
  try {
    await clock.sleep(ms, stop);
  } catch (thrown) {
    if (!stop.aborted) throw thrown;
  }
}

/**
 * Totals of all rounds, `nonConforming` of the last one; `atRest`: no request was in flight when it
 * was stopped.
 */
type WatchedPush = PushResult & { readonly atRest: boolean };

/**
 * Pushes an outbox repeatedly, as {@link runWatchLoop} says, each time under the push lock, which
 * is free in between.
 * @param onWait called before each wait
 * @throws ConfigError where the file of the outbox was removed or replaced meanwhile, which is not
 * seen on Windows; as {@link pushOutbox}, but a service that is out of reach is waited for
 */
export async function watchOutbox(
  options: PushContext,
  onWait: (event: WatchEvent) => void,
): Promise<WatchedPush> {
  const { clock, stop } = options;
  const startedMs = clock.monotonicMs();
  const { path } = options.outbox;
  const file = readFileNumber(path);
  let all = NOTHING_SENT;
  let isFirst = true;
  let searchedAtMs = clock.now();
  const stopCause = await runWatchLoop({
    clock,
    stop,
    push: async () => {
      const round = await runRound({ ...options, ended: all.leftOut }, isFirst);
      isFirst = false;
      if (!('requests' in round)) return round;
      all = { ...addPushResults(all, round), nonConforming: round.nonConforming };
      searchedAtMs = clock.now();
      return round;
    },
    probeService: () => probeService(options),
    dueAtMs: () => {
      if (readFileNumber(path) !== file)
        throw new ConfigError(
          msg`${path} was removed or replaced while it was watched. Start the push again.`,
        );
      return findDueAtMs(options, all.leftOut, searchedAtMs);
    },
    report: onWait,
  });
  const atRest = stopCause.kind === 'interrupted' && all.stopCause?.kind !== 'interrupted';
  return { ...all, elapsedMs: clock.monotonicMs() - startedMs, stopCause, atRest };
}

/** An open file cannot be removed on Windows, and its network drives change the numbers. */
function readFileNumber(path: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Returns the time of the next entry to send or search for uncertain ones; undefined for none. */
function findDueAtMs(
  options: PushContext,
  leftOut: readonly EntryScope[],
  searchedAtMs: number,
): number | undefined {
  const { outbox, harvesting, settleMs } = options;
  const next = findNextClaimableEntry(outbox, { ...options, busyRecords: [], closed: leftOut });
  const sendAtMs = next?.notBeforeAt;
  const inDoubt = harvesting !== undefined && listEntriesInState(outbox, 'uncertain').length > 0;
  const soonestMs = Math.min(
    sendAtMs ?? NEVER,
    inDoubt ? searchedAtMs + Math.max(settleMs, RETRY_POLICY.watch.minSearchMs) : NEVER,
  );
  return soonestMs === NEVER ? undefined : soonestMs;
}

/**
 * Runs one round. A service that is out of reach is a cause to wait; so is an answer of another
 * server in its place, except in the first round, where it shows a wrong address and is thrown.
 */
async function runRound(options: PushContext, isFirst: boolean): Promise<WatchRound | PushResult> {
  try {
    return await pushOutbox(options);
  } catch (thrown) {
    const isGone = isFirst ? thrown instanceof UnavailableError : isAway(thrown);
    if (isGone)
      return {
        accepted: 0,
        stopCause: { kind: 'unreachable', reason: getLocalizedMessage(thrown) },
      };
    throw thrown;
  }
}

/** Sends a probe; false where the service is closed or out of reach, or the answer is in doubt. */
async function probeService(options: PushContext): Promise<boolean> {
  const { service, stop } = options;
  try {
    const token = await service.session.token(stop);
    return findStopCauseOfProbe(await probeAccess({ ...options, ...service }, token)) === undefined;
  } catch (thrown) {
    if (isAway(thrown) || stop.aborted) return false;
    throw thrown;
  }
}

/** Tells if the service does not answer, or another server does. */
function isAway(thrown: unknown): thrown is PasError {
  return thrown instanceof UnavailableError || thrown instanceof ContractError;
}
