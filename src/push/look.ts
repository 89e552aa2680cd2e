import { setImmediate as turn } from 'node:timers/promises';
import { msg } from '../base/message.ts';
import { NEW_PERSON } from '../find/field.ts';
import type { FindElements } from '../find/fields.ts';
import {
  asFoundDigest,
  type HarvestedElements,
  type HarvestedFind,
  listDifferingElements,
} from '../find/harvested-find.ts';
import { hasEntry, schedule } from '../outbox/entries.ts';
import type { Entry, EntryId, ImportEntry, NumberEntry } from '../outbox/entry.ts';
import {
  findImportOfRecord,
  listEntriesInState,
  listHeldEntries,
  listQueuedEntries,
} from '../outbox/entry-queries.ts';
import {
  type AttemptedElsewhere,
  checkDeparture,
  type GateFacts,
  getLastSearchAt,
  hasOtherWriters,
} from '../outbox/gate.ts';
import { type Outbox, readHeader, updateHeader } from '../outbox/open-outbox.ts';
import { listQueuedHeads } from '../outbox/overview.ts';
import { assertJournal } from '../outbox/record-events.ts';
import { findById } from '../outbox/stored-finds.ts';
import { type HarvestedFinds, harvestFinds, type ListedFind } from '../flows/harvest/harvest-finds.ts';
import { computeOverlapMs } from '../flows/harvest/service-lists.ts';
import { type LookupContext, parseSentElements } from './evidence.ts';
import { findCreation, mayBeCreation } from './judge-import.ts';
import {
  fetchCurrentRecord,
  findShownNumber,
  listNumbersFromHere,
} from './judge-number.ts';
import { listRejectedCandidates } from './resolve.ts';
import { type AttemptWindow, getAttemptWindow } from './verdict.ts';
import {
  findEqualFiles,
  findUnexplainedFiles,
  type IsUnexplained,
  readUnexplained,
  recordSearches,
  storeUnexplained,
} from './unexplained-records.ts';

export type GateContext = {
  readonly outbox: Outbox;
  /** The service's identifier of the sending account. */
  readonly account: string;
  /**
   * Access to the harvest; undefined where the account has none, or the user chose not to search.
   */
  readonly lookup: LookupContext | undefined;
  /**
   * Time in milliseconds before the oldest unsent entry at which the first search of a project
   * begins.
   */
  readonly lookBackMs: number;
  /** Undefined where no answer has come yet. */
  readonly serverNowMs: number | undefined;
  readonly stop: AbortSignal;
  /**
   * Content of each entry when the gate checked it, by row: a new or changed entry is checked again
   * before it is sent.
   */
  readonly judged: Map<EntryId, string>;
};

const DAY_MS = 24 * 3600 * 1000;
/** Entries per transaction. Between them, signals are handled and other processes can write. */
const SLICE = 50;

/**
 * Holds entries with an open question, and releases those without. One harvest covers all projects;
 * the time is linear in records plus entries.
 * @returns the held entries
 * @throws as {@link harvestFinds}; the reason of the signal
 */
export async function holdEntriesWithQuestions(context: GateContext): Promise<Entry[]> {
  const { outbox, lookup, stop } = context;
  const waiting = listQueuedWithProject(outbox);
  if (waiting.length === 0) return [];
  if (lookup === undefined) holdUnsearched(outbox);
  const fromMs = lookup === undefined ? 0 : computeSearchStart(context, lookup, waiting);
  const harvest = lookup === undefined ? undefined : await harvestFinds(lookup, fromMs);
  const result = await indexSearchResult(context, harvest);
  const projects = new Set(waiting.map(({ project }) => project));
  // Entries queued meanwhile are checked as well, if their project was searched.
  const searched = listQueuedWithProject(outbox).filter(({ project }) => projects.has(project));
  await runInSlices(searched, stop, (slice) =>
    outbox.change(() => {
      const queued = listQueuedEntries(
        outbox,
        slice.map(({ id }) => id),
      );
      const facts = gatherFacts(context, queued, result);
      for (const entry of queued) {
        applyGateDecision(outbox, entry, facts, harvest);
        context.judged.set(entry.id, getContentKey(entry));
      }
    }),
  );
  const held = listHeldEntries(outbox);
  if (lookup !== undefined && harvest !== undefined) {
    const beganMs = fromMs + computeOverlapMs(lookup.indexAllowanceMs) + lookup.indexAllowanceMs;
    outbox.change(() =>
      recordSearches(outbox, projects, held, { beganMs, endedMs: harvest.beganMs }),
    );
  }
  return held;
}

