import { createHash } from 'node:crypto';
import { getErrorMessage, OaiError, UnavailableError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { getSourceBytes, walkDescendants } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import { buildXml } from '../xml/write-xml.ts';
import { fetchFirstPage } from './client.ts';
import { digestRecord, isUnidentified } from './harvest-state.ts';
import { type BrokenRecord, MalformedAnswerError } from './malformed-error.ts';
import {
  getLatestMs,
  getWatermark,
  type HarvestPass,
  isOnePage,
  isWhole,
  judge,
  startPass,
  startScan,
} from './pass.ts';
import { formatUpwards, OAI_NAMESPACE, type OaiRecord, parseRecord } from './protocol.ts';
import {
  assertAnswering,
  explainIncomplete,
  formatSetName,
  getCurrentPass,
  type HarvestOptions,
  type Losses,
  makeIncompleteError,
  makeListArguments,
  type Run,
  readAllPages,
  rescanChanges,
  take,
} from './walk.ts';

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

/** Scans of a list before it is reported as incomplete. */
const MAX_SCANS = 5;
/** Answers may have whole seconds, and come from several machines. */
const CLOCK_STEP_MS = 2000;

/**
 * Updates stored records from a set: all of them the first time, then the changes. Each page is
 * committed together with the position of the next one, so an interrupted run continues there.
 * Returns only when no record can be missing: see {@link judge}. After a list of changes, the
 * service's count of the whole list, and its first page, are compared with the stored records;
 * where they differ, the whole list is read.
 * @param finish runs in the transaction that completes the pass
 * @throws as the client: OaiError, UnavailableError, AuthError; OaiError `incomplete` or `loop`; as
 * the sink
 */
export async function harvest(
  options: HarvestOptions,
  finish: Finish = () => {},
): Promise<HarvestResult> {
  return harvestOnce({ ...options, faults: new Map() }, finish);
}

/** @param isProof true: records that the pass did not see are deleted */
type Finish = (pass: HarvestPass, isProof: boolean) => void;

async function harvestOnce(run: Run, finish: Finish): Promise<HarvestResult> {
  const { state, ...options } = run;
  const begun = state.getPass();
  const wasAhead = begun !== undefined && begun.beganMs > options.serverNowMs + CLOCK_STEP_MS;
  // An empty list of changes may be wrong, so one that was not compared with the count is read
  // again.
  const goesOn =
    begun !== undefined &&
    !wasAhead &&
    (begun.kind === 'full' || (options.full !== true && !begun.walk.ended));
  const pass = goesOn ? begun : decideNextPass({ ...run, full: options.full === true || wasAhead });
  if (pass === undefined) return { pass, broken: [], unconfirmed: undefined };
  state.change(() => state.savePass(pass));
  await scanUntilComplete(run, goesOn);
  await retrySkipped(run);
  const lastPass = getCurrentPass(state);
  // The watermark moves only after the comparison with the count, also if this process is killed
  // meanwhile.
  if (lastPass.kind === 'changes' && !(await isAsCounted(run)))
    return harvestOnce({ ...run, full: true }, finish);
  const losses = lastPass.kind === 'full' ? await run.losses?.(lastPass.scan.number) : undefined;
  const isProof = losses !== undefined && (losses.lost.length === 0 || canInferDeletion(run));
  const unconfirmed = isProof ? settleLosses(run, losses) : undefined;
  if (isProof && unconfirmed === undefined) await tombstoneMissing(run);
  return state.change(() => {
    const ended = unconfirmed === undefined ? getCurrentPass(state) : lastPass;
    if (unconfirmed === undefined) {
      finish(ended, isProof);
      state.complete();
    }
    return {
      pass: ended,
      broken: state.listSkipped().map((name) => makeSkippedRecord(run, name)),
      unconfirmed,
    };
  });
}

/** Decides on the next pass; undefined where all changes would be after the window. */
function decideNextPass(options: HarvestOptions): HarvestPass | undefined {
  const { state, clock, window, full, overlapMs, serverNowMs, onNote } = options;
  const beginning = { localMs: Math.floor(clock.now()), heldBefore: state.countListed() };
  const watermarkMs = state.getWatermarkMs();
  const scan = state.getLastScan() + 1;
  const skipped = state.listSkipped();
  // A skipped record without an identifier cannot be requested alone.
  if (watermarkMs === null || full === true || skipped.some(isUnidentified))
    return startPass('full', window, serverNowMs, scan, beginning);
  if (watermarkMs > serverNowMs + CLOCK_STEP_MS) {
    onNote?.(formatClockWentBack(formatSetName(options.setSpec), watermarkMs, serverNowMs));
    return startPass('full', window, serverNowMs, scan, beginning);
  }
  const fromMs = Math.max(window.fromMs ?? 0, watermarkMs - overlapMs);
  if (window.untilMs !== null && fromMs > window.untilMs) {
    return skipped.length === 0
      ? undefined
      : startPass('full', window, serverNowMs, scan, beginning);
  }
  return startPass('changes', { ...window, fromMs }, serverNowMs, scan, beginning);
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

/** Explains why a list that lacks one record of its count is accepted. */
function explainOvercount(
  list: string,
  { listSize, scan: { seen: seenCount } }: HarvestPass,
): string {
  return t`${list}: the service counts ${listSize} records, but listed ${seenCount} twice in a row. pas takes these as all.`;
}

/** Requests each skipped record alone, in every run, until it can be read or no longer exists. */
async function retrySkipped(run: Run): Promise<void> {
  const { client, state, metadataPrefix, signal, faults } = run;
  for (const name of state.listSkipped()) {
    const seenRecord = state.findSeen(name);
    const pass = getCurrentPass(state);
    try {
      if (!isUnidentified(name))
        await take(run, pass, await client.getRecordPage(name, metadataPrefix, signal));
      else if (seenRecord?.scan !== pass.scan.number) forget(run, name);
    } catch (thrown) {
      const isListed = seenRecord?.scan === pass.scan.number;
      if (thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist' && !isListed)
        forget(run, name);
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

function forget({ state }: Run, name: string): void {
  const seenRecord = state.findSeen(name);
  if (seenRecord !== undefined)
    state.change(() => state.markSeen(name, { ...seenRecord, skipped: false }));
}

function makeSkippedRecord({ faults }: Run, name: string): BrokenRecord {
  const reason = faults.get(name) ?? t`it could not be read before`;
  return { identifier: isUnidentified(name) ? undefined : name, reason };
}

async function scanUntilComplete(run: Run, goesOn: boolean): Promise<void> {
  const { state } = run;
  for (let scans = 1; ; scans++) {
    await readAllPages(run);
    // A list of one page cannot change between pages, unless an earlier run read it.
    if (!isOnePage(getCurrentPass(state)) || (goesOn && scans === 1)) await rescanChanges(run);
    const pass = getCurrentPass(state);
    const verdict = judge(pass);
    if (verdict === 'complete' || (scans === MAX_SCANS && isWhole(pass))) return;
    if (verdict === 'counted-too-many' && run.losses !== undefined) {
      run.onNote?.(explainOvercount(formatSetName(run.setSpec), pass));
      return;
    }
    state.change(() => state.savePass(startScan(pass, true)));
    if (verdict === 'short' || verdict === 'counted-too-many' || scans === MAX_SCANS)
      throw makeIncompleteError(run, pass, explainIncomplete(pass));
  }
}

/** Scan number of records with a tombstone. */
const NO_SCAN = 0;
const RECORDS_AT_ONCE = 100;

/** Tells if records that a complete pass did not see can be taken for deleted. */
function canInferDeletion({ state, setSpec, onNote }: HarvestOptions): boolean {
  const { kind, window, scan } = getCurrentPass(state);
  // A changed record may have left a window with an end; a skipped record without an identifier may
  // be any of them.
  if (kind === 'changes' || window.untilMs !== null || state.listSkipped().some(isUnidentified))
    return false;
  for (const identifier of state.listSeenIn(scan.number)) {
    if (identifier.includes('/id/')) continue;
    const list = formatSetName(setSpec);
    onNote?.(
      t`${list}: the service writes its identifiers in another form (${identifier}), so no record is marked as vanished.`,
    );
    return false;
  }
  return true;
}

/**
 * Writes tombstones of the records that the pass did not see, in the form of the service. They get
 * the scan number 0, so that no later pass writes them again, and a record that returns counts as
 * new.
 */
async function tombstoneMissing(run: Run): Promise<void> {
  const { state, sink, onVanished } = run;
  const unseen =
    onVanished === undefined ? [] : state.listUnseenIn(getCurrentPass(state).scan.number);
  if (unseen.length === 0) return;
  for (let first = 0; first < unseen.length; first += RECORDS_AT_ONCE) {
    const document = parseXml(makeTombstonePage(run, unseen.slice(first, first + RECORDS_AT_ONCE)));
    const records = [...walkDescendants(document.root, 'record', OAI_NAMESPACE)].flatMap(
      (element) => parseRecord(element) ?? [],
    );
    await sink.write({ document, records, seenRecords: records });
    state.change(() => {
      sink.notePage();
      for (const { header, element } of records) {
        const digest = digestRecord(getSourceBytes(document, element));
        state.markSeen(header.identifier, {
          datestampMs: header.datestampMs,
          digest,
          scan: NO_SCAN,
          skipped: false,
        });
      }
    });
    onVanished?.(records.length);
  }
}

function makeTombstonePage(
  { state, setSpec, granularity }: Run,
  identifiers: readonly string[],
): Buffer {
  const { beganMs } = getCurrentPass(state);
  const records = identifiers.map((identifier) => {
    // Not before the record's own last change, or the tombstone would look older than the record.
    const goneAtMs = Math.max(beganMs, state.findSeen(identifier)?.datestampMs ?? 0);
    const content = [
      { name: 'identifier', content: identifier },
      { name: 'datestamp', content: formatUpwards(goneAtMs, granularity) },
      ...(setSpec === '' ? [] : [{ name: 'setSpec', content: setSpec }]),
    ];
    return {
      name: 'record',
      content: [{ name: 'header', attributes: { status: 'deleted' }, content }],
    };
  });
  const content = [{ name: 'ListRecords', content: records }];
  return buildXml({ name: 'OAI-PMH', attributes: { xmlns: OAI_NAMESPACE }, content });
}

/** Reason for which unlisted records are kept and the next pass is a full one. */
export type UnconfirmedLosses =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'losses';
      readonly lost: number;
      readonly held: number;
      readonly inUse: readonly string[];
    };

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Decides if records that a full pass did not see are deleted. While an index is rebuilt, a list
 * may be empty or short, so many losses count only if a second scan, at least an hour later, lacks
 * the same records, or the caller accepts them.
 * @returns undefined where they are deleted
 */
function settleLosses(
  { state, serverNowMs: nowMs, acceptLosses = false }: Run,
  { lost, inUse }: Losses,
): UnconfirmedLosses | undefined {
  const pass = getCurrentPass(state);
  const { heldBefore, window } = pass;
  if (lost.length === 0) {
    if (pass.scan.seen > 0 || window.fromMs !== null || window.untilMs !== null) return undefined;
    state.change(() => state.endUnconfirmed({ sinceMs: nowMs, digest: '' }));
    return { kind: 'empty' };
  }
  const areFew = lost.length <= Math.min(MAX_LOST, heldBefore * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.getObservedLosses();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isConfirmed = isSame && nowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (
    acceptLosses ||
    pass.lossesAccepted ||
    isConfirmed ||
    (areFew && pass.scan.seen > 0 && inUse.length === 0)
  ) {
    // A run that is killed while it writes tombstones continues with the rest.
    state.change(() => state.savePass({ ...pass, lossesAccepted: true }));
    return undefined;
  }
  state.change(() => state.endUnconfirmed({ sinceMs, digest }));
  return { kind: 'losses', lost: lost.length, held: heldBefore, inUse };
}

/**
 * Compares the service's count of the whole list, and the list's first page, with the stored
 * records, by one request.
 */
async function isAsCounted(run: Run): Promise<boolean> {
  const { client, state, clock, signal, window, onNote } = run;
  // A changed record leaves a window with an end, so the counts differ.
  if (run.losses === undefined || window.untilMs !== null) return true;
  const page = await fetchFirstPage({
    fetchPage: client.listHeaders,
    start: makeListArguments(run, window),
    clock,
    signal,
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
function wasMissed(
  { state, overlapMs }: Run,
  { header: { identifier, datestampMs } }: OaiRecord,
): boolean {
  const seenRecord = state.findSeen(identifier);
  if (seenRecord?.skipped === true || seenRecord?.datestampMs === datestampMs) return false;
  return getLatestMs(datestampMs) < getWatermark(getCurrentPass(state)) - overlapMs;
}
