import { createHash } from 'node:crypto';
import { DAY_MS, type Granularity } from './protocol.ts';

/**
 * Progress of a harvest, as plain data. Times are by the server's clock, in milliseconds since 1970
 * UTC.
 */

/** Order of the datestamps in a list. */
type Direction = 'falling' | 'rising' | 'neither';

/** Both bounds inclusive; null: none. */
export type HarvestWindow = { readonly fromMs: number | null; readonly untilMs: number | null };

/** Order of the datestamps of a walk so far, and the last datestamp. */
type WalkEdge = { readonly direction: Direction | null; readonly edgeMs: number | null };

/**
 * One reading of all records of a window, perhaps in several runs: scans of the window, each by
 * walks of lists.
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
  /** Records that its last scan did not see are taken for deleted. */
  readonly lossesAccepted: boolean;
  readonly firstScan: number;
  /** Count of the different records that the pass has seen. */
  readonly seen: number;
  /** Last count of the window by the service. */
  readonly listSize: number | null;
  readonly scan: HarvestScan;
  readonly walk: ListWalk;
};

/**
 * One reading of the window from beginning to end, by walks that continue where the last one
 * stopped.
 */
type HarvestScan = {
  readonly number: number;
  /** Number of different records seen. */
  readonly seen: number;
  /** Number of records that no earlier scan of the pass saw. */
  readonly newRecords: number;
  /** Number of new records that are older than the pass, so an earlier scan missed them. */
  readonly overlooked: number;
  /** Records seen by the last complete scan; null before the first. */
  readonly seenBefore: number | null;
  /** Number of records that differ from the stored ones, or are new. */
  readonly changed: number;
  /**
   * Digest of the identifiers in the order of an uncounted list, and that of the last complete
   * scan.
   */
  readonly order: string;
  readonly orderBefore: string;
  /**
   * Number of consecutive scans, up to the last one, that saw the same records as the scan before.
   */
  readonly agreed: number;
  /** A record left the list during the scan. */
  readonly gone: boolean;
  /** A record may have been skipped since others moved, whatever the count says. */
  readonly doubtful: boolean;
  /** A record may have changed or appeared after the pass began. */
  readonly fresh: boolean;
  /** A record was listed twice: it moved, so another may have been skipped. */
  readonly repeated: boolean;
};

type ListWalk = WalkEdge & {
  /** The window of the pass, or the rest of it after an interruption. */
  readonly window: HarvestWindow;
  /** Token of the next page; null before the first page. */
  readonly token: string | null;
  readonly pages: number;
  /** Last count of this window by the service. */
  readonly size: number | null;
  /** Records on the pages so far; null after a page whose `cursor` differs from that number. */
  readonly position: number | null;
  readonly ended: boolean;
};

const NOTHING_READ = {
  seen: 0,
  changed: 0,
  order: '',
  gone: false,
  doubtful: false,
  fresh: false,
  repeated: false,
} as const;

type Beginning = { readonly localMs: number; readonly heldBefore: number };

/**
 * Begins a pass.
 * @param beganMs by the server's clock, milliseconds since 1970 UTC
 */
