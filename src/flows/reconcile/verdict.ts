import type { Message } from '../../base/message.ts';
import type { HarvestedFind } from '../../find/harvested-find.ts';
import type { AttemptBounds } from '../../outbox/entry.ts';

/**
 * Evidence about writes of unknown end. What is found decides; what is not found decides only where it would have been
 * seen. Times are the server's, milliseconds since 1970 UTC.
 */
export type Verdict = Grounds &
  ({ readonly kind: 'found'; readonly identCely: string } | { readonly kind: 'absent' } | { readonly kind: 'undecided' });

/** What a verdict rests on: a stable code for programs, the same in words, and the records or files that were considered. */
type Grounds = { readonly basis: Basis; readonly reason: Message; readonly candidates: readonly string[] };

export type Basis =
  | 'same-and-new'
  | 'rival-find'
  | 'time-unknown'
  | 'several-same'
  | 'same-but-made-otherwise'
  | 'alike-and-new'
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

/** The attempts that are judged: when the service may have carried them out, and the accounts that made them. */
export type Window = {
  /** Undefined where the service had not said the time before one of them: then nothing settles by itself. */
  readonly bounds: AttemptBounds | undefined;
  /** The service's identifiers of the accounts. */
  readonly accounts: ReadonlySet<string>;
};

/** A harvest, and what this outbox knows of it. */
export type View = {
  readonly finds: ReadonlyMap<string, HarvestedFind>;
  readonly nowMs: number;
  /**
   * An entry of this outbox is known to have made the record. Given the record as it is now: it is still that entry's, since a service
   * that was put back from a backup gives an identifier a second time.
   */
  readonly isOwned: (identCely: string, shown?: HarvestedFind) => boolean;
  /** The record reads as the entry that made it was sent, but for its number. */
  readonly readsAsSent: (identCely: string, shown: HarvestedFind) => boolean;
  /**
   * By kind, the accounts that made the records which the harvest shows and that are known to have been made from here: it would
   * show others of theirs, too.
   */
  readonly shown: ReadonlyMap<string, ReadonlySet<string>>;
  /** The account that the harvest is made with; undefined for nobody's, or where that is not known. */
  readonly harvester: string | undefined;
  /** Finds that are listed but not shown, with the time of their last change. */
  readonly withheld: ReadonlyMap<string, number>;
  /** Finds that are listed as deleted, with the time of that. */
  readonly deleted: ReadonlyMap<string, number>;
  readonly index: IndexEvidence;
};

/** How far the service's harvest index has come: it takes up new records some time after they were made. */
type IndexEvidence = {
  /** Records that the service accepted from here and does not list, with the time when it accepted them. */
  readonly unlisted: ReadonlyMap<string, number>;
  /** How long a new record may take to appear. That a later one is shown proves nothing: an index need not keep the order. */
  readonly allowanceMs: number;
};

/** The clocks of two machines, and a header that counts whole seconds, agree only roughly. */
export const CLOCK_MARGIN_MS = 5000;

export function undecided(basis: Basis, reason: Message, candidates: readonly string[]): Verdict {
  return { kind: 'undecided', basis, reason, candidates };
}

/** Made by one of the accounts, inside the bounds; without bounds, by one of the accounts. */
export function fits({ bounds, accounts }: Window, made: { readonly at: string; readonly user: string }): boolean {
  if (!accounts.has(made.user)) return false;
  const atMs = Date.parse(made.at);
  return bounds === undefined || (atMs >= bounds.fromMs - CLOCK_MARGIN_MS && atMs <= bounds.untilMs + CLOCK_MARGIN_MS);
}
