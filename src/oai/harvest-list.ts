import type { Clock } from '../base/clock.ts';
import { getErrorMessage, OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import {
  CircleError,
  fetchFirstPage,
  isRefusedToken,
  type ListPage,
  listPages,
  type PageSource,
  type PagesOptions,
} from './client.ts';
import {
  describeShortfall,
  explainOvercount,
  formatClockWentBack,
  formatSetName,
  makeEndGuard,
  makeIncompleteError,
} from './list-failures.ts';
import {
  type LossOptions,
  settleLosses,
  type UnconfirmedLosses,
  writeTombstones,
} from './losses.ts';
import { type BrokenRecord, MalformedAnswerError } from './malformed-error.ts';
import {
  advancePass,
  continueByDatestamp,
  endList,
  getLatestMs,
  getWatermark,
  type HarvestPass,
  type HarvestWindow,
  hasListEnded,
  isAtCut,
  isOfWholeWindow,
  isOnePage,
  isWhole,
  judge,
  recountPass,
  startPass,
  startScan,
} from './pass.ts';
import {
  DAY_MS,
  formatDatestamp,
  formatUpwards,
  type OaiArguments,
  type OaiRecord,
} from './protocol.ts';
import { isUnidentified, type PageResult, takePage } from './take-page.ts';

export type HarvestOptions = LossOptions & {
  readonly client: PageSource;
  readonly clock: Clock;
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
  /** Called after each page, so that the caller can save several pages at once. */
  readonly saveIfDue?: () => Promise<void>;
  /** Called after each committed page. */
  readonly onPage?: (taken: PageResult, pass: HarvestPass) => void;
};

type HarvestResult = {
  /** The pass that ended; undefined where there was nothing to request. */
  readonly pass: HarvestPass | undefined;
  /** Records that were skipped, in this run or before, and still cannot be read. */
  readonly broken: readonly BrokenRecord[];
  /**
   * Set where unlisted records are kept, since they may still exist; the next run reads everything
   * again.
   */
  readonly unconfirmed: UnconfirmedLosses | undefined;
};

/** @param isProof true: records that the pass did not see are deleted */
type Finish = (pass: HarvestPass, isProof: boolean) => void;

type Run = HarvestOptions & {
  /** Reasons for which records were skipped in this run, by identifier. */
  readonly faults: Map<string, string>;
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
 * @param finish runs in the transaction that completes the pass
 * @throws as the client: OaiError, UnavailableError, AuthError; OaiError `incomplete` or `loop`; as
 * the sink
 */
export async function harvest(
  options: HarvestOptions,
  finish: Finish = () => {},
): Promise<HarvestResult> {
  const run: Run = { ...options, faults: new Map() };
  const { state } = run;
  const resumed = findPassToResume(run);
  let pass = resumed ?? decideNextPass(run);
  if (pass === undefined) return { pass, broken: [], unconfirmed: undefined };
  for (;;) {
    savePass(run, pass);
    await scanUntilComplete(run, pass === resumed);
    await retrySkipped(run);
    pass = getPass(run);
    // The watermark moves only after the comparison with the count, also if this process is killed
    // meanwhile.
    if (pass.kind === 'full' || (await isAsCounted(run))) break;
    pass = beginPass(run, 'full', run.window);
  }
  const settled = await settleLosses(run, pass);
  const tombstones = settled.kind === 'deleted' ? await writeTombstones(run, pass) : [];
  const ended = pass;
  state.change(() => {
    if (tombstones.length > 0) run.sink.notePage();
    for (const { identifier, seenRecord } of tombstones) state.markSeen(identifier, seenRecord);
    if (settled.kind === 'unconfirmed') return state.endUnconfirmed(settled.observed);
    finish(ended, settled.kind === 'deleted');
    state.complete();
  });
  if (tombstones.length > 0) run.onVanished?.(tombstones.length);
  return {
    pass,
    broken: state.listSkipped().map((name) => makeSkippedRecord(run, name)),
    unconfirmed: settled.kind === 'unconfirmed' ? settled.losses : undefined,
  };
}

/**
 * An empty list of changes may be wrong, so one that was not compared with the count is not
 * resumed.
 */
function findPassToResume({ state, serverNowMs, full }: Run): HarvestPass | undefined {
  const pass = state.getPass();
  if (pass === undefined || pass.beganMs > serverNowMs + CLOCK_STEP_MS) return undefined;
  const goesOn = pass.kind === 'full' || (full !== true && !hasListEnded(pass));
  return goesOn ? pass : undefined;
}

/** Decides on the next pass; undefined where all changes would be after the window. */
function decideNextPass(run: Run): HarvestPass | undefined {
  const { state, window, full, overlapMs, serverNowMs, onNote } = run;
  const watermarkMs = state.getWatermarkMs();
  const begun = state.getPass();
  const wasAhead = begun !== undefined && begun.beganMs > serverNowMs + CLOCK_STEP_MS;
  const skipped = state.listSkipped();
  const readAll = () => beginPass(run, 'full', window);
  // A skipped record without an identifier cannot be requested alone.
  if (watermarkMs === null || full === true || wasAhead || skipped.some(isUnidentified))
    return readAll();
  if (watermarkMs > serverNowMs + CLOCK_STEP_MS) {
    onNote?.(formatClockWentBack(formatSetName(run.setSpec), watermarkMs, serverNowMs));
    return readAll();
  }
  const fromMs = Math.max(window.fromMs ?? 0, watermarkMs - overlapMs);
  if (window.untilMs === null || fromMs <= window.untilMs)
    return beginPass(run, 'changes', { ...window, fromMs });
  return skipped.length === 0 ? undefined : readAll();
}

function beginPass(run: Run, kind: HarvestPass['kind'], window: HarvestWindow): HarvestPass {
  const { state, clock, serverNowMs: beganMs } = run;
  const localMs = Math.floor(clock.now());
  const heldBefore = state.countListed();
  return startPass({ kind, window, beganMs, localMs, heldBefore }, state.getLastScan() + 1);
}

/** Scans the list until no record can have been skipped. */
async function scanUntilComplete(run: Run, isResumed: boolean): Promise<void> {
  for (let scans = 1; ; scans++) {
    await readList(run);
    // A list of one page cannot change between pages, unless an earlier run read it.
    if (!isOnePage(getPass(run)) || (isResumed && scans === 1)) await readChanges(run);
    const pass = getPass(run);
    const verdict = judge(pass);
    if (verdict === 'complete') return;
    if (verdict === 'counted-too-many' && run.losses !== undefined) {
      run.onNote?.(explainOvercount(formatSetName(run.setSpec), pass));
      return;
    }
    savePass(run, startScan(pass, true));
    if (verdict !== 'again' || scans === MAX_SCANS)
      throw makeIncompleteError(formatSetName(run.setSpec), pass);
  }
}

/** Reads the list to its end, from the point where the last run stopped. */
async function readList(run: Run): Promise<void> {
  let farthest = 0;
  for (let refusals = 0; !hasListEnded(getPass(run)); ) {
    const isRefused = await readPages(run);
    const pass = getPass(run);
    if (isRefused) savePass(run, continueByDatestamp(pass));
    refusals = pass.seen > farthest ? 0 : refusals + 1;
    farthest = Math.max(farthest, pass.seen);
    if (isRefused && refusals > MAX_REFUSALS)
      throw makeIncompleteError(
        formatSetName(run.setSpec),
        pass,
        t`it repeatedly refuses its own resumption tokens`,
      );
  }
}

/**
 * Reads pages until the list ends.
 * @returns true where the service refuses its token
 */
async function readPages(run: Run): Promise<boolean> {
  const pass = getPass(run);
  const assertEnds = makeEndGuard(isOfWholeWindow(pass) ? null : pass.listSize);
  const { token, rest } = pass;
  let isFirst = token !== null;
  try {
    const start = token === null ? makeListArguments(run, rest) : { resumptionToken: token };
    for await (const page of listPages(makePagesOptions(run, start))) {
      isFirst = false;
      const before = getPass(run);
      const datestampsMs = page.items.map(({ header }) => header.datestampMs);
      await take(run, page, (pass, againMs) =>
        advancePass(pass, { ...page, overlapMs: run.overlapMs, datestampsMs, againMs }),
      );
      const hasNews =
        getPass(run).seen > before.seen || datestampsMs.some((ms) => isAtCut(before, ms));
      assertEnds(page, hasNews);
    }
    return false;
  } catch (thrown) {
    const pass = getPass(run);
    // All counted records were seen, so the token leads to no further record.
    if (isWhole(pass) && (isRefusedToken(thrown) || thrown instanceof CircleError)) {
      savePass(run, endList(pass));
      return false;
    }
    if (thrown instanceof OaiError && thrown.oaiCode === 'loop') {
      // The next run does not begin with a token of the loop.
      savePass(run, startScan(pass, false));
      throw new OaiError('loop', `${thrown.message} ${describeShortfall(pass)}`, {
        cause: thrown,
        hint: t`What was stored is kept. Run the command again later; if it happens again, tell the operator of the service.`,
      });
    }
    if (isRefusedToken(thrown)) return true;
    // The first request of a run may have a token that the service no longer understands, and
    // answers with any error.
    if (!isFirst || !(thrown instanceof OaiError || thrown instanceof UnavailableError))
      throw thrown;
    if (thrown instanceof UnavailableError) await assertAnswering(run);
    return true;
  }
}

/**
 * Reads the list of changes since the pass began until it has nothing new: a changed record may
 * have moved to a page that was already read.
 */
async function readChanges(run: Run): Promise<void> {
  const pass = getPass(run);
  // A list that is the rest of a window cannot show what leaves the part before it.
  if (!isOfWholeWindow(pass)) await recountList(run);
  const fromMs = Math.max(pass.window.fromMs ?? 0, pass.beganMs - run.overlapMs);
  if (pass.window.untilMs !== null && fromMs > pass.window.untilMs) return;
  const changes = makeListArguments(run, { ...pass.window, fromMs });
  for (let rounds = 1; rounds <= MAX_ROUNDS; rounds++) {
    let news = 0;
    const listed = new Set<string>();
    const assertEnds = makeEndGuard();
    try {
      for await (const page of listPages(makePagesOptions(run, changes))) {
        const { written, newInScan } = await take(run, page);
        news += written.length + newInScan;
        const before = listed.size;
        for (const { header } of page.items) listed.add(header.identifier);
        assertEnds(page, listed.size > before);
        // The service ignores the bound, so its list has no end of changes.
        if (page.items.some(({ header }) => header.datestampMs < fromMs - DAY_MS)) break;
      }
      if (news === 0) return;
      savePass(run, { ...getPass(run), fresh: true });
      await recountList(run);
    } catch (thrown) {
      // The count or the next scan shows what is missing, and the next pass requests these changes
      // again.
      if (!isRefusedToken(thrown) && !(thrown instanceof CircleError)) throw thrown;
    }
  }
}

/**
 * Counts the list again, since the earlier count may lack new records, which must not make up for
 * skipped ones. The records of the requested page are not used: a skipped one may be among them.
 */
async function recountList(run: Run): Promise<void> {
  const { listSize, window } = getPass(run);
  if (listSize === null) return;
  const { completeListSize } = await fetchFirstPage(
    makePagesOptions(run, makeListArguments(run, window)),
  );
  savePass(run, recountPass(getPass(run), completeListSize ?? listSize));
}

/**
 * Commits a page; a record with two versions of one datestamp is requested by itself.
 * @throws as the client and the sink
 */
async function take(
  run: Run,
  page: ListPage<OaiRecord>,
  advance?: Parameters<typeof takePage>[3],
): Promise<PageResult> {
  const { client, metadataPrefix, signal, onPage, faults } = run;
  const taken = await takePage(run, getPass(run), page, advance);
  await run.saveIfDue?.();
  for (const [name, fault] of taken.faults) faults.set(name, fault);
  onPage?.(taken, getPass(run));
  for (const identifier of taken.disputed) {
    const single = await client
      .getRecordPage(identifier, metadataPrefix, signal)
      .catch(catchUnknown);
    if (single !== undefined) onPage?.(await takePage(run, getPass(run), single), getPass(run));
  }
  return taken;
}

function catchUnknown(thrown: unknown): undefined {
  if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
}

/** Requests each skipped record alone, in every run, until it can be read or no longer exists. */
async function retrySkipped(run: Run): Promise<void> {
  const { client, state, metadataPrefix, signal, faults } = run;
  for (const name of state.listSkipped()) {
    const seenRecord = state.findSeen(name);
    const isListed = seenRecord?.scan === getPass(run).scan;
    const forget = (): void => {
      if (seenRecord !== undefined)
        state.change(() => state.markSeen(name, { ...seenRecord, skipped: false }));
    };
    if (isUnidentified(name)) {
      if (!isListed) forget();
      continue;
    }
    try {
      await take(run, await client.getRecordPage(name, metadataPrefix, signal));
    } catch (thrown) {
      if (thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist' && !isListed) forget();
      else if (await isOfOneRecord(run, thrown))
        faults.set(name, faults.get(name) ?? getErrorMessage(thrown));
      else throw thrown;
    }
  }
}

/**
 * Tells if a request failed only because of its record.
 * @throws as the client, where the service fails for other requests, too
 */
async function isOfOneRecord(run: Run, thrown: unknown): Promise<boolean> {
  if (thrown instanceof OaiError)
    return ['idDoesNotExist', 'cannotDisseminateFormat', 'malformed'].includes(thrown.oaiCode);
  if (!(thrown instanceof UnavailableError)) return false;
  await assertAnswering(run);
  return true;
}

/**
 * Asserts that the service answers a request for the list, with an error of the protocol or
 * without.
 * @throws as the client
 */
async function assertAnswering(run: Run): Promise<void> {
  await run.client
    .listHeaders(makeListArguments(run, run.window), run.signal)
    .catch((thrown: unknown) => {
      if (!(thrown instanceof OaiError)) throw thrown;
    });
}

function makeSkippedRecord({ faults }: Run, name: string): BrokenRecord {
  const reason = faults.get(name) ?? t`it could not be read before`;
  return { identifier: isUnidentified(name) ? undefined : name, reason };
}

/**
 * Compares the service's count of the whole list, and the list's first page, with the stored
 * records, by one request.
 */
async function isAsCounted(run: Run): Promise<boolean> {
  const { client, state, window, onNote } = run;
  // A changed record leaves a window with an end, so the counts differ.
  if (run.losses === undefined || window.untilMs !== null) return true;
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
  const list = formatSetName(run.setSpec);
  const listed = state.countListed();
  if (size !== undefined && size !== listed)
    onNote?.(
      t`${list}: the service counts ${size} records, but ${listed} are known, so everything is read again.`,
    );
  // An empty list is never trusted.
  return (
    size === undefined ||
    (size === listed && size > 0 && !items.some((record) => wasMissed(run, record)))
  );
}

/** Tells if a listed change is older than those that the next pass requests, and not stored. */
function wasMissed(run: Run, { header: { identifier, datestampMs } }: OaiRecord): boolean {
  const seenRecord = run.state.findSeen(identifier);
  if (seenRecord?.skipped === true || seenRecord?.datestampMs === datestampMs) return false;
  return getLatestMs(datestampMs) < getWatermark(getPass(run)) - run.overlapMs;
}

/** @throws Error where no pass is under way */
function getPass({ state }: Run): HarvestPass {
  const pass = state.getPass();
  if (pass === undefined) throw new Error('no pass is under way');
  return pass;
}

function savePass({ state }: Run, pass: HarvestPass): void {
  state.change(() => state.savePass(pass));
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
    until: untilMs === null ? undefined : formatUpwards(untilMs, unit),
  };
}
