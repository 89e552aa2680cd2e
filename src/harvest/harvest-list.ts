import type { Clock } from '../base/clock.ts';
import { getErrorMessage, OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import {
  fetchFirstPage,
  isRefusedToken,
  LoopError,
  listPages,
  makeEndlessError,
  type PageSource,
  type PagesOptions,
} from './client.ts';
import {
  advancePass,
  computeWatermarkMs,
  continueWithoutToken,
  formatClockWentBack,
  formatSetName,
  getEndOfDatestampMs,
  type HarvestPass,
  type HarvestWindow,
  hasListEnded,
  hasSeenAllRecords,
  isCompleteScan,
  isOnePage,
  isShort,
  makeIncompleteError,
  makeNextScan,
  makePass,
  recountPass,
  type UnconfirmedLosses,
} from './harvest-state.ts';
import {
  type BrokenRecord,
  formatDatestamp,
  formatDatestampRoundedUp,
  type Granularity,
  MalformedAnswerError,
  type OaiArguments,
  type OaiRecord,
} from './protocol.ts';
import {
  type Advance,
  confirmLosses,
  isUnidentified,
  type LossOptions,
  type LossSettlement,
  type PageContent,
  type RecordSink,
  storePage,
} from './store-page.ts';

export type HarvestOptions = LossOptions & {
  readonly client: PageSource;
  readonly clock: Clock;
  readonly sink: RecordSink;
  readonly granularity: Granularity;
  readonly signal?: AbortSignal;
  readonly metadataPrefix: string;
  readonly window: HarvestWindow;
  /** Requests all records, not only those changed since the last pass. */
  readonly full?: boolean;
  /**
   * Overlap with the previous pass in milliseconds, since the index of a list lags behind the
   * records.
   */
  readonly overlapMs: number;
  /** Skips and reports records that are not well-formed; false: such a page ends the harvest. */
  readonly skipBroken?: boolean;
  /**
   * Called after each committed page with its new or changed records; the caller may save several
   * pages at once.
   */
  readonly onPage?: (written: readonly OaiRecord[]) => void | Promise<void>;
  /**
   * Called after each page with the records of the list so far; `total` is undefined where the
   * service does not count.
   */
  readonly onProgress?: ((doneCount: number, total: number | undefined) => void) | undefined;
};

export type HarvestResult = {
  /** The pass that ended; one of no records where there was nothing to request. */
  readonly pass: HarvestPass;
  /** New or changed records written in this run, including deleted and vanished ones. */
  readonly written: number;
  readonly deleted: number;
  /** Records that are no longer listed, stored as deleted by a full pass. */
  readonly vanished: number;
  /** Records that were skipped, in this run or before, and still cannot be read. */
  readonly broken: readonly BrokenRecord[];
  /**
   * Set where unlisted records are kept, since they may still exist; the next run reads everything
   * again.
   */
  readonly unconfirmed: UnconfirmedLosses | undefined;
};

type Run = HarvestOptions & {
  /** The pass under way. */
  pass: HarvestPass;
  /** Reasons for which records were skipped in this run, by identifier. */
  readonly faults: Map<string, string>;
  written: number;
  deleted: number;
};

/** Scans of a list before it is reported as incomplete. */
const MAX_SCANS = 5;
/** Requests for the list of changes while each has news. */
const MAX_ROUNDS = 5;
/** Consecutive refusals of tokens, none further in the list than one before. */
const MAX_REFUSALS = 3;
/** Answers may have whole seconds, and come from several machines. */
const CLOCK_STEP_MS = 2000;

/**
 * Updates stored records from a set: all of them the first time, then the changes. Each page is
 * committed together with the position of the next one, so an interrupted run continues there.
 * Returns only when no record can be missing; docs/harvesting.md has the rules.
 * @throws as the client: OaiError, UnavailableError, AuthError; OaiError `incomplete` or `loop`; as
 * the sink
 */
export async function harvestList(options: HarvestOptions): Promise<HarvestResult> {
  const { state, window } = options;
  const next = choosePass(options);
  const pass = next ?? beginPass(options, 'changes', window);
  const run: Run = { ...options, pass, faults: new Map(), written: 0, deleted: 0 };
  if (next === undefined) return makeResult(run, {});
  await readCompletely(run);
  if (run.pass.kind === 'changes' && !(await isAsCounted(run))) {
    run.pass = beginPass(run, 'full', window);
    await readCompletely(run);
  }
  const settled = await confirmLosses(run, run.pass);
  state.change(() => {
    if (settled.unconfirmed === undefined) state.complete(run.pass);
    else state.endUnconfirmed(settled.unconfirmed);
  });
  return makeResult(run, settled);
}

function makeResult(
  { pass, state, faults, written, deleted }: Run,
  { vanished = 0, unconfirmed }: LossSettlement,
): HarvestResult {
  const broken = state.listSkipped().map((name) => ({
    identifier: isUnidentified(name) ? undefined : name,
    reason: faults.get(name) ?? t`it could not be read before`,
  }));
  return { pass, written: written + vanished, deleted, vanished, broken, unconfirmed };
}

/**
 * Chooses the unfinished pass, or the next one; undefined where all changes would be after the
 * window.
 */
function choosePass(options: HarvestOptions): HarvestPass | undefined {
  const { state, window, full, overlapMs, serverNowMs, setSpec, onNote } = options;
  const latestMs = serverNowMs + CLOCK_STEP_MS;
  const begun = state.getPass();
  const hasClockOfBegun = begun === undefined || begun.beganMs <= latestMs;
  if (begun !== undefined && hasClockOfBegun) {
    if (begun.kind === 'full') return begun;
    // An empty list of changes may be wrong, so one that was not compared with the count is not
    // resumed.
    if (full !== true && !hasListEnded(begun)) return begun;
  }
  const all = beginPass(options, 'full', window);
  const watermarkMs = state.getWatermarkMs();
  const skipped = state.listSkipped();
  if (watermarkMs === null || full === true || !hasClockOfBegun) return all;
  // A skipped record without an identifier cannot be requested alone.
  if (skipped.some(isUnidentified)) return all;
  if (watermarkMs > latestMs) {
    onNote?.(formatClockWentBack(formatSetName(setSpec), watermarkMs, serverNowMs));
    return all;
  }
  const fromMs = Math.max(window.fromMs ?? 0, watermarkMs - overlapMs);
  if (window.untilMs === null || fromMs <= window.untilMs)
    return beginPass(options, 'changes', { ...window, fromMs });
  return skipped.length === 0 ? undefined : all;
}

function beginPass(
  { state, clock, serverNowMs }: HarvestOptions,
  kind: HarvestPass['kind'],
  window: HarvestWindow,
): HarvestPass {
  const localMs = Math.floor(clock.now());
  const scan = state.getLastScan() + 1;
  return makePass({ kind, window, beganMs: serverNowMs, localMs, scan });
}

/** Scans the list until no record can have been skipped, and requests skipped records alone. */
async function readCompletely(run: Run): Promise<void> {
  const isResumed = run.pass.pages > 0;
  savePass(run, run.pass);
  for (let scans = 1; ; scans++) {
    await readList(run);
    // A list of one page cannot change between pages, unless an earlier run read it.
    if (!isOnePage(run.pass) || (isResumed && scans === 1)) await readChanges(run);
    const { pass } = run;
    // Records that only the scan before saw have its number.
    const unmet = run.state.countSeenIn(pass.scan - 1);
    const agreed = pass.agreed === null || unmet > 0 ? 0 : pass.agreed + 1;
    if (isCompleteScan(pass, agreed)) break;
    savePass(run, makeNextScan(pass, agreed));
    if (agreed > 0 && isShort(pass))
      throw makeIncompleteError(run.setSpec, pass, t`its list ended before`);
    if (scans === MAX_SCANS)
      throw makeIncompleteError(run.setSpec, pass, t`its list kept changing while it was read`);
  }
  await retrySkipped(run);
}

/** Reads the list to its end, from the point where the last run stopped. */
async function readList(run: Run): Promise<void> {
  if (hasListEnded(run.pass)) return;
  let refusals = 0;
  let farthest = 0;
  for (;;) {
    const begun = run.pass;
    const { token, window, cutMs } = begun;
    const rest = { ...window, untilMs: cutMs ?? window.untilMs };
    const start = token === null ? makeListArguments(run, rest) : { resumptionToken: token };
    try {
      await readPages(run, start, true);
      return;
    } catch (thrown) {
      // All counted records were seen, so the token leads to no further record.
      if (hasSeenAllRecords(run.pass) && isOfToken(thrown))
        return savePass(run, { ...run.pass, token: null });
      // The next run does not begin with a token of the loop.
      if (thrown instanceof OaiError && thrown.oaiCode === 'loop')
        savePass(run, makeNextScan(run.pass, null));
      // The service may answer a token of an earlier run, which it no longer knows, with any error.
      const isOld = token !== null && run.pass === begun;
      if (!(isOld ? isOfService(thrown) : isRefusedToken(thrown))) throw thrown;
      const { seen: seenCount } = run.pass;
      refusals = seenCount > farthest ? 0 : refusals + 1;
      farthest = Math.max(farthest, seenCount);
      if (refusals > MAX_REFUSALS) {
        const reason = t`it repeatedly refuses its own resumption tokens`;
        throw makeIncompleteError(run.setSpec, run.pass, reason);
      }
      // Saved with its first page: until then, the token may be valid after all.
      run.pass = continueWithoutToken(run.pass);
    }
  }
}

function isOfService(thrown: unknown): boolean {
  return thrown instanceof OaiError || thrown instanceof UnavailableError;
}

function isOfToken(thrown: unknown): boolean {
  return isRefusedToken(thrown) || thrown instanceof LoopError;
}

/** Maximum length of a list: a multiple of its count, plus a day's records. */
const MAX_GROWTH = 2;
const MAX_NEW_RECORDS = 10_000;

/**
 * Reads and commits pages until the list ends.
 * @param isWindow true for the list of the pass, false for its changes
 * @returns the number of records that were new or changed, or new in this scan
 */
async function readPages(run: Run, start: OaiArguments, isWindow: boolean): Promise<number> {
  let news = 0;
  let records = 0;
  let size: number | undefined;
  for await (const page of listPages(makePagesOptions(run, start))) {
    const { seen: seenBefore } = run.pass;
    const written = await store(run, page, (counted, againMs) =>
      isWindow ? advancePass(counted, page, againMs, run.overlapMs) : counted,
    );
    const { seen: seenCount } = run.pass;
    news += written + seenCount - seenBefore;
    records += page.items.length;
    size ??= page.completeListSize;
    if (records > MAX_GROWTH * (size ?? seenCount) + MAX_NEW_RECORDS) throw makeEndlessError();
  }
  return news;
}

/**
 * Reads the list of changes since the pass began until it has nothing new: a changed record may
 * have moved to a page that was already read.
 */
async function readChanges(run: Run): Promise<void> {
  const { window, beganMs, cutMs } = run.pass;
  // A list that is the rest of a window cannot show what leaves the part before it.
  if (cutMs !== null) await recountList(run);
  const fromMs = Math.max(window.fromMs ?? 0, beganMs - run.overlapMs);
  if (window.untilMs !== null && fromMs > window.untilMs) return;
  const changes = makeListArguments(run, { ...window, fromMs });
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    try {
      if ((await readPages(run, changes, false)) === 0) return;
      savePass(run, { ...run.pass, moved: true });
      await recountList(run);
    } catch (thrown) {
      // The count or the next scan shows what is missing, and the next pass requests these changes
      // again.
      if (!isOfToken(thrown)) throw thrown;
    }
  }
}

