import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { beginPass, beginWalk, completePass, type Pass, passOf, watermarkOf } from '../ledger/pass.ts';
import { countHeld } from '../ledger/records.ts';
import { datestampMs } from '../oai/datestamp.ts';
import type { BrokenRecord } from '../oai/salvage.ts';
import type { OpenedOutput } from './record-outputs/record-output.ts';
import { granularityOfService, type ListedService, OVERLAP_MS, refuseUnknownSets } from './service-lists.ts';
import { windowLeft } from './walk-edge.ts';
import { followUp, missingOf, underWay, type WalkEnd, type Walker, walk } from './walk-list.ts';

export type RecordProgress = { readonly done: number; readonly total: number | undefined; readonly perSecond: number };

type HarvestRecordsOptions = ListedService & {
  /** Called when the service is known to have the set, so that a mistyped one leaves nothing behind. */
  readonly openOutput: () => Promise<OpenedOutput>;
  readonly setSpec: string;
  /** `oai_dc`, or the native format such as `oai_svc`. */
  readonly metadataPrefix: string;
  /** Bounds as the user gave them, UTC dates or times; both inclusive. */
  readonly from?: string;
  readonly until?: string;
  /** Leave records out that cannot be read as XML, and say which; otherwise such a page ends the harvest. */
  readonly skipBroken: boolean;
  readonly onProgress?: (progress: RecordProgress) => void;
};

export type RecordHarvest = {
  readonly pass: Pass['kind'];
  /** Records met in the pass, those of an earlier interrupted run included; in the interrupted one where there was one. */
  readonly records: number;
  /** New or changed records that went into the output in this run; deleted and masked ones among them. */
  readonly written: number;
  readonly deleted: number;
  /** Records of which the service shows nothing to this account. */
  readonly masked: number;
  /** Different records in the output now. */
  readonly held: number;
  /** Records that were left out of broken pages. */
  readonly broken: readonly BrokenRecord[];
  readonly elapsedMs: number;
};

/** How often in a row a token may be refused although the walk before it brought nothing new. */
const MOST_REFUSALS = 3;
/** How often a list is read again that came short, and one that is not counted and changed while it was read. */
const MOST_REPETITIONS = { counted: 1, uncounted: 3 } as const;

/**
 * Brings an output up to date with a set: in full the first time, then what changed. Every page is committed with the way
 * to the next one, so that a run that is cut off goes on where it was. Returns only when as many records were met as the
 * service says that there are; where it does not count, when the list stood still or a further walk met nothing new.
 * @throws OaiError, UnavailableError, AuthError of the client; OaiError `incomplete` or `loop`; UsageError for an unknown
 * set; DatabaseError
 */
export async function harvestRecords(options: HarvestRecordsOptions): Promise<RecordHarvest> {
  await refuseUnknownSets(options, [options.setSpec]);
  const granularity = await granularityOfService(options);
  const { clock } = options;
  const startedMs = clock.monotonicMs();
  const { ledger, output } = await options.openOutput();
  const tally: Tally = { written: 0, deleted: 0, masked: 0, broken: [] };
  const walker: Walker = { ...options, ledger, output, granularity, onPage: reporter(options, ledger, tally) };
  // What was begun some time ago is complete as of then: what changed since is still to be asked for.
  const begun = passOf(ledger) === undefined ? undefined : await completeOnePass(walker, options);
  const last = await completeOnePass(walker, options);
  const { kind, met } = begun ?? last ?? { kind: 'changes', met: 0 };
  return { pass: kind, records: met, ...tally, held: countHeld(ledger), elapsedMs: clock.monotonicMs() - startedMs };
}

/** @returns undefined where there is nothing to ask for */
async function completeOnePass(walker: Walker, options: HarvestRecordsOptions): Promise<Pass | undefined> {
  const { ledger, clock } = walker;
  ledger.change(() => preparePass(ledger, options));
  if (passOf(ledger) === undefined) return undefined;
  await walkUntilComplete(walker);
  const pass = underWay(ledger);
  ledger.change(() => completePass(ledger, clock.now()));
  return pass;
}

