import type { ElementName, FindElements } from '../../find/fields.ts';
import type { Entry, EntryState } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findPulledRecord, type PulledRecord } from '../../outbox/pulled-records.ts';
import { iterateFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { makeIdKey } from '../../text/characters.ts';
import { foldName } from '../../text/names.ts';
import { formatLabelledElements } from './find-texts.ts';

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
