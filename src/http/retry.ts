import type { Clock } from '../base/clock.ts';
import { getLocalizedMessage } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { DEFAULT_ANSWER_TIMEOUT_MS, type Exchange, type HttpRequest, type HttpResponse, TransportError } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';

type RetryOptions = {
  readonly clock: Clock;
  /** Returns a number from 0 to 1, without 1. */
  readonly random: () => number;
  /** Maximum number of requests, including the first. */
  readonly attempts: number;
  /** The same after the server has answered once in this run, so that its outage is temporary. Default: `attempts`. */
  readonly patientAttempts?: number;
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** Longest `Retry-After` that is waited for. */
  readonly maxRetryAfterMs: number;
  /**
   * Time from the first attempt until the last one begins, without the pauses that the server asked for; a repeated attempt may use
   * only the rest of it for its answer. Default: unlimited.
   */
  readonly maxAwayMs?: number;
  /** Time from the first attempt after which none begins. Default: unlimited. */
  readonly maxTotalMs?: number;
  /** Called before each pause, to show its reason. */
  readonly onWait?: (waitMs: number, reason: Message) => void;
};

/** Retry policy of harvests: it outlasts a restart of five minutes, after which it abandons a server that hangs. */
export const HARVEST_RETRY = {
  attempts: 6,
  patientAttempts: 26,
  firstWaitMs: 500,
  maxWaitMs: 30_000,
  maxRetryAfterMs: 300_000,
  maxAwayMs: 5 * 60_000,
  maxTotalMs: 20 * 60_000,
} as const;

/** Statuses of servers and proxies that are overloaded or temporarily unavailable. */
const BUSY = new Set([408, 425, 429, 500, 502, 503, 504, 509, 520, 521, 522, 523, 524, 525, 526, 527]);

/**
 * Wraps `exchange` to repeat a GET when no whole answer came or its status is temporary. Returns the last answer.
 * @throws TransportError of the last attempt where it got no answer, Error for another method than GET
 */
export function withRetry(exchange: Exchange, options: RetryOptions): Exchange {
  let hasAnswered = false;
  return async (request) => {
    if (request.method !== 'GET') throw new Error('only a GET may be repeated');
    const patience = startPatience(options);
    const attempts = hasAnswered ? (options.patientAttempts ?? options.attempts) : options.attempts;
    for (let attempt = 1; ; attempt++) {
      const result = await exchange(attempt === 1 ? request : patience.shortened(request)).catch(makeTransportError);
      if (!isRetryable(result)) {
        hasAnswered = true;
        return unwrapResponse(result);
      }
      const pause = pauseAfter(result, attempt, options);
      if (attempt === attempts || pause === undefined || patience.isOver()) return unwrapResponse(result);
      const waitMs = pause.isAsked ? pause.ms : Math.min(pause.ms, patience.leftMs());
      options.onWait?.(waitMs, getReason(result));
      await options.clock.sleep(waitMs, request.signal);
      if (pause.isAsked) patience.forgive(waitMs);
      if (request.signal?.aborted === true || patience.isTotalOver()) return unwrapResponse(result);
    }
  };
}

const NEVER_MS = Number.POSITIVE_INFINITY;
/** Minimum time for the answer of the last attempt. */
const MIN_ANSWER_MS = 10_000;

type Patience = {
  leftMs(): number;
  isOver(): boolean;
  isTotalOver(): boolean;
  /** Excludes a pause that the server asked for. */
  forgive(ms: number): void;
  shortened(request: HttpRequest): HttpRequest;
};

function startPatience({ clock, maxAwayMs = NEVER_MS, maxTotalMs = NEVER_MS }: RetryOptions): Patience {
  const startedMs = clock.monotonicMs();
  let forgivenMs = 0;
  const elapsedMs = (): number => clock.monotonicMs() - startedMs;
  const leftMs = (): number => Math.max(0, maxAwayMs + forgivenMs - elapsedMs());
  const isTotalOver = (): boolean => elapsedMs() >= maxTotalMs;
  return {
    leftMs,
    isTotalOver,
    isOver: () => leftMs() === 0 || isTotalOver(),
    forgive: (ms) => {
      forgivenMs += ms;
    },
    shortened: (request) => {
      const { answerTimeoutMs = DEFAULT_ANSWER_TIMEOUT_MS } = request;
      return { ...request, answerTimeoutMs: Math.min(answerTimeoutMs, Math.max(leftMs(), MIN_ANSWER_MS)) };
    },
  };
}

type Result = HttpResponse | TransportError;

function makeTransportError(thrown: unknown): TransportError {
  if (thrown instanceof TransportError && thrown.reason !== 'aborted' && thrown.reason !== 'too-large') return thrown;
  throw thrown;
}

function isRetryable(result: Result): boolean {
  return result instanceof TransportError || BUSY.has(result.status);
}

function unwrapResponse(result: Result): HttpResponse {
  if (result instanceof TransportError) throw result;
  return result;
}

function getReason(result: Result): Message {
  return result instanceof TransportError ? getLocalizedMessage(result) : msg`status ${result.status}`;
}

/** Undefined where the server asks for a longer pause than `maxRetryAfterMs`. */
function pauseAfter(
  result: Result,
  attempt: number,
  options: RetryOptions,
): { readonly ms: number; readonly isAsked: boolean } | undefined {
  const later = result instanceof TransportError ? undefined : result.headers['retry-after'];
  const askedMs = retryAfterMs(later, options.clock.now());
  if (askedMs !== undefined) return askedMs > options.maxRetryAfterMs ? undefined : { ms: Math.round(askedMs), isAsked: true };
  // Half of the backoff is jitter, so that clients that failed together do not repeat together.
  const backoffMs = Math.min(options.firstWaitMs * 2 ** (attempt - 1), options.maxWaitMs) * (0.5 + options.random() / 2);
  return { ms: Math.round(backoffMs), isAsked: false };
}
