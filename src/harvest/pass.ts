import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { ListPage } from './client.ts';
import { DAY_MS, type OaiRecord } from './protocol.ts';

/** Both bounds inclusive; null: none. */
export type HarvestWindow = { readonly fromMs: number | null; readonly untilMs: number | null };

/**
 * Progress of a harvest of one list, as plain data that is stored with each page. A pass scans the
 * list until a scan is complete; a scan reads it from beginning to end, by its tokens. Times are by
 * the server's clock, in milliseconds since 1970 UTC.
 */
export type HarvestPass = {
  readonly kind: 'full' | 'changes';
  readonly window: HarvestWindow;
  /** Earliest server time that was read: a clock that was ahead must hide no change. */
  readonly beganMs: number;
  /** This machine's clock when the pass began. */
  readonly localMs: number;
  /** Last count of the window by the service; null where it does not count. */
  readonly listSize: number | null;

  /** Number of the scan; each seen record is stored with it. */
  readonly scan: number;
  /** Number of different records that the scan saw. */
  readonly seen: number;
  /** How many scans in a row before this one agreed; null where this one differs from the last. */
  readonly agreed: number | null;
  /** How many scans must agree before this one counts: 1 after a record moved, 2 after one left. */
  readonly doubt: 0 | 1 | 2;

  /** Token of the next page; null before the first page and after the last. */
  readonly token: string | null;
  readonly pages: number;
  /** Datestamp of the last record while the newest come first; null in any other order. */
  readonly edgeMs: number | null;
  /** Datestamp at which the list was continued without its token; null: it is read as a whole. */
  readonly cutMs: number | null;
};

/** Later than any record: the edge of a list of which nothing was read. */
const NOTHING_READ_MS = Number.MAX_SAFE_INTEGER;

const NEW_SCAN = {
  seen: 0,
  doubt: 0,
  token: null,
  pages: 0,
  edgeMs: NOTHING_READ_MS,
  cutMs: null,
} as const;

type Beginning = Pick<HarvestPass, 'kind' | 'window' | 'beganMs' | 'localMs' | 'scan'>;

/** Makes a pass of which no page was read. */
export function makePass(beginning: Beginning): HarvestPass {
  return { ...beginning, ...NEW_SCAN, listSize: null, agreed: null };
}

/** @param agreed null where the scan did not reach the end of the list */
export function makeNextScan(pass: HarvestPass, agreed: number | null): HarvestPass {
  return { ...pass, ...NEW_SCAN, scan: pass.scan + 1, agreed };
}

/**
 * Continues after a refused token. Where the newest come first, with the last datestamp, which
 * several records may share, and only if a count can confirm it; otherwise from the beginning.
 */
export function continueWithoutToken(pass: HarvestPass): HarvestPass {
  const { edgeMs, window, listSize } = pass;
  const hasRest = edgeMs !== null && edgeMs !== NOTHING_READ_MS && edgeMs >= (window.fromMs ?? 0);
  if (!hasRest || listSize === null) return makeNextScan(pass, null);
  return { ...pass, token: null, cutMs: Math.min(edgeMs, window.untilMs ?? edgeMs) };
}

/**
 * Returns the pass after a page of its list, whose records are counted already.
 * @param againMs datestamps of records that the scan had seen before
 * @param overlapMs time before the pass in which a record may have appeared late in the index
 */
export function advancePass(
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  againMs: readonly number[],
  overlapMs: number,
): HarvestPass {
  const datestampsMs = page.items.map(({ header }) => header.datestampMs);
  const beganMs = Math.min(pass.beganMs, page.responseDateMs);
  // The first page has no news: its records were there when the list was counted first.
  const hasNews =
    pass.pages > 0 && datestampsMs.some((ms) => getEndOfDatestampMs(ms) >= beganMs - overlapMs);
  const hasMoved = againMs.some((ms) => pass.cutMs === null || ms < pass.cutMs);
  // The count of a rest is not that of the window.
  const listSize =
    pass.cutMs === null && (page.completeListSize !== undefined || pass.pages === 0)
      ? (page.completeListSize ?? null)
      : pass.listSize;
  const counted = recountPass(pass, listSize, page.next === undefined);
  return {
    ...(hasNews || hasMoved ? markMovedRecord(counted) : counted),
    beganMs,
    token: page.next ?? null,
    pages: pass.pages + 1,
    edgeMs: findEdge(pass.edgeMs, datestampsMs),
  };
}

/** Returns the pass after a record changed or appeared: another one may have been skipped. */
export function markMovedRecord(pass: HarvestPass): HarvestPass {
  return pass.doubt === 0 ? { ...pass, doubt: 1 } : pass;
}

