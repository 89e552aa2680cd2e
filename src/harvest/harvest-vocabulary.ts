import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { FIELDS } from '../finds/fields.ts';
import { parseTerm, TERM_KINDS, type Vocabulary } from '../finds/vocabulary/term.ts';
import {
  assertLatestRun,
  beginHarvestRun,
  getOrCreateVocabularyHarvest,
  isInSet,
  listUnseenTerms,
  recordHarvestSubject,
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
import { formatSetName, type HarvestState, openStoredState } from './harvest-state.ts';
import { findEntity, type OaiRecord, toIdent } from './protocol.ts';

/**
 * Tells if imports need the set: one that is harvested by default, or that contains the set of an
 * element.
 */
export function isNeededByImports(setSpec: string): boolean {
  const isWhole = TERM_KINDS.some((each) => each === setSpec);
  return isWhole || FIELDS.some(({ set }) => set !== undefined && isInSet(set, setSpec));
}

type HarvestVocabularyOptions = HarvestRequest & {
  readonly vocabulary: Vocabulary;
  /** None: all that imports need. */
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

export type SetHarvest = SetResult & {
  /** Identifiers of records that are not usable as terms. */
  readonly unreadable: readonly string[];
  readonly elapsedMs: number;
};

/**
 * Updates the vocabularies, set by set.
 * @throws as {@link harvestList}; UsageError for an unknown set; DatabaseError
 */
export async function harvestVocabulary(options: HarvestVocabularyOptions): Promise<SetHarvest[]> {
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

/**
 * Maximum number of unreadable records that each later run requests and reports again, until they
 * are terms.
 */
const MAX_RETRIED = 100;

async function harvestSet(
  options: HarvestVocabularyOptions,
  service: ServiceTraits,
  setSpec: string,
): Promise<SetHarvest> {
  const { vocabulary, clock } = options;
  const startedMs = clock.monotonicMs();
  const { id, run, hasOtherRights } = vocabulary.change(() => {
    const harvestId = getOrCreateVocabularyHarvest(vocabulary, setSpec);
    const subject = `${options.subject} ${options.metadataPrefix}`;
    const differs = recordHarvestSubject(vocabulary, harvestId, {
      subject,
      rights: options.rights,
    });
    return { id: harvestId, run: beginHarvestRun(vocabulary, harvestId), hasOtherRights: differs };
  });
  if (hasOtherRights)
    options.onNote?.(
      t`The account's permissions have changed since the last harvest, so everything is read again.`,
    );
  const unreadable = new Set<string>();
  const state = makeVocabularyState(vocabulary, { id, run }, unreadable);
  const listUnseen = (scan: number) =>
    listUnseenTerms(vocabulary, setSpec, new Set([...state.listSeenIn(scan)].map(toIdent)));
  const result = await harvestList({
    ...options,
    ...service,
    state,
    setSpec,
    window: { fromMs: null, untilMs: null },
    sink: {
      notePage: ({ seenRecords }) => {
        for (const record of seenRecords) saveTermRecord(vocabulary, setSpec, record, unreadable);
      },
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
    onProgress: options.startProgress?.(formatSetName(setSpec)),
  });
  return {
    ...makeSetResult(setSpec, result),
    unreadable: [...unreadable],
    elapsedMs: clock.monotonicMs() - startedMs,
  };
}

/**
 * Makes the state of a harvest, which only its latest run may change.
 * @param unreadable records that this run reports, so that they are not requested again in it
 */
function makeVocabularyState(
  vocabulary: Vocabulary,
  { id, run }: { readonly id: number; readonly run: number },
  unreadable: ReadonlySet<string>,
): HarvestState {
  const stored = openStoredState(vocabulary, id);
  return {
    ...stored,
    change: (work) =>
      vocabulary.change(() => {
        assertLatestRun(vocabulary, id, run);
        return work();
      }),
    markSeen: (identifier, seenRecord) => {
      const isUnreadable = unreadable.has(toIdent(identifier)) && unreadable.size <= MAX_RETRIED;
      stored.markSeen(identifier, { ...seenRecord, skipped: seenRecord.skipped || isUnreadable });
    },
    listSkipped: () =>
      stored.listSkipped().filter((identifier) => !unreadable.has(toIdent(identifier))),
  };
}

/** Stores a term, or the tombstone of a deleted one. */
function saveTermRecord(
  vocabulary: Vocabulary,
  harvestedSet: string,
  record: OaiRecord,
  unreadable: Set<string>,
): void {
  const { identifier, setSpecs, deleted, datestampMs } = record.header;
  const ident = toIdent(identifier);
  const specificSet = chooseMostSpecific(setSpecs);
  const setSpec = specificSet ?? harvestedSet;
  if (deleted) {
    storeTombstone(vocabulary, { ident, setSpec, goneAtMs: datestampMs, why: 'deleted' });
  } else if (record.refused) {
    storeHiddenTerm(vocabulary, ident, setSpec, datestampMs);
  } else {
    const entity = findEntity(record);
    const draft = entity === undefined ? undefined : parseTerm(entity, specificSet);
    if (draft === undefined) {
      unreadable.add(ident);
      return;
    }
    storeTerm(vocabulary, draft, datestampMs);
  }
  unreadable.delete(ident);
}

/** Returns the longest set name: some services list the parents of a set as well. */
function chooseMostSpecific(setSpecs: readonly string[]): string | undefined {
  return setSpecs.reduce<string | undefined>(
    (best, set) => (best === undefined || set.length > best.length ? set : best),
    undefined,
  );
}
