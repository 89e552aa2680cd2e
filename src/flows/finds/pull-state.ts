import type { HarvestedFile, HarvestedFind } from '../../find/harvested-find.ts';
import type { Entry, PhotoEntry } from '../../outbox/entry.ts';
import { listAttempts, listEvidence } from '../../outbox/entry-facts.ts';
import { listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findPulledRecord, type PulledRecord } from '../../outbox/pulled-records.ts';

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
