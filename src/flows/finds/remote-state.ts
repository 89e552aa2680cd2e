import { t } from '../../base/language.ts';
import { type FindElements, getElementLabel, getField } from '../../find/fields.ts';
import {
  type Change,
  formatState,
  type HarvestedFind,
  listChangesSince,
  withChanges,
} from '../../find/harvested-find.ts';
import { getLatestNumber, listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findPulledRecord, type PulledRecord } from '../../outbox/pulled-records.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { isPulledSince } from './pull-state.ts';
import { findSentFind, type SentFind } from './sent-finds.ts';

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
  const currentElements: FindElements = {
    ...find.elements,
    ...(number === undefined ? {} : { evidencni_cislo: number }),
  };
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
