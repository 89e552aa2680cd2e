import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import {
  fetchPageWithRetry,
  isPossibleEndOfList,
  isRefusedToken,
  type ListPage,
  listPages,
  makeEndlessError,
  type PageSource,
} from './client.ts';
import {
  addSightings,
  advancePass,
  computeWatermarkMs,
  type HarvestPass,
  type HarvestState,
  type ListKind,
  makeScanProgress,
  type RecordStore,
  recountPass,
  storePage,
  type UnconfirmedLosses,
} from './harvest-state.ts';
import {
  formatDatestamp,
  formatDatestampRoundedUp,
  formatSetName,
  type Granularity,
  getEndOfDatestampMs,
  type OaiArguments,
  type OaiRecord,
  RUN_AGAIN,
} from './protocol.ts';

/** Both bounds inclusive; null: none. */
type HarvestWindow = { readonly fromMs: number | null; readonly untilMs: number | null };

/** One list of a service, where its records are stored, and how the run treats doubts. */
export type HarvestOptions = {
  readonly client: PageSource;
  readonly clock: Clock;
  readonly store: RecordStore;
  readonly granularity: Granularity;
  readonly signal?: AbortSignal;
  readonly metadataPrefix: string;
  /** Empty: all records of the service. */
  readonly setSpec: string;
  /** The same in each run of the list. */
  readonly window: HarvestWindow;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
  /** Overlap with the previous pass in milliseconds: an index lags behind the records. */
  readonly overlapMs: number;
  /** Requests all records, not only those changed since the last pass. */
  readonly full?: boolean;
  /**
   * Any text that changes with the rights of the account, which causes a full pass; undefined where
   * they are unknown.
   */
  readonly rights?: string | undefined;
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
  /** Called after each page with the records so far; `total` is undefined without a count. */
  readonly onProgress?: ((doneCount: number, total: number | undefined) => void) | undefined;
};

/** Figures of one run; those of an interrupted run before are not counted, except in `pass`. */
export type HarvestResult = {
  /** The pass that ended; one of no records where there was nothing to request. */
  readonly pass: HarvestPass;
  /** New or changed records written in this run, including deleted and vanished ones. */
  readonly written: number;
  readonly deleted: number;
  /** Records that are no longer listed, stored as deleted by a full pass. */
  readonly vanished: number;
  /** Identifiers of listed records that came without content, or that the store cannot use. */
  readonly broken: readonly string[];
  /**
   * Set where unlisted records are kept, since they may still exist; the next run reads everything
   * again.
   */
  readonly unconfirmed: UnconfirmedLosses | undefined;
};

type Run = HarvestOptions & {
  readonly state: HarvestState;
  /** The pass under way. */
  pass: HarvestPass;
  written: number;
  deleted: number;
};

/** Scans of a list before it is reported as incomplete. */
const MAX_SCANS = 5;
/** Requests for the list of changes while each has news. */
const MAX_ROUNDS = 5;
/** Answers may have whole seconds, and come from several machines. */
const CLOCK_STEP_MS = 2000;

/**
 * Updates the stored records of a list: all of them the first time, then the changes. Each page is
 * committed with the token of the next one, so that an interrupted run continues there. Returns
 * only when no listed record can be missing but those in `broken` (docs/harvesting.md has the
 * rules).
 * @throws as {@link SendRequest}; OaiError `incomplete`, `loop` or `endless`; errors of the store
 */
export async function harvestList(options: HarvestOptions): Promise<HarvestResult> {
  const { state } = options.store;
  recordRights(options);
  const run: Run = { ...options, state, pass: choosePass(options), written: 0, deleted: 0 };
  await readCompletely(run);
  if (run.pass.kind === 'changes' && !(await compareWithCount(run))) {
    run.pass = beginPass(options, 'full');
    await readCompletely(run);
  }
  const { pass, written, deleted } = run;
  const { vanished = 0, unconfirmed } = await confirmLosses(run);
  const completed = { watermarkMs: computeWatermarkMs(pass), completedMs: run.clock.now() };
  const outcome = unconfirmed === undefined ? completed : { watermarkMs: null };
  state.change(() => {
    if (unconfirmed === undefined && pass.kind === 'full') state.markUnlisted(pass.scan);
    state.saveProgress({ ...outcome, pass: null, losses: unconfirmed ?? null });
  });
  const broken = state.listSkipped();
  return { pass, written: written + vanished, deleted, vanished, broken, unconfirmed };
}

