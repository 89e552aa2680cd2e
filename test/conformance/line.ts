import { Outage, shortened } from './check.ts';

export type Request = {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
  /**
   * A request that may have changed something is not sent again without an answer. Default: only
   * GET is repeated.
   */
  readonly repeatable?: boolean;
  /** 429 is what is asked for. */
  readonly mayThrottle?: boolean;
};

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  /** Media type alone, in lower case. */
  readonly type: string;
  readonly text: string;
};

/** Requirements of a line on the machine. */
export type LineWorld = {
  readonly fetch: typeof fetch;
  now(): number;
  sleep(ms: number): Promise<void>;
};

export type LineOptions = {
  /** The permitted rate: from one departure to the next. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Before a repetition; doubled with each, as long as the deployment names no other. */
  readonly pauseMs: number;
};

const TRIES = 4;
const MAX_PAUSE_MS = 60_000;
/** Said by what stands between: proxies, gateways, sign-in pages of a network. */
const BETWEEN = new Set([407, 408, 502, 503, 504, 511]);

/**
 * Sends requests one at a time and not faster than permitted. Tells an answer of the deployment
 * from trouble on the way.
 */
export class Line {
  readonly #options: LineOptions;
  readonly #world: LineWorld;
  readonly #isWell: () => Promise<boolean>;
  #leavesAtMs = 0;

  /**
   * @param isWell whether the deployment answers at all: a 500 to one request alone is its answer
   * to that request
   */
  constructor(options: LineOptions, world: LineWorld, isWell: (line: Line) => Promise<boolean>) {
    this.#options = options;
    this.#world = world;
    this.#isWell = () => isWell(this);
  }

  /** @throws Outage where the deployment gave no answer of its own, however often it was asked */
  async ask(request: Request): Promise<Answer> {
    const isRepeatable = request.repeatable ?? (request.method ?? 'GET') === 'GET';
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.once(request).catch((thrown: unknown) => getCause(thrown));
      const trouble =
        typeof answer === 'string' ? answer : getTrouble(answer, request.mayThrottle === true);
      if (typeof answer !== 'string' && trouble === undefined) return answer;
      // Requests refused at the gates were not carried out.
      const wasTurnedAway =
        typeof answer !== 'string' && (answer.status === 429 || answer.status === 503);
      if (attempt === TRIES || !(isRepeatable || wasTurnedAway)) {
        const isOwn = typeof answer !== 'string' && answer.status === 500 && (await this.#isWell());
        if (isOwn && isRepeatable) return answer;
        const shownRequest = shortened(
          `${request.method ?? 'GET'} ${getPath(request.url)}: ${trouble}`,
        );
        throw new Outage(shownRequest, { isOpen: attempt < TRIES, isOwn });
      }
      await this.#world.sleep(
        typeof answer === 'string'
          ? this.#pauseMs(attempt)
          : (retryAfterMs(answer) ?? this.#pauseMs(attempt)),
      );
    }
  }

  /** One request, whatever comes. Waits for its turn. */
  async once(request: Request): Promise<Answer> {
    const nowMs = this.#world.now();
    const waitMs = Math.max(0, this.#leavesAtMs - nowMs);
    this.#leavesAtMs = nowMs + waitMs + this.#options.intervalMs;
    if (waitMs > 0) await this.#world.sleep(waitMs);
    return this.unpaced(request);
  }

  /** Without waiting for its turn: only to see the throttle at work. */
  async unpaced(request: Request): Promise<Answer> {
    const response = await this.#world.fetch(request.url, {
      method: request.method ?? 'GET',
      headers: {
        accept: '*/*',
        'accept-language': 'en',
        'user-agent': 'pas-conformance',
        ...request.headers,
      },
      redirect: 'manual',
      signal: AbortSignal.timeout(this.#options.timeoutMs),
      body: request.body,
    });
    const text = await response.text();
    const type =
      (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    return { status: response.status, headers: response.headers, type, text };
  }

  rest(ms: number): Promise<void> {
    return this.#world.sleep(ms);
  }

  #pauseMs(attempt: number): number {
    return this.#options.pauseMs * 2 ** (attempt - 1);
  }
}

function getTrouble({ status, type, text }: Answer, mayThrottle: boolean): string | undefined {
  if (status === 429) return mayThrottle ? undefined : `429 that does not end: ${text}`;
  if (BETWEEN.has(status) || status >= 500) return `${status} ${type}: ${text}`;
  const isPage = type === 'text/html' || /^\s*<!doctype html/i.test(text);
  return isPage && status < 400 && !isRedirect(status)
    ? `${status} with a page of something in between: ${text}`
    : undefined;
}

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function retryAfterMs(answer: Answer): number | undefined {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_PAUSE_MS) : undefined;
}

function getCause(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (thrown.name !== 'TypeError' && thrown.name !== 'TimeoutError') throw thrown;
  return [thrown.message, code].filter((part) => part !== '').join(' ');
}

function getPath(url: string): string {
  return decodeURIComponent(url.replace(/^\w+:\/\/[^/]+/, ''));
}
