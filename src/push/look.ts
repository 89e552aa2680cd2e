import { setImmediate as letOthersRun } from 'node:timers/promises';
import { normalizeRegistrationNumber } from '../base/characters.ts';
import { memoize } from '../base/collections.ts';
import { RefusedAccountError } from '../base/errors.ts';
import type { LookupNumber } from '../finds/find.ts';
import type { HarvestedFind } from '../finds/harvested-find.ts';
import {
  type ComparableFind,
  type FindIndex,
  makeFindIndex,
  matchFinds,
  toComparableFind,
} from '../finds/match-finds.ts';
import { computeOverlapMs } from '../harvest/harvest-records.ts';
import { DAY_MS } from '../harvest/protocol.ts';
import {
  type FindLookup,
  fetchFindRecord,
  type HarvestedFinds,
  harvestFinds,
} from '../harvest/pull-finds.ts';
import { listNamesakes, listRejectedFinds } from '../outbox/alike-finds.ts';
import { getSlotState } from '../outbox/append-facts.ts';
import { listEffectiveAttempts } from '../outbox/attempts.ts';
import { makeNumberLookup } from '../outbox/changes/enqueue-change.ts';
import type { Entry, HeldQuestion, ImportEntry, NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import {
  findImportOfFind,
  listEntriesInState,
  listHeldEntries,
  listQueuedEntries,
  listQueuedSummaries,
  storeQuestion,
} from '../outbox/entry-queries.ts';
import { type Candidate, type CandidateIdentity, HELD_BASES } from '../outbox/facts.ts';
import {
  judgeDeparture,
  type Knowledge,
  makeCandidates,
  makeFindCandidate,
} from '../outbox/gate.ts';
import { type Outbox, readHeader, splitIntoBatches, updateHeader } from '../outbox/open-outbox.ts';
import { findByLocalId, findByUuid, type StoredFind } from '../outbox/stored-finds.ts';
import {
  deleteUnexplainedRecord,
  listUnexplainedRecords,
  storeUnexplainedRecord,
} from '../outbox/views/records-at-service.ts';
import {
  listChangedNumbers,
  listEqualFiles,
  listSamePhotographs,
  listUnexplainedFiles,
} from './judge-change.ts';
import {
  findCreationEvent,
  isMadeByImport,
  isMadeInWindow,
  listSentImports,
} from './judge-import.ts';
import { indexFindsOfOtherAccounts, listSentByOtherAccounts } from './other-accounts.ts';
import type { NoSearchReason, PushContext } from './push-context.ts';
import {
  isRecordOfFindHere,
  isSignedIn,
  listShownRecords,
  type SearchContext,
} from './reconcile-entries.ts';

/** Means of the gate of one round to find entries that the service may have already. */
export type LookContext = {
  readonly outbox: Outbox;
  /** The service's identifier of the sending account. */
  readonly account: string;
  /** Harvest as the sending account; undefined where there is none, or once it was refused. */
  lookup: SearchContext | undefined;
  readonly stop: AbortSignal;
  /** Called once, where the service does not let the account harvest. */
  readonly onNotChecked?: PushContext['onNotChecked'];
  /** Milliseconds before the oldest unsent entry at which the first look begins. */
  readonly lookBackMs: number;
  /** Undefined where no answer has come yet. */
  readonly serverNowMs: number | undefined;
  /**
   * Content of each entry, by row, when the gate checked it and had no question: a new or changed
   * entry, and one whose question was answered, is checked again before it is sent.
   */
  readonly judged: Map<number, string>;
};

/**
 * Looks at the service and at this machine for what each queued entry may be already, and stores
 * the question about it, or ends one that no longer stands. One harvest covers all projects;
 * without harvesting, questions from the service stay as they are. Those about rows, copies and
 * alike finds always stay. The time is linear in records plus entries.
 * @throws as {@link harvestFinds}; the reason of the signal
 */
export async function holdEntriesWithQuestions(context: LookContext): Promise<void> {
  const { outbox, lookup, stop } = context;
  const waiting = listQueuedSummaries(outbox);
  if (waiting.length === 0) return;
  const fromMs = lookup === undefined ? 0 : computeSearchStart(context, lookup, waiting);
  const harvest = await searchUnlessRefused(context, async (open) => {
    if (await isSignedIn(open, context.account)) return harvestFinds(open, fromMs);
    endSearching(context, 'anonymous');
    return undefined;
  });
  const result = await storeAndIndexSearch(context, harvest);
  await runInBatches(waiting, stop, (batch) =>
    outbox.change(() => {
      const ids = batch.map(({ id }) => id);
      for (const entry of listQueuedEntries(outbox, ids)) {
        const knowledge = gatherKnowledge(outbox, entry, result);
        // After an answer to a question it is compared again: only one is asked at a time.
        if (updateQuestion(outbox, entry, knowledge, harvest) === null)
          context.judged.set(entry.id, makeEntryContentKey(entry));
        else context.judged.delete(entry.id);
      }
    }),
  );
  outbox.change(() => {
    if (harvest !== undefined) recordSearch(outbox, fromMs, harvest.beganMs);
    // The questions stay until an answer or a search settles them.
    else if (readHeader(outbox).mustLook) updateHeader(outbox, { mustLook: false });
  });
}

/**
 * Records the period of a search; while an entry is held, the next search includes it once more.
 */
function recordSearch(outbox: Outbox, fromMs: number, untilMs: number): void {
  if (listHeldEntries(outbox).length > 0) return;
  const { lookedFrom, lookedUntil } = readHeader(outbox);
  const isContinued = fromMs <= (lookedUntil ?? 0);
  updateHeader(outbox, {
    mustLook: false,
    lookedFrom: Math.floor(isContinued ? Math.min(lookedFrom ?? fromMs, fromMs) : fromMs),
    lookedUntil: Math.floor(untilMs),
  });
}

/** Searches the service; one that refuses the account is not searched again. */
async function searchUnlessRefused<T>(
  context: LookContext,
  search: (lookup: SearchContext) => Promise<T>,
): Promise<T | undefined> {
  if (context.lookup === undefined) return undefined;
  try {
    return await search(context.lookup);
  } catch (thrown) {
    if (!(thrown instanceof RefusedAccountError)) throw thrown;
    endSearching(context, 'refused');
    return undefined;
  }
}

function endSearching(context: LookContext, why: NoSearchReason): void {
  context.lookup = undefined;
  context.onNotChecked?.(why);
}

/** Makes the key of what an entry sends; a photograph's name may change while its intent stays. */
export function makeEntryContentKey(entry: Entry): string {
  return entry.kind === 'photo' ? `${entry.intent} ${entry.photograph.name}` : entry.intent;
}

/**
 * Stores the question about an entry, or ends the one that its knowledge no longer asks.
 * @returns the question that it has then
 */
function updateQuestion(
  outbox: Outbox,
  entry: Entry,
  knowledge: Knowledge,
  harvest: HarvestedFinds | undefined,
): HeldQuestion | null {
  const basis = entry.held?.basis;
  const from = basis === undefined ? 'machine' : HELD_BASES[basis];
  // Only what asks a question can know that it has ended.
  if (from !== 'machine' && (from !== 'service' || harvest === undefined)) return entry.held;
  const question = judgeDeparture(entry, knowledge, getSlotState(outbox, entry).rejected) ?? null;
  // The record of a number was requested by itself: one that is not listed has not changed since.
  const isUnchanged =
    entry.kind === 'number' &&
    from === 'service' &&
    harvest?.lookups.has(entry.identCely ?? '') !== true;
  if (question === null && (entry.held === null || isUnchanged)) return entry.held;
  storeQuestion(outbox, entry.id, question);
  return question;
}

/**
 * Returns the begin of the search: the end of the last one, less overlap and index allowance; where
 * none has covered the time from `lookBackMs` before the oldest unsent entry, that time. A day
 * before the server's now at the latest, since the wall clock may be wrong.
 */
function computeSearchStart(
  { outbox, lookBackMs, serverNowMs }: LookContext,
  { indexAllowanceMs }: SearchContext,
  waiting: ReturnType<typeof listQueuedSummaries>,
): number {
  const { lookedFrom, lookedUntil } = readHeader(outbox);
  const oldestAt = waiting.reduce((oldest, { createdAt }) => Math.min(oldest, createdAt), NEVER);
  const firstMs = oldestAt - lookBackMs;
  const isCovered = lookedUntil !== null && (lookedFrom ?? NEVER) <= firstMs;
  const marginMs = computeOverlapMs(indexAllowanceMs) + indexAllowanceMs;
  return Math.min(
    isCovered ? lookedUntil - marginMs : firstMs,
    (serverNowMs ?? outbox.clock.now()) - DAY_MS,
  );
}

const NEVER = Number.POSITIVE_INFINITY;

/**
 * Checks an entry right before it is sent, and stores a question that arises. One that the last
 * look did not pass with this content gets a new look instead of being sent. Of a number or a
 * photograph, what was sent to its record meanwhile counts; the record of a number is requested
 * again.
 * @returns true if the entry must not be sent now: a question arose, the look was repeated, or the
 * entry was changed meanwhile
 * @throws as {@link holdEntriesWithQuestions}
 */
export async function holdEntryBeforeDeparture(
  context: LookContext,
  entry: Entry,
): Promise<boolean> {
  if (context.judged.get(entry.id) !== makeEntryContentKey(entry)) {
    await holdEntriesWithQuestions(context);
    return true;
  }
  return entry.kind !== 'import' && (await holdChange(context, entry));
}

async function holdChange(context: LookContext, entry: NumberEntry | PhotoEntry): Promise<boolean> {
  const { outbox } = context;
  const { identCely } = entry;
  if (identCely === null) return false;
  const listed =
    entry.kind === 'number'
      ? await searchUnlessRefused(context, (lookup) => fetchFindRecord(lookup, identCely))
      : undefined;
  const knowledge = gatherRecordKnowledge(outbox, entry, listed, NOTHING_OF_OTHERS);
  const question = judgeDeparture(entry, knowledge, getSlotState(outbox, entry).rejected);
  if (question === undefined) return false;
  outbox.change(() => {
    const [now] = listQueuedEntries(outbox, [entry.id]);
    // An entry that was changed meanwhile is checked again.
    if (now !== undefined && makeEntryContentKey(now) === makeEntryContentKey(entry))
      storeQuestion(outbox, entry.id, question);
  });
  return true;
}

/**
 * Works on batches of the items, between which signals are handled and other processes can write;
 * ends with the reason of the signal.
 */
async function runInBatches<T>(
  items: Iterable<T>,
  stop: AbortSignal,
  work: (batch: readonly T[]) => void,
): Promise<void> {
  for (const batch of splitIntoBatches(items)) {
    stop.throwIfAborted();
    work(batch);
    await letOthersRun();
  }
}

type SearchResult = Awaited<ReturnType<typeof storeAndIndexSearch>>;

/**
 * Stores which records no fact explains, and indexes the search for the comparison with entries.
 */
async function storeAndIndexSearch(
  { outbox, account, stop }: LookContext,
  harvest: HarvestedFinds | undefined,
) {
  const shown = harvest === undefined ? [] : listShownRecords(harvest);
  const isUnexplained = (record: HarvestedFind): boolean =>
    isUnexplainedCreation(outbox, account, record) ||
    listUnexplainedFiles(outbox, record).length > 0;
  await runInBatches(harvest?.lookups ?? [], stop, (batch) =>
    outbox.change(() => {
      for (const [identCely, listed] of batch)
        if (listed.kind === 'shown' && isUnexplained(listed.record))
          storeUnexplainedRecord(outbox, listed.record);
        // A record that was shown before still exists where it is no longer shown.
        else if (listed.kind !== 'withheld') deleteUnexplainedRecord(outbox, identCely);
    }),
  );
  // Later searches show only changes, and an equal find may be queued later.
  const seenRecords = harvest === undefined ? [] : listUnexplainedRecords(outbox);
  const records = makeFindIndex<HarvestedFind>();
  await runInBatches(seenRecords, stop, (batch) => {
    for (const find of batch)
      if (isUnexplainedCreation(outbox, account, find))
        records.add(toComparableFind(find.elements, undefined, find.protectedWithheld), find);
  });
  const ofOthers = listSentByOtherAccounts(outbox);
  const withFiles = new Map([...seenRecords, ...shown].map((find) => [find.identCely, find]));
  return {
    lookups: harvest?.lookups ?? (new Map() as HarvestedFinds['lookups']),
    /** Returns the files of a record that no fact explains, also as an earlier search showed it. */
    listUnexplainedFiles: memoize((identCely: string) => {
      const record = withFiles.get(identCely);
      return record === undefined ? [] : listUnexplainedFiles(outbox, record);
    }),
    /** Records of this account that no fact explains. */
    records,
    /** Finds that other accounts attempted from this machine. */
    attempted: indexFindsOfOtherAccounts(ofOthers.finds),
    /** Numbers and photographs that other accounts sent from this machine, by record. */
    changesOfOthers: ofOthers.changes,
    /** Records of finds of other accounts, with the wall clock of the last attempt. */
    recordsOfOthers: new Map(
      ofOthers.finds.flatMap(({ attempt, records }) =>
        records.map((identCely) => [identCely, attempt.body.at] as const),
      ),
    ),
    /** A draft with the number of another find is refused as long as that has it. */
    lookupNumber: makeNumberLookup(outbox, { withoutDrafts: true }),
    /** Imports of unknown outcome, or under way. */
    uncertain: listSentImports(outbox, [
      ...listEntriesInState(outbox, 'uncertain'),
      ...listEntriesInState(outbox, 'sending'),
    ]).map(({ elements, window }) => ({ find: toComparableFind(elements), window })),
    /** One without a name, where another place may have sent it and there was no search. */
    unsearched: makeCandidates(harvest === undefined && readHeader(outbox).mustLook ? [''] : []),
  };
}

/** Tells if this account made a record that no fact explains. */
function isUnexplainedCreation(outbox: Outbox, account: string, find: HarvestedFind): boolean {
  return (
    findCreationEvent(find)?.user === account && !isRecordOfFindHere(outbox, find.identCely, find)
  );
}

/** Collects what an entry may be already, by the question about it. */
function gatherKnowledge(outbox: Outbox, entry: Entry, result: SearchResult): Knowledge {
  if (entry.kind === 'import') return gatherImportKnowledge(outbox, entry, result);
  const identCely = entry.identCely ?? '';
  const listed = result.lookups.get(identCely);
  const ofRecord = gatherRecordKnowledge(outbox, entry, listed, result);
  if (entry.kind === 'number') {
    const users = listUsersOfNumber(outbox, entry.value, entry.find, result.lookupNumber);
    return { ...ofRecord, 'number-used': users.filter(({ name }) => name !== entry.identCely) };
  }
  const sent = ofRecord['equal-photograph'] ?? [];
  return {
    ...ofRecord,
    'equal-photograph': [
      ...sent,
      ...makeCandidates(listEqualFiles(entry, result.listUnexplainedFiles(identCely))),
    ],
    // A photograph without a record waits for its find.
    'not-searched': entry.identCely === null ? [] : result.unsearched,
  };
}

function gatherImportKnowledge(
  outbox: Outbox,
  entry: ImportEntry,
  { unsearched, ...result }: SearchResult,
): Knowledge {
  const { subject, attempts } = entry;
  const find = findByUuid(outbox, subject);
  if (find === undefined) return {};
  const comparable = toComparableFind(find.elements, find.localId);
  const compare = (other: StoredFind): Candidate[] => {
    const matched = matchFinds(comparable, toComparableFind(other.elements, other.localId));
    return matched === 'other' ? [] : [makeFindCandidate(other, matched)];
  };
  return {
    'alike-here': listRejectedFinds(outbox, entry).flatMap(compare),
    'local-id-in-use': attempts > 0 ? [] : listNamesakes(outbox, find),
    'attempted-elsewhere': listMatches(comparable, result.attempted),
    'number-used': listUsersOfNumber(
      outbox,
      find.elements.evidencni_cislo,
      find.localId,
      result.lookupNumber,
    ),
    'equal-record': listEqualRecords(comparable, result),
    'not-searched': unsearched,
  };
}

/** Right before the departure; the search that judged the entry has compared it with them. */
const NOTHING_OF_OTHERS = { recordsOfOthers: new Map(), changesOfOthers: new Map() };

/** Collects what speaks against a change of its record, as the service lists that. */
function gatherRecordKnowledge(
  outbox: Outbox,
  entry: NumberEntry | PhotoEntry,
  listed: FindLookup | undefined,
  { recordsOfOthers, changesOfOthers }: Pick<SearchResult, 'recordsOfOthers' | 'changesOfOthers'>,
): Knowledge {
  const ofOthers = changesOfOthers.get(entry.identCely ?? '') ?? [];
  const ofImport = findImportOfFind(outbox, entry.subject);
  const records = ofImport === undefined ? [] : getSlotState(outbox, ofImport).records;
  return {
    'two-records': makeCandidates(records.length < 2 ? [] : records),
    'record-not-ours': makeCandidates(
      isRecordOurs(outbox, ofImport, listed, recordsOfOthers) ? [] : [entry.identCely ?? ''],
    ),
    // The number is requested again right before it is sent.
    'number-changed':
      entry.kind === 'number'
        ? makeCandidates(listChangedNumbers(outbox, entry, listed, ofOthers))
        : [],
    'equal-photograph':
      entry.kind === 'photo' ? makeCandidates(listSamePhotographs(outbox, entry, ofOthers)) : [],
  };
}

/** Returns the other find or record that has the number, or is to get it. */
function listUsersOfNumber(
  outbox: Outbox,
  value: string | undefined,
  name: string,
  lookupNumber: LookupNumber,
): readonly Candidate[] {
  const number = normalizeRegistrationNumber(value ?? '');
  const other = number === '' ? undefined : lookupNumber(number, name);
  if (other === undefined) return [];
  const { uuid = other } = findByLocalId(outbox, other) ?? {};
  // An answer about likeness, or about another number, does not allow this one.
  return [{ name: other, uuid: `${uuid} ${number}`, matched: 'same' }];
}

/** Returns what a find may be already: an equal local id is a question as well. */
function listMatches(
  find: ComparableFind,
  index: FindIndex<CandidateIdentity>,
): readonly Candidate[] {
  return index.list(find).flatMap(({ find: other, item }): Candidate[] => {
    const matched = matchFinds(find, other);
    if (matched !== 'other') return [{ ...item, matched }];
    const isOneId = find.localId !== undefined && find.localId === other.localId;
    return isOneId ? [{ ...item, matched: 'near' }] : [];
  });
}

/**
 * Returns unexplained records, without those that an uncertain import may have made; with them
 * where they are more than such imports.
 */
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
      ({ find: sent, window }) =>
        matchFinds(sent, other) === 'same' && isMadeInWindow(window, item),
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
  recordsOfOthers: ReadonlyMap<string, number>,
): boolean {
  if (listed?.kind === 'deleted') return false;
  if (ofImport === undefined) return true;
  return listed?.kind === 'shown'
    ? isMadeByImport(outbox, ofImport, listed.record)
    : !isGivenToOthers(outbox, ofImport, recordsOfOthers);
}

/** Tells if the service gave the record of our import to a find of another account later. */
function isGivenToOthers(
  outbox: Outbox,
  ofImport: ImportEntry,
  recordsOfOthers: ReadonlyMap<string, number>,
): boolean {
  const givenAt = recordsOfOthers.get(ofImport.identCely ?? '');
  if (givenAt === undefined) return false;
  const last = listEffectiveAttempts(outbox, ofImport).at(-1);
  return last !== undefined && givenAt > last.startedAt;
}
