import { setImmediate as turn } from 'node:timers/promises';
import { groupBy } from '../base/collections.ts';
import type { FindElements } from '../finds/fields.ts';
import type { HarvestedFind } from '../finds/harvested-find.ts';
import {
  type ComparableFind,
  createFindIndex,
  type FindIndex,
  makeComparable,
  matchFinds,
} from '../finds/match-finds.ts';
import type { FindLookup, HarvestedFinds, ListedFind } from '../harvest/pull-finds.ts';
import { isRejectedForAnyFind, listAttempts } from '../outbox/attempts.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import {
  findImportOfFind,
  findImportOfRecord,
  getProjectOfRecord,
  listEntriesInState,
} from '../outbox/entry-queries.ts';
import { type Candidate, unpackAttempt } from '../outbox/facts.ts';
import { type Knowledge, makeCandidates } from '../outbox/gate.ts';
import { parseIntent } from '../outbox/intents.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';
import { findByUuid } from '../outbox/stored-finds.ts';
import { findNamesake } from '../outbox/unite.ts';
import {
  deleteUnexplainedRecord,
  findAcceptedNumber,
  listUnexplainedRecords,
  storeUnexplainedRecord,
} from '../outbox/views/records-at-service.ts';
import { getSlotState } from '../outbox/wishes.ts';
import { findShownNumber, findUnexplainedFiles, listNumbersFromHere } from './judge-change.ts';
import {
  type AttemptWindow,
  findCreation,
  getAttemptWindow,
  getSentElements,
  mayBeCreation,
} from './judge-import.ts';
import {
  type FindOfOthers,
  listFindsOfOthers,
  listShownFinds,
  type SearchContext,
} from './reconcile-entries.ts';

/** An outbox with its access to the service's harvest. */
export type Searcher = {
  readonly outbox: Outbox;
  /** The service's identifier of the sending account. */
  readonly account: string;
  /**
   * Access to the harvest; undefined where the account has none, or the user chose not to search.
   */
  lookup: SearchContext | undefined;
  readonly stop: AbortSignal;
};

/** Entries per transaction. Between them, signals are handled and other processes can write. */
const SLICE = 50;

/** Works on slices of the items, and ends with the reason of the signal. */
export async function runInSlices<T>(
  items: readonly T[],
  stop: AbortSignal,
  work: (slice: readonly T[]) => void,
): Promise<void> {
  for (let at = 0; at < items.length; at += SLICE) {
    stop.throwIfAborted();
    work(items.slice(at, at + SLICE));
    await turn();
  }
}

/** Result of a search, indexed for the comparison with entries. */
type SearchResult = {
  readonly lookups: HarvestedFinds['lookups'];
  /** Shown records, and those of earlier searches with files that no fact explains. */
  readonly withFiles: ReadonlyMap<string, HarvestedFind>;
  /** Records of this account that no fact explains. */
  readonly records: FindIndex<HarvestedFind>;
  /** Finds that were attempted from this machine, and are not in this outbox. */
  readonly attempted: FindIndex<string>;
  readonly ofOthers: RecordsOfOthers;
  /** Listed records that are not shown and that no fact explains, by project. */
  readonly hidden: ReadonlyMap<string, readonly string[]>;
  /** Imports of unknown outcome, or under way. */
  readonly uncertain: readonly UncertainImport[];
  /** One without a name, where another place may have sent it and there was no search. */
  readonly unsearched: readonly Candidate[];
};

/** Records of finds that only the ledger has, with the wall clock of the import's last attempt. */
type RecordsOfOthers = ReadonlyMap<string, number>;

type UncertainImport = { readonly find: ComparableFind; readonly window: AttemptWindow };

