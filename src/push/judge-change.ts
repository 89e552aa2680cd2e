import { memoize } from '../base/collections.ts';
import { type Message, msg } from '../base/message.ts';
import {
  FORBIDDEN_TEXT,
  type HarvestedFile,
  type HarvestedFind,
  type HistoryEntry,
} from '../finds/harvested-find.ts';
import { DAY_MS } from '../harvest/protocol.ts';
import type { FindLookup } from '../harvest/pull-finds.ts';
import { listFactsOfSubject } from '../outbox/append-facts.ts';
import { listEffectiveAttempts } from '../outbox/attempts.ts';
import type { NumberEntry, PhotoEntry } from '../outbox/entry.ts';
import { listEntriesOfRecord } from '../outbox/entry-queries.ts';
import { getOriginalDigest } from '../outbox/facts.ts';
import { makeRecordSubject } from '../outbox/intents.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findAcceptedNumber } from '../outbox/views/records-at-service.ts';
import {
  type AttemptWindow,
  type Basis,
  CLOCK_MARGIN_MS,
  getAttemptWindow,
  getSentElements,
  isWithinWindow,
  makeAbsentVerdict,
  makeAttemptWindow,
  makeIndexBehindVerdict,
  makeInFlightVerdict,
  makeTimeUnknownVerdict,
  makeTooEarlyVerdict,
  makeUndecidedVerdict,
  type Verdict,
  type ViewTime,
} from './judge-import.ts';
import type { ChangeOfOtherAccount } from './other-accounts.ts';

type UncertainNumber = {
  readonly identCely: string;
  readonly value: string;
  /**
   * Numbers that the record may have without a change by another account; empty where they are
   * unknown.
   */
  readonly knownNumbers: ReadonlySet<string>;
  readonly window: AttemptWindow;
};

/**
 * Judges from its record if an uncertain number arrived: `found` where the record shows it;
 * `absent` where the record shows a number from before when it would show this one by now. Any
 * other number leaves it undecided, since another user may have replaced this one meanwhile.
 * @param listed the record as the harvest shows it now
 */
export function judgeNumber(judged: UncertainNumber, listed: FindLookup, view: ViewTime): Verdict {
  const { identCely, value, knownNumbers, window } = judged;
  if (listed.kind !== 'shown') return makeNotShownVerdict(identCely);
  const current = getNumber(listed.record);
  if (current === value) return judgeShownNumber(judged, listed.datestampMs, view);
  const isOlder =
    window.bounds !== undefined && listed.datestampMs < window.bounds.fromMs - CLOCK_MARGIN_MS;
  const isAsBefore = knownNumbers.size > 0 ? knownNumbers.has(current) : current === '' || isOlder;
  if (!isAsBefore) {
    const reason =
      current === ''
        ? msg`${identCely} has no number now; ${value} was to be set`
        : msg`${identCely} now has the number ${current}; ${value} was to be set`;
    return makeUndecidedVerdict('other-number', reason, [current]);
  }
  return (
    makeTooEarlyVerdict(window, view, listed.datestampMs) ??
    makeAbsentVerdict('number-as-before', msg`${identCely} still has its previous number`)
  );
}

/**
 * Judges a number that the record shows.
 * @param shownMs last change of the record, as the harvest shows it
 */
function judgeShownNumber(
  { identCely, value, window }: UncertainNumber,
  shownMs: number,
  view: ViewTime,
): Verdict {
  const { bounds } = window;
  if (bounds === undefined) return makeTimeUnknownVerdict([value]);
  const { fromMs, settledMs } = bounds;
  // A proxy may repeat the request, and so overwrite a later number: until then none is sent.
  if (view.nowMs <= settledMs) return makeInFlightVerdict(settledMs, view.nowMs);
  // The record may have had this number before another one: an index that lags still shows it.
  const tooEarly = shownMs < fromMs ? makeTooEarlyVerdict(window, view) : undefined;
  const reason = msg`${identCely} has this number`;
  return tooEarly ?? { kind: 'found', basis: 'same-number', identCely, reason, candidates: [] };
}

function makeNotShownVerdict(identCely: string): Verdict {
  const reason = msg`the harvest does not show ${identCely} to this account`;
  return makeUndecidedVerdict('record-not-shown', reason);
}

/**
 * Returns the numbers, '' for none, that the record of a number's entry may have without a change
 * by another user: the last accepted one of its subject, or without one that of its import; the
 * expected one; and those of unknown outcome.
 */
