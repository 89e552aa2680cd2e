import type { Clock } from '../base/clock.ts';
import { getLocalizedMessage, UnavailableError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import {
  type Exchange,
  type HttpResponse,
  retryAfterMs,
  TransportError,
} from '../http/exchange.ts';
import type { Pace, Slot } from '../http/pacer.ts';
import { type Outcome, parseOutcome } from '../pas-api/outcome.ts';
import { authorize, makeAccessProbe } from '../pas-api/session.ts';
import { isAbort, type StopCause } from './push-parts.ts';

export type Asker = {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly send: Exchange;
  readonly stop: AbortSignal;
};

/**
 * Sends a request that changes nothing, with the permissions of a write, within the pace: it tells
 * if the account is refused, and if the service is open.
 */
export async function probeAccess(asker: Asker, token: string): Promise<Outcome> {
  const answer = await askAccess(asker, token);
  if (answer instanceof TransportError) return { kind: 'not-delivered', detail: answer.says };
  return parseOutcome('import', answer, asker.clock.now(), () => undefined);
}

/** Returns the cause for the push to end after a probe; undefined where it continues. */
export function findStopCauseOfProbe(outcome: Outcome): StopCause | undefined {
  switch (outcome.kind) {
    case 'not-delivered':
    case 'cut':
      return { kind: 'unreachable', reason: outcome.detail };
    case 'closed':
      return { kind: 'closed', reason: outcome.detail };
    case 'uncertain':
      return {
        kind: 'in-doubt',
        reason: msg`the answers may not come from the service: ${outcome.detail}`,
      };
    default:
      return undefined;
  }
}

/** Sends a probe within the pace. A throttle slows down all requests (A-RATE-6). */
export async function askAccess(
  { baseUrl, clock, pace, send, stop }: Asker,
  token: string,
): Promise<HttpResponse | TransportError> {
  let slot: Slot | undefined;
  try {
    slot = await pace.acquire(stop);
    const acquiredMs = clock.monotonicMs();
    const exchange = authorize(token, send);
    const response = await exchange({
      ...makeAccessProbe(baseUrl),
      signal: stop,
      onDeparture: slot.depart,
    });
    if (response.status === 429)
      pace.backOff(acquiredMs, retryAfterMs(response.headers, clock.now()));
    return response;
  } catch (thrown) {
    if (thrown instanceof TransportError) return thrown;
    if (thrown instanceof UnavailableError || isAbort(thrown))
      return new TransportError('aborted', false, getLocalizedMessage(thrown));
    throw thrown;
  } finally {
    slot?.release();
  }
}