export async function indexSearchResult(
  { outbox, account, lookup, stop }: Searcher,
  harvest: HarvestedFinds | undefined,
): Promise<SearchResult> {
  const shown = harvest === undefined ? [] : listShownFinds(harvest);
  const isUnexplained = (identCely: string, listed: ListedFind): boolean =>
    listed.kind === 'shown'
      ? isUnexplainedCreation(outbox, account, listed.record) ||
        findUnexplainedFiles(outbox, listed.record).length > 0
      : listed.kind === 'withheld' &&
        lookup?.harvester !== account &&
        findImportOfRecord(outbox, identCely) === undefined;
  await runInSlices([...(harvest?.lookups ?? [])], stop, (slice) =>
    outbox.change(() => {
      for (const [identCely, listed] of slice)
        if (isUnexplained(identCely, listed)) {
          const record = listed.kind === 'shown' ? JSON.stringify(listed.record) : null;
          storeUnexplainedRecord(outbox, identCely, record);
          // A record that was shown before still exists where it is no longer shown.
        } else if (listed.kind !== 'withheld') deleteUnexplainedRecord(outbox, identCely);
    }),
  );
  // Later searches show only changes, and an equal find may be queued later.
  const seen = harvest === undefined ? [] : listUnexplainedRecords(outbox);
  const seenRecords = seen.flatMap(({ record }): HarvestedFind[] =>
    record === null ? [] : [JSON.parse(record)],
  );
  const seenHidden = seen.flatMap(({ identCely, record }) => (record === null ? identCely : []));
  const records = createFindIndex<HarvestedFind>();
  await runInSlices(seenRecords, stop, (slice) => {
    for (const find of slice)
      if (isUnexplainedCreation(outbox, account, find))
        records.add(makeComparable(find.elements, undefined, find.protectedWithheld), find);
  });
  const findsOfOthers = listFindsOfOthers(outbox);
  return {
    lookups: harvest?.lookups ?? new Map(),
    withFiles: new Map([...seenRecords, ...shown].map((find) => [find.identCely, find])),
    records,
    attempted: indexAttempted(findsOfOthers),
    ofOthers: new Map(
      findsOfOthers.flatMap(({ attempt, records }) =>
        records.map((identCely) => [identCely, attempt.body.at] as const),
      ),
    ),
    hidden: lookup?.harvester === account ? new Map() : listHiddenRecords(outbox, seenHidden),
    uncertain: listUncertainImports(outbox),
    unsearched: makeCandidates(harvest === undefined && readHeader(outbox).mustLook ? [''] : []),
  };
}

/** Tells if this account made a record that no fact explains. */
function isUnexplainedCreation(outbox: Outbox, account: string, find: HarvestedFind): boolean {
  return (
    findCreation(find)?.user === account && findImportOfRecord(outbox, find.identCely) === undefined
  );
}

/** Indexes the finds that only the ledger has, with the names of their records or local ids. */
function indexAttempted(finds: readonly FindOfOthers[]): FindIndex<string> {
  const index = createFindIndex<string>();
  for (const { attempt, records } of finds) {
    const intent = parseIntent('import', attempt.subject, unpackAttempt(attempt).content.intent);
    if (intent.kind !== 'import') continue;
    const localId = attempt.body.localId ?? '';
    index.add(makeComparable(intent.elements, localId), records[0] ?? localId);
  }
  return index;
}

function listUncertainImports(outbox: Outbox): UncertainImport[] {
  return [
    ...listEntriesInState(outbox, 'uncertain'),
    ...listEntriesInState(outbox, 'sending'),
  ].flatMap((entry) => {
    const sent = entry.kind === 'import' ? getSentElements(outbox, entry) : undefined;
    return sent === undefined
      ? []
      : [{ find: makeComparable(sent), window: getAttemptWindow(outbox, entry) }];
  });
}

/** Collects what an entry may be already. */
export function gatherKnowledge(
  outbox: Outbox,
  entry: Entry,
  result: SearchResult,
  files: ReadonlyMap<string, readonly string[]>,
): Knowledge {
  if (entry.kind === 'import') return gatherImportKnowledge(outbox, entry, result);
  const listed = result.lookups.get(entry.identCely ?? '');
  const ofRecord = gatherRecordKnowledge(outbox, entry, listed, result.ofOthers);
  if (entry.kind === 'number') return ofRecord;
  return {
    ...ofRecord,
    'equal-photograph': makeCandidates(files.get(entry.key) ?? []),
    // A photograph without a record waits for its find.
    'not-searched': entry.identCely === null ? [] : result.unsearched,
  };
}

function gatherImportKnowledge(
  outbox: Outbox,
  { subject, project, attempts }: ImportEntry,
  { hidden, unsearched, ...result }: SearchResult,
): Knowledge {
  const find = findByUuid(outbox, subject);
  if (find === undefined) return {};
  const namesake = attempts > 0 ? undefined : findNamesake(outbox, find);
  const comparable = makeComparable(find.elements as FindElements, find.localId);
  return {
    'local-id-in-use': namesake === undefined ? [] : [{ name: namesake.localId, matched: 'near' }],
    'attempted-elsewhere': listMatches(comparable, result.attempted),
    'equal-record': listEqualRecords(comparable, result),
    'hidden-records': makeCandidates(hidden.get(project ?? '') ?? []),
    'not-searched': unsearched,
  };
}