export function listNumbersFromHere(
  outbox: Outbox,
  { id, subject, identCely, expects }: NumberEntry,
): ReadonlySet<string> {
  const otherEntries = listEntriesOfRecord(outbox, identCely ?? '').filter(
    (entry) => entry.id !== id,
  );
  const numbers = otherEntries.filter(
    (entry) => entry.kind === 'number' && entry.subject === subject,
  ) as NumberEntry[];
  const importEntry = otherEntries.find(
    ({ kind, state }) => kind === 'import' && state === 'accepted',
  );
  const ofImport =
    importEntry?.kind === 'import'
      ? [getSentElements(outbox, importEntry)?.evidencni_cislo?.toString() ?? '']
      : [];
  const last = numbers.findLast(({ state }) => state === 'accepted')?.value;
  const open = numbers
    .filter(({ unknownAttempts }) => unknownAttempts > 0)
    .map(({ value }) => value);
  return new Set([
    ...(last === undefined ? ofImport : [last]),
    ...(expects === null ? [] : [expects]),
    ...open,
  ]);
}

type ShownFind = Extract<FindLookup, { kind: 'shown' }>;

/**
 * Returns the number of a record; undefined where the index shows the record as it was before the
 * last number from here.
 */
function findShownNumber(outbox: Outbox, { record, datestampMs }: ShownFind): string | undefined {
  const shown = getNumber(record);
  const last = findAcceptedNumber(outbox, makeRecordSubject(record.identCely));
  const bounds = last === undefined ? undefined : getAttemptWindow(outbox, last).bounds;
  // A datestamp in whole days does not tell.
  if (last === undefined || bounds === undefined || datestampMs % DAY_MS === 0) return shown;
  const isFormer = listNumbersFromHere(outbox, last).has(shown);
  return datestampMs <= (isFormer ? bounds.untilMs : bounds.fromMs - CLOCK_MARGIN_MS)
    ? undefined
    : shown;
}

/**
 * Returns, in a list of one, the number that a record has, where another user seems to have set it:
 * it is neither the new number nor one of {@link listNumbersFromHere}; of a record that the account
 * may not read, {@link FORBIDDEN_TEXT}. Empty where it is one of these, or unknown.
 * @param listed the record as the harvest shows it; where that is not its state of now, or nothing,
 * the number accepted last counts
 * @param ofOthers what other accounts sent to the record
 */
