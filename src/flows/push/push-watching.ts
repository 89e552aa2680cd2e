import { ContractError, OutboxLeasedError, type PasError, sayingOf, UnavailableError } from '../../base/errors.ts';
import { nextDueAt } from '../../outbox/claims.ts';
import { entriesInState } from '../../outbox/entries.ts';
import { leftOutNow } from './left-out.ts';
import type { PushResult } from './push-due.ts';
import { countToSend, joined, NOTHING_SENT, type PushToEnd, pushToEnd } from './push-to-end.ts';
import { type Round, type WatchEvent, watch } from './watch.ts';
import { reasonToStay } from './who-answers.ts';

/** A harvest costs the service more than a probe. */
const LEAST_LOOK_MS = 60_000;

const NEVER = Number.POSITIVE_INFINITY;

/** All rounds in one; `atRest`: nothing was under way when it was stopped. */
type WatchedPush = PushResult & { readonly atRest: boolean };

/** Why a watch waits for entries: all are sent, or there was none, or none of them may be sent yet. */
export type Rest = 'sent' | 'empty' | 'held';

/** Pushes to the end again and again: what is queued meanwhile, and what could not be sent before. */
export async function pushWatching(
  given: PushToEnd,
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
      all = { ...joined(all, round), oddlyAnswered: round.oddlyAnswered };
      lookedAtMs = clock.now();
      return round;
    },
    isOpen: () => isOpen(given),
    dueAtMs: () => dueAtMs(given, lookedAtMs),
    // Without a request nobody knows whether the service is there, and nothing was sent.
    report: (event) =>
      onWait(event, () =>
        all.requests > 0 ? 'sent' : countToSend(given.outbox, given, given.anyAccount) === 0 ? 'empty' : 'held',
      ),
  });
  const atRest = stopCause.kind === 'interrupted' && all.stopCause?.kind !== 'interrupted';
  return { ...all, elapsedMs: clock.monotonicMs() - startedMs, stopCause, atRest };
}

/** What is in doubt is looked up again when the service must be done with it. */
function dueAtMs(given: PushToEnd, lookedAtMs: number): number | undefined {
  const { clock, outbox, harvesting, settleMs } = given;
  const leftOut = leftOutNow(given.walls, clock);
  const sendAtMs = nextDueAt(outbox, { ...given, busyRecords: [], busyProjects: [], leftOut });
  const inDoubt = harvesting !== undefined && entriesInState(outbox, 'uncertain').length > 0;
  const soonestMs = Math.min(
    sendAtMs ?? NEVER,
    inDoubt ? lookedAtMs + Math.max(settleMs, LEAST_LOOK_MS) : NEVER,
    ...leftOut.map(({ untilMs }) => clock.now() + untilMs - clock.monotonicMs()),
  );
  return soonestMs === NEVER ? undefined : soonestMs;
}

/** An outbox that another pas holds from the beginning is refused or taken over; later that pas came after this one, and is waited for. */
async function oneRound(given: PushToEnd, isFirst: boolean): Promise<Round | PushResult | OutboxLeasedError> {
  try {
    return await pushToEnd(isFirst ? given : { ...given, takeOver: false, isUrgent: false });
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError && !isFirst) return thrown;
    // Nobody could be asked for a token. An address that is wrong from the beginning is said.
    const isGone = isFirst ? thrown instanceof UnavailableError : isAway(thrown);
    if (isGone) return { accepted: 0, stopCause: { kind: 'unreachable', reason: sayingOf(thrown) } };
    throw thrown;
  }
}

/** Whether the service itself is there, and not what stands in its place on the way. */
async function isOpen(given: PushToEnd): Promise<boolean> {
  const { service, stop } = given;
  try {
    return (await reasonToStay({ ...given, ...service }, await service.session.token(stop))) === undefined;
  } catch (thrown) {
    if (isAway(thrown) || stop.aborted) return false;
    throw thrown;
  }
}

/** The service does not answer, or something else does. */
function isAway(thrown: unknown): thrown is PasError {
  return thrown instanceof UnavailableError || thrown instanceof ContractError;
}
