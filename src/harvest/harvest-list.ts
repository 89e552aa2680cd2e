import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { getErrorMessage, OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import type { XmlDocument } from '../base/xml/element.ts';
import {
  fetchPageWithRetry,
  isRefusedToken,
  type ListPage,
  LoopError,
  listPages,
  makeEndlessError,
  type PageSource,
} from './client.ts';
import {
  advancePass,
  comparePage,
  computeWatermarkMs,
  formatSetName,
  getEndOfDatestampMs,
  type HarvestPass,
  type HarvestWindow,
  hasListEnded,
  isCompleteScan,
  isEmptyWindow,
  isOnePage,
  isShort,
  makeNextScan,
  makePass,
  type RecordStore,
  recountPass,
  type Sightings,
  storePage,
  type UnconfirmedLosses,
  withSightings,
} from './harvest-state.ts';
import {
  type BrokenRecord,
  formatDatestamp,
  formatDatestampRoundedUp,
  type Granularity,
  type OaiArguments,
  type OaiRecord,
  RUN_AGAIN,
} from './protocol.ts';

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
  readonly window: HarvestWindow;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
  /**
   * Overlap with the previous pass in milliseconds, since the index of a list lags behind the
   * records.
   */
  readonly overlapMs: number;
  /** Requests all records, not only those changed since the last pass. */
  readonly full?: boolean;
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
  /**
   * Called after each page with the records of the list so far; `total` is undefined where the
   * service does not count.
   */
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
  /** Records that came without content or cannot be used, in this run or before. */
  readonly broken: readonly BrokenRecord[];
  /**
   * Set where unlisted records are kept, since they may still exist; the next run reads everything
   * again.
   */
  readonly unconfirmed: UnconfirmedLosses | undefined;
};

