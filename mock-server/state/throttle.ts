import { isInList, makeBlockList } from '../base/address-list.ts';
import { type Account, listAccountNames } from './accounts.ts';
import type { RateLimit, Settings } from './settings.ts';

type PacedRequest = {
  readonly account: Account;
  readonly address: string;
  /** `ident_cely` in the path; import has none. */
  readonly record: string | undefined;
  readonly atMs: number;
  /** Milliseconds by which it may have arrived earlier, where the event loop was busy. */
  readonly lateMs: number;
};

/** `retryAfterSeconds` is absent only for a malformed rate (A-RATE-18). */
type ThrottleVerdict =
  | { readonly passed: true }
  | { readonly passed: false; readonly retryAfterSeconds?: number };

type Window = { count: number; readonly endsAtMs: number };

const PASSED: ThrottleVerdict = { passed: true };
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/**
 * Number of scopes above which idle ones are removed, so that foreign addresses cannot fill the
 * memory.
 */
const MAX_SCOPES = 20_000;

/** Minimum intervals and rate limits of the three write endpoints. */
export class Throttle {
  /** Earliest possible time of the last request that passed the scope's own check. */
  readonly #lastPassedMs = new Map<string, number>();
  readonly #windows = new Map<string, Window>();
  /** The deployed service's millisecond windows have ended before they are checked. */
  readonly #ignoreMillisecondWindows: boolean;

  constructor(options: { readonly ignoreMillisecondWindows: boolean }) {
    this.#ignoreMillisecondWindows = options.ignoreMillisecondWindows;
  }

  /**
   * Checks user interval, then address interval, then rate limits. A passed check resets its clock.
   */
  check(request: PacedRequest, settings: Settings): ThrottleVerdict {
    const { user_ms, ip_ms } = settings.min_request_intervals;
    const waitMs =
      this.#computeIntervalWait(`user ${request.account.email}`, user_ms, request) ||
      this.#computeIntervalWait(`ip ${request.address}`, ip_ms, request);
    if (waitMs > 0) return makeRefusal(waitMs);
    for (const limit of settings.rate_limits) {
      const subject = limit.active === false ? undefined : getSubject(limit, request);
      if (subject === undefined) continue;
      const verdict = this.#countInWindow(subject, limit.rate, request.atMs);
      if (!verdict.passed) return verdict;
    }
    return PASSED;
  }

  clear(): void {
    this.#lastPassedMs.clear();
    this.#windows.clear();
  }

  /** Returns the remaining milliseconds; 0 when the request passes. */
  #computeIntervalWait(scope: string, intervalMs: number, { atMs, lateMs }: PacedRequest): number {
    if (intervalMs === 0) return 0;
    const allowedMs = (this.#lastPassedMs.get(scope) ?? Number.NEGATIVE_INFINITY) + intervalMs;
    if (allowedMs > atMs) return allowedMs - atMs;
    if (this.#lastPassedMs.size >= MAX_SCOPES) this.#lastPassedMs.clear();
    this.#lastPassedMs.set(scope, Math.max(allowedMs, atMs - lateMs));
    return 0;
  }

  /**
   * Counts in a fixed window, which opens with its first request; refused requests count but do not
   * prolong it.
   */
  #countInWindow(subject: string, rate: string, atMs: number): ThrottleVerdict {
    const parsed = parseRate(rate);
    if (parsed === undefined) return { passed: false };
    if (parsed.unit === 'ms' && this.#ignoreMillisecondWindows) return PASSED;
    let window = this.#windows.get(subject);
    if (window === undefined || window.endsAtMs <= atMs) {
      if (this.#windows.size >= MAX_SCOPES) this.#windows.clear();
      window = { count: 0, endsAtMs: atMs + (UNIT_MS[parsed.unit] ?? 0) };
      this.#windows.set(subject, window);
    }
    window.count += 1;
    return window.count <= parsed.count ? PASSED : makeRefusal(window.endsAtMs - atMs);
  }
}

function makeRefusal(waitMs: number): ThrottleVerdict {
  return { passed: false, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
}

/** Returns the counter of a rule, which all rules of a user, an address or a record share. */
function getSubject(limit: RateLimit, request: PacedRequest): string | undefined {
  switch (limit.scope) {
    case 'user':
      return listAccountNames(request.account).includes((limit.value ?? '').toLowerCase())
        ? `user ${request.account.email}`
        : undefined;
    case 'ip':
      return isInList(makeBlockList([limit.value ?? '']), request.address)
        ? `ip ${request.address}`
        : undefined;
    case 'record':
      return request.record === undefined ? undefined : `record ${request.record}`;
    default:
      return limit.scope satisfies never;
  }
}

function parseRate(rate: string): { readonly count: number; readonly unit: string } | undefined {
  const match = /^(\d+)\/(ms|s|m|h|d)$/.exec(rate);
  return match?.[1] === undefined || match[2] === undefined
    ? undefined
    : { count: Number(match[1]), unit: match[2] };
}
