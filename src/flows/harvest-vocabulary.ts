import type { Clock } from '../base/clock.ts';
import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { ListPage, OaiClient } from '../oai/client.ts';
import { formatDatestamp, type Granularity } from '../oai/datestamp.ts';
import { isRefusedToken, listPages } from '../oai/pages.ts';
import type { OaiArguments } from '../oai/protocol.ts';
import { identOf, type OaiRecord } from '../oai/record.ts';
import type { BrokenRecord } from '../oai/salvage.ts';
import {
  beginPass,
  completePass,
  countMet,
  type Harvest,
  harvestOf,
  markVanished,
  namelessRecord,
  noteMet,
  notePage,
  type PassKind,
  requireLatestRun,
  rewindPass,
  takeUp,
} from '../vocabulary/harvests.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';
import { granularityOfService, OVERLAP_MS, refuseUnknownSets } from './service-lists.ts';
import { storePage } from './store-vocabulary-page.ts';

/** What a find needs, and what its place is checked against. */
export const DEFAULT_SETS = ['heslo', 'organizace', 'osoba', 'ruian_kraj', 'ruian_okres', 'ruian_katastr'] as const;

export type HarvestProgress = {
  readonly setSpec: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly perSecond: number;
};

type HarvestVocabularyOptions = {
  readonly client: OaiClient;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly sets: readonly string[];
  /** The native format, such as `oai_svc`. */
  readonly metadataPrefix: string;
  /** Read everything again and mark what is no longer there. */
  readonly full: boolean;
  /** Leave records out that cannot be read as XML, and say which; otherwise such a page ends the harvest. */
  readonly skipBroken: boolean;
  readonly onProgress?: (progress: HarvestProgress) => void;
  readonly signal?: AbortSignal;
};

export type SetHarvest = {
  readonly setSpec: string;
  readonly pass: PassKind;
  /** Records met in this pass, those of an earlier interrupted run included. */
  readonly records: number;
  readonly deleted: number;
  readonly vanished: number;
  /** Identifiers of records that are no usable terms. */
  readonly unreadable: readonly string[];
  /** Records that were left out of broken pages. */
  readonly broken: readonly BrokenRecord[];
  readonly elapsedMs: number;
};

/** How often in one run a list is begun again because its token ran out or records slipped from page to page. */
const MOST_REWINDS = 3;

type Tally = {
  deleted: number;
  readonly unreadable: Set<string>;
  readonly broken: BrokenRecord[];
  readonly startedMs: number;
  readonly metBefore: number;
};
type SetRun = HarvestVocabularyOptions & {
  readonly granularity: Granularity;
  readonly setSpec: string;
  readonly tally: Tally;
  /** All of `work` or nothing, and nothing at all once another process has taken the set over. */
  readonly change: <T>(work: () => T) => T;
};

/**
 * Brings the vocabularies up to date, set after set: in full the first time, then what changed. Every page is stored
 * together with the way to the next, so that a run that is cut off goes on where it was. A set counts as complete only
 * when as many records were met as the service says that there are.
 * @throws OaiError, UnavailableError, AuthError of the client; OaiError `incomplete` or `loop`; UsageError for an unknown
 * set; DatabaseError
 */
export async function harvestVocabulary(options: HarvestVocabularyOptions): Promise<SetHarvest[]> {
  await refuseUnknownSets(options, options.sets);
  const granularity = await granularityOfService(options);
  const results: SetHarvest[] = [];
  for (const setSpec of options.sets) results.push(await harvestSet(options, granularity, setSpec));
  return results;
}

