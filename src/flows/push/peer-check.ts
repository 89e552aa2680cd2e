import type { Clock } from '../../base/clock.ts';
import { getLocalizedMessage, UnavailableError } from '../../base/errors.ts';
import { type Message, msg } from '../../base/message.ts';
import { OUTCOMES } from '../../base/outcomes.ts';
import {
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  retryAfterMs,
  TransportError,
} from '../../http/exchange.ts';
import type { Pace, Slot } from '../../http/pacer.ts';
import { type Outcome, parseOutcome } from '../../pas-api/outcome.ts';
import { authorize, makeAccessProbe, makeEmptyImport } from '../../pas-api/session.ts';
import {
  type AttemptFacts,
  isAbort,
  type Peer,
  type PushState,
  type Step,
  type StopCause,
} from './push-context.ts';

/** Updates {@link PushState.peer}: an outcome shows if the service itself answers. */
export function updatePeerState(state: PushState, { entry, outcome, status }: AttemptFacts): Step {
  const isNonConforming = outcome.kind === 'uncertain' && outcome.outsideContract;
  const next = {
    ...state,
    nonConforming: withMember(state.nonConforming, entry.id, isNonConforming),
  };
  const peer = getNextPeer(state.peer, outcome, status);
  if (peer !== 'suspect' || outcome.kind !== 'uncertain')
    return { state: { ...next, peer }, effects: [] };
  const isSuspectAgain = state.peer === 'probing';
  const stop = { type: 'stop', cause: makePeerStopCause(outcome.detail) } as const;
  return {
    state: { ...next, peer },
    effects: [...(isSuspectAgain ? [stop] : []), { type: 'probe-peer' }],
  };
}

function getNextPeer(peer: Peer, outcome: Outcome, status: number | undefined): Peer {
  const { provesPeer } = OUTCOMES[outcome.kind];
  if (provesPeer === 'neutral') return peer;
  if (provesPeer || outcome.kind !== 'uncertain') return peer === 'suspect' ? peer : 'verified';
  // A failure within the contract comes from the service; where it has answered before, a lost
  // connection is a fault of the network.
  const isOfService = !outcome.outsideContract && (status !== undefined || peer === 'verified');
  return isOfService ? peer : 'suspect';
}

function withMember(
  members: ReadonlySet<number>,
  id: number,
  isMember: boolean,
): ReadonlySet<number> {
  if (members.has(id) === isMember) return members;
  return new Set(isMember ? [...members, id] : [...members].filter((each) => each !== id));
}

/**
 * Sends an import without a find, which the service refuses.
 * @returns the cause for the push to end, if any
 */
export async function probePeer(asker: Asker, token: string): Promise<StopCause | undefined> {
  return findStopCause(await probe(asker, token, makeEmptyImport(asker.baseUrl)));
}

/** Sends a request that changes nothing, with the permissions of a write. */
export async function probeAccess(asker: Asker, token: string): Promise<Outcome> {
  return probe(asker, token);
}

async function probe(asker: Asker, token: string, question?: HttpRequest): Promise<Outcome> {
  const answer = await askAccess(asker, token, question);
  if (answer instanceof TransportError) return { kind: 'not-delivered', detail: answer.says };
  return parseOutcome('import', answer, asker.clock.now(), () => undefined);
}

/**
 * Returns the cause for the push to end after an answer to a probe; undefined where it continues.
 */
export function findStopCause(outcome: Outcome): StopCause | undefined {
  switch (outcome.kind) {
    case 'not-delivered':
    case 'cut':
      return { kind: 'unreachable', reason: outcome.detail };
    case 'closed':
      return { kind: 'closed', reason: outcome.detail };
    case 'uncertain':
      return makePeerStopCause(outcome.detail);
    case 'accepted':
      return makePeerStopCause(outcome.identCely);
    case 'already-applied':
    case 'refused':
    case 'refused-unspecified':
    case 'refused-by-intermediary':
    case 'forbidden':
    case 'unauthorised':
    case 'throttled':
    case 'busy':
    case 'content-changed':
      return undefined;
  }
}

function makePeerStopCause(text: Message): StopCause {
  return { kind: 'in-doubt', reason: msg`the answers may not come from the service: ${text}` };
}

export type Asker = {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly send: Exchange;
  readonly stop: AbortSignal;
};

/**
 * Sends a probe within the pace, and returns its outcome. A throttle slows down all requests
 * (A-RATE-6).
 */
export async function askAccess(
  { baseUrl, clock, pace, send, stop }: Asker,
  token: string,
  question: HttpRequest = makeAccessProbe(baseUrl),
): Promise<HttpResponse | TransportError> {
  let slot: Slot | undefined;
  try {
    slot = await pace.acquire(stop);
    const acquiredMs = clock.monotonicMs();
    const response = await authorize(
      token,
      send,
    )({ ...question, signal: stop, onDeparture: slot.depart });
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
