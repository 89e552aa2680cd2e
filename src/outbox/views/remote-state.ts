import { t } from '../../base/language.ts';
import { type FindElements, getElementLabel, getField } from '../../finds/fields.ts';
import {
  type Change,
  formatState,
  type HarvestedFile,
  type HarvestedFind,
  listChangesSince,
  withChanges,
} from '../../finds/harvested-find.ts';
import { listAttempts, listEvidence } from '../decisions.ts';
import type { Entry, PhotoEntry } from '../entry.ts';
import { getLatestNumber, listEntriesOfSubject } from '../entry-queries.ts';
import type { Outbox } from '../open-outbox.ts';
import { findPulledRecord, type PulledRecord } from '../pulled-records.ts';
import type { StoredFind } from '../stored-finds.ts';
import { findSentFind, type SentFind } from './select-finds.ts';

/**
 * Tells if a pull showed the record after the service had accepted an entry of it. Datestamps have
 * whole seconds. Without a server time of the acceptance, the pull counts.
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

/** Tells if an accepted photograph is missing in the record of the last pull. */
export function isGoneAtService(outbox: Outbox, entry: PhotoEntry): boolean {
  if (entry.state !== 'accepted' || entry.identCely === null) return false;
  const pulled = findPulledRecord(outbox, entry.identCely);
  if (pulled === undefined || pulled.record === null || !isPulledSince(outbox, pulled, entry))
    return false;
  const { files } = pulled.record as HarvestedFind;
  if (files.some((file) => hasSameDigest(file, entry))) return false;
  // The service changes the bytes of some photographs, so a file of this name counts unless it is
  // another photograph's.
  const otherPhotos = listEntriesOfSubject(outbox, entry.subject).filter(
    (other): other is PhotoEntry =>
      other.kind === 'photo' && other.state === 'accepted' && other.id !== entry.id,
  );
  return !files.some(
    (file) =>
      findStoredName(file) === entry.photograph.name &&
      !otherPhotos.some((other) => hasSameDigest(file, other)),
  );
}

function hasSameDigest(
  { sha512Hex }: HarvestedFile,
  { photograph: { sha512, originalSha512 } }: PhotoEntry,
): boolean {
  return [sha512, originalSha512].some((digest) => digest?.toString('hex') === sha512Hex);
}

function findStoredName({ history }: HarvestedFile): string | undefined {
  return history.find(({ type }) => type === 'SBR0')?.note;
}

/** Counts the photographs of a record, from the last pull and later acceptances. */
export function countAtService(
  outbox: Outbox,
  pulled: PulledRecord | undefined,
  photographs: readonly PhotoEntry[],
): number {
  const accepted = photographs.filter(({ state }) => state === 'accepted');
  if (pulled?.standing !== 'shown' || pulled.record === null) return accepted.length;
  const since = accepted.filter((entry) => !isPulledSince(outbox, pulled, entry));
  return (pulled.record as HarvestedFind).files.length + since.length;
}

/** State of a find at the service, from the last pull. */
export type RemoteState = {
  readonly sent: SentFind;
  readonly pulled: PulledRecord;
  /** Last visible record; undefined where there was none. */
  readonly record: HarvestedFind | undefined;
  readonly changes: readonly Change[];
};

/** Returns the state at the service; undefined where no pull has seen the record. */
export function getRemoteState(outbox: Outbox, sent: SentFind): RemoteState | undefined {
  const pulled = findPulledRecord(outbox, sent.identCely);
  if (pulled === undefined) return undefined;
  const record = pulled.record === null ? undefined : (pulled.record as HarvestedFind);
  return {
    sent,
    pulled,
    record,
    changes: record === undefined ? [] : listChangesSince(sent.elements, record),
  };
}

type FindAtService = { readonly elements: FindElements; readonly changes: readonly Change[] };

/**
 * Merges the last visible record into a find, with its differences from what was sent. A number
 * that was set after that pull, or is queued, overrides the pulled one. A find that was not sent,
 * or not pulled, stays as it is.
 */
export function makeFindAtService(outbox: Outbox, find: StoredFind): FindAtService {
  const entries = listEntriesOfSubject(outbox, find.uuid);
  const number = getLatestNumber(entries);
  const currentElements: FindElements =
    number === undefined ? find.elements : { ...find.elements, evidencni_cislo: number };
  const sent = findSentFind(outbox, find);
  const remote = sent === undefined ? undefined : getRemoteState(outbox, sent);
  if (remote?.record === undefined) return { elements: currentElements, changes: [] };
  const last = entries.findLast(
    ({ kind, state }) => kind === 'number' && state !== 'dropped' && state !== 'refused',
  );
  const isNewer =
    last !== undefined &&
    (last.state !== 'accepted' || !isPulledSince(outbox, remote.pulled, last));
  const changes = isNewer
    ? remote.changes.filter(({ element }) => element !== 'evidencni_cislo')
    : remote.changes;
  return { elements: withChanges(currentElements, changes, remote.record), changes };
}

/** Formats `3 confirmed`, `deleted`, `not shown (last 1 registered)`. */
export function formatRemoteStatus({ standing, stav }: PulledRecord): string {
  const last = stav === null ? undefined : formatState(stav);
  switch (standing) {
    case 'shown':
      return last ?? '';
    case 'withheld':
      return last === undefined ? t`not shown` : t`not shown (last ${last})`;
    case 'deleted':
      return last === undefined ? t`deleted` : t`deleted (last ${last})`;
    case 'missing':
      return last === undefined ? t`not listed` : t`not listed (last ${last})`;
  }
}

export function formatChange({ element, sent, now }: Change): string {
  return `${getElementLabel(getField(element))}: ${sent ?? '–'} → ${now ?? '–'}`;
}

/** Returns the state for programs. */
export function toRemoteStateJson({
  sent,
  pulled,
  record,
  changes,
}: RemoteState): Record<string, unknown> {
  return {
    standing: pulled.standing,
    since: formatIso(pulled.sinceMs),
    seen_at: formatIso(pulled.seenMs),
    datestamp: pulled.datestampMs === null ? null : formatIso(pulled.datestampMs),
    stav: pulled.stav,
    evidencni_cislo: record?.elements.evidencni_cislo ?? null,
    photos: record?.files.map(({ name }) => name) ?? null,
    photos_sent: sent.photographs.length,
    area: record?.area ?? null,
    district: record?.district ?? null,
    protected_withheld: record?.protectedWithheld ?? null,
    changed: changes,
  };
}

function formatIso(ms: number): string {
  return new Date(ms).toISOString();
}
