import { formatIso } from '../../base/clock.ts';
import {
  createRowParser,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../../base/disk/database.ts';
import { t } from '../../base/message.ts';
import { type FindElements, getElementLabel, getField } from '../../finds/fields.ts';
import {
  type ChangeAtService,
  formatRecordState,
  type HarvestedFile,
  type HarvestedFind,
  listChangesAtService,
  withRecordChanges,
} from '../../finds/harvested-find.ts';
import { listAttempts, listEvidence } from '../attempts.ts';
import type { Entry, ImportEntry, NumberEntry, PhotoEntry } from '../entry.ts';
import {
  findImportOfFind,
  findLastNumberEntry,
  getWantedElements,
  listEntriesOfSubject,
  listNumberEntries,
} from '../entry-queries.ts';
import { convertReadErrors, getOriginalDigest } from '../facts.ts';
import type { Outbox } from '../open-outbox.ts';
import { iterateFinds, type StoredFind } from '../stored-finds.ts';

/** Visibility of a sent record in the service's harvest, for one account. */
export type RecordStanding = (typeof STANDINGS)[number];
const STANDINGS = ['shown', 'withheld', 'deleted', 'missing'] as const;

/**
 * Last harvested data of a record. Times are milliseconds since 1970 UTC by the server's clock.
 */
export type PulledRecord = {
  readonly identCely: string;
  readonly standing: RecordStanding;
  readonly datestampMs: number | null;
  /** State and record when they were last visible. */
  readonly stav: number | null;
  readonly record: HarvestedFind | undefined;
  /** Time since which the status is unchanged. */
  readonly sinceMs: number;
  /** When the last pull began to look. */
  readonly seenMs: number;
};

const parsePulled = createRowParser({
  identCely: isText,
  standing: makeMemberGuard(STANDINGS),
  datestampMs: orNull(isNumber),
  stav: orNull(isNumber),
  record: orNull(isText),
  sinceMs: isNumber,
  seenMs: isNumber,
});

const COLUMNS = `ident_cely as identCely, standing, datestamp_at as datestampMs, stav, record, since_at as sinceMs, seen_at as seenMs`;

/**
 * Returns what pulls know of a record: its standing at the last one, and its content as it was last
 * shown, whose form is not checked. Undefined where no pull has requested it.
 * @throws DatabaseError where the content is no JSON
 */
export function findPulledRecord(outbox: Outbox, identCely: string): PulledRecord | undefined {
  const stored = outbox.sql(`select ${COLUMNS} from pulled where ident_cely = ?`).get(identCely);
  if (stored === undefined) return undefined;
  const row = parsePulled(stored);
  const { record: text } = row;
  const record =
    text === null ? undefined : convertReadErrors(outbox.path, 'pulled', () => JSON.parse(text));
  return { ...row, record };
}

/** Returns the registration number of each pulled record that has one, as it was shown last. */
export function listPulledNumbers(outbox: Outbox): ReturnType<typeof parsePulledNumber>[] {
  return outbox
    .sql(
      `select ident_cely as identCely, record ->> '$.elements.evidencni_cislo' as number from pulled
       where number is not null`,
    )
    .all()
    .map(parsePulledNumber);
}

const parsePulledNumber = createRowParser({ identCely: isText, number: isText });

/** Stores what a pull saw of a record. While it is not shown, its last visible content is kept. */
export function storePulledRecord(
  outbox: Outbox,
  { identCely, standing, datestampMs, seenMs, record }: Omit<PulledRecord, 'stav' | 'sinceMs'>,
): void {
  outbox
    .sql(
      `insert into pulled (ident_cely, standing, datestamp_at, stav, record, since_at, seen_at)
       values (:identCely, :standing, :datestampMs, :stav, :record, :seenMs, :seenMs)
       on conflict (ident_cely) do update set
         since_at = case when standing = excluded.standing then since_at else excluded.since_at end,
         standing = excluded.standing, datestamp_at = excluded.datestamp_at, stav = coalesce(excluded.stav, stav),
         record = coalesce(excluded.record, record), seen_at = excluded.seen_at`,
    )
    .run({
      identCely,
      standing,
      datestampMs,
      stav: record?.stav ?? null,
      record: record === undefined ? null : JSON.stringify(record),
      seenMs,
    });
}

/**
 * Stores that a pull found a record unchanged. Does nothing for a record that no pull has stored.
 * @param seenMs when the pull began, in milliseconds since 1970 UTC by the server's clock
 */
export function storeSeenTime(outbox: Outbox, identCely: string, seenMs: number): void {
  outbox.sql('update pulled set seen_at = ? where ident_cely = ?').run(seenMs, identCely);
}

/**
 * Returns the records that were unexplained, or had an unexplained file, when a search showed them,
 * sorted by identifier; a fact may explain them since.
 */
export function listUnexplainedRecords({ listTexts }: Outbox): HarvestedFind[] {
  return listTexts('select record from unexplained order by ident_cely').map((record) =>
    JSON.parse(record),
  );
}

/** Stores an unexplained record as the service shows it now, in place of what it was before. */
export function storeUnexplainedRecord(outbox: Outbox, record: HarvestedFind): void {
  outbox
    .sql('insert or replace into unexplained (ident_cely, record) values (?, ?)')
    .run(record.identCely, JSON.stringify(record));
}

/** Deletes a record from the unexplained ones; does nothing where it is not one of them. */
export function deleteUnexplainedRecord(outbox: Outbox, identCely: string): void {
  outbox.sql('delete from unexplained where ident_cely = ?').run(identCely);
}

/** @param imported the find's import, where it has one */
export type FindFilter = (find: StoredFind, imported: Entry | undefined) => boolean;

type ListedFind = {
  readonly find: StoredFind;
  /** With the number that was set last. */
  readonly elements: FindElements;
  readonly entry: Entry | undefined;
  readonly pulled: PulledRecord | undefined;
};

/**
 * Returns at most `limit` finds that match all filters, in the order of entry, without removed
 * ones. The filters get each find with the number that was set last for it.
 */
export function listFinds(
  outbox: Outbox,
  filters: readonly FindFilter[],
  limit = Number.POSITIVE_INFINITY,
): ListedFind[] {
  const listed: ListedFind[] = [];
  for (const find of iterateFinds(outbox)) {
    if (listed.length >= limit) break;
    const elements = getWantedElements(outbox, find);
    const entry = findImportOfFind(outbox, find.uuid);
    if (!filters.every((matches) => matches({ ...find, elements }, entry))) continue;
    const pulled = entry?.identCely == null ? undefined : findPulledRecord(outbox, entry.identCely);
    listed.push({ find, elements, entry, pulled });
  }
  return listed;
}

/** A find that the service has accepted, with its accepted number. */
export type SentFind = {
  readonly find: string;
  readonly identCely: string;
  readonly entry: ImportEntry;
  /** The number that was accepted last. */
  readonly number: NumberEntry | undefined;
  /**
   * With that number. Where the entry differs from what was accepted, they are not what was sent.
   */
  readonly elements: FindElements;
  /** Number of accepted photographs; one that was deleted there and sent again counts once. */
  readonly photos: number;
};

/**
 * Yields the finds whose import is accepted, as {@link findSentFind} returns them, without removed
 * ones, in the order of entry.
 */
export function* iterateSentFinds(outbox: Outbox): Generator<SentFind> {
  // Loaded at once, since the caller may change the outbox between finds.
  for (const find of [...iterateFinds(outbox)]) {
    const sent = findSentFind(outbox, find);
    if (sent !== undefined) yield sent;
  }
}

/**
 * Returns what the service has accepted of a find: its import, its last number and its photographs;
 * undefined where the import is not accepted.
 */
export function findSentFind(outbox: Outbox, find: StoredFind): SentFind | undefined {
  const accepted = listEntriesOfSubject(outbox, find.uuid).filter(
    (entry) => entry.state === 'accepted',
  );
  const sent = accepted.find((entry) => entry.kind === 'import');
  if (sent === undefined || sent.identCely === null) return undefined;
  const number = findAcceptedNumber(outbox, find.uuid);
  return {
    find: find.localId,
    identCely: sent.identCely,
    entry: sent,
    number,
    elements: number ? { ...find.elements, evidencni_cislo: number.value } : find.elements,
    photos: omitResentPhotographs(accepted).filter(({ kind }) => kind === 'photo').length,
  };
}

/**
 * Returns the entries without each photograph that was queued once more, as one is that the service
 * has deleted: of each picture of a find or record the last entry stays.
 */
export function omitResentPhotographs(entries: readonly Entry[]): Entry[] {
  const lastEntries = new Map(
    entries.map((entry) => [
      entry.kind === 'photo'
        ? `${entry.subject} ${getOriginalDigest(entry.photograph)}`
        : `${entry.id}`,
      entry,
    ]),
  );
  return [...lastEntries.values()];
}

/**
 * Tells if the last pull showed a record as it was in the second in which the service accepted an
 * entry of it, or later. True without a server time of the acceptance; false while the record is
 * not shown.
 */
export function isPulledSince(
  outbox: Outbox,
  { standing, datestampMs }: PulledRecord,
  accepted: Entry,
): boolean {
  if (standing !== 'shown' || datestampMs === null) return false;
  const acceptedMs = getAcceptedMs(outbox, accepted);
  return acceptedMs === null || datestampMs >= Math.floor(acceptedMs / 1000) * 1000;
}

/**
 * Returns the number of a find or record that the service accepted last; undefined for none. A
 * record whose find came by a union has numbers under two subjects: of those the later one counts,
 * by the service's time, which has whole seconds, and then by this machine's.
 */
export function findAcceptedNumber(outbox: Outbox, subject: string): NumberEntry | undefined {
  const accepted = listNumberEntries(outbox, subject).filter(({ state }) => state === 'accepted');
  const [last, ...others] = new Map(accepted.map((entry) => [entry.subject, entry])).values();
  if (last === undefined || others.length === 0) return last;
  return [last, ...others]
    .map((entry) => ({
      entry,
      acceptedMs: getAcceptedMs(outbox, entry) ?? 0,
      startedAt: listAttempts(outbox, entry).at(-1)?.startedAt ?? 0,
    }))
    .sort((a, b) => a.acceptedMs - b.acceptedMs || a.startedAt - b.startedAt)
    .at(-1)?.entry;
}

function getAcceptedMs(outbox: Outbox, accepted: Entry): number | null {
  const answered = listAttempts(outbox, accepted).findLast(
    ({ outcome }) => outcome === 'accepted' || outcome === 'already-applied',
  );
  return (
    answered?.serverDateAt ??
    listEvidence(outbox, accepted).findLast(({ verdict }) => verdict === 'found')?.serverAt ??
    null
  );
}

/**
 * Tells if an accepted photograph is missing in its record, as the last pull shows that. False for
 * any other photograph, where the record is not shown, or where it shows no change since the
 * photograph was accepted; one in the same second may be older, so it does not count.
 */
export function isPhotoGoneAtService(outbox: Outbox, entry: PhotoEntry): boolean {
  if (entry.state !== 'accepted' || entry.identCely === null) return false;
  const pulled = findPulledRecord(outbox, entry.identCely);
  if (pulled?.record === undefined || pulled.standing !== 'shown') return false;
  // Any change is later than an acceptance at an unknown time.
  const acceptedMs = getAcceptedMs(outbox, entry) ?? 0;
  if (pulled.datestampMs === null || pulled.datestampMs <= acceptedMs) return false;
  return !hasFileOf(outbox, pulled.record.files, entry);
}

/**
 * Tells if one of the files is an accepted photograph. The service changes the bytes of some, so a
 * file of its name counts unless it is another photograph of the find.
 */
function hasFileOf(outbox: Outbox, files: readonly HarvestedFile[], entry: PhotoEntry): boolean {
  const otherPhotos = listEntriesOfSubject(outbox, entry.subject).filter(
    (other): other is PhotoEntry =>
      other.kind === 'photo' && other.state === 'accepted' && other.id !== entry.id,
  );
  return files.some(
    (file) =>
      hasSameDigest(file, entry) ||
      (file.history.find(({ type }) => type === 'SBR0')?.note === entry.photograph.name &&
        !otherPhotos.some((other) => hasSameDigest(file, other))),
  );
}

function hasSameDigest(
  { sha512Hex }: HarvestedFile,
  { photograph: { sha512, originalSha512 } }: PhotoEntry,
): boolean {
  return [sha512, originalSha512].includes(sha512Hex);
}

/** State of a find at the service, from the last pull. */
export type StateAtService = {
  readonly sent: SentFind;
  readonly pulled: PulledRecord;
  /** A number that was accepted after that pull is none. */
  readonly changes: readonly ChangeAtService[];
};

/**
 * Returns the state of a sent find at the service, as the last pull saw it; undefined where no pull
 * has. `changes` is empty where no pull could read the record.
 */
export function findStateAtService(outbox: Outbox, sent: SentFind): StateAtService | undefined {
  const pulled = findPulledRecord(outbox, sent.identCely);
  if (pulled === undefined) return undefined;
  const { number, elements } = sent;
  const changes = pulled.record === undefined ? [] : listChangesAtService(elements, pulled.record);
  const isKnown = ({ element }: ChangeAtService): boolean =>
    element !== 'evidencni_cislo' || number === undefined || isPulledSince(outbox, pulled, number);
  return { sent, pulled, changes: changes.filter(isKnown) };
}

/**
 * Returns the elements of a find with the changes that the last pull showed. A number that was set
 * here wins over the pulled one unless it was accepted before that pull. The elements of a find
 * that was not sent, or not pulled, have no such changes.
 */
export function getElementsAtService(outbox: Outbox, find: StoredFind): FindElements {
  const last = findLastNumberEntry(outbox, find.uuid);
  const currentElements = getWantedElements(outbox, find);
  const sent = findSentFind(outbox, find);
  const remote = sent === undefined ? undefined : findStateAtService(outbox, sent);
  if (remote?.pulled.record === undefined) return currentElements;
  const isQueued = last !== undefined && last.state !== 'accepted';
  const changes = isQueued
    ? remote.changes.filter(({ element }) => element !== 'evidencni_cislo')
    : remote.changes;
  return withRecordChanges(currentElements, changes, remote.pulled.record);
}

/** Formats standing and state of a record: `3 confirmed`, `deleted (last 1 registered)`. */
export function formatStanding({ standing, stav }: PulledRecord): string {
  const last = stav === null ? undefined : formatRecordState(stav);
  if (standing === 'shown') return last ?? '';
  const word = { withheld: t`not shown`, deleted: t`deleted`, missing: t`not listed` }[standing];
  return last === undefined ? word : t`${word} (last ${last})`;
}

/** Formats a change as `label: sent → now`, with `–` for an absent value. */
export function formatChange({ element, sent, now }: ChangeAtService): string {
  return `${getElementLabel(getField(element))}: ${sent ?? '–'} → ${now ?? '–'}`;
}

/** Makes the JSON that `pas show` and `pas pull` print; null stands for what no pull could read. */
export function toStateAtServiceJson({
  sent,
  pulled,
  changes,
}: StateAtService): Record<string, unknown> {
  const { record } = pulled;
  return {
    standing: pulled.standing,
    since: formatIso(pulled.sinceMs),
    seen_at: formatIso(pulled.seenMs),
    datestamp: formatIso(pulled.datestampMs),
    stav: pulled.stav,
    evidencni_cislo: record?.elements.evidencni_cislo ?? null,
    photos: record?.files.map(({ name }) => name) ?? null,
    photos_sent: sent.photos,
    area: record?.area ?? null,
    district: record?.district ?? null,
    protected_withheld: record?.protectedWithheld ?? null,
    changed: changes,
  };
}