async function harvestSet(options: HarvestVocabularyOptions, granularity: Granularity, setSpec: string): Promise<SetHarvest> {
  const { vocabulary, clock } = options;
  const { id, run } = vocabulary.change(() => {
    const harvest = preparePass(vocabulary, setSpec, options.full);
    return { id: harvest.id, run: takeUp(vocabulary, harvest.id) };
  });
  const startedMs = clock.monotonicMs();
  const tally: Tally = { deleted: 0, unreadable: new Set(), broken: [], startedMs, metBefore: countMet(vocabulary, id) };
  const change: SetRun['change'] = (work) =>
    vocabulary.change(() => {
      requireLatestRun(vocabulary, id, run);
      return work();
    });
  await walkUntilComplete({ ...options, granularity, setSpec, tally, change });
  const { vanished, records, kind } = change(() => {
    const harvest = harvestOf(vocabulary, setSpec);
    const ended = {
      kind: harvest.pass?.kind ?? 'full',
      records: countMet(vocabulary, id),
      vanished: harvest.pass?.kind === 'full' ? markVanished(vocabulary, harvest) : 0,
    };
    completePass(vocabulary, id);
    return ended;
  });
  return {
    setSpec,
    pass: kind,
    records,
    deleted: tally.deleted,
    vanished,
    unreadable: [...tally.unreadable],
    broken: tally.broken,
    elapsedMs: clock.monotonicMs() - startedMs,
  };
}

/** Goes on with what was begun, or begins anew. */
function preparePass(vocabulary: Vocabulary, setSpec: string, full: boolean): Harvest {
  const harvest = harvestOf(vocabulary, setSpec);
  const { pass, watermarkMs } = harvest;
  if (pass !== null && (pass.kind === 'full' || !full)) return harvest;
  if (full || watermarkMs === null) beginPass(vocabulary, harvest.id, 'full', null);
  else beginPass(vocabulary, harvest.id, 'changes', watermarkMs - OVERLAP_MS);
  return harvestOf(vocabulary, setSpec);
}

async function walkUntilComplete(run: SetRun): Promise<void> {
  const { vocabulary, setSpec } = run;
  const { id } = harvestOf(vocabulary, setSpec);
  for (let rewinds = 0; ; rewinds++) {
    const metBefore = countMet(vocabulary, id);
    const walked = await walk(run);
    const isNews = countMet(vocabulary, id) > metBefore;
    const ended = walked === 'end' ? await followUp(run) : walked;
    if (ended !== 'token-refused' && isComplete(run, { moved: ended === 'moved', isNews, rewinds })) return;
    run.change(() => rewindPass(vocabulary, id));
    if (rewinds === MOST_REWINDS) throw incomplete(vocabulary, setSpec, ended);
  }
}

/** A list that is not counted, and moved while it was read, may have hidden a record until a further walk finds nothing new. */
function isComplete(
  { vocabulary, setSpec }: SetRun,
  { moved, isNews, rewinds }: { readonly moved: boolean; readonly isNews: boolean; readonly rewinds: number },
): boolean {
  const isCounted = (harvestOf(vocabulary, setSpec).pass?.listSize ?? null) !== null;
  return isCounted ? missing(vocabulary, setSpec) === 0 : !moved || (rewinds > 0 && !isNews);
}

/** @returns how many records the service counted and did not send; 0 where it did not count */
function missing(vocabulary: Vocabulary, setSpec: string): number {
  const { id, pass } = harvestOf(vocabulary, setSpec);
  return Math.max(0, (pass?.listSize ?? 0) - countMet(vocabulary, id));
}

function incomplete(vocabulary: Vocabulary, setSpec: string, ended: WalkEnd): OaiError {
  const { id, pass } = harvestOf(vocabulary, setSpec);
  const met = countMet(vocabulary, id);
  const counted = pass?.listSize ?? '?';
  const absent = missing(vocabulary, setSpec);
  const message =
    ended === 'token-refused'
      ? t`${setSpec} is not complete: the service refused its own resumption token again and again, after ${met} records.`
      : pass?.listSize === null
        ? t`${setSpec} may not be complete: its list is not counted and changed again and again while it was read.`
        : t`${setSpec} is not complete: the service counts ${counted} records and sent ${met}, so ${absent} are missing.`;
  return new OaiError('incomplete', message, {
    hint: t`Run the command again: what was stored is kept, and the list is read again.`,
  });
}

