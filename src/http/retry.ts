import pRetry from 'p-retry';
import type { Clock } from '../base/clock.ts';
import { SayingError, sayingOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { type Exchange, type HttpRequest, type HttpResponse, NoAnswerError } from './exchange.ts';
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
    const startedMs = options.clock.monotonicMs();
    const isLate = (): boolean => options.clock.monotonicMs() - startedMs >= (options.mostTotalMs ?? Number.POSITIVE_INFINITY);
    if (request.method !== 'GET') throw new Error('only a GET may be repeated');
    let lastAnswer: HttpResponse | undefined;
    try {
      return await pRetry(
        async () => {
          lastAnswer = undefined;
          const answer = await exchange(request);
          if (!BUSY.has(answer.status)) {
            hasAnswered = true;
            return answer;
          }
          lastAnswer = answer;
          throw new Later(answer);
        },
        {
          retries: (hasAnswered ? (options.patientAttempts ?? options.attempts) : options.attempts) - 1,
          // The pauses are taken below, on the clock that was passed in.
          minTimeout: 0,
          shouldRetry: ({ error }) =>
            (error instanceof Later || isWorthRepeating(error)) && request.signal?.aborted !== true && !isLate(),
          onFailedAttempt: async ({ error, attemptNumber, retriesLeft }) => {
            if (retriesLeft > 0 && !isLate()) await pause(request, error, attemptNumber, options);
          },
        },
      );
    } catch (thrown) {
      if (thrown instanceof Later && lastAnswer !== undefined) return lastAnswer;
      throw thrown;
    }
  };
}

class Later extends SayingError {
  readonly answer: HttpResponse;
  constructor(answer: HttpResponse) {
    super(msg`status ${answer.status}`);
    this.answer = answer;
  }
}

function isWorthRepeating(error: Error): boolean {
  return error instanceof NoAnswerError && error.reason !== 'aborted' && error.reason !== 'too-large';
}

async function pause(request: HttpRequest, error: Error, attemptNumber: number, options: RetryOptions): Promise<void> {
  if (!(error instanceof Later) && !isWorthRepeating(error)) return;
  const asked = error instanceof Later ? retryAfterMs(error.answer.headers['retry-after'], options.clock.now()) : undefined;
  if (asked !== undefined && asked > options.mostRetryAfterMs) throw error;
  // Half of the pause by chance, so that clients that failed together do not come back together.
  const backoffMs = Math.min(options.firstWaitMs * 2 ** (attemptNumber - 1), options.mostWaitMs) * (0.5 + options.random() / 2);
  const waitMs = Math.round(asked ?? backoffMs);
  options.onWait?.(waitMs, sayingOf(error));
  await options.clock.sleep(waitMs, request.signal);
}
