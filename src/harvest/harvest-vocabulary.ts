import { UsageError } from '../base/errors.ts';
import { cmd, t } from '../base/message.ts';
import { FIELDS } from '../finds/fields.ts';
import { parseTerm, TERM_KINDS, type Vocabulary } from '../finds/vocabulary/term.ts';
import {
  assertLatestRun,
  beginVocabularyHarvest,
  isInSet,
  listTermsOfSet,
  storeHiddenTerm,
  storeTerm,
  storeTombstone,
  storeVanishedTerms,
} from '../finds/vocabulary/terms.ts';
import { harvestList } from './harvest-list.ts';
import {
  assertKnownSets,
  fetchServiceTraits,
  type HarvestRequest,
  makeSetResult,
  type ServiceTraits,
  type SetResult,
} from './harvest-records.ts';
import { type HarvestState, makeStoredState } from './harvest-state.ts';
import {
  findNativeContent,
  formatSetName,
  getShortIdentifier,
  type OaiRecord,
} from './protocol.ts';

/**
 * Tells if imports need a set of vocabularies: one that is harvested by default, or that contains
 * the terms of an element.
 */
export function isNeededByImports(setSpec: string): boolean {
  const isDefault = TERM_KINDS.some((each) => each === setSpec);
  return isDefault || FIELDS.some(({ set }) => set !== undefined && isInSet(set, setSpec));
}

type HarvestVocabularyOptions = HarvestRequest & {
  readonly vocabulary: Vocabulary;
  /** Empty: {@link TERM_KINDS}, all that imports need. */
  readonly sets: readonly string[];
  /** The native format, such as `oai_svc`. */
  readonly metadataPrefix: string;
  /** Identifiers of entries used by unsent finds or by the mapping. */
  readonly inUse?: () => Promise<ReadonlySet<string>>;
  /**
   * `{version} {account}`, with an empty account for an anonymous harvest. A change causes a full
   * pass.
   */
  readonly subject: string;
};

/** Result of one set of the vocabulary, and how long it took. */
export type SetHarvest = SetResult & { readonly elapsedMs: number };

/**
 * Updates the stored vocabularies, set by set. What was read before an error stays stored.
 * @throws as {@link harvestList}; UsageError for an unknown set, or one of other records;
 * DatabaseError where the disk fails, or another process begins to harvest the same set
 */
export async function harvestVocabularies(
  options: HarvestVocabularyOptions,
): Promise<SetHarvest[]> {
  const sets = options.sets.length === 0 ? TERM_KINDS : options.sets;
  await assertKnownSets(options, sets);
  const stray = sets.find((set) => !TERM_KINDS.some((family) => isInSet(set, family)));
  if (stray !== undefined) {
    throw new UsageError(t`${stray} is not a vocabulary.`, {
      hint: t`Harvest it to a file: ${cmd`pas harvest ${stray} --out records.jsonl`}`,
    });
  }
  const service = await fetchServiceTraits(options);
  const results: SetHarvest[] = [];
  for (const setSpec of sets) results.push(await harvestSet(options, service, setSpec));
  return results;
}

/** Harvests one set into the vocabulary; another process that begins the same set ends it. */
async function harvestSet(
  options: HarvestVocabularyOptions,
  service: ServiceTraits,
  setSpec: string,
): Promise<SetHarvest> {
  const { vocabulary, clock } = options;
  const startedMs = clock.monotonicMs();
  const subject = `${options.subject} ${options.metadataPrefix}`;
  const harvest = vocabulary.change(() => beginVocabularyHarvest(vocabulary, setSpec, subject));
  const state = makeVocabularyState(vocabulary, harvest);
  const listUnseen = (scan: number) => {
    const seen = new Set(state.listSeenIn(scan).map(getShortIdentifier));
    return listTermsOfSet(vocabulary, setSpec).filter(({ ident }) => !seen.has(ident));
  };
  const result = await harvestList({
    ...options,
    ...service,
    setSpec,
    window: { fromMs: null, untilMs: null },
    store: {
      state,
      commit: ({ seenRecords }) => {
        const strays = seenRecords.filter((record) => !storeRecord(vocabulary, setSpec, record));
        return strays.map(({ header }) => header.identifier);
      },
      holdings: {
        findLost: async (scan) => {
          const lost = listUnseen(scan).map(({ ident }) => ident);
          const used = lost.length === 0 ? undefined : await options.inUse?.();
          return { lost, inUse: lost.filter((ident) => used?.has(ident)) };
        },
        deleteLost: async (lost, { scan, beganMs }) => {
          state.change(() => storeVanishedTerms(vocabulary, listUnseen(scan), beganMs));
          return lost.length;
        },
      },
    },
    onProgress: options.startProgress?.(formatSetName(setSpec)),
  });
  return { ...makeSetResult(setSpec, result), elapsedMs: clock.monotonicMs() - startedMs };
}

/** Makes the state of a harvest, which only its latest run may change. */
function makeVocabularyState(
  vocabulary: Vocabulary,
  harvest: ReturnType<typeof beginVocabularyHarvest>,
): HarvestState {
  return {
    ...makeStoredState(vocabulary, harvest.id),
    change: (work) =>
      vocabulary.change(() => {
        assertLatestRun(vocabulary, harvest);
        return work();
      }),
  };
}

/**
 * Stores a term, or the tombstone of a deleted one.
 * @returns false where the record is no term, and nothing is stored
 */
function storeRecord(vocabulary: Vocabulary, harvestedSet: string, record: OaiRecord): boolean {
  const { identifier, setSpecs, deleted, datestampMs } = record.header;
  const ident = getShortIdentifier(identifier);
  const specificSet = chooseMostSpecific(setSpecs);
  const setSpec = specificSet ?? harvestedSet;
  if (deleted) {
    storeTombstone(vocabulary, { ident, setSpec, goneAtMs: datestampMs, why: 'deleted' });
    return true;
  }
  if (record.refused) {
    storeHiddenTerm(vocabulary, ident, setSpec, datestampMs);
    return true;
  }
  const entity = findNativeContent(record);
  const draft = entity === undefined ? undefined : parseTerm(entity, specificSet);
  if (draft !== undefined) storeTerm(vocabulary, draft, datestampMs);
  return draft !== undefined;
}

/** Returns the longest set name: some services list the parents of a set as well. */
function chooseMostSpecific(setSpecs: readonly string[]): string | undefined {
  return setSpecs.reduce<string | undefined>(
    (best, set) => (best === undefined || set.length > best.length ? set : best),
    undefined,
  );
}
