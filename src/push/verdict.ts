import { asServerMs } from '../base/clock.ts';
import type { Message } from '../base/message.ts';
import type { HarvestedFind } from '../find/harvested-find.ts';
import type { Attempt, AttemptBounds, Entry } from '../outbox/entry.ts';
import { listAttempts } from '../outbox/entry-facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';

/**
 * Verdict about a write of unknown outcome. Presence decides; absence decides only where the write
 * would have been visible. Times are the server's, milliseconds since 1970 UTC.
 */
export type Verdict = Grounds &
  (
    | { readonly kind: 'found'; readonly identCely: string }
    | { readonly kind: 'absent' }
    | { readonly kind: 'undecided' }
  );

export type ReconciledEntry = { readonly entry: Entry; readonly verdict: Verdict };

/** Basis of a verdict: a stable code for programs, a text, and the considered records or files. */
type Grounds = {
  readonly basis: Basis;
  readonly reason: Message;
  readonly candidates: readonly string[];
};

export type Basis =
  | 'same-and-new'
  | 'ambiguous-match'
  | 'time-unknown'
  | 'several-same'
  | 'same-different-origin'
  | 'similar-new'
  | 'deleted-since'
  | 'no-like-record-shown'
  | 'maybe-under-way'
  | 'index-behind'
  | 'index-may-lag'
  | 'not-among-those-shown'
  | 'record-not-shown'
  | 'same-digest'
  | 'same-name-and-new'
  | 'several-files'
  | 'other-name-and-new'
  | 'same-number'
  | 'other-number'
  | 'number-as-before'
  | 'not-looked-up'
  | 'find-absent';

/** The judged attempts: interval of possible execution, and accounts. */
export type AttemptWindow = {
  /**
   * Undefined where the server time was unknown before one of them: then nothing is settled
   * automatically.
   */
  readonly bounds: AttemptBounds | undefined;
  /** The service's identifiers of the accounts. */
  readonly accounts: ReadonlySet<string>;
};

export type ViewTime = { readonly nowMs: number; readonly index: IndexEvidence };

/** A harvest, and this outbox's knowledge of it. */
export type View = ViewTime & {
  readonly finds: ReadonlyMap<string, HarvestedFind>;
  /**
   * Tells if an entry of this outbox, or of another one of the account on this machine, made the
   * record. With the current record: if it is still that of the entry here, since a service
   * restored from a backup assigns an identifier a second time.
   */
  readonly isOwned: (identCely: string, shown?: HarvestedFind) => boolean;
  /** Tells if the record equals what the entry that made it sent, except for its number. */
  readonly readsAsSent: (identCely: string, shown: HarvestedFind) => boolean;
  /**
   * By visibility class, the accounts of known visible records: the harvest would show others of
   * theirs, too.
   */
  readonly shown: ReadonlyMap<string, ReadonlySet<string>>;
  /** Account of the harvest; undefined for an anonymous one, or where it is unknown. */
  readonly harvester: string | undefined;
  /** Finds that are listed without content, with the time of their last change. */
  readonly withheld: ReadonlyMap<string, number>;
  /** Finds that are listed as deleted, with the time of the deletion. */
  readonly deleted: ReadonlyMap<string, number>;
};

/** Delay of the service's harvest index, which lists new records some time after they were made. */
type IndexEvidence = {
  /** Accepted records that are not listed, with the time of acceptance. */
  readonly unlisted: ReadonlyMap<string, number>;
  /**
   * Maximum delay of a new record, in milliseconds. A later record in the list proves nothing: the
   * order may differ.
   */
  readonly allowanceMs: number;
};

/** Tolerance for the clocks of two machines, and for a header with whole seconds. */
export const CLOCK_MARGIN_MS = 5000;

export function makeUndecided(
  basis: Basis,
  reason: Message,
  candidates: readonly string[],
): Verdict {
  return { kind: 'undecided', basis, reason, candidates };
}

/** Tells if one of the accounts made it within the bounds, where there are any. */
export function isWithinWindow(
  { bounds, accounts }: AttemptWindow,
  event: { readonly at: string; readonly user: string },
): boolean {
  if (!accounts.has(event.user)) return false;
  const atMs = Date.parse(event.at);
  return (
    bounds === undefined ||
    (atMs >= bounds.fromMs - CLOCK_MARGIN_MS && atMs <= bounds.untilMs + CLOCK_MARGIN_MS)
  );
}

/**
 * Returns the interval in which an entry's attempts may have taken effect, by the server's clock,
 * and their accounts.
 */
export function getAttemptWindow(outbox: Outbox, entry: Entry): AttemptWindow {
  const attempts = selectRelevantAttempts(listAttempts(outbox, entry));
  const bounds = attempts.flatMap(({ bounds: each }) => each ?? []);
  const accounts = new Set(attempts.map(({ account }) => account));
  return {
    accounts,
    bounds:
      bounds.length === attempts.length && attempts.length > 0 ? uniteBounds(bounds) : undefined,
  };
}

/** Returns attempts of unknown outcome; without any, the accepted one. */
function selectRelevantAttempts(attempts: readonly Attempt[]): readonly Attempt[] {
  const unknown = attempts.filter(
    ({ outcome }) => outcome === null || outcome === 'uncertain' || outcome === 'orphaned',
  );
  if (unknown.length > 0) return unknown;
  return attempts
    .filter(({ outcome }) => outcome === 'accepted' || outcome === 'already-applied')
    .slice(-1);
}

function uniteBounds(bounds: readonly AttemptBounds[]): AttemptBounds {
  return {
    fromMs: asServerMs(Math.min(...bounds.map(({ fromMs }) => fromMs))),
    untilMs: asServerMs(Math.max(...bounds.map(({ untilMs }) => untilMs))),
    settledMs: asServerMs(Math.max(...bounds.map(({ settledMs }) => settledMs))),
  };
}

/**
 * Returns the earliest time at which an attempt may have reached the service; undefined where the
 * server time was unknown.
 */
export function findEarliestMs(outbox: Outbox, entry: Entry): number | undefined {
  return getAttemptWindow(outbox, entry).bounds?.fromMs;
}
