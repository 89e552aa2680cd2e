import { ContractError, localizedMessageOf, type PasError, UnavailableError } from '../../base/errors.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import { entriesInState, nextClaimableAt } from '../../outbox/entry-queries.ts';
import { withPushLock } from '../../outbox/push-lock.ts';
import { openCircuitsAt } from './circuit-breaker.ts';
import type { PushResult } from './drain-queue.ts';
import { probePeer } from './peer-check.ts';
import { addResults, countToSend, NOTHING_SENT, type PushAllOptions, pushUnderLock } from './push-all.ts';
import { type Round, type WatchEvent, watch } from './watch.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** All rounds in one; `atRest`: nothing was under way when it was stopped. */
type WatchedPush = PushResult & { readonly atRest: boolean };

/** State of an outbox while a watch waits for entries: all are sent, or there was none, or none of them may be sent yet. */
export type Rest = 'sent' | 'empty' | 'held';

/**
 * Pushes to the end again and again: what is queued meanwhile, and what could not be sent before. The push lock is held all the time.
 * @throws OutboxLeasedError where another push is running
 */
export function pushWatching(given: PushAllOptions, onWait: (event: WatchEvent, rest: () => Rest) => void): Promise<WatchedPush> {
  return withPushLock(given.lock, () => watchUnderLock(given, onWait));
}

async function watchUnderLock(
  given: PushAllOptions,
  onWait: (event: WatchEvent, rest: () => Rest) => void,
): Promise<WatchedPush> {
  const { clock, stop } = given;
  const startedMs = clock.monotonicMs();
  let all = NOTHING_SENT;
  let isFirst = true;
  let lookedAtMs = clock.now();
  const stopCause = await watch({
    clock,
    stop,
    push: async () => {
      const round = await oneRound(given, isFirst);
      isFirst = false;
      if (!('requests' in round)) return round;
      all = { ...addResults(all, round), nonConforming: round.nonConforming };
      lookedAtMs = clock.now();
      return round;
    },
    isOpen: () => isOpen(given),
    dueAtMs: () => dueAtMs(given, lookedAtMs),
    // Without a request it is not known whether the service is there, and nothing was sent.
    report: (event) => onWait(event, () => (all.requests > 0 ? 'sent' : countToSend(given) === 0 ? 'empty' : 'held')),
  });
  const atRest = stopCause.kind === 'interrupted' && all.stopCause?.kind !== 'interrupted';
  return { ...all, elapsedMs: clock.monotonicMs() - startedMs, stopCause, atRest };
}

/** Next time at which there is something to send, or to look up: uncertain entries once the service must be done with them. */
function dueAtMs(given: PushAllOptions, lookedAtMs: number): number | undefined {
  const { clock, outbox, harvesting, settleMs } = given;
  const leftOut = openCircuitsAt(given.breakerMemory.breakers, clock.monotonicMs());
  const sendAtMs = nextClaimableAt(outbox, { ...given, busyRecords: [], busyProjects: [], openCircuits: leftOut });
  const inDoubt = harvesting !== undefined && entriesInState(outbox, 'uncertain').length > 0;
  const soonestMs = Math.min(
    sendAtMs ?? NEVER,
    inDoubt ? lookedAtMs + Math.max(settleMs, RETRY_POLICY.watch.minLookMs) : NEVER,
    ...leftOut.map(({ untilAt }) => clock.now() + untilAt - clock.monotonicMs()),
  );
  return soonestMs === NEVER ? undefined : soonestMs;
}

/** Runs one round. Without a token the service counts as away, except in the first round, which reports a wrong address. */
async function oneRound(given: PushAllOptions, isFirst: boolean): Promise<Round | PushResult> {
  try {
    return await pushUnderLock(isFirst ? given : { ...given, isUrgent: false });
  } catch (thrown) {
    const isGone = isFirst ? thrown instanceof UnavailableError : isAway(thrown);
    if (isGone) return { accepted: 0, stopCause: { kind: 'unreachable', reason: localizedMessageOf(thrown) } };
    throw thrown;
  }
}

/** Probes whether the service itself is there, and not another server in its place. */
async function isOpen(given: PushAllOptions): Promise<boolean> {
  const { service, stop } = given;
  try {
    return (await probePeer({ ...given, ...service }, await service.session.token(stop))) === undefined;
  } catch (thrown) {
    if (isAway(thrown) || stop.aborted) return false;
    throw thrown;
  }
}

/** The service does not answer, or something else does. */
function isAway(thrown: unknown): thrown is PasError {
  return thrown instanceof UnavailableError || thrown instanceof ContractError;
}