/** Stores the rights of the account. No list of changes shows what others hid: all is due again. */
function recordRights({ store: { state }, rights, onNote }: HarvestOptions): void {
  const { rights: before } = state.getProgress();
  if (rights === undefined || rights === before) return;
  const allDue = before === null ? undefined : { watermarkMs: null, pass: null };
  state.change(() => state.saveProgress({ ...allDue, rights }));
  if (before !== null)
    onNote?.(
      t`The account's permissions have changed since the last harvest, so everything is read again.`,
    );
}

/** Chooses the unfinished pass, or begins the next one. */
function choosePass(options: HarvestOptions): HarvestPass {
  const { store, full = false, serverNowMs } = options;
  const { pass: begun, watermarkMs } = store.state.getProgress();
  const latestMs = serverNowMs + CLOCK_STEP_MS;
  // One of no page, or of a list of one page, begins again.
  const isResumable =
    begun !== null && begun.beganMs <= latestMs && (begun.token !== null || begun.pages > 1);
  if (isResumable && (begun.kind === 'full' || !full)) return begun;
  // While a clock was ahead, a watermark may have skipped changes.
  const hasClockGoneBack = watermarkMs !== null && watermarkMs > latestMs;
  const isFull = full || begun?.kind === 'full' || watermarkMs === null || hasClockGoneBack;
  return beginPass(options, isFull ? 'full' : 'changes');
}

function beginPass(
  { store, clock, serverNowMs }: HarvestOptions,
  kind: HarvestPass['kind'],
): HarvestPass {
  const localMs = clock.now();
  const scan = store.state.getLastScan() + 1;
  const pass = { kind, beganMs: serverNowMs, localMs, listSize: null };
  return { ...pass, ...makeScanProgress(scan, false) };
}

/** Returns the bounds of the pass under way. */
function getWindow({ pass, state, window, overlapMs }: Run): HarvestWindow {
  const { watermarkMs } = state.getProgress();
  if (pass.kind === 'full' || watermarkMs === null) return window;
  return { ...window, fromMs: Math.max(window.fromMs ?? 0, watermarkMs - overlapMs) };
}

/** Tells if the bounds exclude every time, so that nothing needs to be requested. */
function isEmptyWindow({ fromMs, untilMs }: HarvestWindow): boolean {
  return fromMs !== null && untilMs !== null && fromMs > untilMs;
}

/**
 * Scans the list until no record can have been skipped, {@link MAX_SCANS} times at most.
 *
 * Example: the list is A B C D, on pages of two. When A and B were read, A is deleted without a
 * trace, and E is new: the second page of B C D E has D and E. So the scan saw four records, as
 * many as the service counts, but not C. E is new, so something moved, and the list is scanned
 * again. That scan sees C, which the first did not, so a third one is needed; it agrees. Without a
 * count, two scans in a row must agree with the one before.
 */
async function readCompletely(run: Run): Promise<void> {
  if (isEmptyWindow(getWindow(run))) return;
  let agreeing = 0;
  for (let scans = 1; ; scans++) {
    const hasEnded = await readToEnd(run);
    // A list of one page cannot change between pages.
    if (hasEnded && run.pass.pages > 1) await readChanges(run);
    const { pass, state } = run;
    // Records that only the scan before saw have its number.
    const agrees = hasEnded && pass.agrees && state.listSeenIn(pass.scan - 1).length === 0;
    agreeing = agrees ? agreeing + 1 : 0;
    // Without a count, two scans that were put into another order at one place would agree.
    const isAgreed = agreeing >= (pass.listSize === null ? 2 : 1);
    const isShort = hasUnseenRecords(pass);
    // Seen as it was at one moment: on one page, or all counted records while nothing moved. A count
    // alone does not show a skipped record where one left the list while another one came.
    const isSteady = pass.pages === 1 || (!pass.moved && pass.seen === pass.listSize);
    if (hasEnded && !isShort && (isAgreed || isSteady)) return;
    run.pass = { ...pass, ...makeScanProgress(pass.scan + 1, hasEnded) };
    // Not saved after a refused token: it may be valid after all.
    if (hasEnded) state.change(() => state.saveProgress({ pass: run.pass }));
    if (agrees && isShort) throw makeIncompleteError(run, pass, t`its list ended before`);
    if (scans < MAX_SCANS) continue;
    const reason = hasEnded
      ? t`its list kept changing while it was read`
      : t`it repeatedly refuses its own resumption tokens`;
    throw makeIncompleteError(run, pass, reason);
  }
}

/** Tells if a scan saw fewer records than the service counts; false where that does not count. */
function hasUnseenRecords({ listSize, seen }: HarvestPass): boolean {
  return listSize !== null && seen < listSize;
}

