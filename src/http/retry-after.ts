import { UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';

/**
 * Milliseconds that a `Retry-After` value asks to wait: whole seconds or an HTTP date (RFC 9110, section 10.2.3).
 * Undefined when the header is absent or says neither. A date in the past means 0.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse takes much that is no HTTP date, such as "-1"; all three HTTP forms begin with the day's name.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Whoever would have to wait for longer comes back later. */
const MOST_PAUSE_MS = 120_000;

/** The service asked for so long a pause that nobody is kept waiting for its end. */
export class LongPauseError extends UnavailableError {
  readonly untilMs: number;
  constructor(untilMs: number) {
    const until = new Date(untilMs).toISOString();
    super(t`The service asked for a pause until ${until}.`, { hint: t`The queue is kept. Try again later.` });
    this.untilMs = untilMs;
  }
}

/** @throws LongPauseError */
export function refuseLongPause(waitMs: number, nowMs: number): void {
  if (waitMs > MOST_PAUSE_MS) throw new LongPauseError(nowMs + waitMs);
}
