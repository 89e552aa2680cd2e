import type { Clock } from '../base/clock.ts';
import { createRowParser, isNumber, isText } from '../base/disk/database.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { findNearestSet } from '../base/names.ts';
import { listPages, makeEndlessError, type OaiClient, type OaiSet } from './client.ts';
import { type HarvestOptions, type HarvestResult, harvestList } from './harvest-list.ts';
import {
  type HarvestState,
  makeStoredState,
  type RecordStore,
  type SeenRecord,
  UNLISTED,
} from './harvest-state.ts';
import { countStoredRecords, getOrCreateHarvest, type HarvestStore } from './harvest-store.ts';
import { type OpenedOutput, type OutputOpenOptions, storeTombstones } from './outputs.ts';
import { assertOaiArguments, formatSetName, parseUntilMs } from './protocol.ts';

const MAX_SETS = 10_000;

/** Sets and clock of a harvesting service. */
type ListedService = {
  readonly client: OaiClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};

/** Options of a harvest of sets that hold for records and vocabularies. */
export type HarvestRequest = ListedService &
  Pick<HarvestOptions, 'full' | 'acceptLosses' | 'onNote' | 'rights'> & {
    /** Called at the beginning of a set, for a function that gets its progress. */
    readonly startProgress?: (list: string) => HarvestOptions['onProgress'];
    /** Maximum time until a new record appears in a harvest. */
    readonly indexAllowanceMs: number;
  };

/** Result of a harvest of one set. */
export type SetResult = ReturnType<typeof makeSetResult>;

/** Makes the result of one set: figures of the harvest, with kind and record count of its pass. */
export function makeSetResult(setSpec: string, { pass, ...figures }: HarvestResult) {
  return {
    setSpec,
    pass: pass.kind,
    /** Records in the list, including those of an interrupted run before. */
    records: pass.seen,
    ...figures,
  };
}

/** Minimum overlap of two passes, since clocks and indexes are not exact. */
const MIN_OVERLAP_MS = 10 * 60_000;

/**
 * Returns the overlap of two passes in milliseconds: the maximum time until a new record appears in
 * a harvest, and at least ten minutes.
 */
export function computeOverlapMs(indexAllowanceMs: number): number {
  return Math.max(MIN_OVERLAP_MS, indexAllowanceMs);
}

/**
 * Asserts that the service has these sets, by requesting its list of sets. Some services answer an
 * unknown set with an empty list, which looks like a complete harvest.
 * @throws UsageError for the first unknown set, with the most similar one, or else all that the
 * service has; OaiError `endless` for more than 10,000 sets; as {@link listPages}
 */
export async function assertKnownSets(
  service: ListedService,
  sets: readonly string[],
): Promise<void> {
  const setSpecs = await fetchSetSpecs(service);
  const stray = sets.find((set) => !setSpecs.has(set));
  if (stray === undefined) return;
  const names = [...setSpecs].sort().join(', ');
  const nearest = findNearestSet([...setSpecs], stray);
  const hint = nearest === undefined ? t`Its sets are: ${names}.` : t`Did you mean ${nearest}?`;
  throw new UsageError(t`The service has no set ${stray}.`, { hint });
}

/** Requests the names of all sets. Throws OaiError for an endless list. */
async function fetchSetSpecs({
  client,
  clock,
  signal,
}: ListedService): Promise<ReadonlySet<string>> {
  const setSpecs = new Set<string>();
  const pages = listPages<OaiSet>({
    fetchPage: client.listSets,
    start: {},
    clock,
    signal,
  });
  let listed = 0;
  for await (const { items } of pages) {
    for (const { setSpec } of items) setSpecs.add(setSpec);
    listed += items.length;
    if (listed > MAX_SETS) throw makeEndlessError('endless');
  }
  return setSpecs;
}

/** Facts of a service that all its lists need. */
export type ServiceTraits = Pick<HarvestOptions, 'granularity' | 'serverNowMs' | 'overlapMs'>;

