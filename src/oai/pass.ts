import { DAY_MS } from './protocol.ts';

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
  /**
   * Earliest server time that was read since the pass began: a clock that was ahead must hide no
   * change.
   */
  readonly beganMs: number;
  /** This machine's clock when it began. */
  readonly localMs: number;
  /** Number of records that were listed before. */
  readonly heldBefore: number;
  /** Last count of the window by the service; null where it does not count. */
  readonly listSize: number | null;

  /** Number of the scan. */
  readonly scan: number;
  /** Number of different records that the scan saw. */
  readonly seen: number;
  /** Records of the scan before that this one has not seen yet; null where none was complete. */
  readonly unmet: number | null;
  /** Records that the scan before did not see, although they are older than the pass. */
  readonly overlooked: number;
  /** Consecutive scans before this one that saw the same records as the scan before them. */
  readonly agreed: number;
  /** A record left the list, so another one may have been skipped. */
  readonly gone: boolean;
  /** A record was listed twice: it moved, so another one may have been skipped. */
  readonly moved: boolean;
  /** A record changed or appeared after the pass began, or shortly before. */
  readonly fresh: boolean;

  /** Window of the list that is read: the whole one, or its rest after a refused token. */
  readonly rest: HarvestWindow;
  /** Token of the next page; null before the first page and after the last. */
  readonly token: string | null;
  readonly pages: number;
  /** Records on the pages so far; null after a page whose `cursor` differs from that number. */
  readonly position: number | null;
  /** Order of the datestamps so far, and the last datestamp. */
  readonly direction: 'falling' | 'rising' | 'neither' | null;
  readonly edgeMs: number | null;
};

const NO_PAGES = { token: null, pages: 0, position: 0, direction: null, edgeMs: null } as const;
const NO_RECORDS = { seen: 0, overlooked: 0, gone: false, moved: false, fresh: false } as const;

type Beginning = Pick<HarvestPass, 'kind' | 'window' | 'beganMs' | 'localMs' | 'heldBefore'>;

export function startPass(beginning: Beginning, scan: number): HarvestPass {
  return {
    ...beginning,
    listSize: null,
    ...NO_RECORDS,
    scan,
    unmet: null,
    agreed: 0,
    ...NO_PAGES,
    rest: beginning.window,
  };
}

/**
 * Begins another scan.
 * @param isAfterWhole the scan before reached the end of the list
 */
export function startScan(pass: HarvestPass, isAfterWhole: boolean): HarvestPass {
  return {
    ...pass,
    ...NO_RECORDS,
    scan: pass.scan + 1,
    unmet: isAfterWhole ? pass.seen : null,
    agreed: isAfterWhole && isAsBefore(pass) ? pass.agreed + 1 : 0,
    ...NO_PAGES,
    rest: pass.window,
  };
}

/**
 * Continues after a refused token with the datestamps that were not read yet. Only an ordered list
 * has such a rest, and only a count confirms it; otherwise another scan begins.
 */
export function continueByDatestamp(pass: HarvestPass): HarvestPass {
  const rest = getRest(pass);
  if (rest === undefined || pass.listSize === null) return startScan(pass, false);
  return { ...pass, ...NO_PAGES, rest };
}

/** The rest includes the last datestamp, which several records may share. */
function getRest({ rest, direction, edgeMs }: HarvestPass): HarvestWindow | undefined {
  const { fromMs, untilMs } = rest;
  if (edgeMs === null) return undefined;
  if (direction === 'rising' && edgeMs <= (untilMs ?? edgeMs))
    return { fromMs: Math.max(fromMs ?? edgeMs, edgeMs), untilMs };
  if (direction === 'falling' && edgeMs >= (fromMs ?? edgeMs))
    return { fromMs, untilMs: Math.min(untilMs ?? edgeMs, edgeMs) };
  return undefined;
}

export type PageNote = {
  readonly next: string | undefined;
  readonly completeListSize: number | undefined;
  readonly cursor: number | undefined;
  readonly responseDateMs: number;
  readonly datestampsMs: readonly number[];
  /** Datestamps of records that the scan had seen before. */
  readonly againMs: readonly number[];
  /** Time before the pass in which a record may have appeared late in the index. */
  readonly overlapMs: number;
};

/** Returns the pass after a page of its list, whose records are counted already. */
export function advancePass(pass: HarvestPass, note: PageNote): HarvestPass {
  const { next, datestampsMs, againMs } = note;
  const beganMs = Math.min(pass.beganMs, note.responseDateMs);
  const freshMs = beganMs - note.overlapMs;
  const listSize = computeListSize(pass, note);
  const counted = listSize ?? Number.POSITIVE_INFINITY;
  const hasShrunk = pass.pages > 0 && counted < (pass.listSize ?? 0);
  const hasLost = next === undefined && pass.seen > counted;
  return {
    ...pass,
    beganMs,
    listSize,
    gone: pass.gone || hasShrunk || hasLost,
    moved: pass.moved || againMs.some((ms) => !isAtCut(pass, ms)),
    fresh: pass.fresh || datestampsMs.some((ms) => getLatestMs(ms) >= freshMs),
    token: next ?? null,
    pages: pass.pages + 1,
    position: computePosition(pass, note),
    ...followOrder(pass, datestampsMs),
  };
}