type Run = HarvestOptions & {
  readonly state: RecordStore['state'];
  /** The pass under way. */
  pass: HarvestPass;
  /** Reasons for which records were skipped in this run, by identifier. */
  readonly faults: Map<string, string>;
  /** Records that came whole in this run, and that the store cannot use. */
  readonly unusable: Set<string>;
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
 * Updates stored records from a set: all of them the first time, then the changes. Each page is
 * committed together with the position of the next one, so an interrupted run continues there.
 * Returns only when no record can be missing; docs/harvesting.md has the rules.
 * @throws as the client: OaiError, UnavailableError, AuthError; OaiError `incomplete` or `loop`; as
 * the store
 */
export async function harvestList(options: HarvestOptions): Promise<HarvestResult> {
  const run: Run = {
    ...options,
    state: options.store.state,
    pass: choosePass(options),
    faults: new Map(),
    unusable: new Set(),
    written: 0,
    deleted: 0,
  };
  if (!isEmptyWindow(run.pass.window)) await readCompletely(run);
  if (run.pass.kind === 'changes' && !(await isAsCounted(run))) {
    run.pass = beginPass(run, 'full', run.window);
    await readCompletely(run);
  }
  await retrySkipped(run);
  const { pass, state, written, deleted, faults } = run;
  const { vanished = 0, unconfirmed } = await confirmLosses(run);
  const completed = {
    watermarkMs: computeWatermarkMs(pass),
    completedMs: Math.floor(run.clock.now()),
    fullScan: pass.kind === 'full' ? pass.scan : state.getProgress().fullScan,
  };
  const outcome = unconfirmed === undefined ? completed : { watermarkMs: null };
  state.change(() => state.saveProgress({ ...outcome, pass: null, losses: unconfirmed ?? null }));
  const broken = state.listSkipped().map((identifier) => ({
    identifier,
    reason: faults.get(identifier) ?? t`it could not be read before`,
  }));
  return { pass, written: written + vanished, deleted, vanished, broken, unconfirmed };
}

/** Chooses the unfinished pass, or begins the next one. */
function choosePass(options: HarvestOptions): HarvestPass {
  const { store, window, full = false, overlapMs, serverNowMs, setSpec, onNote } = options;
  const { pass: begun, watermarkMs } = store.state.getProgress();
  const latestMs = serverNowMs + CLOCK_STEP_MS;
  // An empty list of changes may be wrong, so one that was not compared with the count is not
  // resumed.
  if (begun !== null && begun.beganMs <= latestMs)
    if (begun.kind === 'full' || !(full || hasListEnded(begun))) return begun;
  const hasClockGoneBack = watermarkMs !== null && watermarkMs > latestMs;
  if (hasClockGoneBack && !full) {
    // While a clock was ahead, a watermark may have skipped changes.
    const list = formatSetName(setSpec);
    const was = new Date(watermarkMs).toISOString();
    const is = new Date(serverNowMs).toISOString();
    onNote?.(
      t`${list}: the service's clock went back from ${was} (last harvest) to ${is}, so everything is read again.`,
    );
  }
  if (full || watermarkMs === null || hasClockGoneBack) return beginPass(options, 'full', window);
  const fromMs = Math.max(window.fromMs ?? 0, watermarkMs - overlapMs);
  return beginPass(options, 'changes', { ...window, fromMs });
}

function beginPass(
  { store, clock, serverNowMs }: HarvestOptions,
  kind: HarvestPass['kind'],
  window: HarvestWindow,
): HarvestPass {
  const localMs = Math.floor(clock.now());
  const scan = store.state.getProgress().scan + 1;
  return makePass({ kind, window, beganMs: serverNowMs, localMs, scan });
}

/** Scans the list until no record can have been skipped. */
async function readCompletely(run: Run): Promise<void> {
  const isResumed = run.pass.pages > 0;
  for (let scans = 1; ; scans++) {
    const hasEnded = await readList(run);
    // A list of one page cannot change between pages, unless an earlier run read it.
    if (hasEnded && (!isOnePage(run.pass) || (isResumed && scans === 1))) await readChanges(run);
    const { pass, setSpec } = run;
    const agreed = hasEnded ? countAgreeing(run) : null;
    if (agreed !== null && isCompleteScan(pass, agreed)) return;
    const next = makeNextScan(pass, agreed);
    // Saved with its first page after a refused token, which may be valid after all.
    if (hasEnded) savePass(run, next);
    else run.pass = next;
    if (agreed !== null && agreed > 0 && isShort(pass))
      throw makeIncompleteError(setSpec, pass, t`its list ended before`);
    if (scans < MAX_SCANS) continue;
    const reason = hasEnded
      ? t`its list kept changing while it was read`
      : t`it repeatedly refuses its own resumption tokens`;
    throw makeIncompleteError(setSpec, pass, reason);
  }
}

/** Makes the error `incomplete`, with the counts of the pass. */
function makeIncompleteError(setSpec: string, pass: HarvestPass, reason: string): OaiError {
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
 * Counts the scans in a row, up to this one, that saw the same records as the one before, and
 * besides only newer ones.
 */
function countAgreeing({ pass, state }: Run): number {
  // Records that only the scan before saw have its number.
  const hasUnmet = state.listSeenIn(pass.scan - 1).length > 0;
  return pass.agreed === null || hasUnmet ? 0 : pass.agreed + 1;
}

/**
 * Reads the list from the point where the last run stopped. After a refused token it continues with
 * the earliest datestamp that was read, which is all the rest where the newest come first; the
 * count shows what is missing in any other order.
 * @returns false where the list must be scanned from its beginning
 */
async function readList(run: Run): Promise<boolean> {
  if (hasListEnded(run.pass)) return true;
  for (;;) {
    const begun = run.pass;
    const { token, window, cutMs } = begun;
    const rest = { ...window, untilMs: cutMs ?? window.untilMs };
    const start = token === null ? makeListArguments(run, rest) : { resumptionToken: token };
    try {
      await readPages(run, start, 'whole');
      return true;
    } catch (thrown) {
      const { pass, state } = run;
      const { listSize, seen: seenCount } = pass;
      const isCounted = listSize !== null;
      // All counted records were seen, so the token leads to no further record.
      if (isCounted && seenCount >= listSize && isOfToken(thrown)) {
        savePass(run, { ...pass, token: null });
        return true;
      }
      // The service may answer a token of an earlier run, which it no longer knows, with any error.
      const isOld = token !== null && pass === begun;
      const isOfService = thrown instanceof OaiError || thrown instanceof UnavailableError;
      if (!isRefusedToken(thrown) && !(isOld && isOfService)) throw thrown;
      const oldestMs = state.findOldestSeenMs(pass.scan);
      const isStuck = seenCount === begun.seen && cutMs !== null;
      if (!isCounted || oldestMs === null || isStuck) return false;
      run.pass = { ...pass, token: null, cutMs: oldestMs };
    }
  }
}

function isOfToken(thrown: unknown): boolean {
  return isRefusedToken(thrown) || thrown instanceof LoopError;
}

/** Maximum length of a list: a multiple of its count, plus a day's records. */
const MAX_GROWTH = 2;
const MAX_NEW_RECORDS = 10_000;

/**
 * Reads and commits pages until the list ends.
 * @returns the number of records that were new or changed, or new in this scan
 */
async function readPages(
  run: Run,
  start: OaiArguments,
  list: 'whole' | 'changes',
): Promise<number> {
  let news = 0;
  let records = 0;
  let size: number | undefined;
  const { client, clock, signal } = run;
  for await (const page of listPages({ fetchPage: client.listRecords, start, clock, signal })) {
    const { pass, overlapMs } = run;
    const sightings = comparePage(run.state, pass, page);
    const next = list === 'whole' ? advancePass(pass, page, sightings, overlapMs) : pass;
    const written = await recordPage(run, page.document, sightings, next);
    news += written + run.pass.seen - pass.seen;
    records += page.items.length;
    size ??= page.completeListSize;
    if (records > MAX_GROWTH * (size ?? run.pass.seen) + MAX_NEW_RECORDS) throw makeEndlessError();
  }
  return news;
}

/**
 * Stores the records of a page with the pass after it.
 * @returns the number of new and changed records
 */
async function recordPage(
  run: Run,
  document: XmlDocument,
  sightings: Sightings,
  next: HarvestPass,
): Promise<number> {
  const pass = withSightings(next, sightings);
  const { records, faults } = await storePage(run.store, document, sightings, pass);
  run.pass = pass;
  for (const [name, { fault }] of sightings) {
    const reason = fault ?? faults.get(name);
    if (reason !== undefined) run.faults.set(name, reason);
    if (faults.has(name)) run.unusable.add(name);
    else run.unusable.delete(name);
  }
  run.written += records.length;
  run.deleted += records.filter(({ header }) => header.deleted).length;
  run.onProgress?.(pass.seen, pass.listSize ?? undefined);
  return records.length;
}

/**
 * Reads the list of changes since the pass began until it has nothing new: a changed record may
 * have moved to a page that was already read. The list is then counted again, since the earlier
 * count may lack new records, which must not make up for skipped ones; and a rest cannot show what
 * left the part before it.
 */
async function readChanges(run: Run): Promise<void> {
  const { window, beganMs, cutMs } = run.pass;
  const changes = { ...window, fromMs: Math.max(window.fromMs ?? 0, beganMs - run.overlapMs) };
  let hasNews = false;
  for (let rounds = 1; rounds <= MAX_ROUNDS && !isEmptyWindow(changes); rounds++) {
    try {
      if ((await readPages(run, makeListArguments(run, changes), 'changes')) === 0) break;
      hasNews = true;
    } catch (thrown) {
      // The count or the next scan shows what is missing, and the next pass requests these changes
      // again.
      if (!isOfToken(thrown)) throw thrown;
    }
  }
  if (hasNews) run.pass = { ...run.pass, moved: true };
  if (run.pass.listSize === null || (!hasNews && cutMs === null)) return;
  const page = await fetchHeaders(run, window);
  savePass(run, recountPass(run.pass, getSize(page)));
}

/**
 * Requests skipped records alone, until they can be used or no longer exist. While the service is
 * not available, none.
 */
async function retrySkipped(run: Run): Promise<void> {
  const { client, state, metadataPrefix, signal, faults } = run;
  for (const identifier of state.listSkipped()) {
    if (run.unusable.has(identifier)) continue;
    const seenRecord = state.findSeen(identifier);
    try {
      const { record, document } = await client.getRecord(identifier, metadataPrefix, signal);
      const sightings = comparePage(state, run.pass, { document, items: [record] });
      await recordPage(run, document, sightings, run.pass);
    } catch (thrown) {
      if (!isOfOneRecord(thrown)) throw thrown;
      faults.set(identifier, getErrorMessage(thrown));
      if (thrown instanceof UnavailableError) return;
      const isGone = thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist';
      if (isGone && seenRecord !== undefined && seenRecord.scan !== run.pass.scan)
        state.change(() => state.markSeen(identifier, { ...seenRecord, skipped: false }));
    }
  }
}

const FAULTS_OF_A_RECORD = ['idDoesNotExist', 'cannotDisseminateFormat', 'malformed'];

/** Tells if a request may have failed only because of its record. */
function isOfOneRecord(thrown: unknown): boolean {
  if (thrown instanceof OaiError) return FAULTS_OF_A_RECORD.includes(thrown.oaiCode);
  return thrown instanceof UnavailableError;
}

/**
 * Compares the service's count of the whole list, and the list's first page, with the stored
 * records, by one request.
 */
async function isAsCounted(run: Run): Promise<boolean> {
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

function savePass(run: Run, pass: HarvestPass): void {
  const { state } = run;
  run.pass = pass;
  state.change(() => state.savePass(pass));
}

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Writes tombstones for held records that a complete full pass did not see. While an index is
 * rebuilt, a list may be empty or short: many losses, one that finds or own terms use, or an empty
 * list count only if a second scan, at least an hour later, lacks the same records, or the caller
 * accepts them.
 */
async function confirmLosses({
  pass,
  state,
  store: { holdings },
  serverNowMs,
  acceptLosses = false,
}: Run): Promise<{ readonly vanished?: number; readonly unconfirmed?: UnconfirmedLosses }> {
  if (pass.kind === 'changes' || holdings === undefined) return {};
  const { lost, inUse } = await holdings.findLost(pass.scan);
  const held = pass.seen + lost.length;
  const isEmpty = held === 0 && pass.window.fromMs === null && pass.window.untilMs === null;
  // A changed record may have left a window with an end.
  if (!isEmpty && (lost.length === 0 || pass.window.untilMs !== null)) return {};
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
  { metadataPrefix, setSpec, granularity, state }: Run,
  { fromMs, untilMs }: HarvestWindow,
): OaiArguments {
  const unit = state.isStampedByDay() ? 'day' : granularity;
  return {
    metadataPrefix,
    set: setSpec === '' ? undefined : setSpec,
    from: fromMs === null ? undefined : formatDatestamp(fromMs, unit),
    until: untilMs === null ? undefined : formatDatestampRoundedUp(untilMs, unit),
  };
}
