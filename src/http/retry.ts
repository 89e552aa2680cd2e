import type { Clock } from '../base/clock.ts';
import { sayingOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { type Exchange, type HttpResponse, NoAnswerError } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';

type RetryOptions = {
  readonly clock: Clock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
  /** Requests in all, the first included. */
  readonly attempts: number;
  /** In all, once the server has answered something in this run: then it is only away for a while. Default: `attempts`. */
  readonly patientAttempts?: number;
  readonly firstWaitMs: number;
  readonly mostWaitMs: number;
  /** A server that asks for a longer pause than this is not waited for. */
  readonly mostRetryAfterMs: number;
  /** No new attempt is begun after this time. Default: no bound. */
  readonly mostTotalMs?: number;
  /** Told before each pause, so that a person sees why nothing happens. */
  readonly onWait?: (waitMs: number, reason: Message) => void;
};

/** Outlasts a restart of the server that takes five minutes, at night when nobody is there to begin again. */
export const HARVEST_RETRY = {
  attempts: 6,
  patientAttempts: 26,
  firstWaitMs: 500,
  mostWaitMs: 30_000,
  mostRetryAfterMs: 300_000,
  mostTotalMs: 20 * 60_000,
} as const;

/** "Later", in the words of servers and of what stands before them. */
const BUSY = new Set([408, 425, 429, 500, 502, 503, 504, 509, 520, 521, 522, 523, 524, 525, 526, 527]);

/**
 * Repeats requests that change nothing when no whole answer came, or one that says "later". The last answer is handed
 * on as it is; the last lack of one is thrown. Never to be wrapped round a request that creates something.
 */
export function retrying(exchange: Exchange, options: RetryOptions): Exchange {
  let hasAnswered = false;
  return async (request) => {
    if (request.method !== 'GET') throw new Error('only a GET may be repeated');
    const startedMs = options.clock.monotonicMs();
    const isLate = (): boolean => options.clock.monotonicMs() - startedMs >= (options.mostTotalMs ?? Number.POSITIVE_INFINITY);
    const attempts = hasAnswered ? (options.patientAttempts ?? options.attempts) : options.attempts;
    for (let attempt = 1; ; attempt++) {
      const result = await exchange(request).catch(withoutAnswer);
      if (!isWorthRepeating(result)) {
        hasAnswered = true;
        return answerOf(result);
      }
      const waitMs = pauseMs(result, attempt, options);
      if (attempt === attempts || waitMs === undefined || isLate()) return answerOf(result);
      options.onWait?.(waitMs, reasonOf(result));
      await options.clock.sleep(waitMs, request.signal);
      if (request.signal?.aborted === true || isLate()) return answerOf(result);
    }
  };
}

type Result = HttpResponse | NoAnswerError;

function withoutAnswer(thrown: unknown): NoAnswerError {
  if (thrown instanceof NoAnswerError && thrown.reason !== 'aborted' && thrown.reason !== 'too-large') return thrown;
  throw thrown;
}

function isWorthRepeating(result: Result): boolean {
  return result instanceof NoAnswerError || BUSY.has(result.status);
}

function answerOf(result: Result): HttpResponse {
  if (result instanceof NoAnswerError) throw result;
  return result;
}

function reasonOf(result: Result): Message {
  return result instanceof NoAnswerError ? sayingOf(result) : msg`status ${result.status}`;
}

/** Undefined where the server asks for a longer pause than anybody takes. */
function pauseMs(result: Result, attempt: number, options: RetryOptions): number | undefined {
  const later = result instanceof NoAnswerError ? undefined : result.headers['retry-after'];
  const askedMs = retryAfterMs(later, options.clock.now());
  if (askedMs !== undefined) return askedMs > options.mostRetryAfterMs ? undefined : Math.round(askedMs);
  // Half of the pause by chance, so that clients that failed together do not come back together.
  const backoffMs = Math.min(options.firstWaitMs * 2 ** (attempt - 1), options.mostWaitMs) * (0.5 + options.random() / 2);
  return Math.round(backoffMs);
}
