import { asServerMs } from '../base/clock.ts';
import { type Message, msg } from '../base/message.ts';
import { getChild } from '../base/xml/element.ts';
import { parseXml } from '../base/xml/parse.ts';
import type { HarvestedElements } from '../finds/fields.ts';
import { type HarvestedFind, parseHarvestedFind } from '../finds/harvested-find.ts';
import type { HarvestedFinds } from '../harvest/look-up-records.ts';
import { listAttempts, listFactsOfEntry } from '../outbox/decisions.ts';
import type { Attempt, AttemptBounds, Entry, ImportEntry } from '../outbox/entry.ts';
import { unpackAttempt } from '../outbox/facts.ts';
import { findLastImportAttempt } from '../outbox/ledger.ts';
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
  readonly lookups: HarvestedFinds['lookups'];
  /** The shown ones of them. */
  readonly finds: readonly HarvestedFind[];
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

/** Returns the elements of the document that was sent last, since the find may have been edited. */
export function parseSentElements(
  outbox: Outbox,
  entry: ImportEntry,
): HarvestedElements | undefined {
  const attempt = findLastImportAttempt(listFactsOfEntry(outbox, entry));
  const document =
    attempt === undefined
      ? (entry.document ?? undefined)
      : (unpackAttempt(attempt).content.document ?? undefined);
  if (document === undefined) return undefined;
  const bytes = typeof document === 'string' ? Buffer.from(document, 'utf8') : document;
  const find = getChild(parseXml(bytes).root, 'samostatny_nalez');
  return find === undefined ? undefined : parseHarvestedFind(find)?.elements;
}

/**
 * Returns the visibility class of a find: its state, and the organisations of its project and its
 * receiver.
 */
export function getShownKind(elements: HarvestedElements, stav: number): string {
  return [elements.projekt, elements.predano_organizace]
    .map(getReferenceId)
    .concat(String(stav))
    .join(' ');
}

/** Returns the identifier of a reference; '' for a text, a number or an absent element. */
export function getReferenceId(value: HarvestedElements[keyof HarvestedElements]): string {
  return typeof value === 'object' ? value.id : '';
}

/** Judges an import that the harvest does not show. */
export function judgeAbsence(window: AttemptWindow, kind: string, view: View): Verdict {
  if (!isExpectedToShow(window, view.shown.get(kind), view.harvester)) {
    const reason = msg`the harvest shows no other record that this account created in this project and state, so that this one is missing proves nothing`;
    return makeUndecided('no-like-record-shown', reason, []);
  }
  return (
    explainTooEarly(window, view) ?? {
      kind: 'absent',
      basis: 'not-among-those-shown',
      reason: msg`the harvest shows this account's records in the same state, but not this one`,
      candidates: [],
    }
  );
}

/**
 * An account may see its own records and not those of another, so only its own harvest proves
 * absence.
 */
function isExpectedToShow(
  { accounts }: AttemptWindow,
  makers: ReadonlySet<string> | undefined,
  harvester: string | undefined,
): boolean {
  if (accounts.size === 0 || makers === undefined) return false;
  return [...accounts].every((account) => account === harvester && makers.has(account));
}

/**
 * Explains why a write may exist though a harvest does not show it; undefined where it would be
 * visible by now. The service must have finished the write, and its index must have had time to
 * catch up.
 * @param shownMs last change of the record, where the write was a change of it
 */
export function explainTooEarly(
  { bounds }: AttemptWindow,
  { nowMs, index }: ViewTime,
  shownMs = Number.NEGATIVE_INFINITY,
): Verdict | undefined {
  if (bounds === undefined) return makeTimeUnknownVerdict([]);
  const { fromMs, settledMs } = bounds;
  if (nowMs <= settledMs) return makeInFlightVerdict(settledMs, nowMs);
  const behind = [...index.unlisted].find(
    ([, acceptedMs]) => acceptedMs >= fromMs - CLOCK_MARGIN_MS,
  );
  if (behind !== undefined) return makeIndexBehindVerdict(behind[0]);
  const waitMs = settledMs + index.allowanceMs - nowMs;
  if (shownMs >= settledMs || waitMs <= 0) return undefined;
  const seconds = Math.ceil(waitMs / 1000);
  const reason = msg`the service may show new records late; ask again in ${seconds} s`;
  return makeUndecided('index-may-lag', reason, []);
}

/** Makes the verdict for a write that the service, or a proxy, may not have finished. */
export function makeInFlightVerdict(settledMs: number, nowMs: number): Verdict {
  const seconds = Math.ceil((settledMs - nowMs) / 1000);
  return makeUndecided(
    'maybe-under-way',
    msg`the service may still be working on it; ask again in ${seconds} s`,
    [],
  );
}

/** Without a server time before the attempt, evidence is shown to a person and settles nothing. */
export function makeTimeUnknownVerdict(candidates: readonly string[]): Verdict {
  return makeUndecided(
    'time-unknown',
    msg`the service did not state its time before the attempt, so a person decides`,
    candidates,
  );
}

/**
 * @param missing a record or file that the harvest does not show, although the service accepted it
 */
export function makeIndexBehindVerdict(missing: string): Verdict {
  const reason = msg`the harvest does not show ${missing} either, which the service has accepted since: its index lags behind`;
  return makeUndecided('index-behind', reason, []);
}