function findEdge(edgeMs: number | null, datestampsMs: readonly number[]): number | null {
  let lastMs = edgeMs;
  for (const datestampMs of datestampsMs) {
    if (lastMs === null || datestampMs > lastMs) return null;
    lastMs = datestampMs;
  }
  return lastMs;
}

/** Returns the pass after a count: a list that became shorter, or than what was seen, lost a record. */
export function recountPass(
  pass: HarvestPass,
  listSize: number | null,
  isAtEnd: boolean,
): HarvestPass {
  const counted = listSize ?? Number.POSITIVE_INFINITY;
  const hasShrunk = pass.pages > 0 && counted < (pass.listSize ?? 0);
  const hasLost = isAtEnd && counted < pass.seen;
  return { ...pass, listSize, doubt: hasShrunk || hasLost ? 2 : pass.doubt };
}

export function hasListEnded({ token, pages }: HarvestPass): boolean {
  return token === null && pages > 0;
}

/** Tells if the list had one page, so that no record could move between pages. */
export function isOnePage({ token, pages }: HarvestPass): boolean {
  return token === null && pages === 1;
}

/** Returns the number of counted records that the scan did not see; 0 without a count. */
function countMissing({ listSize, seen }: HarvestPass): number {
  return Math.max(0, (listSize ?? 0) - seen);
}

/** Tells if all counted records were seen; false where the service does not count. */
export function hasSeenAllRecords(pass: HarvestPass): boolean {
  return pass.listSize !== null && countMissing(pass) === 0;
}

/** `short`: two scans agree that records of the count are missing. */
type Judgement = {
  readonly verdict: 'complete' | 'again' | 'short';
  /** How many scans in a row saw the same records as the one before, and besides only newer ones. */
  readonly agreed: number;
};

/**
 * Decides if a scan saw the list as it was at one moment; docs/harvesting.md has the rules. A count
 * alone does not show that a record was skipped where one left the list while another one came.
 * @param unmet number of records that only the scan before saw
 */
export function judgeScan(pass: HarvestPass, unmet: number): Judgement {
  const agreed = pass.agreed === null || unmet > 0 ? 0 : pass.agreed + 1;
  if (countMissing(pass) > 0) return { verdict: agreed > 0 ? 'short' : 'again', agreed };
  const isSure = isOnePage(pass) || agreed >= (pass.listSize === null ? 2 : pass.doubt);
  return { verdict: isSure ? 'complete' : 'again', agreed };
}

/** Returns the end of the day for a datestamp that is a day. */
export function getEndOfDatestampMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/** A clock that is further behind is ignored: the machine may have lost its time. */
const MAX_BEHIND_MS = 7 * DAY_MS;

/**
 * Returns the beginning of a pass by the earlier of both clocks: a server clock that was ahead
 * would hide changes.
 */
export function computeWatermarkMs({ beganMs, localMs }: HarvestPass): number {
  return beganMs - localMs > MAX_BEHIND_MS ? beganMs : Math.min(beganMs, localMs);
}

/** Returns the name of a set for people, also for the empty one, which is everything. */
export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

/**
 * Makes the error `incomplete`, with the counts of the pass.
 * @param reason by default the one that follows from the counts
 */
export function makeIncompleteError(
  setSpec: string,
  pass: HarvestPass,
  reason = explainIncomplete(pass),
): OaiError {
  const list = formatSetName(setSpec);
  const missing = describeShortfall(pass);
  return new OaiError('incomplete', t`${list} is not complete: ${reason}. ${missing}`, {
    hint: t`Run the command again: what was stored is kept, and the list is read again.`,
  });
}

function explainIncomplete(pass: HarvestPass): string {
  return countMissing(pass) > 0
    ? t`its list ended before`
    : t`its list kept changing while it was read`;
}

/**
 * Says in a sentence how many records of the list are missing, as far as the service counts them.
 */
export function describeShortfall(pass: HarvestPass): string {
  const { listSize, seen: seenCount } = pass;
  if (listSize === null)
    return t`The service does not say how many records there are; it sent ${seenCount}.`;
  const missing = countMissing(pass);
  return t`The service counts ${listSize} records and sent ${seenCount}: ${missing} are missing.`;
}

/**
 * Returns the reason for a full pass: while a server clock was ahead, a watermark may have skipped
 * changes.
 */
export function formatClockWentBack(
  setSpec: string,
  watermarkMs: number,
  serverNowMs: number,
): string {
  const was = new Date(watermarkMs).toISOString();
  const is = new Date(serverNowMs).toISOString();
  return t`${setSpec}: the service's clock went back from ${was} (last harvest) to ${is}, so everything is read again.`;
}
