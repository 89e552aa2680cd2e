import type { Target } from '../../outbox/entries.ts';
import { numbersOf } from '../../outbox/numbers.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { type PulledRecord, pulledRecord } from '../../outbox/pulled.ts';
import { findById, type StoredFind } from '../../outbox/stored-finds.ts';
import { isPulledAfter } from '../finds/at-service.ts';

/**
 * The number that a record has, as far as this outbox knows: accepted from here, shown by the last pull, or sent with the import.
 * @returns '' where the record has none, null where nothing is known of it
 */
export function knownNumber(outbox: Outbox, target: Target): string | null {
  const accepted = numbersOf(outbox, target).findLast(({ state }) => state === 'accepted');
  const pulled = target.identCely === null ? undefined : pulledRecord(outbox, target.identCely);
  const shown = pulled === undefined ? undefined : shownNumber(pulled);
  if (pulled !== undefined && shown !== undefined && (accepted === undefined || isPulledAfter(outbox, pulled, accepted)))
    return shown;
  if (accepted !== undefined) return accepted.value;
  const find = target.findId === null ? undefined : findById(outbox, target.findId);
  return find === undefined ? null : (numberOfFind(find) ?? '');
}

/** The number that a find says of itself. */
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