/** Makes the error `incomplete`, with the counts of the pass. */
function makeIncompleteError({ setSpec }: Run, pass: HarvestPass, reason: string): OaiError {
  const list = formatSetName(setSpec);
  const { listSize, seen: seenCount } = pass;
  const size = listSize ?? '?';
  return new OaiError(
    'incomplete',
    t`${list} is not complete: ${reason}. The service sent ${seenCount} records and counts ${size}.`,
    { hint: RUN_AGAIN },
  );
}

/**
 * Reads the list from the point where the last run stopped. After a refused token it continues with
 * the earliest datestamp that was read, which is all the rest where the newest come first; the
 * count shows what is missing in any other order.
 * @returns false where the list must be scanned from its beginning
 */
async function readToEnd(run: Run): Promise<boolean> {
  if (run.pass.token === null && run.pass.pages > 0) return true;
  for (;;) {
    const begun = run.pass;
    const { token, cutMs } = begun;
    const window = getWindow(run);
    const rest = { ...window, untilMs: cutMs ?? window.untilMs };
    try {
      const start = token === null ? makeListArguments(run, rest) : { resumptionToken: token };
      await readPages(run, start, 'whole');
      return true;
    } catch (thrown) {
      const next = chooseAfterError(thrown, begun, run.pass);
      if (next === 'end') return true;
      const oldestMs = run.state.findOldestSeenMs(run.pass.scan);
      if (next === 'again' || oldestMs === null) return false;
      run.pass = { ...run.pass, token: null, cutMs: oldestMs };
    }
  }
}

/** @returns `end` of the list, `cut` it, or scan it `again`; errors of other kinds are thrown */
function chooseAfterError(thrown: unknown, begun: HarvestPass, pass: HarvestPass) {
  const isCounted = pass.listSize !== null;
  // All counted records were seen, so the token leads to no further record.
  if (isCounted && !hasUnseenRecords(pass) && isPossibleEndOfList(thrown)) return 'end';
  // The service may answer a token of an earlier run, which it no longer knows, with any error.
  const isOld = begun.token !== null && pass === begun;
  const isOfService = thrown instanceof OaiError || thrown instanceof UnavailableError;
  if (!isRefusedToken(thrown) && !(isOld && isOfService)) throw thrown;
  const isStuck = pass.seen === begun.seen && begun.cutMs !== null;
  // Without a count, nothing would show that the rest is not all.
  return isCounted && !isStuck ? 'cut' : 'again';
}

/** Maximum length of a list: a multiple of its count, plus a day's records. */
const MAX_GROWTH = 2;
const MAX_NEW_RECORDS = 10_000;

/**
 * Reads and commits pages until the list ends.
 * @returns the number of records that were new or changed, or new in this scan
 */
async function readPages(run: Run, start: OaiArguments, list: ListKind): Promise<number> {
  const { client, clock, signal, store, window, overlapMs, written, pass } = run;
  let count = 0;
  let size: number | undefined;
  for await (const page of listPages({ fetchPage: client.listRecords, start, clock, signal })) {
    const { document, items } = page;
    const read = { document, items, scan: run.pass.scan, untilMs: window.untilMs };
    const { records, pass: next } = await storePage(store, read, (sightings) => {
      const advanced = list === 'changes' ? run.pass : advancePass(run.pass, page);
      return addSightings(advanced, sightings, list, overlapMs);
    });
    run.pass = next;
    run.written += records.length;
    run.deleted += records.filter(({ header }) => header.deleted).length;
    run.onProgress?.(next.seen, next.listSize ?? undefined);
    count += items.length;
    size ??= page.completeListSize;
    if (count > MAX_GROWTH * (size ?? next.seen) + MAX_NEW_RECORDS)
      throw makeEndlessError('endless');
  }
  return run.written - written + run.pass.seen - pass.seen;
}

/**
 * Reads the list of changes since the pass began until it has nothing new: a changed record may
 * have moved to a page that was already read. Where something moved, the list is then counted
 * again, since the earlier count may lack new records, which must not make up for skipped ones; and
 * after a cut, since a rest cannot show what left the part before it.
 */
