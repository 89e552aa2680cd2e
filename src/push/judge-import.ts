import { asServerMs } from '../base/clock.ts';
import { type Message, msg } from '../base/message.ts';
import { getChild } from '../base/xml/element.ts';
import { parseXml } from '../base/xml/parse.ts';
import type { HarvestedElements } from '../finds/fields.ts';
import {
  CREATION,
  countDifferencesBesideNumber,
  type HarvestedFind,
  type HistoryEntry,
  listDifferingElements,
  parseHarvestedFind,
} from '../finds/harvested-find.ts';
import { DAY_MS } from '../harvest/protocol.ts';
import type { HarvestedFinds } from '../harvest/pull-finds.ts';
import { getSlotState, listFactsOfSubject } from '../outbox/append-facts.ts';
import type { AttemptBounds } from '../outbox/attempt-bounds.ts';
import { listEffectiveAttempts, listUnsettledAttemptIds } from '../outbox/attempts.ts';
import type { Attempt, Entry, ImportEntry } from '../outbox/entry.ts';
import { unpackAttempt } from '../outbox/facts.ts';
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

/** An uncertain entry as it was before, and its verdict. */
export type ReconciledEntry = { readonly entry: Entry; readonly verdict: Verdict };

/** Basis of a verdict: a stable code for programs, a text, and the considered records or files. */
type Grounds = {
  readonly basis: Basis;
  readonly reason: Message;
  readonly candidates: readonly string[];
};

/** Stable codes of the reasons for a verdict; docs/reliability.md says what each side takes. */
export type Basis =
  | 'same-and-new'
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

/** The server's clock at the harvest, and what shows how far the index lags behind it. */
export type ViewTime = { readonly nowMs: number; readonly index: IndexEvidence };