export function startPass(
  kind: HarvestPass['kind'],
  window: HarvestWindow,
  beganMs: number,
  scan: number,
  { localMs, heldBefore }: Beginning = { localMs: beganMs, heldBefore: 0 },
): HarvestPass {
  return {
    kind,
    window,
    beganMs,
    localMs,
    heldBefore,
    firstScan: scan,
    seen: 0,
    listSize: null,
    lossesAccepted: false,
    walk: walkThrough(window),
    scan: {
      ...NOTHING_READ,
      number: scan,
      newRecords: 0,
      overlooked: 0,
      seenBefore: null,
      orderBefore: '',
      agreed: 0,
    },
  };
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

/**
 * Begins another scan of the window.
 * @param whole true where the scan before reached the end
 */
export function startScan(pass: HarvestPass, whole: boolean): HarvestPass {
  const {
    number,
    seen: seenCount,
    newRecords,
    overlooked,
    seenBefore,
    order,
    orderBefore,
    agreed,
  } = pass.scan;
  const counts = whole
    ? {
        seenBefore: seenCount,
        newRecords: 0,
        overlooked: 0,
        orderBefore: order,
        agreed: isAgreeing(pass) ? agreed + 1 : 0,
      }
    : { seenBefore, newRecords, overlooked, orderBefore, agreed };
  const scan = { ...NOTHING_READ, ...counts, number: number + 1 };
  return { ...pass, scan, lossesAccepted: false, walk: walkThrough(pass.window) };
}

function walkThrough(window: HarvestWindow): ListWalk {
  return {
    window,
    token: null,
    pages: 0,
    size: null,
    position: 0,
    ended: false,
    direction: null,
    edgeMs: null,
  };
}

/**
 * Continues after the last page by datestamps instead of the token, where the order of the list
 * allows it.
 */
export function resumeByDatestamp(pass: HarvestPass): HarvestPass {
  const rest = getRemainingWindow(pass.walk.window, pass.walk);
  // Only a count can confirm that the rest begins at the right place.
  return rest === undefined || pass.listSize === null
    ? startScan(pass, false)
    : { ...pass, walk: walkThrough(rest) };
}

type PageNote = {
  readonly next: string | undefined;
  readonly completeListSize: number | undefined;
  readonly cursor: number | undefined;
  readonly responseDateMs: number;
  /**
   * Time in milliseconds before the start of the pass in which a record may have appeared late in
   * the index.
   */
  readonly overlapMs: number;
  readonly datestampsMs: readonly number[];
  readonly identifiers: readonly string[];
  /** Datestamps of records that the scan had seen before. */
  readonly againMs: readonly number[];
};

/** Returns the pass after a committed page. */
export function advancePass(pass: HarvestPass, note: PageNote): HarvestPass {
  const { next, completeListSize, responseDateMs, overlapMs, datestampsMs, identifiers, againMs } =
    note;
  const { walk, scan } = pass;
  const beganMs = Math.min(pass.beganMs, responseDateMs);
  // A list of one page needs no count, and an earlier count of a longer list is obsolete.
  const isAll = next === undefined && walk.pages === 0 && isOfWholeWindow(pass);
  const listSize =
    completeListSize === undefined && isAll ? null : computeSize(pass, completeListSize);
  const fresh = scan.fresh || datestampsMs.some((ms) => getLatestMs(ms) >= beganMs - overlapMs);
  const gone = scan.gone || (next === undefined && listSize !== null && scan.seen > listSize);
  const repeated = scan.repeated || againMs.some((ms) => !isAtCut(pass, ms));
  const order = listSize === null ? digestIdentifiers(scan.order, identifiers) : '';
  const ended = next === undefined;
  return {
    ...pass,
    beganMs,
    listSize,
    scan: { ...scan, fresh, gone, repeated, order },
    walk: {
      window: walk.window,
      token: next ?? null,
      ended,
      pages: walk.pages + 1,
      size: completeListSize ?? walk.size,
      position: computePosition(walk, note),
      ...moveEdge(walk, datestampsMs),
    },
  };
}

/** Returns the end of the day for a datestamp that is a day. */
export function getLatestMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/** Returns the number of records so far; the last page need not have a `cursor`. */
function computePosition(
  { position }: ListWalk,
  { cursor, next, identifiers }: PageNote,
): number | null {
  if (identifiers.length === 0) return position;
  const fits = cursor === position || (cursor === undefined && next === undefined);
  return position !== null && fits ? position + identifiers.length : null;
}

/**
 * Tells if the list shrank: the records after a removed one moved up, perhaps onto a page that was
 * already read.
 */
export function hasShrunk({ walk }: HarvestPass, completeListSize: number | undefined): boolean {
  return walk.size !== null && completeListSize !== undefined && completeListSize < walk.size;
}

/** Returns the pass after the list shrank: it continues by datestamps where the list is ordered. */
export function withShrunkList(
  pass: HarvestPass,
  completeListSize: number | undefined,
): HarvestPass {
  const ordered = getRemainingWindow(pass.walk.window, pass.walk) !== undefined;
  const scan: HarvestScan = { ...pass.scan, gone: true, doubtful: pass.scan.doubtful || !ordered };
  const noted: HarvestPass = { ...pass, scan, listSize: computeSize(pass, completeListSize) };
  return ordered
    ? resumeByDatestamp(noted)
    : { ...noted, walk: { ...pass.walk, size: completeListSize ?? null } };
}

/** Tells if the walk covers the whole window, not only the rest after an interruption. */
export function isOfWholeWindow({ window, walk }: HarvestPass): boolean {
  return window.fromMs === walk.window.fromMs && window.untilMs === walk.window.untilMs;
}

/** Tells if a record is at the point of interruption, where a walk of the rest begins again. */
export function isAtCut({ window, walk }: HarvestPass, datestampMs: number): boolean {
  const { fromMs, untilMs } = walk.window;
  if (fromMs !== null && fromMs !== window.fromMs) return datestampMs <= fromMs;
  return untilMs !== null && untilMs !== window.untilMs && datestampMs >= untilMs;
}

/**
 * Returns the count of the whole window; a walk of a part shows only by how much the part shrank.
 */
function computeSize(pass: HarvestPass, statedSize: number | undefined): number | null {
  const { walk, listSize } = pass;
  if (statedSize === undefined) return listSize;
  if (isOfWholeWindow(pass)) return statedSize;
  return listSize === null || walk.size === null
    ? listSize
    : listSize + Math.min(0, statedSize - walk.size);
}

/**
 * Returns the number of records that the service counted and did not send in the scan; 0 where it
 * did not count.
 */
export function countMissing({ listSize, scan }: HarvestPass): number {
  return Math.max(0, (listSize ?? 0) - scan.seen);
}

/** Returns the pass after a list of changes with new or changed records. */
export function markChanged(pass: HarvestPass): HarvestPass {
  return { ...pass, scan: { ...pass.scan, fresh: true } };
}

/** Returns the pass after a new count of the window. */
export function withListSize(pass: HarvestPass, listSize: number): HarvestPass {
  const gone = pass.scan.gone || pass.scan.seen > listSize || (pass.listSize ?? 0) > listSize;
  return { ...pass, listSize, scan: { ...pass.scan, gone } };
}

/** Tells if the list had one page, so that no record could move between pages. */
export function isOnePage(pass: HarvestPass): boolean {
  return pass.walk.ended && pass.walk.pages === 1 && isOfWholeWindow(pass);
}

/**
 * `short`: two scans agree that records of the count are missing. `counted-too-many`: one, though
 * the pages have no gap.
 */
type PageVerdict = 'complete' | 'again' | 'short' | 'counted-too-many';

/**
 * Decides if a scan saw all records of the list as it was at one moment. Where the service counts,
 * all counted records must be seen, and none may have left the list meanwhile. A record that was
 * listed twice moved, so another may have been skipped, which the count does not show if one left
 * and one was added: then another scan must see the same records, and besides only new ones.
 * Without a count, three consecutive scans must see the same unchanged records in the same order.
 */
export function judge(pass: HarvestPass): PageVerdict {
  const { scan, walk, listSize } = pass;
  if (countMissing(pass) > 0 && !isAgreeing(pass)) return 'again';
  if (countMissing(pass) > 0) return isCountedTooMany(pass) ? 'counted-too-many' : 'short';
  if (isOnePage(pass)) return 'complete';
  if (listSize === null) return isAgreeing(pass) && scan.agreed > 0 ? 'complete' : 'again';
  if (scan.gone || scan.doubtful) return 'again';
  // In a complete walk with the newest first, a record that moves causes another one to be listed
  // twice.
  const isWatched = walk.direction === 'falling' && isOfWholeWindow(pass);
  const moved = scan.repeated || (scan.fresh && !isWatched);
  return moved && !isAgreeing(pass) ? 'again' : 'complete';
}

/**
 * Tells if the count is one too high: the pages follow each other without a gap up to the last
 * record.
 */
function isCountedTooMany(pass: HarvestPass): boolean {
  return countMissing(pass) === 1 && pass.walk.position === pass.scan.seen && isOfWholeWindow(pass);
}

/** Tells if a scan saw the same records as the scan before, and besides only new ones. */
function isAgreeing({ scan, listSize }: HarvestPass): boolean {
  if (scan.seenBefore !== scan.seen - scan.newRecords || scan.overlooked > 0) return false;
  return listSize !== null || (scan.changed === 0 && scan.order === scan.orderBefore);
}

/** Ends a walk that has seen all counted records, regardless of how its list ends. */
export function endWalk(pass: HarvestPass): HarvestPass {
  return { ...pass, walk: { ...pass.walk, token: null, ended: true } };
}

/** Tells if no record was skipped although the list changed. */
export function isWhole(pass: HarvestPass): boolean {
  return pass.listSize !== null && !pass.scan.doubtful && countMissing(pass) === 0;
}

function digestIdentifiers(before: string, identifiers: readonly string[]): string {
  return createHash('sha256')
    .update([before, ...identifiers].join('\n'))
    .digest('base64');
}

/** Returns the edge after further records. */
function moveEdge(edge: WalkEdge, datestampsMs: readonly number[]): WalkEdge {
  let { direction, edgeMs } = edge;
  for (const datestampMs of datestampsMs) {
    if (edgeMs !== null && datestampMs !== edgeMs) {
      const step = datestampMs < edgeMs ? 'falling' : 'rising';
      direction = direction === null || direction === step ? step : 'neither';
    }
    edgeMs = datestampMs;
  }
  return { direction, edgeMs };
}

/**
 * Returns the rest of a window after an interruption; undefined where the list is not ordered by
 * datestamp, or leaves its window. The rest includes the last datestamp, which several records may
 * share.
 */
function getRemainingWindow(
  { fromMs, untilMs }: HarvestWindow,
  { direction, edgeMs }: WalkEdge,
): HarvestWindow | undefined {
  if (edgeMs === null) return undefined;
  if (direction === 'rising' && edgeMs <= (untilMs ?? edgeMs))
    return { fromMs: Math.max(fromMs ?? edgeMs, edgeMs), untilMs };
  if (direction === 'falling' && edgeMs >= (fromMs ?? edgeMs))
    return { fromMs, untilMs: Math.min(untilMs ?? edgeMs, edgeMs) };
  return undefined;
}

/**
 * Parses a bound of the user into milliseconds since 1970 UTC: the last one of its day or second.
 */
export function parseBoundMs(bound: string, granularity: Granularity): number {
  const spanMs = granularity === 'day' ? DAY_MS : 1000;
  return Date.parse(bound) + spanMs - 1;
}