/** Goes on with what was begun, or begins anew; not where all that could change lies behind the window. */
function preparePass(ledger: Ledger, { from, until }: HarvestRecordsOptions): void {
  if (passOf(ledger) !== undefined) return;
  const fromMs = boundMs(from, 'first');
  const untilMs = boundMs(until, 'last');
  const watermarkMs = watermarkOf(ledger);
  if (watermarkMs === null) {
    beginPass(ledger, 'full', { fromMs, untilMs });
    return;
  }
  const changedMs = Math.max(fromMs ?? 0, watermarkMs - OVERLAP_MS);
  if (untilMs === null || changedMs <= untilMs) beginPass(ledger, 'changes', { fromMs: changedMs, untilMs });
}

/** A date alone means the whole day. */
function boundMs(bound: string | undefined, moment: 'first' | 'last'): number | null {
  if (bound === undefined) return null;
  const whole = bound.length === 10 && moment === 'last' ? `${bound}T23:59:59Z` : bound;
  return datestampMs(whole) ?? null;
}

async function walkUntilComplete(walker: Walker): Promise<void> {
  const { ledger } = walker;
  let [refusals, repetitions] = [0, 0];
  for (;;) {
    const metBefore = underWay(ledger).met;
    const ended = underWay(ledger).ended ? 'end' : await walkOrRewind(walker);
    const pass = underWay(ledger);
    if (ended === 'token-refused') {
      refusals = pass.met > metBefore ? 0 : refusals + 1;
      // Only a count can show afterwards that the rest was cut off at the right place.
      const rest = pass.listSize === null ? pass.window : windowLeft(pass.walkWindow, pass, walker.granularity);
      ledger.change(() => beginWalk(ledger, rest));
      if (refusals > MOST_REFUSALS) throw incomplete(walker, t`it refuses its own resumption tokens again and again`);
      continue;
    }
    if (pass.listSize === null) {
      if (ended === 'only-page' || !(await followUp(walker)) || (repetitions > 0 && pass.met === metBefore)) return;
    } else {
      if (missingOf(pass) > 0) await followUp(walker);
      if (missingOf(underWay(ledger)) === 0) return;
    }
    ledger.change(() => beginWalk(ledger, pass.window));
    if (repetitions === MOST_REPETITIONS[pass.listSize === null ? 'uncounted' : 'counted'])
      throw incomplete(walker, reasonOfRepetition(pass));
    repetitions++;
  }
}

function reasonOfRepetition({ listSize }: Pass): string {
  return listSize === null ? t`its list changed again and again while it was read` : t`its list ended before`;
}

/** A circle is left for good: the next run begins the list anew, not at the token that led into it. */
async function walkOrRewind(walker: Walker): Promise<WalkEnd> {
  try {
    return await walk(walker);
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'loop') throw thrown;
    const { ledger } = walker;
    ledger.change(() => beginWalk(ledger, underWay(ledger).window));
    throw new OaiError('loop', `${thrown.message} ${shortfall(walker)}`, {
      cause: thrown,
      hint: t`What was stored is kept. Run the command again later; if it happens again, tell the operator of the service.`,
    });
  }
}

function incomplete(walker: Walker, reason: string): OaiError {
  const missing = shortfall(walker);
  return new OaiError('incomplete', t`${walker.setSpec} is not complete: ${reason}. ${missing}`, {
    hint: t`Run the command again: what was stored is kept, and the list is read again.`,
  });
}

function shortfall({ ledger }: Walker): string {
  const pass = underWay(ledger);
  if (pass.listSize === null) return t`The service does not say how many records there are; it sent ${pass.met}.`;
  const missing = missingOf(pass);
  return t`The service counts ${pass.listSize} records and sent ${pass.met}: ${missing} are missing.`;
}

type Tally = { written: number; deleted: number; masked: number; readonly broken: BrokenRecord[] };

function reporter({ clock, onProgress }: HarvestRecordsOptions, ledger: Ledger, tally: Tally): Walker['onPage'] {
  const startedMs = clock.monotonicMs();
  const metBefore = passOf(ledger)?.met ?? 0;
  return (taken, broken) => {
    tally.written += taken.written;
    tally.deleted += taken.deleted;
    tally.masked += taken.masked;
    // A record may be met in several walks.
    const isListed = (one: BrokenRecord): boolean => tally.broken.some(({ identifier }) => identifier === one.identifier);
    tally.broken.push(...broken.filter((one) => one.identifier === undefined || !isListed(one)));
    if (onProgress === undefined) return;
    const { met, listSize } = underWay(ledger);
    const seconds = Math.max(0.001, (clock.monotonicMs() - startedMs) / 1000);
    onProgress({ done: met, total: listSize ?? undefined, perSecond: (met - metBefore) / seconds });
  };
}
