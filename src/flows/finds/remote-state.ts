import { t } from '../../base/language.ts';
import { elementLabel, type FindElements, getField } from '../../find/fields.ts';
import { type Change, type HarvestedFind, listChangesSince, stateText, withChanges } from '../../find/harvested-find.ts';
import { entriesOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { latestNumber } from '../../outbox/ownership.ts';
import { type PulledRecord, pulledRecord } from '../../outbox/pulled-records.ts';
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
export function remoteState(outbox: Outbox, sent: SentFind): RemoteState | undefined {
  const pulled = pulledRecord(outbox, sent.identCely);
  if (pulled === undefined) return undefined;
  const record = pulled.record === null ? undefined : (pulled.record as HarvestedFind);
  return { sent, pulled, record, changes: record === undefined ? [] : listChangesSince(sent.elements, record) };
}

type FindAtService = { readonly elements: FindElements; readonly changes: readonly Change[] };

/**
 * Merges the last visible record into a find, with its differences from what was sent. A number that was set after that pull, or
 * is queued, overrides the pulled one. A find that was not sent, or not pulled, stays as it is.
 */
export function findWithRemoteState(outbox: Outbox, find: StoredFind): FindAtService {
  const entries = entriesOfFind(outbox, find.id);
  const number = latestNumber(entries);
  const currentElements: FindElements = { ...find.elements, ...(number === undefined ? {} : { evidencni_cislo: number }) };
  const sent = findSentFind(outbox, find);
  const remote = sent === undefined ? undefined : remoteState(outbox, sent);
  if (remote?.record === undefined) return { elements: currentElements, changes: [] };
  const last = entries.findLast(({ kind, state }) => kind === 'number' && state !== 'dropped' && state !== 'refused');
  const isNewer = last !== undefined && (last.state !== 'accepted' || !isPulledSince(outbox, remote.pulled, last));
  const changes = isNewer ? remote.changes.filter(({ element }) => element !== 'evidencni_cislo') : remote.changes;
  return { elements: withChanges(currentElements, changes, remote.record), changes };
}

/** Formats `3 confirmed`, `deleted`, `not shown (last 1 registered)`. */
export function remoteStatusText({ standing, stav }: PulledRecord): string {
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
  return `${elementLabel(getField(element))}: ${sent ?? '–'} → ${now ?? '–'}`;
}

/** Returns the state for programs. */
export function remoteStateValue({ sent, pulled, record, changes }: RemoteState): Record<string, unknown> {
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