/** A harvest, and this outbox's knowledge of it. */
export type HarvestView = ViewTime & {
  readonly lookups: HarvestedFinds['lookups'];
  /** The shown ones of them. */
  readonly finds: readonly HarvestedFind[];
  /**
   * Tells if a find of this outbox, or of another account on this machine, has the record. With the
   * current record: if it is still that of the find here, since a service restored from a backup
   * assigns an identifier a second time.
   */
  readonly isExplained: (identCely: string, shown?: HarvestedFind) => boolean;
  /** Counts the differences of a record from what the find that has it here sent. */
  readonly countDifferencesOfOwner: (identCely: string, shown: HarvestedFind) => number;
  /**
   * By visibility class, the accounts of known visible records: the harvest would show others of
   * theirs.
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

/** Makes the verdict that leaves an entry uncertain; candidates are records, files or numbers. */
export function makeUndecidedVerdict(
  basis: Basis,
  reason: Message,
  candidates: readonly string[] = [],
): Verdict {
  return { kind: 'undecided', basis, reason, candidates };
}

/** Makes the verdict that an entry did not arrive, by which it may be sent again. */
export function makeAbsentVerdict(basis: Basis, reason: Message): Verdict {
  return { kind: 'absent', basis, reason, candidates: [] };
}

/**
 * Tells if an event is by one of a window's accounts and, with a margin, within its bounds if any.
 */
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
 * Returns when the attempts by which the service has, or may have, what an entry sends took effect,
 * and by which accounts. `bounds` as {@link makeAttemptWindow} makes them.
 */
export function getAttemptWindow(outbox: Outbox, entry: Entry): AttemptWindow {
  return makeAttemptWindow(listEffectiveAttempts(outbox, entry));
}

/**
 * Makes the window of attempts: from the earliest to the latest of their bounds, with all accounts.
 * `bounds` is undefined without attempts, or where the server time of one of them is unknown.
 * @param attempts those by which the service has, or may have, what the entry sends
 */
export function makeAttemptWindow(attempts: readonly Attempt[]): AttemptWindow {
  const bounds = attempts.flatMap(({ bounds: each }) => each ?? []);
  const accounts = new Set(attempts.map(({ account }) => account));
  return {
    accounts,
    bounds:
      bounds.length === attempts.length && attempts.length > 0 ? uniteBounds(bounds) : undefined,
  };
}

function uniteBounds(bounds: readonly AttemptBounds[]): AttemptBounds {
  return {
    fromMs: asServerMs(Math.min(...bounds.map(({ fromMs }) => fromMs))),
    untilMs: asServerMs(Math.max(...bounds.map(({ untilMs }) => untilMs))),
    settledMs: asServerMs(Math.max(...bounds.map(({ settledMs }) => settledMs))),
  };
}

/**
 * Returns the elements that the service has of an import, or may have, from the document as it was
 * sent, since the find may have been edited. Where nothing has arrived, those of the wanted
 * document; undefined where there is no document, or no find in it.
 * @throws XmlSyntaxError where the document is damaged
 */
export function getSentElements(outbox: Outbox, entry: ImportEntry): HarvestedElements | undefined {
  const facts = listFactsOfSubject(outbox, entry.subject);
  const last = listEffectiveAttempts(outbox, entry, facts).at(-1)?.id;
  const attempt = facts.find(({ id }) => id === last);
  const document =
    attempt?.kind === 'attempted'
      ? (unpackAttempt(attempt).content.document ?? undefined)
      : (entry.document ?? undefined);
  if (document === undefined) return undefined;
  const bytes = typeof document === 'string' ? Buffer.from(document, 'utf8') : document;
  const find = getChild(parseXml(bytes).root, 'samostatny_nalez');
  return find === undefined ? undefined : parseHarvestedFind(find)?.elements;
}

/**
 * Makes a key of the find's project, receiving organisation and state: these three decide whether
 * a harvest shows a record to an account.
 */
export function makeVisibilityKey(elements: HarvestedElements, stav: number): string {
  return [elements.projekt, elements.predano_organizace]
    .map(getReferenceId)
    .concat(String(stav))
    .join(' ');
}

/** Returns the identifier of a reference; '' for a text, a number or an absent element. */
function getReferenceId(value: HarvestedElements[keyof HarvestedElements]): string {
  return typeof value === 'object' ? value.id : '';
}

/** Judges an import that the harvest does not show. */
function judgeAbsence(window: AttemptWindow, kind: string, view: HarvestView): Verdict {
  if (!isExpectedToShow(window, view.shown.get(kind), view.harvester)) {
    const reason = msg`the harvest shows no other record that this account created in this project and state, so that this one is missing proves nothing`;
    return makeUndecidedVerdict('no-like-record-shown', reason);
  }
  const reason = msg`the harvest shows this account's records in the same state, but not this one`;
  return makeTooEarlyVerdict(window, view) ?? makeAbsentVerdict('not-among-those-shown', reason);
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
 * Makes the undecided verdict about a write that may exist though a harvest does not show it, also
 * where the time of the attempt is unknown. Undefined where the harvest would show it by now: the
 * service must have finished the write, and its index must have had time to catch up.
 * @param shownMs last change of the record by the service's clock, in milliseconds since 1970 UTC,
 * where the write was a change of it
 */
export function makeTooEarlyVerdict(
  { bounds }: AttemptWindow,
  { nowMs, index }: ViewTime,
  shownMs = Number.NEGATIVE_INFINITY,
): Verdict | undefined {
  if (bounds === undefined) return makeTimeUnknownVerdict();
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
  return makeUndecidedVerdict('index-may-lag', reason);
}

/** Makes the undecided verdict about a write that service or proxy may finish until `settledMs`. */
export function makeInFlightVerdict(settledMs: number, nowMs: number): Verdict {
  const seconds = Math.ceil((settledMs - nowMs) / 1000);
  return makeUndecidedVerdict(
    'maybe-under-way',
    msg`the service may still be working on it; ask again in ${seconds} s`,
  );
}

/** Makes the undecided verdict where the server time was unknown before an attempt. */
export function makeTimeUnknownVerdict(candidates: readonly string[] = []): Verdict {
  return makeUndecidedVerdict(
    'time-unknown',
    msg`the service did not state its time before the attempt, so a person decides`,
    candidates,
  );
}

/**
 * Makes the undecided verdict where the harvest lacks `missing` as well, a record or file that the
 * service accepted after the judged attempt began.
 */
export function makeIndexBehindVerdict(missing: string): Verdict {
  const reason = msg`the harvest does not show ${missing} either, which the service has accepted since: its index lags behind`;
  return makeUndecidedVerdict('index-behind', reason);
}

/** An import that was sent, or may have been. */
export type SentImport = {
  readonly entryId: number;
  readonly elements: HarvestedElements;
  readonly window: AttemptWindow;
  /** The record that it had, and that the service gave to another find. */
  readonly lost: string | undefined;
};

/**
 * Returns what was sent of imports, and when; of one that was never sent, what is wanted. Numbers,
 * photographs, and imports without the document of a find are left out.
 * @throws XmlSyntaxError for a document that is no XML
 */
export function listSentImports(outbox: Outbox, entries: readonly Entry[]): SentImport[] {
  return entries.flatMap((entry) => {
    const elements = entry.kind === 'import' ? getSentElements(outbox, entry) : undefined;
    return elements === undefined
      ? []
      : [
          {
            entryId: entry.id,
            elements,
            window: getAttemptWindow(outbox, entry),
            lost: findLostRecord(outbox, entry),
          },
        ];
  });
}

function findLostRecord(outbox: Outbox, entry: Entry): string | undefined {
  const open = listUnsettledAttemptIds(outbox, entry);
  const detachment = getSlotState(outbox, entry).decisions.find(
    ({ body }) => body.answer === 'detach' && body.attempts.some((id) => open.includes(id)),
  );
  return detachment?.body.identCely ?? undefined;
}

/** An import with the records that equal it, and those of them that were made in its window. */
type ImportCase = {
  readonly judged: SentImport;
  readonly alike: readonly HarvestedFind[];
  readonly fitting: readonly HarvestedFind[];
};

/**
 * Judges from a harvest whether uncertain imports were carried out, and returns the verdict on each
 * by the row id of its entry. Finds with equal elements are told apart by time, or stay undecided.
 * @param uncertain all uncertain imports, since a record may belong to any of them
 */
export function judgeImports(
  uncertain: readonly SentImport[],
  view: HarvestView,
): Map<number, Verdict> {
  const cases = uncertain.map((judged): ImportCase => {
    const alike = view.finds.filter(
      (find) => isLike(judged, find) && !view.isExplained(find.identCely, find),
    );
    const fitting = alike.filter((find) => isMadeInWindow(judged.window, find));
    return { judged, alike, fitting };
  });
  const claims = new Map<string, number>();
  for (const { fitting } of cases)
    for (const { identCely } of fitting) claims.set(identCely, (claims.get(identCely) ?? 0) + 1);
  return new Map(
    cases.map((each) => [each.judged.entryId, judgeImport(each, claims, view)] as const),
  );
}

function judgeImport(
  { judged, alike, fitting }: ImportCase,
  claims: ReadonlyMap<string, number>,
  view: HarvestView,
): Verdict {
  const candidates = alike.map(({ identCely }) => identCely);
  const [only] = fitting;
  if (only !== undefined && judged.window.bounds === undefined)
    return makeTimeUnknownVerdict(candidates);
  if (only !== undefined && fitting.length === 1 && claims.get(only.identCely) === 1) {
    const reason = msg`${only.identCely} appeared since the attempt and is the same in every element that can be read`;
    return { kind: 'found', identCely: only.identCely, basis: 'same-and-new', reason, candidates };
  }
  if (only !== undefined) {
    const reason = msg`several records or uncertain finds are the same in every element, so it is unclear which belong together`;
    return makeUndecidedVerdict('several-same', reason, candidates);
  }
  if (alike.length > 0) {
    const reason = msg`a record is the same in every element, but it was made at another time or by another account`;
    return makeUndecidedVerdict('same-different-origin', reason, candidates);
  }
  const near = findSimilarRecords(judged, view).filter((identCely) => !claims.has(identCely));
  if (near.length > 0) {
    const reason = msg`a record that appeared in its project at that time may be this one, changed since or hidden`;
    return makeUndecidedVerdict('similar-new', reason, near);
  }
  const gone = listChangedSince(judged, 'deleted', view);
  if (gone.length > 0) {
    const reason = msg`a record of its project that may have been this one has been deleted since then`;
    return makeUndecidedVerdict('deleted-since', reason, gone);
  }
  // It did arrive: that its record is gone does not mean that it is wanted again.
  if (judged.lost !== undefined) {
    const reason = msg`the service accepted it as ${judged.lost}, and has given that identifier to another find since: its record was deleted or lost`;
    return makeUndecidedVerdict('deleted-since', reason);
  }
  return judgeAbsence(
    judged.window,
    makeVisibilityKey(judged.elements, Number(judged.elements.stav)),
    view,
  );
}

function isLike(judged: SentImport, find: HarvestedFind): boolean {
  return listDifferingElements(judged.elements, find).length === 0;
}

/**
 * Returns records that this account made in the project in the window, or possible variants: the
 * service may have normalised a value or have had a wrong clock, and people may have corrected the
 * find, changed its state, or moved it to another project.
 */
function findSimilarRecords(judged: SentImport, view: HarvestView): string[] {
  // One that is more like this find than like its owner may have an identifier that was assigned
  // again, by a restored service or after a deletion.
  const isAnothers = (find: HarvestedFind): boolean =>
    view.isExplained(find.identCely, find) &&
    countDifferencesBesideNumber(judged.elements, find) >=
      view.countDifferencesOfOwner(find.identCely, find);
  const shown = view.finds.filter((find) => isNear(judged, find) && !isAnothers(find));
  return [
    ...shown.map(({ identCely }) => identCely),
    ...listChangedSince(judged, 'withheld', view).filter((ident) => !view.isExplained(ident)),
  ];
}

/**
 * Returns records of its project, known only by header, that changed since, also those of other
 * entries: the service may have given it the identifier of a record that was deleted before.
 */
function listChangedSince(
  { elements, window }: SentImport,
  kind: 'withheld' | 'deleted',
  view: HarvestView,
): string[] {
  return [...view.lookups]
    .filter(
      ([identCely, listed]) =>
        listed.kind === kind &&
        (window.bounds === undefined ||
          listed.datestampMs >= window.bounds.fromMs - CLOCK_MARGIN_MS) &&
        identCely.startsWith(`${getReferenceId(elements.projekt)}-`),
    )
    .map(([identCely]) => identCely);
}

/** Most elements that differ in a corrected version, which may have another time or project. */
const MAX_CORRECTED = 2;

function isNear(judged: SentImport, find: HarvestedFind): boolean {
  if (!judged.window.accounts.has(findCreationEvent(find)?.user ?? '')) return false;
  if (
    getReferenceId(find.elements.projekt) === getReferenceId(judged.elements.projekt) &&
    isMadeInWindow(judged.window, find)
  )
    return true;
  return (
    listDifferingElements(judged.elements, find).filter((name) => name !== 'projekt').length <=
    MAX_CORRECTED
  );
}

/**
 * Tells if a record, as it is shown now, is still the one that an import made, by maker and time,
 * or the one that a person named for it: the service may give the identifier of a lost or deleted
 * record to another find later. True where maker and time are unknown.
 * @param owner the import that has the record here
 */
export function isMadeByImport(outbox: Outbox, owner: ImportEntry, record: HarvestedFind): boolean {
  const window = getAttemptWindow(outbox, owner);
  const creation = findCreationEvent(record);
  if (window.accounts.size === 0 || creation === undefined || isWithinWindow(window, creation))
    return true;
  // This machine's clock may be wrong by hours.
  return getSlotState(outbox, owner).decisions.some(
    ({ body }) =>
      body.answer === 'created' &&
      body.identCely === record.identCely &&
      Date.parse(creation.at) <= body.at + DAY_MS,
  );
}

/** Tells if a record was made in a window, by one of its accounts; false without a history. */
export function isMadeInWindow(window: AttemptWindow, find: HarvestedFind): boolean {
  const creation = findCreationEvent(find);
  return creation !== undefined && isWithinWindow(window, creation);
}

/** Returns the event by which a record was made, or else its first; undefined where it has none. */
export function findCreationEvent({ history }: HarvestedFind): HistoryEntry | undefined {
  return history.find(({ type }) => type === CREATION) ?? history[0];
}
