import type { Target } from '../../outbox/entries.ts';
import { numbersOf } from '../../outbox/numbers.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { type PulledRecord, pulledRecord } from '../../outbox/pulled.ts';
import { findById, type StoredFind } from '../../outbox/stored-finds.ts';
import { isPulledSince } from '../finds/pulled-since.ts';

/**
 * Returns the number of a record, as far as this outbox knows it: accepted, shown by the last pull, or sent with the import.
 * @returns '' where the record has none, null where it is unknown
 */
export function knownNumber(outbox: Outbox, target: Target): string | null {
  const accepted = numbersOf(outbox, target).findLast(({ state }) => state === 'accepted');
  const pulled = target.identCely === null ? undefined : pulledRecord(outbox, target.identCely);
  const shown = pulled === undefined ? undefined : shownNumber(pulled);
  if (pulled !== undefined && shown !== undefined && (accepted === undefined || isPulledSince(outbox, pulled, accepted)))
    return shown;
  if (accepted !== undefined) return accepted.value;
  const find = target.findId === null ? undefined : findById(outbox, target.findId);
  return find === undefined ? null : (numberOfFind(find) ?? '');
}

/** Returns the number in a find's elements. */
export function numberOfFind({ elements }: StoredFind): string | undefined {
  const number = elements['evidencni_cislo'];
  return typeof number === 'string' ? number : undefined;
}

function shownNumber({ record }: PulledRecord): string | undefined {
  if (typeof record !== 'object' || record === null || !('elements' in record)) return undefined;
  const { elements } = record;
  if (typeof elements !== 'object' || elements === null) return undefined;
  return 'evidencni_cislo' in elements && typeof elements.evidencni_cislo === 'string' ? elements.evidencni_cislo : '';
}