export function listChangedNumbers(
  outbox: Outbox,
  entry: NumberEntry,
  listed: FindLookup | undefined,
  ofOthers: readonly ChangeOfOtherAccount[],
): string[] {
  if (listed?.kind === 'withheld') return [FORBIDDEN_TEXT];
  const shown =
    findNumberOfOther(outbox, entry, listed, ofOthers) ??
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

/** Returns the number that another account sent after the last one from here, and not yet shown. */
function findNumberOfOther(
  outbox: Outbox,
  { subject }: NumberEntry,
  listed: FindLookup | undefined,
  ofOthers: readonly ChangeOfOtherAccount[],
): string | undefined {
  const shownMs = listed?.kind === 'shown' ? listed.datestampMs : 0;
  const accepted = findAcceptedNumber(outbox, subject);
  const ownAt =
    accepted === undefined ? 0 : (listEffectiveAttempts(outbox, accepted).at(-1)?.startedAt ?? 0);
  const later = ofOthers.findLast(
    ({ intent, attempt: { body } }) =>
      intent.kind === 'number' && body.at > ownAt && (body.fromMs ?? shownMs) >= shownMs,
  );
  return later?.intent.kind === 'number' ? later.intent.value : undefined;
}

function getNumber({ elements }: HarvestedFind): string {
  return elements.evidencni_cislo?.toString() ?? '';
}

/** A photograph that was sent, or may have been. */
export type SentPhoto = {
  readonly entryId: number;
  readonly identCely: string;
  readonly fileName: string;
  readonly sha512Hex: string;
  readonly window: AttemptWindow;
};

/**
 * Converts entries of photographs for {@link judgePhoto}: each with its file name, its SHA-512, the
 * window in which its attempts may have arrived, and its record, '' where that is unknown.
 */
export function toSentPhotos(outbox: Outbox, entries: readonly PhotoEntry[]): SentPhoto[] {
  // The photographs of a find have one subject, so its facts are read once for all of them.
  const listFacts = memoize((subject: string) => listFactsOfSubject(outbox, subject));
  return entries.map((entry) => ({
    entryId: entry.id,
    identCely: entry.identCely ?? '',
    fileName: entry.photograph.name,
    sha512Hex: entry.photograph.sha512,
    window: makeAttemptWindow(listEffectiveAttempts(outbox, entry, listFacts(entry.subject))),
  }));
}

/**
 * Judges from the files of its record if an uncertain photograph arrived. An equal digest is proof;
 * since the service may remove GPS data and so change the bytes, name, time and sender count as
 * well.
 * @param uncertain all uncertain photographs of the record
 * @param settled its photographs that are known to exist, whose files belong to them
 * @param listed the record as the harvest shows it now
 */
export function judgePhoto(
  judged: SentPhoto,
  uncertain: readonly SentPhoto[],
  settled: readonly SentPhoto[],
  listed: FindLookup,
  view: ViewTime,
): Verdict {
  if (listed.kind !== 'shown') return makeNotShownVerdict(judged.identCely);
  const { files } = listed.record;
  const owners = assignFiles(files, settled);
  const equal = files.find(
    (file) => file.sha512Hex === judged.sha512Hex && !isOfOther(owners.get(file), judged, file),
  );
  if (equal !== undefined) {
    const reason = msg`${equal.name} has the same digest`;
    return makeFoundVerdict(judged, 'same-digest', reason, [equal.name]);
  }
  const free = files.filter((file) => !owners.has(file));
  const shown = new Set(owners.values());
  return (
    judgeByUpload(judged, uncertain, free) ??
    judgeMissing(
      judged,
      settled.filter((other) => !shown.has(other)),
      listed.datestampMs,
      view,
    )
  );
}

/**
 * Tells if a file of the same bytes is the owner's; one that was deleted may have been sent again.
 */
function isOfOther(owner: SentPhoto | undefined, judged: SentPhoto, file: HarvestedFile): boolean {
  return (
    owner !== undefined && getDistanceMs(owner.window, file) <= getDistanceMs(judged.window, file)
  );
}

/**
 * Judges a photograph by name, time and sender of the files that belong to no other one; undefined
 * where none may be it.
 */
function judgeByUpload(
  judged: SentPhoto,
  uncertain: readonly SentPhoto[],
  free: readonly HarvestedFile[],
): Verdict | undefined {
  const mine = free.filter((file) => isStoredAs(judged, file));
  const [only] = mine;
  const names = mine.map(({ name }) => name);
  const rivals = uncertain.filter((other) => mine.some((file) => isStoredAs(other, file)));
  if (only !== undefined && mine.length === 1 && rivals.length === 1) {
    const reason = msg`${only.name} was stored from a file of this name since the attempt, by this account`;
    return makeFoundVerdict(judged, 'same-name-and-new', reason, names);
  }
  if (mine.length > 0)
    return makeUndecidedVerdict(
      'several-files',
      msg`several files could be this photograph`,
      names,
    );
  const near = free.filter(
    (file) =>
      mayBeStoring(judged.window, file) && !uncertain.some((other) => isStoredAs(other, file)),
  );
  if (near.length === 0) return undefined;
  return makeUndecidedVerdict(
    'other-name-and-new',
    msg`a file that was stored at that time may be this photograph under another name`,
    near.map(({ name }) => name),
  );
}

/**
 * Judges a photograph of which the record shows nothing.
 * @param unlisted photographs that the record has, and does not show
 * @param shownMs last change of the record, as the harvest shows it
 */
function judgeMissing(
  judged: SentPhoto,
  unlisted: readonly SentPhoto[],
  shownMs: number,
  view: ViewTime,
): Verdict {
  const sinceMs = (judged.window.bounds?.fromMs ?? 0) - CLOCK_MARGIN_MS;
  const behind = unlisted.find(({ window }) => (window.bounds?.untilMs ?? 0) >= sinceMs);
  if (behind !== undefined) return makeIndexBehindVerdict(behind.fileName);
  const reason = msg`the harvest shows the files of ${judged.identCely}, and this is not one of them`;
  return (
    makeTooEarlyVerdict(judged.window, view, shownMs) ??
    makeAbsentVerdict('not-among-those-shown', reason)
  );
}

function makeFoundVerdict(
  judged: SentPhoto,
  basis: Basis,
  reason: Message,
  candidates: readonly string[],
): Verdict {
  if (judged.window.bounds === undefined) return makeTimeUnknownVerdict(candidates);
  return { kind: 'found', identCely: judged.identCely, basis, reason, candidates };
}

/**
 * Assigns one file to each settled photograph: by digest, else by name and nearest time. Cameras
 * reuse names, and clocks agree only roughly, so a photograph may also fit the file of the next
 * one.
 */
function assignFiles(
  files: readonly HarvestedFile[],
  settled: readonly SentPhoto[],
): ReadonlyMap<HarvestedFile, SentPhoto> {
  const owners = new Map<HarvestedFile, SentPhoto>();
  const byDigest = new Map(files.map((file) => [file.sha512Hex, file]));
  const changed = settled.filter((photo) => {
    const file = byDigest.get(photo.sha512Hex);
    if (file !== undefined) owners.set(file, photo);
    return file === undefined;
  });
  for (const photo of changed) {
    const fitting = files.filter((file) => !owners.has(file) && isStoredAs(photo, file));
    const nearest = fitting
      .toSorted(
        (one, other) => getDistanceMs(photo.window, one) - getDistanceMs(photo.window, other),
      )
      .at(0);
    if (nearest !== undefined) owners.set(nearest, photo);
  }
  return owners;
}

/** Returns the milliseconds between a file's upload and the bounds of the attempts. */
function getDistanceMs({ bounds }: AttemptWindow, file: HarvestedFile): number {
  const atMs = Date.parse(findStoring(file)?.at ?? '');
  return bounds === undefined || Number.isNaN(atMs)
    ? 0
    : Math.max(0, bounds.fromMs - atMs, atMs - bounds.untilMs);
}

function isStoredAs(photo: SentPhoto, file: HarvestedFile): boolean {
  if (file.sha512Hex === photo.sha512Hex) return true;
  return findStoring(file)?.note === photo.fileName && mayBeStoring(photo.window, file);
}

/** Tells if one of the accounts uploaded it in the window. */
function mayBeStoring(window: AttemptWindow, file: HarvestedFile): boolean {
  const stored = findStoring(file);
  return stored !== undefined && isWithinWindow(window, stored);
}

function findStoring(file: HarvestedFile): HistoryEntry | undefined {
  return file.history.find(({ type }) => type === 'SBR0');
}

/**
 * Returns the names of those files that have the digest of a photograph, or came from a file of its
 * name.
 */
export function listEqualFiles(
  { photograph: { sha512, originalSha512, name } }: PhotoEntry,
  files: readonly HarvestedFile[],
): string[] {
  return files
    .filter(
      ({ sha512Hex, history }) =>
        [sha512, originalSha512].includes(sha512Hex) || history.some(({ note }) => note === name),
    )
    .map((file) => file.name);
}

/**
 * Returns the names of photographs from the same file that the record has already, or may have:
 * those that other accounts sent, and those that were sent here under another subject, which is
 * either the find or the record.
 * @param ofOthers what other accounts sent to the record
 */
export function listSamePhotographs(
  outbox: Outbox,
  { identCely, subject, photograph }: PhotoEntry,
  ofOthers: readonly ChangeOfOtherAccount[],
): string[] {
  const original = getOriginalDigest(photograph);
  const sentByOthers = ofOthers.filter(
    ({ intent }) => intent.kind === 'photo' && intent.original === original,
  );
  const sentFromHere = listPhotographsOfRecord(outbox, identCely ?? '')
    .filter(
      (other) =>
        other.subject !== subject &&
        getOriginalDigest(other.photograph) === original &&
        mayBeAtService(outbox, other),
    )
    .map((other) => other.photograph.name);
  return [...sentFromHere, ...sentByOthers.map(() => photograph.name)];
}

function listPhotographsOfRecord(outbox: Outbox, identCely: string): PhotoEntry[] {
  return listEntriesOfRecord(outbox, identCely).filter((entry) => entry.kind === 'photo');
}

/** Tells if the record has a photograph, or may have it. Most were not attempted. */
function mayBeAtService(outbox: Outbox, entry: PhotoEntry): boolean {
  if (entry.state === 'accepted') return true;
  return entry.attempts > 0 && listEffectiveAttempts(outbox, entry).length > 0;
}

/**
 * Returns the files of a record that no photograph from here explains. Each photograph explains one
 * file at most, since cameras reuse names.
 */
export function listUnexplainedFiles(
  outbox: Outbox,
  { identCely, files }: HarvestedFind,
): HarvestedFile[] {
  const sent = listPhotographsOfRecord(outbox, identCely).filter((entry) =>
    mayBeAtService(outbox, entry),
  );
  const owners = assignFiles(files, toSentPhotos(outbox, sent));
  return files.filter((file) => !owners.has(file));
}
