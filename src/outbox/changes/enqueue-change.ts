import { basename } from 'node:path';
import { normalizeRegistrationNumber } from '../../base/characters.ts';
import { groupBy, once } from '../../base/collections.ts';
import { UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import type { Find, LookupNumber } from '../../finds/find.ts';
import { parseRegistrationNumber } from '../../finds/value-rules.ts';
import { recordDecision } from '../attempts.ts';
import { type Entry, isAnswerable, type NumberEntry, type PhotoEntry } from '../entry.ts';
import {
  findIdentOfSubject,
  findImportOfFind,
  findLastNumberEntry,
  isDroppedFind,
  listEffectiveNumberEntries,
  listEntriesOfSubject,
  listPhotographsByDigest,
  listPhotographsBySource,
} from '../entry-queries.ts';
import { type Candidate, getOriginalDigest, type TableRow } from '../facts.ts';
import { makeRecordSubject } from '../intents.ts';
import { findKnownAccount, type Outbox } from '../open-outbox.ts';
import {
  findByIdentCely,
  findByLocalId,
  findByUuid,
  getSubjectName,
  isRemoved,
  iterateFinds,
} from '../stored-finds.ts';
import {
  findAcceptedNumber,
  findPulledRecord,
  isPhotoGoneAtService,
  isPulledSince,
  listPulledNumbers,
} from '../views/records-at-service.ts';
import {
  getNextPhotoOccasion,
  recordNumberWish,
  recordPhotoWish,
  restoreWish,
  withdrawWish,
} from '../wishes.ts';
import type { PhotographKeeping, Sendable } from './kept-photographs.ts';

/**
 * Tells if the account may set registration numbers (A-PROJECT-2): false only where the service
 * said last that it is a researcher's.
 */
export function maySetNumbers(outbox: Outbox): boolean {
  return findKnownAccount(outbox)?.role !== 'researcher';
}

/**
 * Asserts that the account may set registration numbers, as {@link maySetNumbers} tells.
 * @throws UsageError where the service would refuse each of them
 */
export function assertMaySetNumbers(outbox: Outbox): void {
  if (maySetNumbers(outbox)) return;
  throw new UsageError(
    msg`This account is a researcher's and may not set registration numbers: the service would refuse them.`,
    {
      hint: msg`Nothing was queued. If the account now has another role: ${cmd`pas whoami`}`,
    },
  );
}

/**
 * Effect of queueing a number: it is queued; it replaces a queued or refused one, which may be
 * equal; or nothing changes.
 */
export type NumberChange = 'queued' | 'replaced' | 'kept';

type PlannedNumber = {
  readonly change: NumberChange;
  /** Another number that the record has, or may have got, and that would be overwritten. */
  readonly replaces: string | undefined;
  /** The latest number here that is not dropped. */
  readonly last: NumberEntry | undefined;
  /** The known number of the record, empty for none; null where it is not known. */
  readonly expects: string | null;
};

/**
 * Plans to give a find or record a registration number; nothing is stored.
 * @param value as normalizeRegistrationNumber makes it
 */
export function planNumberChange(outbox: Outbox, subject: string, value: string): PlannedNumber {
  const last = findLastNumberEntry(outbox, subject, ['dropped']);
  const expects = findKnownNumber(outbox, subject);
  const change = classifyNumberChange(last, value, expects);
  const mayHaveArrived = last?.state === 'sending' || last?.state === 'uncertain';
  const overwritten = mayHaveArrived ? last.value : expects;
  const isOther = overwritten !== null && overwritten !== '' && overwritten !== value;
  const replaces = change !== 'kept' && isOther ? overwritten : undefined;
  return { change, replaces, last, expects };
}

/**
 * Classifies the change. The known number of the record outranks an accepted one: a curator may
 * have changed it.
 */
function classifyNumberChange(
  last: NumberEntry | undefined,
  value: string,
  knownNumber: string | null,
): NumberChange {
  switch (last?.state) {
    case 'queued':
      return last.value === value && isAnswerable(last) ? 'kept' : 'replaced';
    case 'refused':
      return 'replaced';
    case 'sending':
    case 'uncertain':
      return last.value === value ? 'kept' : 'queued';
    default:
      return knownNumber === value ? 'kept' : 'queued';
  }
}

/**
 * Queues a registration number, in place of a queued or refused one of the same find or record, in
 * one transaction. The refused one itself is queued again.
 * @param mayReplace asked where the record has another number, or may have got it; by default it
 * may be replaced
 * @returns undefined where that number must stay: nothing is queued then
 * @throws UsageError for an empty or invalid value (A-NUMBER-2), for a removed find, and where the
 * account may not set numbers
 */
export function enqueueNumber(
  outbox: Outbox,
  subject: string,
  rawValue: string,
  mayReplace: (replaces: string) => boolean = () => true,
): NumberChange | undefined {
  assertMaySetNumbers(outbox);
  const value = parseRegistrationNumber(rawValue);
  return outbox.change(() => {
    assertNotRemoved(outbox, subject);
    const { change, replaces, last, expects } = planNumberChange(outbox, subject, value);
    if (replaces !== undefined && !mayReplace(replaces)) return undefined;
    const isChangedSince = last?.state === 'accepted' && expects !== null && expects !== value;
    if (change === 'kept') return change;
    // A person named the record once and its find once.
    if (last !== undefined && last.subject !== subject && last.state !== 'accepted')
      withdrawWish(outbox, last, 'removed');
    recordNumberWish(outbox, subject, value, { expects, isChangedSince });
    const wanted = findLastNumberEntry(outbox, subject, ['dropped']);
    if (wanted?.state === 'refused') requeueEntry(outbox, wanted, ASKED_AGAIN);
    return change;
  });
}

/**
 * Withdraws the number that is queued for a find; does nothing where there is none. Its content, as
 * a person changed it since, has the number that is to be sent.
 */
export function withdrawQueuedNumber(outbox: Outbox, uuid: string): void {
  const last = findLastNumberEntry(outbox, uuid);
  if (last?.state === 'queued') withdrawWish(outbox, last, 'removed');
}

const ASKED_AGAIN = msg`a person asked for it once more`;

/**
 * Records that a person wants an entry sent that was dropped, refused, held or uncertain. A dropped
 * one that may have been sent is uncertain.
 * @param rejects candidates that the person calls others
 */
export function requeueEntry(
  outbox: Outbox,
  entry: Entry,
  reason: Message,
  rejects: readonly Candidate[] = [],
): void {
  // First: a withdrawal does not count beside an attempt that may have arrived.
  restoreWish(outbox, entry);
  recordDecision(outbox, entry, { kind: 'resend', rejects }, reason);
}

/** @throws UsageError for a removed find, also one that was removed since it was looked up */
function assertNotRemoved(outbox: Outbox, subject: string): void {
  if (!isRemoved(outbox, subject)) return;
  const find = getSubjectName(outbox, subject);
  throw new UsageError(msg`${find} was removed.`, {
    hint: msg`Queue it again first: ${cmd`pas resolve ${find} --resend`}`,
  });
}

/**
 * Effect of queueing a photograph. `kept`: it was queued or sent before; `again`: it was accepted
 * before, but the last pull shows the record without it, so it is queued once more; `replaced`: it
 * takes the place of other content of its file that was not sent; `beside`: it is queued beside
 * other content of its file that was sent.
 */
export type PhotoChange = 'kept' | 'queued' | 'again' | 'replaced' | 'beside';

/**
 * Queues a photograph for a find or record, unless it is queued or sent already. A picture that was
 * refused or dropped, that one copy of the outbox took back, or that the service no longer has, is
 * queued again; one that is queued with GPS data is replaced by its copy without them. A new
 * picture replaces the queued or refused one of the same file, if there is exactly one.
 * @param photograph whose copy is in the data home
 * @param together digests of the files that are queued in one go: none replaces another one
 * @throws UsageError where the find was removed
 */
export function enqueuePhoto(
  outbox: Outbox,
  subject: string,
  photograph: Sendable,
  together: ReadonlySet<string>,
): PhotoChange {
  return outbox.change(() => {
    assertNotRemoved(outbox, subject);
    const original = getOriginalDigest(photograph);
    const same = listPhotographsByDigest(outbox, subject, original);
    const there = same.filter((entry) => !isPhotoGoneAtService(outbox, entry));
    const first = there.find(({ state }) => state !== 'dropped') ?? there[0];
    if (first === undefined) {
      if (same.length === 0) return addOrReplacePhoto(outbox, subject, photograph, together);
      recordPhotoWish(outbox, subject, photograph, getNextPhotoOccasion(outbox, subject, original));
      return 'again';
    }
    if (first.state !== 'dropped' && first.state !== 'refused' && isAnswerable(first))
      return replaceVariant(outbox, subject, same, photograph) ? 'queued' : 'kept';
    requeueEntry(outbox, first, ASKED_AGAIN);
    recordPhotoWish(outbox, subject, photograph);
    return 'queued';
  });
}

/**
 * Adds a photograph, in place of the queued or refused one of the same file if there is one only.
 */
function addOrReplacePhoto(
  outbox: Outbox,
  subject: string,
  photograph: Sendable,
  together: ReadonlySet<string>,
): PhotoChange {
  const otherPhotos = listPhotographsBySource(outbox, subject, photograph.source).filter(
    ({ photograph: other }) => !together.has(getOriginalDigest(other)),
  );
  const unsent = otherPhotos.filter(({ state }) => state === 'queued' || state === 'refused');
  const [replaced] = unsent;
  const isReplaced = replaced !== undefined && unsent.length === 1;
  if (isReplaced) withdrawWish(outbox, replaced, 'removed');
  recordPhotoWish(outbox, subject, photograph);
  if (isReplaced) return 'replaced';
  return otherPhotos.length > unsent.length ? 'beside' : 'queued';
}

type AddedPhotograph = { readonly issues: readonly Issue[] } & (
  | { readonly photograph: Sendable; readonly change: PhotoChange }
  | { readonly photograph: undefined; readonly change: undefined }
);

/**
 * Inspects a photograph, copies it into the data home and queues it for a find or record.
 * @param together as in {@link enqueuePhoto}
 * @returns the file as inspected, and what became of it; both undefined where the service would
 * refuse it, as the issues say
 * @throws UsageError where the file changed while it was read, or the find was removed; FileError
 * where it cannot be read; DatabaseError where the disk fails
 */
export async function addPhotograph(
  outbox: Outbox,
  subject: string,
  path: string,
  { inspectPhotograph, storePhotograph }: PhotographKeeping,
  together: ReadonlySet<string>,
): Promise<AddedPhotograph> {
  const { photograph, issues } = await inspectPhotograph(path);
  if (photograph === undefined || hasErrors(issues))
    return { photograph: undefined, change: undefined, issues };
  await storePhotograph(photograph);
  return { photograph, change: enqueuePhoto(outbox, subject, photograph, together), issues };
}

/** Replaces a queued photograph with GPS data by its stripped counterpart; false without one. */
function replaceVariant(
  outbox: Outbox,
  subject: string,
  entries: readonly PhotoEntry[],
  photograph: Sendable,
): boolean {
  const { originalSha512 } = photograph;
  if (
    originalSha512 === undefined ||
    !entries.some((entry) => isQueuedWithDigest(entry, originalSha512))
  )
    return false;
  recordPhotoWish(outbox, subject, photograph);
  return true;
}

/** Tells if a photograph is queued, and its copy to be sent has this SHA-512, in hexadecimal. */
export function isQueuedWithDigest({ state, photograph }: PhotoEntry, sha512: string): boolean {
  return state === 'queued' && photograph.sha512 === sha512;
}

/**
 * Returns the registration number that a record has as far as it is known: as pulled or accepted
 * last, else that of its find's elements, sent or not. '' for none; null where nothing is known.
 */
export function findKnownNumber(outbox: Outbox, subject: string): string | null {
  const accepted = findAcceptedNumber(outbox, subject);
  const identCely = findIdentOfSubject(outbox, subject);
  const pulled = identCely === null ? undefined : findPulledRecord(outbox, identCely);
  if (
    pulled?.record !== undefined &&
    (accepted === undefined || isPulledSince(outbox, pulled, accepted))
  )
    return pulled.record.elements.evidencni_cislo?.toString() ?? '';
  if (accepted !== undefined) return accepted.value;
  const find = findByUuid(outbox, subject);
  return find === undefined ? null : (find.elements.evidencni_cislo ?? '');
}

/** Photographs of a row by path; undefined for those that cannot be sent. */
export type RowPhotographs = ReadonlyMap<string, Sendable | undefined>;

/** Numbers of photographs that a row brought and took, with warnings about those that stay. */
export type PhotographChanges = {
  readonly photosAdded: number;
  readonly photosRemoved: number;
  readonly issues: readonly Issue[];
};

type ChangeContext = { readonly outbox: Outbox; readonly dryRun: boolean };

/**
 * Queues the photographs that a row names and the find does not have yet, and removes those that
 * the row named at its last import and no longer names, unless they were attempted. A photograph
 * that a person dropped stays dropped. A dry run only counts.
 * @param before the row as last imported; undefined for a new find, of which nothing is removed
 * @param subject '' for a find that does not exist yet, in a dry run
 */
export function applyRowPhotographs(
  find: Find,
  photographs: RowPhotographs,
  before: Pick<TableRow, 'photos'> | undefined,
  subject: string,
  context: ChangeContext,
): PhotographChanges {
  const sendable = [...photographs.values()].filter((photograph) => photograph !== undefined);
  const digests = getRowDigests(find, photographs, before);
  const removed = Object.entries(before?.photos ?? {}).flatMap(([path, digest]) =>
    path in digests || Object.values(digests).includes(digest) ? [] : [digest],
  );
  const { photosAdded, sentBefore } = addPhotographs(sendable, subject, context);
  const { photosRemoved, sent } = removePhotographs(removed, subject, context);
  const where = { find: find.localId, ...find.source };
  const issues = [
    ...sentBefore.map(
      (name) => msg`Another photograph was sent as ${name} before; this one is queued as well.`,
    ),
    ...sent.map(
      (name) =>
        msg`The row no longer lists ${name}, but the photograph was or may have been sent, so it stays with the record.`,
    ),
  ].map((message) => makeWarningIssue('photo-name-sent', message, where));
  return { photosAdded, photosRemoved, issues };
}

/**
 * Returns the photographs of a row by path, with their digests, for the comparison at its next
 * import. One that it named before and whose file is missing or cannot be sent now is still named.
 */
export function getRowDigests(
  find: Find,
  photographs: RowPhotographs,
  before: Pick<TableRow, 'photos'> | undefined,
): TableRow['photos'] {
  if (find.coversPhotos === false) return before?.photos ?? {};
  const missingNames = new Set((find.missingPhotos ?? []).map((name) => basename(name)));
  const digests = Object.entries(before?.photos ?? {}).filter(
    ([path]) => photographs.has(path) || missingNames.has(basename(path)),
  );
  for (const [path, photograph] of photographs)
    if (photograph !== undefined) digests.push([path, getOriginalDigest(photograph)]);
  return Object.fromEntries(digests);
}

function addPhotographs(
  photographs: readonly Sendable[],
  subject: string,
  { outbox, dryRun }: ChangeContext,
): { readonly photosAdded: number; readonly sentBefore: readonly string[] } {
  const ofRow = new Set(photographs.map(getOriginalDigest));
  const seen = new Set<string>();
  const sentBefore: string[] = [];
  let photosAdded = 0;
  for (const photograph of photographs) {
    const digest = getOriginalDigest(photograph);
    const isTwice = seen.has(digest);
    seen.add(digest);
    const same = listPhotographsByDigest(outbox, subject, digest);
    if (same.length > 0 && !dryRun) replaceVariant(outbox, subject, same, photograph);
    if (same.length > 0 || isTwice) continue;
    photosAdded += 1;
    if (dryRun) continue;
    if (addOrReplacePhoto(outbox, subject, photograph, ofRow) === 'beside')
      sentBefore.push(photograph.name);
  }
  return { photosAdded, sentBefore };
}

/** @returns the number of removed photographs, and the names of sent ones */
function removePhotographs(
  digests: readonly string[],
  subject: string,
  { outbox, dryRun }: ChangeContext,
): { readonly photosRemoved: number; readonly sent: readonly string[] } {
  if (digests.length === 0) return { photosRemoved: 0, sent: [] };
  const entries = listEntriesOfSubject(outbox, subject).filter(
    (entry): entry is PhotoEntry =>
      entry.kind === 'photo' &&
      entry.state !== 'dropped' &&
      digests.includes(getOriginalDigest(entry.photograph)),
  );
  const unsent = entries.filter(({ attempts, state }) => attempts === 0 && state === 'queued');
  if (!dryRun) for (const entry of unsent) withdrawWish(outbox, entry, 'removed');
  const sent = entries
    .filter((entry) => !unsent.includes(entry))
    .map(({ photograph }) => photograph.name);
  return { photosRemoved: unsent.length, sent };
}

type NumberLookupOptions = {
  /** Returns the numbers that finds, by name, are about to get. */
  readonly listComing?: () => ReadonlyMap<string, string>;
  /** The numbers of drafts do not count, which are not sent. */
  readonly withoutDrafts?: boolean;
};

/**
 * Makes a lookup that takes a number, as normalizeRegistrationNumber makes it, and the name of a
 * find. It returns the name of another find or record that has the number or is to get it;
 * undefined for none. All numbers are read once, at the first lookup.
 */
export function makeNumberLookup(
  outbox: Outbox,
  { listComing = () => new Map(), withoutDrafts = false }: NumberLookupOptions = {},
): LookupNumber {
  const getComing = once(listComing);
  const getNumbered = once(() =>
    groupBy([...listNumbersEver(outbox), ...getComing()], ([, value]) =>
      normalizeRegistrationNumber(value),
    ),
  );
  return (number, find) => {
    for (const [name] of getNumbered().get(number) ?? []) {
      if (name === find) continue;
      const current = getComing().get(name) ?? findCurrentNumber(outbox, name);
      if (current === undefined || normalizeRegistrationNumber(current) !== number) continue;
      if (!withoutDrafts || !isDraft(outbox, name)) return name;
    }
    return undefined;
  };
}

/** Lists the numbers that finds and records have, had or were to get. */
function* listNumbersEver(outbox: Outbox): Generator<readonly [name: string, number: string]> {
  for (const { find, value } of listEffectiveNumberEntries(outbox)) yield [find, value];
  for (const find of iterateFinds(outbox))
    yield [find.localId, find.elements.evidencni_cislo ?? ''];
  for (const { identCely, number } of listPulledNumbers(outbox))
    yield [findByIdentCely(outbox, identCely)?.localId ?? identCely, number];
}

function isDraft(outbox: Outbox, name: string): boolean {
  const find = findByLocalId(outbox, name);
  return find !== undefined && findImportOfFind(outbox, find.uuid)?.state === 'draft';
}

/**
 * Returns the number that is queued, or else that of the record; undefined for one that is gone.
 */
function findCurrentNumber(outbox: Outbox, name: string): string | undefined {
  const find = findByLocalId(outbox, name);
  if (find !== undefined && (find.isHidden || isDroppedFind(outbox, find.uuid))) return undefined;
  const subject = find?.uuid ?? makeRecordSubject(name);
  const queued = findLastNumberEntry(outbox, subject, ['dropped', 'refused', 'accepted']);
  return queued?.value ?? findKnownNumber(outbox, subject) ?? undefined;
}