/** Collects what speaks against a change of its record, as the service lists that. */
export function gatherRecordKnowledge(
  outbox: Outbox,
  entry: NumberEntry | PhotoEntry,
  listed: FindLookup | undefined,
  ofOthers: RecordsOfOthers = new Map(),
): Knowledge {
  const ofImport = findImportOfFind(outbox, entry.subject);
  const records = ofImport === undefined ? [] : getSlotState(outbox, ofImport).records;
  const isOurs =
    ofImport === undefined ||
    (listed?.kind === 'shown'
      ? !isMadeByOthers(outbox, ofImport, listed.record)
      : !isGivenToOthers(outbox, ofImport, ofOthers));
  return {
    'two-records': makeCandidates(records.length < 2 ? [] : records),
    'record-not-ours': makeCandidates(isOurs ? [] : [entry.identCely ?? '']),
    // The number is requested again right before it is sent.
    'number-changed':
      entry.kind === 'number' ? makeCandidates(listChangedNumbers(outbox, entry, listed)) : [],
  };
}

/**
 * Returns a number that is neither the expected nor the new one: another user has set it, or this
 * one by the record's identifier.
 */
function listChangedNumbers(
  outbox: Outbox,
  entry: NumberEntry,
  listed: FindLookup | undefined,
): string[] {
  const shown =
    (listed?.kind === 'shown' ? findShownNumber(outbox, listed) : undefined) ??
    findAcceptedNumber(outbox, entry.subject)?.value;
  // The previous number of a record without a find here is unknown: an empty one is no change.
  const isFirst = shown === '' && entry.expects === null;
  const isExpected =
    shown === undefined ||
    isFirst ||
    shown === entry.value ||
    listNumbersFromHere(outbox, entry).has(shown);
  return isExpected ? [] : [shown];
}

/** Returns what a find may be already: an equal local id is a question as well. */
function listMatches(find: ComparableFind, index: FindIndex<string>): readonly Candidate[] {
  return index.list(find).flatMap(({ find: other, item }): Candidate[] => {
    const matched = matchFinds(find, other);
    if (matched !== 'other') return [{ name: item, matched }];
    const isOneId = find.localId !== undefined && find.localId === other.localId;
    return isOneId ? [{ name: item, matched: 'near' }] : [];
  });
}

/** Returns unexplained records, without those that an uncertain import may have made. */
function listEqualRecords(
  find: ComparableFind,
  { records, uncertain }: Pick<SearchResult, 'records' | 'uncertain'>,
): readonly Candidate[] {
  const matching = records.list(find).flatMap(({ find: other, item }) => {
    const matched = matchFinds(find, other);
    return matched === 'other' ? [] : [{ other, item, matched }];
  });
  const isExplained = ({ other, item }: (typeof matching)[number]): boolean =>
    uncertain.some(
      ({ find: sent, window }) => matchFinds(sent, other) === 'same' && mayBeCreation(window, item),
    );
  const explained = matching.filter(isExplained);
  const open =
    explained.length > uncertain.length ? matching : matching.filter((each) => !isExplained(each));
  return open.map(({ item, matched }) => ({ name: item.identCely, matched }));
}

/** Tells if a record that our import made was made by another account, or at another time. */
function isMadeByOthers(outbox: Outbox, ofImport: ImportEntry, record: HarvestedFind): boolean {
  if (ofImport.attempts === 0) return false;
  const window = getAttemptWindow(outbox, ofImport);
  return (
    window.bounds !== undefined &&
    findCreation(record) !== undefined &&
    !mayBeCreation(window, record)
  );
}

/** Tells if the service gave the record of our import to a find of another account later. */
function isGivenToOthers(
  outbox: Outbox,
  ofImport: ImportEntry,
  ofOthers: RecordsOfOthers,
): boolean {
  const givenAt = ofOthers.get(ofImport.identCely ?? '');
  const last = listAttempts(outbox, ofImport).at(-1);
  return givenAt !== undefined && last !== undefined && givenAt > last.startedAt;
}

/** Returns, by project, listed records that are not shown and that no fact explains. */
function listHiddenRecords(
  outbox: Outbox,
  listed: readonly string[],
): Map<string, readonly string[]> {
  const hidden = listed.filter((identCely) => findImportOfRecord(outbox, identCely) === undefined);
  const byProject = groupBy(hidden, getProjectOfRecord);
  return new Map([...byProject].filter(([project]) => !isRejectedForAnyFind(outbox, project)));
}
