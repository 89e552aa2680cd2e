import { makeBadArgument, ProtocolError } from './protocol.ts';

/** Both bounds inclusive, in milliseconds since 1970. */
type Window = { readonly fromMs: number | undefined; readonly untilMs: number | undefined };

/** OAI-PMH's schema has no year 0, and repeating it would make the answer invalid. */
const YEAR_ZERO = /^0000/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
/** The deployed service accepts milliseconds (B-DATE-5). */
const MILLISECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,3}Z$/;

/**
 * Parses `from` and `until`, of one granularity, days or seconds (OAI-PMH 2.0, section 2.7.1). A
 * bound includes the whole day or second; on the deployed service only the millisecond.
 * @throws ProtocolError `badArgument`; on the deployed service `noRecordsMatch` where `from` is
 * after `until`
 */
export function parseWindow(
  from: string | undefined,
  until: string | undefined,
  deployed: boolean,
): Window {
  if (from !== undefined && until !== undefined && from.length !== until.length) {
    throw makeBadArgument('from and until differ in granularity');
  }
  const fromMs = from === undefined ? undefined : parseStart('from', from, deployed);
  const untilMs =
    until === undefined
      ? undefined
      : parseEnd(until, parseStart('until', until, deployed), deployed);
  if (fromMs !== undefined && untilMs !== undefined && fromMs > untilMs) {
    if (deployed) throw new ProtocolError('noRecordsMatch', 'from is later than until');
    throw makeBadArgument('from is later than until');
  }
  return { fromMs, untilMs };
}

function parseStart(name: string, text: string, deployed: boolean): number {
  const isKnown = deployed
    ? DAY.test(text) || SECOND.test(text) || MILLISECOND.test(text)
    : (DAY.test(text) || SECOND.test(text)) && !YEAR_ZERO.test(text);
  const ms = isKnown ? Date.parse(text) : Number.NaN;
  // Date.parse turns 30 February into 2 March.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10)) {
    throw makeBadArgument(`${name} is no date of the form YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ`);
  }
  return ms;
}

function parseEnd(text: string, startMs: number, deployed: boolean): number {
  if (DAY.test(text)) return startMs + (deployed ? 86_399_000 : 86_399_999);
  return deployed ? startMs : startMs + 999;
}

/** Formats UTC in whole seconds, the announced granularity. */
export function formatSeconds(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, 19)}Z`;
}

/** Formats UTC with milliseconds unless they are zero, as the deployed service does. */
export function formatMilliseconds(ms: number): string {
  return ms % 1000 === 0 ? formatSeconds(ms) : new Date(ms).toISOString();
}
