import {
  type Moment,
  type MonotonicMs,
  measureElapsedMs,
  parseDateHeader,
  readClock,
  type ServerMs,
} from '../base/clock.ts';
import { hashSha512 } from '../base/disk/files.ts';
import type { HarvestedFind } from '../finds/harvested-find.ts';
import { MAX_CLAIM_AGE_MS } from '../outbox/attempt-bounds.ts';
import type { Entry } from '../outbox/entry.ts';
import {
  type AnswerHead,
  type Exchange,
  type HttpRequest,
  TransportError,
} from '../service/http/exchange.ts';
import type { Turn } from '../service/http/pacer.ts';
import {
  classifyAnswer,
  classifyTransportError,
  type Outcome,
  parseAnsweredFind,
} from '../service/outcome.ts';
import {
  makeImportRequest,
  makeNumberRequest,
  makePhotoRequest,
  withBearerToken,
} from '../service/session.ts';
import type { PushContext } from './push-context.ts';

/** Outcome of a request, with the times that its settlement needs. */
export type SendResult = {
  readonly outcome: Outcome;
  /** The record as an `accepted` answer shows it; undefined where it shows none. */
  readonly shown?: HarvestedFind | undefined;
  readonly status: number | undefined;
  readonly serverDateAt: ServerMs | undefined;
  readonly tookMs: number;
  readonly departedAt: MonotonicMs;
  readonly token: string;
};

/**
 * Makes the request of a queued entry; the file of a photograph is opened when the request is sent.
 * @throws Error where the entry has no document, or no record to change
 */
export function makeEntryRequest(
  { service, openPhotograph }: Pick<PushContext, 'service' | 'openPhotograph'>,
  entry: Entry,
): HttpRequest {
  const { baseUrl } = service;
  switch (entry.kind) {
    case 'import': {
      const document = requireValue(entry.document);
      return makeImportRequest(baseUrl, document, hashSha512(document));
    }
    case 'number':
      return makeNumberRequest(baseUrl, requireValue(entry.identCely), entry.value);
    case 'photo': {
      const { photograph } = entry;
      return makePhotoRequest(baseUrl, requireValue(entry.identCely), {
        ...photograph,
        open: () => openPhotograph(photograph),
      });
    }
  }
}

/** Asserts a value that the outbox guarantees for a queued entry. */
function requireValue<T>(value: T | null): T {
  if (value === null) throw new Error('a queued entry lacks what it is to send');
  return value;
}

/**
 * Sends the request of an entry, for which a turn was taken, releases the turn, and returns what
 * the answer means. A failure of the network is an outcome, and not thrown.
 * @param entry its kind decides how the answer is read; a number or a photograph goes to its record
 * @param claimedOn when the entry was claimed: the request does not leave later than
 * {@link MAX_CLAIM_AGE_MS} after that
 */
export async function sendEntryRequest(
  context: Pick<PushContext, 'clock' | 'answerTimeoutMs' | 'abort'> & { readonly send: Exchange },
  entry: Pick<Entry, 'kind' | 'identCely'>,
  request: HttpRequest,
  token: string,
  turn: Turn,
  claimedOn: Moment = readClock(context.clock),
): Promise<SendResult> {
  const { clock } = context;
  const addressed = entry.kind === 'import' ? undefined : requireValue(entry.identCely);
  let departedAt = clock.monotonicMs();
  const onDeparture = () => {
    const mayDepart = measureElapsedMs(clock, claimedOn) <= MAX_CLAIM_AGE_MS && turn.depart();
    departedAt = clock.monotonicMs();
    return mayDepart;
  };
  const exchange = withBearerToken(token, context.send);
  const measure = (response: AnswerHead | undefined) => ({
    status: response?.status,
    serverDateAt: parseDateHeader(response?.headers['date']),
    tookMs: clock.monotonicMs() - departedAt,
    departedAt,
    token,
  });
  try {
    const response = await exchange({
      ...request,
      answerTimeoutMs: context.answerTimeoutMs,
      signal: context.abort,
      onDeparture,
    });
    const outcome = classifyAnswer(entry.kind, response, clock.now(), addressed);
    const shown = outcome.kind === 'accepted' ? parseAnsweredFind(response.body) : undefined;
    return { outcome, shown, ...measure(response) };
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    return {
      outcome: classifyTransportError(entry.kind, thrown, clock.now(), addressed),
      ...measure(thrown.head),
    };
  } finally {
    turn.release();
  }
}