/**
 * Counts the list again, since the earlier count may lack new records, which must not make up for
 * skipped ones. The records of the requested page are not used: a skipped one may be among them.
 */
async function recountList(run: Run): Promise<void> {
  const { listSize, window } = run.pass;
  if (listSize === null) return;
  const options = makePagesOptions(run, makeListArguments(run, window));
  const { completeListSize } = await fetchFirstPage(options);
  savePass(run, recountPass(run.pass, completeListSize ?? listSize, true));
}

/**
 * Requests each skipped record alone, in every run, until it can be read or no longer exists; while
 * the service is not available, none.
 */
async function retrySkipped(run: Run): Promise<void> {
  const { client, state, metadataPrefix, signal, faults } = run;
  for (const name of state.listSkipped()) {
    const seenRecord = state.findSeen(name);
    const isListed = seenRecord?.scan === run.pass.scan;
    let isGone = isUnidentified(name);
    try {
      if (!isGone) {
        const { record, document } = await client.getRecord(name, metadataPrefix, signal);
        await store(run, { document, items: [record] });
      }
    } catch (thrown) {
      if (!isOfOneRecord(thrown)) throw thrown;
      isGone = thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist';
      faults.set(name, faults.get(name) ?? getErrorMessage(thrown));
      if (thrown instanceof UnavailableError) return;
    }
    if (isGone && !isListed && seenRecord !== undefined)
      state.change(() => state.markSeen(name, { ...seenRecord, skipped: false }));
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
  const { client, state, window, onNote } = run;
  // A changed record leaves a window with an end, so the counts differ.
  if (run.holdings === undefined || window.untilMs !== null) return true;
  const options = makePagesOptions(run, makeListArguments(run, window));
  const page = await fetchFirstPage({
    ...options,
    fetchPage: client.listHeaders,
    salvage: undefined,
  }).catch((thrown: unknown) => {
    if (run.skipBroken !== true || !(thrown instanceof MalformedAnswerError)) throw thrown;
  });
  if (page === undefined) return false;
  const { completeListSize, next, items } = page;
  const size = completeListSize ?? (next === undefined ? items.length : undefined);
  if (size === undefined) return true;
  const list = formatSetName(run.setSpec);
  const listed = state.countListed();
  if (size !== listed)
    onNote?.(
      t`${list}: the service counts ${size} records, but ${listed} are known, so everything is read again.`,
    );
  // An empty list is never trusted.
  return size === listed && size > 0 && !items.some((record) => wasMissed(run, record));
}

/** Tells if a listed change is older than those that the next pass requests, and not stored. */
function wasMissed(run: Run, { header: { identifier, datestampMs } }: OaiRecord): boolean {
  const seenRecord = run.state.findSeen(identifier);
  if (seenRecord?.skipped === true || seenRecord?.datestampMs === datestampMs) return false;
  return getEndOfDatestampMs(datestampMs) < computeWatermarkMs(run.pass) - run.overlapMs;
}

/**
 * Commits a page with the pass after it.
 * @returns the number of new and changed records
 */
async function store(
  run: Run,
  page: PageContent,
  advance: Advance = (counted) => counted,
): Promise<number> {
  const { pass, written, faults } = await storePage(run, run.pass, page, advance);
  run.pass = pass;
  for (const [name, fault] of faults) run.faults.set(name, fault);
  run.written += written.length;
  run.deleted += written.filter(({ header }) => header.deleted).length;
  await run.onPage?.(written);
  run.onProgress?.(pass.seen, pass.listSize ?? undefined);
  return written.length;
}

function savePass(run: Run, pass: HarvestPass): void {
  run.pass = pass;
  run.state.change(() => run.state.savePass(pass));
}

function makePagesOptions(
  { client, clock, signal, skipBroken }: Run,
  start: OaiArguments,
): PagesOptions<OaiRecord> {
  const salvage = skipBroken === true ? client.salvageRecords : undefined;
  return { fetchPage: client.listRecords, start, clock, salvage, signal };
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