/** The count of a rest is not that of the window; a list of one page needs none. */
function computeListSize(pass: HarvestPass, { next, completeListSize }: PageNote): number | null {
  if (!isOfWholeWindow(pass)) return pass.listSize;
  const isOnlyPage = pass.pages === 0 && next === undefined;
  return completeListSize ?? (isOnlyPage ? null : pass.listSize);
}

/** Returns the number of records so far; the last page need not have a `cursor`. */
function computePosition(
  { position }: HarvestPass,
  { cursor, next, datestampsMs }: PageNote,
): number | null {
  if (datestampsMs.length === 0) return position;
  const fits = cursor === position || (cursor === undefined && next === undefined);
  return position !== null && fits ? position + datestampsMs.length : null;
}

function followOrder(
  { direction, edgeMs }: HarvestPass,
  datestampsMs: readonly number[],
): Pick<HarvestPass, 'direction' | 'edgeMs'> {
  let order = { direction, edgeMs };
  for (const datestampMs of datestampsMs) {
    const last = order.edgeMs ?? datestampMs;
    const step = datestampMs < last ? 'falling' : 'rising';
    const isFirstStep = order.direction === null || order.direction === step;
    const next = isFirstStep ? step : 'neither';
    order = { direction: datestampMs === last ? order.direction : next, edgeMs: datestampMs };
  }
  return order;
}

/** Returns the pass after a new count of the window, at the end of a scan. */
export function recountPass(pass: HarvestPass, listSize: number): HarvestPass {
  const hasLost = pass.seen > listSize || (pass.listSize ?? 0) > listSize;
  return { ...pass, listSize, gone: pass.gone || hasLost };
}

/** Ends the list, whatever its last token leads to. */
export function endList(pass: HarvestPass): HarvestPass {
  return { ...pass, token: null };
}

export function hasListEnded({ token, pages }: HarvestPass): boolean {
  return token === null && pages > 0;
}

/** Tells if the whole window is read, not only the rest after a refused token. */
export function isOfWholeWindow({ window, rest }: HarvestPass): boolean {
  return window.fromMs === rest.fromMs && window.untilMs === rest.untilMs;
}

/** Tells if the list had one page, so that no record could move between pages. */
export function isOnePage(pass: HarvestPass): boolean {
  return hasListEnded(pass) && pass.pages === 1 && isOfWholeWindow(pass);
}

/** Tells if a record is at the beginning of the rest, so that it may be read twice. */
export function isAtCut({ window, rest }: HarvestPass, datestampMs: number): boolean {
  if (rest.fromMs !== null && rest.fromMs !== window.fromMs) return datestampMs <= rest.fromMs;
  return rest.untilMs !== null && rest.untilMs !== window.untilMs && datestampMs >= rest.untilMs;
}

/** Returns the number of counted records that the scan did not see; 0 without a count. */
export function countMissing({ listSize, seen }: HarvestPass): number {
  return Math.max(0, (listSize ?? 0) - seen);
}

/** Tells if all counted records were seen. */
export function isWhole(pass: HarvestPass): boolean {
  return pass.listSize !== null && countMissing(pass) === 0;
}

/** Tells if a scan saw the same records as the scan before, and besides only newer ones. */
function isAsBefore({ unmet, overlooked }: HarvestPass): boolean {
  return unmet === 0 && overlooked === 0;
}

/**
 * `short`: two scans agree that records of the count are missing. `counted-too-many`: one, though
 * the pages have no gap.
 */
type ScanVerdict = 'complete' | 'again' | 'short' | 'counted-too-many';

/**
 * Decides if a scan saw the list as it was at one moment; docs/harvesting.md has the rules. A count
 * alone does not show that a record was skipped where one left the list while another one came.
 */
export function judge(pass: HarvestPass): ScanVerdict {
  const isConfirmed = isAsBefore(pass);
  if (countMissing(pass) > 0) {
    if (!isConfirmed) return 'again';
    return isCountedTooMany(pass) ? 'counted-too-many' : 'short';
  }
  if (isOnePage(pass)) return 'complete';
  if (pass.listSize === null) return isConfirmed && pass.agreed > 0 ? 'complete' : 'again';
  if (pass.gone) return 'again';
  // Where the newest come first, a record that moves causes another one to be listed twice.
  const isWatched = pass.direction === 'falling' && isOfWholeWindow(pass);
  const mayHaveSkipped = pass.moved || (pass.fresh && !isWatched);
  return mayHaveSkipped && !isConfirmed ? 'again' : 'complete';
}

function isCountedTooMany(pass: HarvestPass): boolean {
  return countMissing(pass) === 1 && pass.position === pass.seen && isOfWholeWindow(pass);
}

/** Returns the end of the day for a datestamp that is a day. */
export function getLatestMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/** A clock that is further behind is ignored: the machine may have lost its time. */
const MAX_BEHIND_MS = 7 * DAY_MS;

/**
 * Returns the beginning of a pass by the earlier of both clocks: a server clock that was ahead
 * would hide changes.
 */
export function getWatermark({ beganMs, localMs }: HarvestPass): number {
  return beganMs - localMs > MAX_BEHIND_MS ? beganMs : Math.min(beganMs, localMs);
}
