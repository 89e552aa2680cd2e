import type { Clock } from '../base/clock.ts';
import { OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import {
  CircleError,
  isRefusedToken,
  type ListPage,
  listPages,
  type PageSource,
} from './client.ts';
import { applyPage, type HarvestState, type PageResult, type RecordSink } from './harvest-state.ts';
import {
  advancePass,
  countMissing,
  endWalk,
  type HarvestPass,
  type HarvestWindow,
  hasShrunk,
  isAtCut,
  isOfWholeWindow,
  isWhole,
  markChanged,
  resumeByDatestamp,
  startScan,
  withListSize,
  withShrunkList,
} from './pass.ts';
import {
  DAY_MS,
  formatDatestamp,
  formatUpwards,
  type Granularity,
  type OaiArguments,
  type OaiRecord,
} from './protocol.ts';

/** Stored records that a pass did not see. */
export type Losses = {
  /** Identifiers of stored records that the scan did not see. */
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

export type HarvestOptions = {
  readonly client: PageSource;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly state: HarvestState;
  readonly sink: RecordSink;
  /** Empty: all records of the service. */
  readonly setSpec: string;
  readonly metadataPrefix: string;
  readonly granularity: Granularity;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
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
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
  /** Called after each page, so that the caller can save several pages at once. */
  readonly saveIfDue?: () => Promise<void>;
  /** Called after each committed page. */
  readonly onPage?: (taken: PageResult, pass: HarvestPass) => void;
  /**
   * Called with the number of tombstones that the sink has written. Without it, the caller writes
   * them in `finish`.
   */
  readonly onVanished?: (count: number) => void;
  /** Returns the stored records that a scan did not see; undefined where nothing is stored. */
  readonly losses?: (scan: number) => Promise<Losses>;
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
};

export type Run = HarvestOptions & {
  /** Reasons for which records were skipped in this run, by identifier. */
  readonly faults: Map<string, string>;
};

/** Consecutive interruptions of a walk without a new record. */
const MAX_RESUMES = 3;
/** Requests for the list of changes while each has news. */
const MAX_RESCANS = 5;
/** Pages without a new record after which a list counts as endless. */
const MAX_PAGES_WITHOUT_NEWS = 100;
/** Maximum length of a list: a multiple of the count on its first page, plus some records. */
const MAX_GROWTH = 2;
const A_DAY_OF_RECORDS = 10_000;

/** @throws Error where no pass is under way */
export function getCurrentPass(state: HarvestState): HarvestPass {
  const pass = state.getPass();
  if (pass === undefined) throw new Error('no pass is under way');
  return pass;
}

/** Reads the list to its end, from the point where the last run stopped. */
export async function readAllPages(run: Run): Promise<void> {
  const { state } = run;
  let cuts = 0;
  while (!getCurrentPass(state).walk.ended) {
    const before = getCurrentPass(state);
    const end = await walkOrRestart(run);
    if (end === 'end') return;
    const pass = getCurrentPass(state);
    // All counted records were seen, so the refused token leads to no further record.
    if (end === 'token-refused' && isWhole(pass)) {
      state.change(() => state.savePass(endWalk(pass)));
      return;
    }
    const goesOn =
      before.scan.seen > 0 &&
      pass.scan.number === before.scan.number &&
      pass.scan.seen > before.scan.seen;
    cuts = pass.seen > before.seen || goesOn ? 0 : cuts + 1;
    if (end === 'token-refused') state.change(() => state.savePass(resumeByDatestamp(pass)));
    if (cuts > MAX_RESUMES) {
      const reason = t`it repeatedly refuses its own resumption tokens`;
      throw makeIncompleteError(
        run,
        pass,
        end === 'token-refused' ? reason : explainIncomplete(pass),
      );
    }
  }
}

type WalkEnd = 'end' | 'shrunk' | 'token-refused';

/**
 * Walks through the list; after a loop, the next run begins it again instead of using the token of
 * the loop.
 */
async function walkOrRestart(run: Run): Promise<WalkEnd> {
  const { state } = run;
  try {
    return await walk(run);
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'loop') throw thrown;
    const pass = getCurrentPass(state);
    if (thrown instanceof CircleError && isWhole(pass)) {
      state.change(() => state.savePass(endWalk(pass)));
      return 'end';
    }
    state.change(() => state.savePass(startScan(pass, true)));
    throw new OaiError('loop', `${thrown.message} ${describeShortfall(pass)}`, {
      cause: thrown,
      hint: t`What was stored is kept. Run the command again later; if it happens again, tell the operator of the service.`,
    });
  }
}

async function walk(run: Run): Promise<WalkEnd> {
  const { state } = run;
  const { token, window } = getCurrentPass(state).walk;
  const checkProgress = createLoopGuard();
  let isResumed = token !== null;
  // All records of one datestamp are listed again after an interruption, perhaps on many pages.
  const atCut = new Set<string>();
  try {
    for await (const page of fetchPages(
      run,
      token === null ? makeListArguments(run, window) : { resumptionToken: token },
    )) {
      isResumed = false;
      let pass = getCurrentPass(state);
      if (hasShrunk(pass, page.completeListSize)) {
        const shrunk = withShrunkList(pass, page.completeListSize);
        state.change(() => state.savePass(shrunk));
        if (shrunk.walk.token === null) return 'shrunk';
        pass = shrunk;
      }
      const datestampsMs = page.items.map(({ header }) => header.datestampMs);
      const identifiers = page.items.map(({ header }) => header.identifier);
      const note = { ...page, overlapMs: run.overlapMs, datestampsMs, identifiers };
      const before = atCut.size;
      for (const { header } of page.items)
        if (isAtCut(pass, header.datestampMs)) atCut.add(header.identifier);
      const taken = await take(run, pass, page, (previous, againMs) =>
        advancePass(previous, { ...note, againMs }),
      );
      checkProgress(Math.max(taken.newInScan, atCut.size - before), page.completeListSize);
    }
    return 'end';
  } catch (thrown) {
    if (isRefusedToken(thrown)) return 'token-refused';
    // The first request of a run may have a token that the service no longer understands, and
    // answers with any error.
    if (!isResumed || !(thrown instanceof OaiError || thrown instanceof UnavailableError))
      throw thrown;
    if (thrown instanceof UnavailableError) await assertAnswering(run);
    return 'token-refused';
  }
}

/**
 * Asserts that the service answers a request for the list, with an error of the protocol or
 * without.
 * @throws as the client
 */
export async function assertAnswering(run: Run): Promise<void> {
  await run.client
    .listHeaders(makeListArguments(run, run.window), run.signal)
    .catch((thrown: unknown) => {
      if (!(thrown instanceof OaiError)) throw thrown;
    });
}

/**
 * Makes a function to be called for each page of a walk.
 * @throws OaiError `loop` where the list does not end
 */
function createLoopGuard(): (newRecords: number, completeListSize: number | undefined) => void {
  let pagesWithoutNews = 0;
  let records = 0;
  let firstSize: number | undefined;
  return (newRecords, completeListSize) => {
    pagesWithoutNews = newRecords === 0 ? pagesWithoutNews + 1 : 0;
    records += newRecords;
    firstSize ??= completeListSize;
    if (pagesWithoutNews > MAX_PAGES_WITHOUT_NEWS) {
      throw new OaiError(
        'loop',
        t`The service sent nothing new on ${pagesWithoutNews} pages, so its list seems endless.`,
      );
    }
    if (firstSize !== undefined && records > MAX_GROWTH * firstSize + A_DAY_OF_RECORDS) {
      throw new OaiError(
        'loop',
        t`The service counted ${firstSize} records, sent ${records} and still has more, so its list seems endless.`,
      );
    }
  };
}

/**
 * Reads the list of changes since the pass began: a changed record may have moved to a page that
 * was already read.
 */
export async function rescanChanges(run: Run): Promise<void> {
  const { state, overlapMs } = run;
  const pass = getCurrentPass(state);
  const { beganMs, window } = pass;
  const changes = { ...window, fromMs: Math.max(window.fromMs ?? 0, beganMs - overlapMs) };
  // A walk of the rest of a window cannot notice what leaves the part before it.
  if (!isOfWholeWindow(pass)) await recountList(run);
  if (changes.untilMs !== null && changes.fromMs > changes.untilMs) return;
  for (let rounds = 1; rounds <= MAX_RESCANS; rounds++) {
    let news = 0;
    let late = 0;
    const seen = new Set<string>();
    const checkProgress = createLoopGuard();
    try {
      for await (const page of fetchPages(run, makeListArguments(run, changes))) {
        const taken = await take(run, getCurrentPass(state), page);
        news += taken.written.length;
        late += taken.newInScan;
        const before = seen.size;
        for (const { header } of page.items) seen.add(header.identifier);
        checkProgress(seen.size - before, page.completeListSize);
        if (hasIgnoredFrom(page, changes.fromMs)) break;
      }
      if (news > 0 || late > 0) {
        state.change(() => state.savePass(markChanged(getCurrentPass(state))));
        await recountList(run);
      }
      if (news === 0) return;
    } catch (thrown) {
      // The count or the next scan shows what is missing, and the next pass requests these changes
      // again.
      if (!isRefusedToken(thrown) && !(thrown instanceof CircleError)) throw thrown;
    }
  }
}

/**
 * Tells if a page has a record from a day or more before the lower bound, so that the service
 * ignores `from`.
 */
function hasIgnoredFrom({ items }: ListPage<OaiRecord>, fromMs: number): boolean {
  return items.some(({ header }) => header.datestampMs < fromMs - DAY_MS);
}

/**
 * Counts the list again, since the earlier count may lack new records, which must not make up for
 * skipped ones. The records of the requested page are not used: a skipped one may be among them.
 */
async function recountList(run: Run): Promise<void> {
  const { state } = run;
  const { listSize, window } = getCurrentPass(state);
  if (listSize === null) return;
  for await (const { completeListSize } of fetchPages(run, makeListArguments(run, window))) {
    state.change(() =>
      state.savePass(withListSize(getCurrentPass(state), completeListSize ?? listSize)),
    );
    return;
  }
}

/**
 * Commits a page; a record with two versions of one datestamp is requested by itself.
 * @throws as the client and the sink
 */
export async function take(
  run: Run,
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  note?: Parameters<typeof applyPage>[3],
): Promise<PageResult> {
  const { client, state, metadataPrefix, signal, onPage, faults } = run;
  const taken = await applyPage(run, pass, page, note);
  await run.saveIfDue?.();
  for (const [name, fault] of taken.faults) faults.set(name, fault);
  onPage?.(taken, getCurrentPass(state));
  for (const identifier of taken.disputed) {
    const page = await client.getRecordPage(identifier, metadataPrefix, signal).catch(catchUnknown);
    if (page === undefined) continue;
    onPage?.(await applyPage(run, getCurrentPass(state), page), getCurrentPass(state));
  }
  return taken;
}

function catchUnknown(thrown: unknown): undefined {
  if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
}

function fetchPages(
  { client, clock, signal, skipBroken }: HarvestOptions,
  start: OaiArguments,
): AsyncGenerator<ListPage<OaiRecord>> {
  return listPages({
    fetchPage: client.listRecords,
    start,
    clock,
    salvage: skipBroken === true ? client.salvageRecords : undefined,
    signal,
  });
}

/**
 * Bounds are sent without milliseconds, and some services compare them with datestamps that have
 * them: rounded outwards.
 */
export function makeListArguments(
  { metadataPrefix, setSpec, granularity: statedGranularity, state }: HarvestOptions,
  { fromMs, untilMs }: HarvestWindow,
): OaiArguments {
  const isBounded = fromMs !== null || untilMs !== null;
  const granularity = isBounded && state.isStampedByDay() ? 'day' : statedGranularity;
  return {
    metadataPrefix,
    ...(setSpec === '' ? {} : { set: setSpec }),
    ...(fromMs === null ? {} : { from: formatDatestamp(fromMs, granularity) }),
    ...(untilMs === null ? {} : { until: formatUpwards(untilMs, granularity) }),
  };
}

export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

export function makeIncompleteError(
  options: HarvestOptions,
  pass: HarvestPass,
  reason: string,
): OaiError {
  const list = formatSetName(options.setSpec);
  const missing = describeShortfall(pass);
  return new OaiError('incomplete', t`${list} is not complete: ${reason}. ${missing}`, {
    hint: t`Run the command again: what was stored is kept, and the list is read again.`,
  });
}

function describeShortfall(pass: HarvestPass): string {
  const { listSize, scan } = pass;
  if (listSize === null)
    return t`The service does not say how many records there are; it sent ${scan.seen}.`;
  const missing = countMissing(pass);
  return t`The service counts ${listSize} records and sent ${scan.seen}: ${missing} are missing.`;
}

export function explainIncomplete(pass: HarvestPass): string {
  return countMissing(pass) > 0
    ? t`its list ended before`
    : t`its list kept changing while it was read`;
}
