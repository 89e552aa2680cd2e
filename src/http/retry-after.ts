import { UnavailableError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import type { Pause } from './pace-state.ts';

/** About 31 years: a moment beyond it has no date. */
const MAX_RETRY_AFTER_S = 1_000_000_000;

/**
 * Milliseconds that a `Retry-After` value asks to wait: whole seconds or an HTTP date (RFC 9110, section 10.2.3).
 * Undefined when the header is absent or says neither. A date in the past means 0.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_RETRY_AFTER_S) * 1000;
  // Date.parse takes much that is no HTTP date, such as "-1"; all three HTTP forms begin with the day's name.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Whoever would have to wait for longer comes back later. */
const LONG_PAUSE_MS = 120_000;

export function isLongPause(waitMs: number): boolean {
  return waitMs > LONG_PAUSE_MS;
}

/** The service asked for so long a pause that nobody is kept waiting for its end. */
export class LongPauseError extends UnavailableError {
  readonly untilMs: number;
  /** Within a sentence that says its end. */
  readonly reason: Message;
  constructor(pause: Pause, nowMs: number) {
    super(pauseText(pause, nowMs), { hint: msg`The queue is kept. Try again later.` });
    this.untilMs = nowMs + pause.keptMs;
    const asked = new Date(nowMs + pause.askedMs).toISOString();
    this.reason =
      pause.askedMs > pause.keptMs
        ? msg`the service asked for a pause until ${asked}; only \`${cmd`pas pace --keep`}\` waits longer than an hour`
        : msg`the service asked for a long pause`;
  }
}

/** What a person is told of a pause; a longer one than anybody keeps unasked is shown as well, with what keeps it. */
export function pauseText({ keptMs, askedMs }: Pause, nowMs: number): Message {
  const [until, asked] = [new Date(nowMs + keptMs).toISOString(), new Date(nowMs + askedMs).toISOString()];
  if (askedMs <= keptMs) return msg`The service asked for a pause: nothing is sent until ${until}.`;
  return keptMs > 0
    ? msg`The service asked for a pause until ${asked}. By default pas waits one hour of it: nothing is sent until ${until}. Keep all of it: ${cmd`pas pace --keep`}`
    : msg`The service asked for a pause until ${asked}. By default pas waits one hour of it, which is over. Keep all of it: ${cmd`pas pace --keep`}`;
}