/**
 * Requests the facts of a service that all its lists need (Identify). Calls `onNote` where the
 * service does not record deletions, or not for good.
 * @throws as {@link SendRequest}
 */
export async function fetchServiceTraits({
  client,
  signal,
  onNote,
  indexAllowanceMs,
}: ListedService & Pick<HarvestRequest, 'onNote' | 'indexAllowanceMs'>): Promise<ServiceTraits> {
  const { granularity, deletedRecord, responseDateMs } = await client.identify(signal);
  if (deletedRecord === 'no' || deletedRecord === 'transient') {
    onNote?.(
      t`The service does not record deletions (deletedRecord ${deletedRecord}). Run with --full now and then; otherwise only a smaller count reveals a deletion.`,
    );
  }
  return {
    granularity: granularity === 'YYYY-MM-DD' ? 'day' : 'second',
    serverNowMs: responseDateMs,
    overlapMs: computeOverlapMs(indexAllowanceMs),
  };
}

/** Stands for all records, where no set was requested. */
const ALL_SETS = '';

type HarvestRecordsOptions = HarvestRequest & {
  /** Called once the sets are known to exist, so that a mistyped one creates no file. */
  readonly openOutput: (opening: OutputOpenOptions) => Promise<OpenedOutput>;
  /** Empty: all records of the service, in one list. */
  readonly sets: readonly string[];
  /** `oai_dc`, or the native format such as `oai_svc`. */
  readonly metadataPrefix: string;
  /** Bounds as the user gave them, UTC dates or times; both inclusive. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  /** Requests all records, and writes an output again that another program changed. */
  readonly verify?: boolean;
};

/** Figures of one set of an output. */
export type SetFigures = SetResult & {
  /** Records whose content the account may not read. */
  readonly masked: number;
};

/** Totals of all sets; a record in several sets counts in each. */
export type RecordHarvest = ReturnType<typeof sumFigures> & {
  readonly sets: readonly SetFigures[];
  /** Number of different records in the output. */
  readonly held: number;
  readonly elapsedMs: number;
};

/**
 * Harvests one or several sets into an output, each as {@link harvestList}, and closes the output;
 * the caller closes its store. After an error the pages that were read are saved, and the output is
 * left open.
 * @throws as {@link harvestList}; UsageError for an unknown set or an invalid window; FileError
 * where another program changed the output; DatabaseError where the disk fails
 */
export async function harvestRecords(options: HarvestRecordsOptions): Promise<RecordHarvest> {
  const { clock, metadataPrefix, from, until, verify = false, onNote = () => {} } = options;
  const sets = options.sets.length === 0 ? [ALL_SETS] : options.sets;
  for (const set of sets)
    assertOaiArguments('ListRecords', {
      metadataPrefix,
      set: set === ALL_SETS ? undefined : set,
      from,
      until,
    });
  if (options.sets.length > 0) await assertKnownSets(options, sets);
  const service = await fetchServiceTraits(options);
  const startedMs = clock.monotonicMs();
  const { store, output } = await options.openOutput({ verify, onNote });
  store.change(() => {
    for (const setSpec of sets) getOrCreateHarvest(store, setSpec);
  });
  const results: SetFigures[] = [];
  for (const setSpec of sets)
    results.push(await harvestSet(options, service, { store, output }, setSpec));
  await output.close();
  store.assertUnmodified();
  return {
    ...sumFigures(results),
    sets: results,
    held: countStoredRecords(store),
    elapsedMs: clock.monotonicMs() - startedMs,
  };
}