/**
 * Holds all unsent entries of an adopted outbox where the service cannot be searched: the other
 * place may have sent them. The questions stay until an answer or a search settles them.
 */
function holdUnsearched(outbox: Outbox): void {
  if (!readHeader(outbox).mustLook) return;
  const question = msg`the outbox was pushed from another place or with another journal, and the service cannot be searched: the entry may already have been sent`;
  const isAsked = ({ kind, identCely, held }: Entry): boolean =>
    held === null && (kind === 'import' || (kind === 'photo' && identCely !== null));
  outbox.change(() => {
    for (const { id } of listQueuedEntries(outbox).filter(isAsked))
      schedule(outbox, id, { held: { basis: 'not-searched', candidates: [], question } });
    updateHeader(outbox, { mustLook: false });
  });
}

async function runInSlices<T>(
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

/** Returns a text that changes with the content that the entry sends. */
export function getContentKey(entry: Entry): string {
  switch (entry.kind) {
    case 'import':
      return entry.documentSha512?.toString('hex') ?? '';
    case 'number':
      return entry.value;
    case 'photo':
      return `${entry.photograph.sha512.toString('hex')} ${entry.photograph.name}`;
  }
}

/** Questions from a merge of the journal, which the gate keeps. */
const ASKED_BY_MERGE: readonly string[] = ['local-id-in-use'];
/** Questions that need no search. */
const FROM_JOURNAL: readonly string[] = ['attempted-elsewhere', 'local-id-sent-elsewhere'];

function applyGateDecision(
  outbox: Outbox,
  entry: Entry,
  facts: GateFacts,
  harvest: HarvestedFinds | undefined,
): void {
  const basis = entry.held?.basis;
  if (
    basis !== undefined &&
    (ASKED_BY_MERGE.includes(basis) || (harvest === undefined && !FROM_JOURNAL.includes(basis)))
  )
    return;
  const decision = checkDeparture(entry, facts);
  if (decision.kind === 'held') schedule(outbox, entry.id, { held: decision.held });
  // A record that has not changed since still has the number of the question.
  else if (basis === 'number-changed' && harvest?.lookups.has(entry.identCely ?? '') !== true)
    return;
  else if (entry.held !== null) schedule(outbox, entry.id, { held: null });
}

/** A queued entry with the project of its find; empty where the find has no record yet. */
type QueuedInProject = {
  readonly id: EntryId;
  readonly project: string;
  readonly createdAt: number;
};

function listQueuedWithProject(outbox: Outbox): QueuedInProject[] {
  return listQueuedHeads(outbox).map(({ id, project, identCely, createdAt }) => ({
    id,
    createdAt,
    project: project ?? getProjectOfRecord(identCely ?? ''),
  }));
}

function getProjectOfRecord(identCely: string): string {
  return identCely.replace(/-N\d+$/, '');
}

/**
 * Returns the begin of the search: the last complete search of each project, less overlap and index
 * allowance; for the first one, `lookBackMs` before the oldest unsent entry. At most a day before
 * the server's now, since the wall clock may be wrong.
 */
function computeSearchStart(
  { outbox, lookBackMs, serverNowMs }: GateContext,
  lookup: LookupContext,
  waiting: readonly QueuedInProject[],
): number {
  const mustLook =
    readHeader(outbox).mustLook ||
    listHeldEntries(outbox).some(({ held }) => held?.basis === 'not-searched');
  const begins = [...groupBy(waiting, ({ project }) => project)].map(([project, places]) => {
    const last = mustLook ? undefined : getLastSearchAt(outbox, project);
    if (last !== undefined)
      return last - computeOverlapMs(lookup.indexAllowanceMs) - lookup.indexAllowanceMs;
    return (
      places.reduce(
        (oldest, { createdAt }) => Math.min(oldest, createdAt),
        Number.POSITIVE_INFINITY,
      ) - lookBackMs
    );
  });
  return Math.min(...begins, (serverNowMs ?? outbox.clock.now()) - DAY_MS);
}

/** Result of a search, indexed for the comparison with entries. */
type SearchResult = {
  /** Other outboxes of this machine have attempted something with the account. */
  readonly hasOthers: boolean;
  readonly lookups: HarvestedFinds['lookups'];
  /** Shown records, and those of earlier searches with files that no event explains. */
  readonly withFiles: ReadonlyMap<string, HarvestedFind>;
  /** Records of this account that no event explains, by their digests. */
  readonly byDigest: ReadonlyMap<string, readonly HarvestedFind[]>;
  /** Cache of comparisons, by digests and sent elements, for equal entries. */
  readonly equalTo: Map<string, readonly HarvestedFind[]>;
  readonly hasWithheld: boolean;
  readonly hidden: GateFacts['hiddenRecords'];
  /** Imports of unknown outcome, or under way, by their digests. */
  readonly uncertain: ReadonlyMap<string, readonly UncertainImport[]>;
};

type UncertainImport = { readonly entry: Entry; readonly window: AttemptWindow };

async function indexSearchResult(
  { outbox, account, lookup, stop }: GateContext,
  harvest: HarvestedFinds | undefined,
): Promise<SearchResult> {
  const shown = harvest === undefined ? [] : listShownFinds(harvest);
  const isUnexplained: IsUnexplained = (identCely, listed) =>
    listed.kind === 'shown'
      ? isUnexplainedCreation(outbox, account, listed.record) ||
        findUnexplainedFiles(outbox, listed.record).length > 0
      : listed.kind === 'withheld' &&
        lookup?.harvester !== account &&
        findImportOfRecord(outbox, identCely) === undefined;
  await runInSlices([...(harvest?.lookups ?? [])], stop, (slice) =>
    storeUnexplained(outbox, slice, isUnexplained),
  );
  const seen = harvest === undefined ? { records: [], hidden: [] } : readUnexplained(outbox);
  const byDigest = new Map<string, HarvestedFind[]>();
  let hasWithheld = false;
  await runInSlices(seen.records, stop, (slice) => {
    for (const find of slice) {
      if (!isUnexplainedCreation(outbox, account, find)) continue;
      hasWithheld ||= find.protectedWithheld;
      for (const digest of listDigests(find)) {
        const alike = byDigest.get(digest);
        if (alike === undefined) byDigest.set(digest, [find]);
        else alike.push(find);
      }
    }
  });
  const uncertain = [
    ...listEntriesInState(outbox, 'uncertain'),
    ...listEntriesInState(outbox, 'sending'),
  ].filter((entry) => entry.kind === 'import');
  const { outbox: ownOutbox, address } = readHeader(outbox);
  return {
    hasOthers: assertJournal(outbox).listOtherOutboxes(account, address, ownOutbox).length > 0,
    lookups: harvest?.lookups ?? new Map(),
    withFiles: new Map([...seen.records, ...shown].map((find) => [find.identCely, find])),
    ...{ byDigest, equalTo: new Map(), hasWithheld },
    hidden: lookup?.harvester === account ? new Map() : listHiddenRecords(outbox, seen.hidden),
    uncertain: groupBy(
      uncertain.map((entry) => ({ entry, window: getAttemptWindow(outbox, entry) })),
      ({ entry }) => entry.digest ?? '',
    ),
  };
}

/** Tells if this account made a record that no event explains. */
function isUnexplainedCreation(outbox: Outbox, account: string, find: HarvestedFind): boolean {
  return (
    findCreation(find)?.user === account && findImportOfRecord(outbox, find.identCely) === undefined
  );
}

function gatherFacts(
  { outbox, account }: GateContext,
  queued: readonly Entry[],
  result: SearchResult,
): GateFacts {
  const imports = queued.filter((entry) => entry.kind === 'import');
  return {
    ...collectOwnFacts(outbox),
    ...(result.hasOthers ? findAttemptsElsewhere(outbox, account, imports) : {}),
    equalRecords: new Map(
      imports.map((entry) => [entry.uuid, listEqualRecords(outbox, entry, result)]),
    ),
    equalFiles: findEqualFiles(outbox, queued, result.withFiles),
    hiddenRecords: result.hidden,
    // The number is requested again right before it is sent.
    shownNumbers: new Map(
      queued.flatMap((entry) =>
        listShownNumber(outbox, entry, result.lookups.get(entry.identCely ?? '')),
      ),
    ),
  };
}

/** Collects the facts of this outbox alone. */
function collectOwnFacts(outbox: Outbox): GateFacts {
  const rejected = new Map<string, ReadonlySet<string>>();
  return {
    ...{
      attemptedByDigest: new Map(),
      attemptedByLocalId: new Map(),
      equalRecords: new Map(),
      equalFiles: new Map(),
    },
    ...{ hiddenRecords: new Map(), shownNumbers: new Map() },
    rejected: (entry) => {
      const rejectedIds = rejected.get(entry.uuid) ?? listRejectedCandidates(outbox, entry);
      rejected.set(entry.uuid, rejectedIds);
      return rejectedIds;
    },
    ownNumbers: (entry) =>
      entry.kind === 'number' ? listNumbersFromHere(outbox, entry) : new Set(),
  };
}

function listShownNumber(
  outbox: Outbox,
  { kind, identCely }: Entry,
  lookup: ListedFind | undefined,
): [string, string][] {
  if (kind !== 'number' || identCely === null || lookup?.kind !== 'shown') return [];
  const shown = findShownNumber(outbox, { find: lookup.record, changedMs: lookup.datestampMs });
  return shown === undefined ? [] : [[identCely, shown]];
}

function listShownFinds({ lookups }: HarvestedFinds): HarvestedFind[] {
  return [...lookups.values()].flatMap((lookup) =>
    lookup.kind === 'shown' ? [lookup.record] : [],
  );
}

/** Collects attempts of other outboxes of this machine with this account from the journal. */
function findAttemptsElsewhere(outbox: Outbox, account: string, imports: readonly ImportEntry[]) {
  const journal = assertJournal(outbox);
  const { outbox: ownOutbox } = readHeader(outbox);
  const attemptedByDigest = new Map<string, readonly AttemptedElsewhere[]>();
  const attemptedByLocalId = new Map<string, readonly AttemptedElsewhere[]>();
  for (const { digest, localId, attempts } of imports) {
    if (attempts > 0) continue;
    const findOthers = (by: { digest: string } | { localId: string }) =>
      journal
        .listEarlierAttempts(account, ownOutbox, by)
        .filter(({ entry }) => !hasEntry(outbox, entry));
    if (digest !== null) attemptedByDigest.set(digest, findOthers({ digest }));
    if (localId !== null) attemptedByLocalId.set(localId, findOthers({ localId }));
  }
  return { attemptedByDigest, attemptedByLocalId };
}

/** Returns records of this account that no event explains and that equal an unsent entry. */
function listEqualRecords(
  outbox: Outbox,
  entry: ImportEntry,
  { byDigest, equalTo, hasWithheld, uncertain }: SearchResult,
): readonly string[] {
  if (byDigest.size === 0) return [];
  const digests = [entry.digest ?? '', ...(hasWithheld ? [digestOpenFind(outbox, entry)] : [])];
  const alike = new Set(digests.flatMap((digest) => byDigest.get(digest) ?? []));
  const sent = alike.size === 0 ? undefined : parseSentElements(entry);
  if (sent === undefined) return [];
  const key = JSON.stringify([digests, sent]);
  const equal = equalTo.get(key) ?? [...alike].filter((find) => isSameReading(sent, find));
  equalTo.set(key, equal);
  return withoutExplained(equal, uncertain.get(entry.digest ?? '') ?? []).map(
    ({ identCely }) => identCely,
  );
}

/** Removes as many of the records as uncertain entries of the same digest may have made. */
function withoutExplained(
  equal: readonly HarvestedFind[],
  uncertain: readonly UncertainImport[],
): readonly HarvestedFind[] {
  const explained = equal.filter((find) =>
    uncertain.some(({ window }) => mayBeCreation(window, find)),
  );
  if (explained.length > uncertain.length) return equal;
  return equal.filter((find) => !explained.includes(find));
}

/**
 * Returns digests with the finder by identifier and by name, since a new person was sent by name.
 */
function listDigests({ elements, protectedWithheld }: HarvestedFind): string[] {
  const form = protectedWithheld ? 'open' : 'full';
  const { nalezce } = elements;
  const byName: HarvestedElements =
    typeof nalezce === 'object'
      ? { ...elements, nalezce: { id: NEW_PERSON, text: nalezce.text } }
      : elements;
  return [...new Set([asFoundDigest(elements, form), asFoundDigest(byName, form)])];
}

function digestOpenFind(outbox: Outbox, { findId }: ImportEntry): string {
  const find = findId === null ? undefined : findById(outbox, findId);
  return find === undefined ? '' : asFoundDigest(find.elements as FindElements, 'open');
}

/** Elements that the service may have changed since in an equal record. */
const MAY_DIFFER: readonly string[] = ['evidencni_cislo', 'predano', 'predano_organizace'];

function isSameReading(sent: HarvestedElements, find: HarvestedFind): boolean {
  return listDifferingElements(sent, find).every((name) => MAY_DIFFER.includes(name));
}

/** Returns, by project, listed records that are not shown and that no event explains. */
function listHiddenRecords(
  outbox: Outbox,
  listed: readonly string[],
): Map<string, readonly string[]> {
  const hidden = listed.filter((identCely) => findImportOfRecord(outbox, identCely) === undefined);
  const byProject = groupBy(hidden, getProjectOfRecord);
  return new Map([...byProject].filter(([project]) => !hasOtherWriters(outbox, project)));
}

function groupBy<T>(items: readonly T[], getKey: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(getKey(item));
    if (group === undefined) groups.set(getKey(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * Checks an entry right before it is sent: after a change, the service is searched again. The
 * number of a record is always requested again, to keep the time between check and request short.
 * @returns true if the entry must not be sent now
 * @throws as {@link holdEntriesWithQuestions}
 */
export async function holdBeforeDeparture(context: GateContext, entry: Entry): Promise<boolean> {
  if (context.judged.get(entry.id) !== getContentKey(entry)) {
    await holdEntriesWithQuestions(context);
    return true;
  }
  return entry.kind === 'number' && (await holdChangedNumber(context, entry));
}

async function holdChangedNumber(context: GateContext, entry: NumberEntry): Promise<boolean> {
  const { outbox, lookup } = context;
  if (lookup === undefined || entry.identCely === null) return false;
  const record = await fetchCurrentRecord(lookup, entry.identCely);
  const shown = record === undefined ? undefined : findShownNumber(outbox, record);
  if (shown === undefined) return false;
  const shownNumbers = new Map([[entry.identCely, shown]]);
  const decision = checkDeparture(entry, { ...collectOwnFacts(outbox), shownNumbers });
  if (decision.kind === 'leave') return false;
  outbox.change(() => {
    const [now] = listQueuedEntries(outbox, [entry.id]);
    // An entry that was changed meanwhile is checked again.
    if (now !== undefined && getContentKey(now) === getContentKey(entry))
      schedule(outbox, entry.id, { held: decision.held });
  });
  return true;
}