/** `only-page`: there was nothing to slip from page to page. `moved`: records changed while the list was read. */
type WalkEnd = 'only-page' | 'end' | 'moved' | 'token-refused';

/** One walk along the list, from where the last one stopped. */
async function walk(run: SetRun): Promise<WalkEnd> {
  const { vocabulary, setSpec } = run;
  const { id, pass } = harvestOf(vocabulary, setSpec);
  const token = pass?.token ?? undefined;
  const start = token === undefined ? listArguments(run, pass?.fromMs ?? null) : { resumptionToken: token };
  let pages = token === undefined ? 0 : 1;
  try {
    for await (const page of pagesOf(run, start)) {
      pages++;
      run.change(() => {
        const idents = storeAndCount(run, page);
        notePage(vocabulary, id, {
          idents,
          token: page.next,
          tokenExpiresMs: page.tokenExpiresMs,
          listSize: page.completeListSize,
          responseDateMs: page.responseDateMs,
        });
      });
      report(run);
    }
    return pages > 1 ? 'end' : 'only-page';
  } catch (thrown) {
    if (isRefusedToken(thrown)) return 'token-refused';
    throw thrown;
  }
}

/**
 * What changed while a list of several pages was read may stand on a page that was read before: it is read by itself,
 * so that the store is as current as the end of the harvest, and nothing that merely moved is called missing.
 */
async function followUp(run: SetRun): Promise<WalkEnd> {
  const { id, pass } = harvestOf(run.vocabulary, run.setSpec);
  let ended: WalkEnd = 'end';
  try {
    for await (const page of pagesOf(run, listArguments(run, Math.max(pass?.fromMs ?? 0, pass?.beganMs ?? 0)))) {
      if (page.items.length > 0) ended = 'moved';
      run.change(() => noteMet(run.vocabulary, id, storeAndCount(run, page)));
    }
    return ended;
  } catch (thrown) {
    if (isRefusedToken(thrown)) return 'token-refused';
    throw thrown;
  }
}

function pagesOf({ client, clock, signal, skipBroken }: SetRun, start: OaiArguments): AsyncGenerator<ListPage<OaiRecord>> {
  return listPages({
    fetchPage: client.listRecords,
    start,
    clock,
    fingerprint: (records) => records.map(({ header }) => `${header.identifier} ${header.datestamp}`).join('\n'),
    ...(skipBroken ? { salvage: client.salvageRecords } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}

function listArguments({ metadataPrefix, granularity, setSpec }: SetRun, fromMs: number | null): OaiArguments {
  return { metadataPrefix, set: setSpec, ...(fromMs === null ? {} : { from: formatDatestamp(fromMs, granularity) }) };
}

function storeAndCount({ vocabulary, setSpec, tally }: SetRun, page: ListPage<OaiRecord>): string[] {
  const stored = storePage(vocabulary, setSpec, page.items);
  tally.deleted += stored.deleted;
  for (const ident of stored.unreadable) tally.unreadable.add(ident);
  tally.broken.push(...page.broken);
  // Left out on purpose is not missing.
  const leftOut = page.broken.map(({ identifier }, index) =>
    identifier === undefined ? namelessRecord(page.cursor, index) : identOf(identifier),
  );
  return [...stored.idents, ...leftOut];
}

function report({ onProgress, vocabulary, clock, setSpec, tally }: SetRun): void {
  if (onProgress === undefined) return;
  const { id, pass } = harvestOf(vocabulary, setSpec);
  const done = countMet(vocabulary, id);
  const seconds = Math.max(0.001, (clock.monotonicMs() - tally.startedMs) / 1000);
  onProgress({ setSpec, done, total: pass?.listSize ?? undefined, perSecond: (done - tally.metBefore) / seconds });
}
