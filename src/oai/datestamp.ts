/** Datestamps of OAI-PMH 2.0, section 3.3; milliseconds are read as well, since services send them. */

export type Granularity = 'day' | 'second';

export const DAY_MS = 86_400_000;

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;

/** Milliseconds since 1970 UTC; undefined where the text is no UTC date or time, or no day of the calendar. */
export function datestampMs(text: string): number | undefined {
  const parts = DAY.exec(text) ?? TIME.exec(text);
  if (parts === null) return undefined;
  const ms = Date.parse(text);
  // Date.parse turns 30 February into 1 March, and a 13th month into what has no day.
  return new Date(ms).getUTCDate() === Number(parts[3]) ? ms : undefined;
}

export function isDay(datestamp: string): boolean {
  return DAY.test(datestamp);
}

/** Undefined where the text cannot stand in `from` or `until`. */
export function granularityOf(text: string): Granularity | undefined {
  if (datestampMs(text) === undefined || text.includes('.')) return undefined;
  return DAY.test(text) ? 'day' : 'second';
}

/** Rounded down, so that a `from` made of it never leaves anything out. */
export function formatDatestamp(ms: number, granularity: Granularity): string {
  const text = new Date(ms).toISOString();
  return granularity === 'day' ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

/** Rounded up, so that an `until` made of it never leaves anything out. A day is whole as it is. */
export function formatUpwards(ms: number, granularity: Granularity): string {
  return formatDatestamp(granularity === 'day' ? ms : ms + 999, granularity);
}
