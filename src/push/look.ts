import { groupBy } from '../base/collections.ts';
import { AuthError } from '../base/errors.ts';
import { computeOverlapMs } from '../harvest/harvest-records.ts';
import { type HarvestedFinds, harvestFinds, lookUpRecord } from '../harvest/pull-finds.ts';
import type { Entry, HeldQuestion, NumberEntry } from '../outbox/entry.ts';
import {
  getProject,
  listHeldEntries,
  listQueuedEntries,
  listQueuedSummaries,
  storeQuestion,
} from '../outbox/entry-queries.ts';
import { getSourceOfQuestion, judgeDeparture, type Knowledge } from '../outbox/gate.ts';
import { type Outbox, readHeader, updateHeader } from '../outbox/open-outbox.ts';
import { getLastSearchAt, storeSearchTime } from '../outbox/views/records-at-service.ts';
import { getSlotState } from '../outbox/wishes.ts';
import {
  gatherKnowledge,
  gatherRecordKnowledge,
  indexSearchResult,
  runInSlices,
  type Searcher,
} from './gather-knowledge.ts';
import { findEqualFiles } from './judge-change.ts';
import type { SearchContext } from './reconcile-entries.ts';

/** Knowledge of the gate of one round. */
export type Gate = Searcher & {
  /** Called once, where the service refuses the account for harvesting. */
  readonly onRefused?: () => void;
  /**
   * Time in milliseconds before the oldest unsent entry at which the first search of a project
   * begins.
   */
  readonly lookBackMs: number;
  /** Undefined where no answer has come yet. */
  readonly serverNowMs: number | undefined;
  /**
   * Content of each entry when the gate checked it, by row: a new or changed entry is checked again
   * before it is sent.
   */
  readonly judged: Map<number, string>;
};

const DAY_MS = 24 * 3600 * 1000;

/**
 * Asks about entries with an open question, and ends the questions of those without. One harvest
 * covers all projects; the time is linear in records plus entries.
 * @returns the held entries
 * @throws as {@link harvestFinds}; the reason of the signal
 */
export async function holdEntriesWithQuestions(context: Gate): Promise<Entry[]> {
  const { outbox, lookup, stop } = context;
  const waiting = listQueuedSummaries(outbox);
  if (waiting.length === 0) return [];
  const fromMs = lookup === undefined ? 0 : computeSearchStart(context, lookup, waiting);
  const harvest = await searchUnlessRefused(context, (open) => harvestFinds(open, fromMs));
  const result = await indexSearchResult(context, harvest);
  const projects = new Set(waiting.map(({ project }) => project));
  // Entries queued meanwhile are checked as well, if their project was searched.
  const searched = listQueuedSummaries(outbox).filter(({ project }) => projects.has(project));
  await runInSlices(searched, stop, (slice) =>
    outbox.change(() => {
      const queued = listQueuedEntries(
        outbox,
        slice.map(({ id }) => id),
      );
      const files = findEqualFiles(outbox, queued, result.withFiles);
      for (const entry of queued) {
        updateQuestion(outbox, entry, gatherKnowledge(outbox, entry, result, files), harvest);
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
  } else if (readHeader(outbox).mustLook) {
    // The questions stay until an answer or a search settles them.
    outbox.change(() => updateHeader(outbox, { mustLook: false }));
  }
  return held;
}

/**
 * Records the search of each project. While an entry is held, the next search includes the period
 * of this one.
 */
function recordSearches(
  outbox: Outbox,
  projects: ReadonlySet<string>,
  held: readonly Entry[],
  at: { beganMs: number; endedMs: number },
): void {
  const open = new Set(held.map((entry) => getProject(entry)));
  for (const project of projects) {
    const isOpen = open.has(project);
    storeSearchTime(outbox, project, isOpen ? at.beganMs : at.endedMs, isOpen);
  }
  if (held.length === 0) updateHeader(outbox, { mustLook: false });
}

/** Searches the service; one that refuses the account is not searched again. */
async function searchUnlessRefused<T>(
  context: Gate,
  search: (lookup: SearchContext) => Promise<T>,
): Promise<T | undefined> {
  if (context.lookup === undefined) return undefined;
  try {
    return await search(context.lookup);
  } catch (thrown) {
    if (!(thrown instanceof AuthError)) throw thrown;
    context.lookup = undefined;
    context.onRefused?.();
    return undefined;
  }
}

/** Returns a text that changes with the content that the entry sends. */
export function getContentKey(entry: Entry): string {
  return entry.kind === 'photo' ? `${entry.intent} ${entry.photograph.name}` : entry.intent;
}

/** Stores the question about an entry, or ends the one that its knowledge no longer asks. */
function updateQuestion(
  outbox: Outbox,
  entry: Entry,
  knowledge: Knowledge,
  harvest: HarvestedFinds | undefined,
): void {
  const basis = entry.held?.basis;
  const from = basis === undefined ? undefined : getSourceOfQuestion(basis);
  if (from === 'entrance' || (from === 'service' && harvest === undefined)) return;
  const question = findQuestion(outbox, entry, knowledge);
  // A record that has not changed since still has the number of the question.
  const isStill =
    basis === 'number-changed' && harvest?.lookups.has(entry.identCely ?? '') !== true;
  if (question !== undefined) storeQuestion(outbox, entry.id, question);
  else if (entry.held !== null && !isStill) storeQuestion(outbox, entry.id, null);
}

function findQuestion(
  outbox: Outbox,
  entry: Entry,
  knowledge: Knowledge,
): HeldQuestion | undefined {
  return judgeDeparture(entry, knowledge, getSlotState(outbox, entry).rejected);
}

/**
 * Returns the begin of the search: the last complete search of each project, less overlap and index
 * allowance; for the first one, `lookBackMs` before the oldest unsent entry. At most a day before
 * the server's now, since the wall clock may be wrong.
 */
function computeSearchStart(
  { outbox, lookBackMs, serverNowMs }: Gate,
  lookup: SearchContext,
  waiting: ReturnType<typeof listQueuedSummaries>,
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

/**
 * Checks an entry right before it is sent: after a change, the service is searched again. The
 * number of a record is always requested again, to keep the time between check and request short.
 * @returns true if the entry must not be sent now
 * @throws as {@link holdEntriesWithQuestions}
 */
export async function holdBeforeDeparture(context: Gate, entry: Entry): Promise<boolean> {
  if (context.judged.get(entry.id) !== getContentKey(entry)) {
    await holdEntriesWithQuestions(context);
    return true;
  }
  return entry.kind === 'number' && (await holdChangedNumber(context, entry));
}

async function holdChangedNumber(context: Gate, entry: NumberEntry): Promise<boolean> {
  const { outbox } = context;
  const { identCely } = entry;
  if (identCely === null) return false;
  const listed = await searchUnlessRefused(context, (lookup) => lookUpRecord(lookup, identCely));
  const question = findQuestion(outbox, entry, gatherRecordKnowledge(outbox, entry, listed));
  if (question === undefined) return false;
  outbox.change(() => {
    const [now] = listQueuedEntries(outbox, [entry.id]);
    // An entry that was changed meanwhile is checked again.
    if (now !== undefined && getContentKey(now) === getContentKey(entry))
      storeQuestion(outbox, entry.id, question);
  });
  return true;
}