/** Harvests one set into the open output; what was read is saved, also after an error. */
async function harvestSet(
  options: HarvestRecordsOptions,
  service: ServiceTraits,
  opened: OpenedOutput,
  setSpec: string,
): Promise<SetFigures> {
  const { clock, from, until } = options;
  const { store, output } = opened;
  const { granularity } = service;
  const saving = groupPages(opened, clock);
  const state = { ...openSetState(store, setSpec), change: store.changeInGroup };
  let masked = 0;
  const setStore: RecordStore = {
    state,
    write: async (page) => {
      await saving.saveIfDue();
      await output.write(page);
    },
    commit: (page) => {
      masked += page.records.filter(({ refused }) => refused).length;
      return output.commit(page);
    },
    holdings: {
      findLost: async (scan) => ({ lost: state.listUnseenIn(scan), inUse: [] }),
      deleteLost: async (lost, pass) => {
        const gone = lost.filter((identifier) => !state.isInOtherSet(identifier));
        await storeTombstones({ store: setStore, setSpec, granularity }, pass, gone);
        return gone.length;
      },
    },
  };
  const harvesting = harvestList({
    ...options,
    ...service,
    store: setStore,
    setSpec,
    full: options.full === true || options.verify === true,
    window: {
      fromMs: from === undefined ? null : Date.parse(from),
      untilMs: until === undefined ? null : parseUntilMs(until),
    },
    onProgress: options.startProgress?.(formatSetName(setSpec)),
  });
  const result = await harvesting.finally(saving.save);
  return { ...makeSetResult(setSpec, result), masked };
}

/**
 * Interval between two saves, in milliseconds. A killed run requests the pages since the last save
 * again.
 */
const MAX_UNSAVED_MS = 20;

/** Saves pages in groups, so that one flush of the disk serves many small pages. */
function groupPages({ store, output }: OpenedOutput, clock: Clock) {
  let savedMs = clock.monotonicMs();
  const save = async (): Promise<void> => {
    await store.commitGroup(output.flush);
    savedMs = clock.monotonicMs();
  };
  return {
    save,
    saveIfDue: async (): Promise<void> => {
      if (clock.monotonicMs() - savedMs >= MAX_UNSAVED_MS) await save();
    },
  };
}

function sumFigures(sets: readonly SetFigures[]) {
  const sumOf = (count: (figures: SetFigures) => number): number =>
    sets.reduce((sum, figures) => sum + count(figures), 0);
  return {
    pass: sets.some(({ pass }) => pass === 'full') ? ('full' as const) : ('changes' as const),
    records: sumOf(({ records }) => records),
    written: sumOf(({ written }) => written),
    deleted: sumOf(({ deleted }) => deleted),
    vanished: sumOf(({ vanished }) => vanished),
    masked: sumOf(({ masked }) => masked),
    broken: sets.flatMap(({ broken }) => broken),
  };
}

/** State of one set of an output whose sets share their records. */
type SetState = HarvestState & {
  isInOtherSet(identifier: string): boolean;
};

/**
 * Opens the state of one set of an output; a missing state is created. All sets of the output share
 * the stored version of a record.
 * @throws DatabaseError where the store cannot be changed
 */
export function openSetState(store: HarvestStore, setSpec: string): SetState {
  const { sql, change } = store;
  const harvestId = change(() => getOrCreateHarvest(store, setSpec));
  const ownState = {
    ...makeStoredState(store, harvestId),
    isInOtherSet: (identifier: string) =>
      sql('select 1 from seen_records where identifier = ? and harvest <> ? and scan > 0')
        .pluck()
        .get(identifier, harvestId) === 1,
  };
  // The only set shares its records with none.
  if (sql('select count(*) from harvests').pluck().get() === 1) return ownState;
  return {
    ...ownState,
    findSeen: (identifier) => ownState.findSeen(identifier) ?? findInOtherSet(store, identifier),
    markSeen: (identifier, seenRecord) => {
      ownState.markSeen(identifier, seenRecord);
      sql(
        'update seen_records set datestamp_at = ?, digest = ? where identifier = ? and harvest <> ?',
      ).run(seenRecord.datestampMs, seenRecord.digest, identifier, harvestId);
    },
  };
}

const parseVersion = createRowParser({ datestampMs: isNumber, digest: isText });

function findInOtherSet({ sql }: HarvestStore, identifier: string): SeenRecord | undefined {
  const held = sql(
    'select datestamp_at as datestampMs, digest from seen_records where identifier = ? limit 1',
  ).get(identifier);
  return held === undefined ? undefined : { ...parseVersion(held), scan: UNLISTED, skipped: false };
}
