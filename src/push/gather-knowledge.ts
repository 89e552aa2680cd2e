import type { HarvestedFind } from '../finds/harvested-find.ts';
import {
  type ComparableFind,
  type FindIndex,
  makeComparable,
  matchFinds,
} from '../finds/match-finds.ts';
import type { FindLookup, HarvestedFinds } from '../harvest/pull-finds.ts';
import { listAttempts } from '../outbox/attempts.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import { findImportOfFind } from '../outbox/entry-queries.ts';
import type { Candidate } from '../outbox/facts.ts';
import { type Knowledge, makeCandidates } from '../outbox/gate.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findByUuid } from '../outbox/stored-finds.ts';
import { findNamesake } from '../outbox/unite.ts';
import { getSlotState } from '../outbox/wishes.ts';
import { listChangedNumbers } from './judge-change.ts';
import {
  type AttemptWindow,
  findCreation,
  getAttemptWindow,
  mayBeCreation,
} from './judge-import.ts';

/** Result of a search, indexed for the comparison with entries. */
export type SearchResult = {
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
  readonly uncertain: readonly { readonly find: ComparableFind; readonly window: AttemptWindow }[];
  /** One without a name, where another place may have sent it and there was no search. */
  readonly unsearched: readonly Candidate[];
};

/** Records of finds that only the ledger has, with the wall clock of the import's last attempt. */
type RecordsOfOthers = ReadonlyMap<string, number>;

/**
 * Collects what an entry may be already, by the question about it.
 * @param files of records that may be photographs, by the key of the entry
 */
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
  const comparable = makeComparable(find.elements, find.localId);
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
  return {
    'two-records': makeCandidates(records.length < 2 ? [] : records),
    'record-not-ours': makeCandidates(
      isRecordOurs(outbox, ofImport, listed, ofOthers) ? [] : [entry.identCely ?? ''],
    ),
    // The number is requested again right before it is sent.
    'number-changed':
      entry.kind === 'number' ? makeCandidates(listChangedNumbers(outbox, entry, listed)) : [],
  };
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

/**
 * Tells if a record is still that of its find. False for a deleted one, since the service may give
 * its identifier to another find while a request is on its way. One that the harvest does not show
 * counts as ours unless the ledger names a later find for it; the service refuses what is gone.
 * @param ofImport undefined where the find is not here
 */
function isRecordOurs(
  outbox: Outbox,
  ofImport: ImportEntry | undefined,
  listed: FindLookup | undefined,
  ofOthers: RecordsOfOthers,
): boolean {
  if (listed?.kind === 'deleted') return false;
  if (ofImport === undefined) return true;
  return listed?.kind === 'shown'
    ? !isMadeByOthers(outbox, ofImport, listed.record)
    : !isGivenToOthers(outbox, ofImport, ofOthers);
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
