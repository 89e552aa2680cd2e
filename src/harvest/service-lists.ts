import type { Clock } from '../base/clock.ts';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { findNearestSet } from '../base/names.ts';
import { LoopError, listPages, type OaiClient, type OaiSet } from './client.ts';
import type { HarvestOptions, HarvestResult } from './harvest-list.ts';

/** Sets and clock of a harvesting service. */

const MAX_SETS = 10_000;

export type ListedService = {
  readonly client: OaiClient;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};

/** Options of a harvest of sets that hold for records and vocabularies. */
export type HarvestRequest = ListedService &
  Pick<HarvestOptions, 'full' | 'skipBroken' | 'acceptLosses' | 'onNote'> & {
    /** Called at the beginning of a set, for a function that gets its progress. */
    readonly startProgress?: (list: string) => HarvestOptions['onProgress'];
    /**
     * Any text that changes with the rights of the account, which causes a full pass; undefined
     * where they are unknown.
     */
    readonly rights?: string | undefined;
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
 * Returns the overlap of two passes in milliseconds, since the index of a list lags behind the
 * records.
 */
export function computeOverlapMs(indexAllowanceMs: number): number {
  return Math.max(MIN_OVERLAP_MS, indexAllowanceMs);
}

/**
 * Asserts that the service has the sets. Some services answer an unknown set with an empty list,
 * which looks like a complete harvest.
 * @throws UsageError that names the sets of the service
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
    fingerprint: (items) => items.map(({ setSpec }) => setSpec).join('\n'),
    signal,
  });
  for await (const { items } of pages) {
    for (const { setSpec } of items) setSpecs.add(setSpec);
    if (setSpecs.size > MAX_SETS) throw new LoopError();
  }
  return setSpecs;
}

/** Facts of a service that all its lists need. */
export type ServiceTraits = Pick<HarvestOptions, 'granularity' | 'serverNowMs' | 'overlapMs'>;

/**
 * Requests granularity and time of the service (Identify), and calls `onNote` where it records no
 * deletions.
 * @throws as the client
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
