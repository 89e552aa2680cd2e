import type { LookupNumber } from '../../find/lookup.ts';
import { isDropped, listEffectiveNumbers } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, iterateFinds } from '../../outbox/stored-finds.ts';
import { normalizeNumber } from '../../text/characters.ts';
import { getNumberOfFind } from './enqueue-change.ts';

/**
 * Opens the registration numbers of all finds and records here. They are read with the first
 * number that is looked up, since most finds have none.
 * @param listComing returns the numbers that finds, by name, are about to get
 */
export function openNumberLookup(
  outbox: Outbox,
  listComing: () => ReadonlyMap<string, string> = () => new Map(),
): LookupNumber {
  let owners: ReadonlyMap<string, readonly string[]> | undefined;
  return (number, find) => {
    owners ??= groupOwners(new Map([...listNumbersByFind(outbox), ...listComing()]));
    return owners.get(number)?.find((name) => name !== find && !isGone(outbox, name));
  };
}

/** The number that was wanted last outranks the one of the import. */
function listNumbersByFind(outbox: Outbox): Map<string, string> {
  const numbers = new Map<string, string>();
  for (const find of iterateFinds(outbox)) numbers.set(find.localId, getNumberOfFind(find) ?? '');
  for (const { localId, identCely, value } of listEffectiveNumbers(outbox))
    numbers.set(localId ?? identCely ?? '', value);
  return numbers;
}

function groupOwners(numbers: ReadonlyMap<string, string>): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const [name, value] of numbers) {
    const number = normalizeNumber(value);
    const others = owners.get(number);
    if (others === undefined) owners.set(number, [name]);
    else others.push(name);
  }
  return owners;
}

function isGone(outbox: Outbox, name: string): boolean {
  const stored = findByLocalId(outbox, name);
  return stored !== undefined && (stored.isHidden || isDropped(outbox, stored.id));
}
