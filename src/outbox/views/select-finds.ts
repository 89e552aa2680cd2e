import { makeIdKey } from '../../base/characters.ts';
import { foldName } from '../../base/names.ts';
import type { ElementName, FindElements } from '../../finds/fields.ts';
import type { Entry, EntryState, ImportEntry, Photograph } from '../entry.ts';
import { findImportOfFind, listEntriesOfSubject } from '../entry-queries.ts';
import type { Outbox } from '../open-outbox.ts';
import { findPulledRecord, type PulledRecord } from '../pulled-records.ts';
import { iterateFinds, type StoredFind } from '../stored-finds.ts';
import { formatLabelledElements } from './entry-words.ts';

/** Filter of an export; absent conditions match all. */
export type FindScope = {
  /** States of the import; a find that is not queued for the service has none. */
  readonly state?: readonly EntryState[];
  readonly project?: string;
};

export type FindChoice = FindScope & {
  /** Found on this day (YYYY-MM-DD) or later. */
  readonly since?: string;
  readonly until?: string;
  /** Text anywhere in the find, without regard to case and accents. */
  readonly text?: string;
  /** Elements with an identifier, a label or a text, without regard to case and accents. */
  readonly elements?: readonly (readonly [name: ElementName, value: string])[];
};

/** Returns finds with their imports, and with the last pulled records; in the order of entry. */
export function listFinds(outbox: Outbox, choice: FindChoice, limit = Number.POSITIVE_INFINITY) {
  const listed: { find: StoredFind; entry: Entry | undefined; pulled: PulledRecord | undefined }[] =
    [];
  for (const find of iterateFinds(outbox)) {
    if (listed.length >= limit) break;
    const entry = findImportOfFind(outbox, find.uuid);
    if (!isChosen(choice, find, entry)) continue;
    listed.push({
      find,
      entry,
      pulled: entry?.identCely == null ? undefined : findPulledRecord(outbox, entry.identCely),
    });
  }
  return listed;
}

/** @param imported the find's import, where it has one */
export function isChosen(
  choice: FindChoice,
  find: StoredFind,
  imported: Entry | undefined,
): boolean {
  const elements = find.elements as FindElements;
  const { state, project, since, until, text, elements: values = [] } = choice;
  const day = elements.datum_nalezu;
  if (state !== undefined && (imported === undefined || !state.includes(imported.state)))
    return false;
  if (project !== undefined && makeIdKey(elements.projekt?.id ?? '') !== makeIdKey(project))
    return false;
  if (since !== undefined && (day === undefined || day < since)) return false;
  if (until !== undefined && (day === undefined || day > until)) return false;
  if (!values.every(([name, value]) => hasText(elements, name, value))) return false;
  if (text === undefined) return true;
  const texts = [
    find.localId,
    imported?.identCely ?? '',
    ...formatLabelledElements(elements).map(([, value]) => value),
  ].join(' ');
  return foldName(texts).includes(foldName(text));
}

function hasText(elements: FindElements, name: ElementName, value: string): boolean {
  const ownValue = elements[name];
  const texts =
    typeof ownValue === 'object' ? [ownValue.id, ownValue.text] : [ownValue?.toString() ?? ''];
  return texts.some((text) => foldName(text) === foldName(value));
}

/** A find that the service has accepted, as it was sent. */
export type SentFind = {
  readonly find: string;
  readonly identCely: string;
  readonly entry: ImportEntry;
  /** Includes the registration number that was accepted last. */
  readonly elements: FindElements;
  readonly photographs: readonly Photograph[];
};

/** Yields the finds whose import was accepted, each as it was sent. */
export function* listSentFinds(outbox: Outbox): Generator<SentFind> {
  // Loaded at once, since the caller may change the outbox between finds.
  for (const find of [...iterateFinds(outbox)]) {
    const sent = findSentFind(outbox, find);
    if (sent !== undefined) yield sent;
  }
}

/**
 * Returns a find with its last accepted number and accepted photographs; undefined where its import
 * is not accepted.
 */
export function findSentFind(outbox: Outbox, find: StoredFind): SentFind | undefined {
  const accepted = listEntriesOfSubject(outbox, find.uuid).filter(
    (entry) => entry.state === 'accepted',
  );
  const sent = accepted.find((entry) => entry.kind === 'import');
  if (sent === undefined || sent.identCely === null) return undefined;
  const number = accepted.filter((entry) => entry.kind === 'number').at(-1)?.value;
  return {
    find: find.localId,
    identCely: sent.identCely,
    entry: sent,
    elements: number === undefined ? find.elements : { ...find.elements, evidencni_cislo: number },
    photographs: accepted.flatMap((entry) => (entry.kind === 'photo' ? [entry.photograph] : [])),
  };
}