async function readChanges(run: Run): Promise<void> {
  const { beganMs } = run.pass;
  const window = getWindow(run);
  const changes = { ...window, fromMs: Math.max(window.fromMs ?? 0, beganMs - run.overlapMs) };
  for (let rounds = 1; rounds <= MAX_ROUNDS && !isEmptyWindow(changes); rounds++) {
    const start = makeListArguments(run, changes);
    try {
      if ((await readPages(run, start, 'changes')) === 0) break;
    } catch (thrown) {
      // The count or the next scan shows what is missing, and the next pass requests these changes
      // again.
      if (!isPossibleEndOfList(thrown)) throw thrown;
    }
  }
  const { listSize, moved, cutMs } = run.pass;
  if (listSize !== null && (moved || cutMs !== null))
    run.pass = recountPass(run.pass, getSize(await fetchHeaders(run, window)));
}

/**
 * Compares the service's count of the whole list, and the list's first page, with the stored
 * records, by one request.
 * @returns false where they differ, so that all must be read again; true also where the service
 * does not count, and for a window with an end
 */
async function compareWithCount(run: Run): Promise<boolean> {
  const { state, window, onNote } = run;
  // A changed record leaves a window with an end, so the counts differ.
  if (run.store.holdings === undefined || window.untilMs !== null) return true;
  const page = await fetchHeaders(run, window);
  const size = getSize(page);
  if (size === undefined) return true;
  const list = formatSetName(run.setSpec);
  const listed = state.countListed();
  if (size !== listed)
    onNote?.(
      t`${list}: the service counts ${size} records, but ${listed} are known, so everything is read again.`,
    );
  // An empty list is never trusted.
  return size === listed && size > 0 && !page.items.some((record) => wasMissed(run, record));
}

/** Tells if a listed change is older than those that the next pass requests, and not stored. */
function wasMissed(run: Run, { header: { identifier, datestampMs } }: OaiRecord): boolean {
  const seenRecord = run.state.findSeen(identifier);
  if (seenRecord?.skipped === true || seenRecord?.datestampMs === datestampMs) return false;
  return getEndOfDatestampMs(datestampMs) < computeWatermarkMs(run.pass) - run.overlapMs;
}

/** Requests the first page of a list without contents, which has its count. */
function fetchHeaders(run: Run, window: HarvestWindow): Promise<ListPage<OaiRecord>> {
  const { client, clock, signal } = run;
  const start = makeListArguments(run, window);
  return fetchPageWithRetry({ fetchPage: client.listHeaders, start, clock, signal });
}

/** Returns the length of a list by its first page; undefined where the service does not count. */
function getSize({ completeListSize, next, items }: ListPage<OaiRecord>): number | undefined {
  return completeListSize ?? (next === undefined ? items.length : undefined);
}

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Writes tombstones for held records that a complete full pass did not see. While an index is
 * rebuilt, a list may be empty or short: many losses, one that finds or own terms use, or an empty
 * list count only if a second scan, at least an hour later, lacks the same records, or the caller
 * accepts them. Nothing is compared in a window with an end, or without holdings; an empty list,
 * where nothing is held either, stays unconfirmed.
 */
async function confirmLosses({
  pass,
  state,
  store: { holdings },
  window: { fromMs, untilMs },
  serverNowMs,
  acceptLosses = false,
}: Run): Promise<{ readonly vanished?: number; readonly unconfirmed?: UnconfirmedLosses }> {
  if (pass.kind === 'changes' || holdings === undefined) return {};
  const { lost, inUse } = await holdings.findLost(pass.scan);
  const held = pass.seen + lost.length;
  const isEmpty = held === 0 && fromMs === null && untilMs === null;
  // A changed record may have left a window with an end.
  if (!isEmpty && (lost.length === 0 || untilMs !== null)) return {};
  const areFew = lost.length <= Math.min(MAX_LOST, held * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const { losses: before } = state.getProgress();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= serverNowMs;
  const sinceMs = isSame ? before.sinceMs : serverNowMs;
  const isConfirmed = acceptLosses || serverNowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (!isEmpty && (isConfirmed || (areFew && pass.seen > 0 && inUse.length === 0)))
    return { vanished: await holdings.deleteLost(lost, pass) };
  return { unconfirmed: { lost: lost.length, held, inUse, sinceMs, digest } };
}

/**
 * Bounds are sent without milliseconds, and some services compare them with datestamps that have
 * them: rounded outwards.
 */
function makeListArguments(
  { metadataPrefix, setSpec, granularity }: Run,
  { fromMs, untilMs }: HarvestWindow,
): OaiArguments {
  return {
    metadataPrefix,
    set: setSpec === '' ? undefined : setSpec,
    from: fromMs === null ? undefined : formatDatestamp(fromMs, granularity),
    until: untilMs === null ? undefined : formatDatestampRoundedUp(untilMs, granularity),
  };
}
