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
