import { t } from '../../base/language.ts';
import { fieldOf } from '../../find/fields.ts';
import { type Change, changesSince, type HarvestedFind, stateText } from '../../find/harvested-find.ts';
import { attemptsOf, evidenceOf } from '../../outbox/attempts.ts';
import { entriesOfRecord } from '../../outbox/entries.ts';
import type { Entry, EntryId, PhotoEntry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { type PulledRecord, pulledRecord } from '../../outbox/pulled.ts';
import { elementLabel } from './find-texts.ts';
import type { SentFind } from './sent-finds.ts';

/** How the service has a find, as the last pull met it. */
export type AtService = {
  readonly sent: SentFind;
  readonly pulled: PulledRecord;
  /** As it was last shown; undefined where it never was. */
  readonly record: HarvestedFind | undefined;
  readonly changes: readonly Change[];
};

/** Undefined where no pull has met the record. */
export function atService(outbox: Outbox, sent: SentFind): AtService | undefined {
  const pulled = pulledRecord(outbox, sent.identCely);
  if (pulled === undefined) return undefined;
  const record = pulled.record === null ? undefined : (pulled.record as HarvestedFind);
  return { sent, pulled, record, changes: record === undefined ? [] : changesSince(sent.elements, record) };
}

/** `3 confirmed`, `deleted`, `not shown (last 1 registered)`. */
export function standingText({ standing, stav }: PulledRecord): string {
  const last = stav === null ? undefined : stateText(stav);
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

export function changeText({ element, sent, now }: Change): string {
  return `${elementLabel(fieldOf(element))}: ${sent ?? '–'} → ${now ?? '–'}`;
}

/** For programs. */
export function atServiceValue({ sent, pulled, record, changes }: AtService): Record<string, unknown> {
  return {
    standing: pulled.standing,
    since: iso(pulled.sinceMs),
    seen_at: iso(pulled.seenMs),
    datestamp: pulled.datestampMs === null ? null : iso(pulled.datestampMs),
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

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Tells if a pull shows the record after an entry was accepted. Where no server time says when that was, the pull counts. */
export function isPulledAfter(outbox: Outbox, { standing, datestampMs }: PulledRecord, accepted: Entry): boolean {
  if (standing !== 'shown' || datestampMs === null) return false;
  const acceptedMs = acceptedAt(outbox, accepted);
  // Datestamps count whole seconds.
  return acceptedMs === null || datestampMs >= Math.floor(acceptedMs / 1000) * 1000;
}

function acceptedAt(outbox: Outbox, accepted: Entry): number | null {
  const answered = attemptsOf(outbox, accepted).findLast(
    ({ outcome }) => outcome === 'accepted' || outcome === 'already-applied',
  );
  return answered?.serverDateAt ?? evidenceOf(outbox, accepted).findLast(({ verdict }) => verdict === 'found')?.serverAt ?? null;
}

/** Photographs that were sent for a record, and that it did not have any more when it was pulled since: no file is theirs. */
export function photographsGone(outbox: Outbox, identCely: string | null): ReadonlySet<EntryId> {
  const pulled = identCely === null ? undefined : pulledRecord(outbox, identCely);
  if (identCely === null || pulled === undefined || pulled.record === null) return new Set();
  const { files = [] } = pulled.record as Partial<HarvestedFind>;
  const isThere = ({ photograph: { name, sha512 } }: PhotoEntry): boolean =>
    files.some((file) => file.sha512Hex === sha512.toString('hex') || file.history.some(({ note }) => note === name));
  const gone = entriesOfRecord(outbox, identCely).filter(
    (entry) => entry.kind === 'photo' && entry.state === 'accepted' && !isThere(entry) && isPulledAfter(outbox, pulled, entry),
  );
  return new Set(gone.map(({ id }) => id));
}
