import { UnavailableError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import type { Pause } from './pace-state.ts';

/** About 31 years, so that the end of the pause is a valid date. */
const MAX_RETRY_AFTER_S = 1_000_000_000;

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3; A-RATE-6), whole seconds or an HTTP date, into milliseconds from `nowMs`. A past
 * date is 0; undefined where the header is absent or has neither form.
 */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_RETRY_AFTER_S) * 1000;
  // Date.parse accepts other texts, such as "-1"; all three HTTP forms begin with the name of the day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

/** Longest pause that a command waits for. */
const LONG_PAUSE_MS = 120_000;

/** Tells if a wait, in milliseconds, is too long for a command, which then ends with {@link LongPauseError}. */
export function isLongPause(waitMs: number): boolean {
  return waitMs > LONG_PAUSE_MS;
}

/** Thrown where the service asked for a longer pause than a command waits for. */
export class LongPauseError extends UnavailableError {
  readonly untilMs: number;
  /** Reason for a sentence that also gives the end of the pause. */
  readonly reason: Message;
  constructor(pause: Pause, nowMs: number) {
    super(pauseText(pause, nowMs), { hint: msg`The queue is kept. Try again later.` });
    this.untilMs = nowMs + pause.keptMs;
    const requestedText = new Date(nowMs + pause.askedMs).toISOString();
    this.reason =
      pause.askedMs > pause.keptMs
        ? msg`the service asked for a pause until ${requestedText}; only \`${cmd`pas pace --keep`}\` waits longer than an hour`
        : msg`the service asked for a long pause`;
  }
}

export function pauseText({ keptMs, askedMs }: Pause, nowMs: number): Message {
  const [until, requestedText] = [new Date(nowMs + keptMs).toISOString(), new Date(nowMs + askedMs).toISOString()];
  if (askedMs <= keptMs) return msg`The service asked for a pause: nothing is sent until ${until}.`;
  return keptMs > 0
    ? msg`The service asked for a pause until ${requestedText}. By default pas waits one hour of it: nothing is sent until ${until}. Keep all of it: ${cmd`pas pace --keep`}`
    : msg`The service asked for a pause until ${requestedText}. By default pas waits one hour of it, which is over. Keep all of it: ${cmd`pas pace --keep`}`;
}
