import type { KnownIntent, NumberIntent } from './intents.ts';

// In which order the numbers of a record are sent. The wish for a number replaces the one before
// it, so only the last one is sent. One that was attempted stays known, and the next one names it:
// X, Y, X, Y are four intents. None leaves while another one of the record may be under way.

/**
 * Returns the intent by which a find or record is to get a number: the one that was attempted last,
 * where it has this value and the record has not changed since; else a new one that follows it.
 * @param attempted all numbers of the subject that were attempted, in any order
 * @param isChangedSince the record is known to show another number since that attempt
 */
export function chooseNumberIntent(
  attempted: readonly KnownIntent[],
  subject: string,
  value: string,
  isChangedSince: boolean,
): NumberIntent {
  const last = sortNumbersByChain(attempted).at(-1);
  const { intent } = last ?? {};
  if (intent?.kind === 'number' && intent.value === value && !isChangedSince) return intent;
  return { kind: 'number', subject, value, after: last?.id ?? null };
}

/**
 * Sorts numbers as they follow one another, those in one place by id: the order is the same in all
 * copies of an outbox. Other intents come first.
 */
export function sortNumbersByChain(intents: readonly KnownIntent[]): KnownIntent[] {
  const previous = new Map(
    intents.map(({ id, intent }) => [id, intent?.kind === 'number' ? intent.after : null]),
  );
  const getPlace = (id: string | null | undefined): number =>
    id == null || !previous.has(id) ? 0 : 1 + getPlace(previous.get(id));
  return intents.toSorted(
    (a, b) => getPlace(a.id) - getPlace(b.id) || Number(a.id > b.id) - Number(a.id < b.id),
  );
}

/**
 * Condition of SQL: another number of the record may still be under way, and would overwrite it.
 */
export const AWAITS_OTHER_NUMBER = `exists (
    select 1 from entries as other where other.ident_cely = entries.ident_cely and +other.kind = 'number'
      and other.id <> entries.id and other.state in ('sending', 'uncertain'))`;
