import { normalizeNumber } from '../../base/characters.ts';
import type { LookupNumber } from '../../finds/find.ts';
import { findLastNumber, isDropped, listEffectiveNumbers } from '../entry-queries.ts';
import { makeRecordSubject } from '../intents.ts';
import type { Outbox } from '../open-outbox.ts';
import { findByIdentCely, findByLocalId, iterateFinds } from '../stored-finds.ts';
import { listPulledNumbers } from '../views/records-at-service.ts';
import { findKnownNumber, getNumberOfFind } from './enqueue-change.ts';

/**
 * Opens the registration numbers of all finds and records here. They are read with the first
 * number that is looked up, since most finds have none.
 * @param listComing returns the numbers that finds, by name, are about to get
 */
export function openNumberLookup(
  outbox: Outbox,
  listComing: () => ReadonlyMap<string, string> = () => new Map(),
): LookupNumber {
  let coming: ReadonlyMap<string, string> | undefined;
  let namesByNumber: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (number, find) => {
    coming ??= listComing();
    namesByNumber ??= groupNames([...listNumbersEver(outbox), ...coming]);
    for (const name of namesByNumber.get(number) ?? []) {
      if (name === find) continue;
      const current = coming.get(name) ?? findCurrentNumber(outbox, name);
      if (current !== undefined && normalizeNumber(current) === number) return name;
    }
    return undefined;
  };
}

type NamedNumber = readonly [name: string, number: string];

/** Lists the numbers that finds and records have, had or were to get. */
function* listNumbersEver(outbox: Outbox): Generator<NamedNumber> {
  for (const { localId, identCely, value } of listEffectiveNumbers(outbox))
    yield [localId ?? identCely ?? '', value];
  for (const find of iterateFinds(outbox)) yield [find.localId, getNumberOfFind(find) ?? ''];
  for (const [identCely, value] of listPulledNumbers(outbox))
    yield [findByIdentCely(outbox, identCely)?.localId ?? identCely, value];
}

function groupNames(numbers: readonly NamedNumber[]): Map<string, Set<string>> {
  const namesByNumber = new Map<string, Set<string>>();
  for (const [name, value] of numbers) {
    const number = normalizeNumber(value);
    const names = namesByNumber.get(number);
    if (names === undefined) namesByNumber.set(number, new Set([name]));
    else names.add(name);
  }
  return namesByNumber;
}

/** Returns the number that is queued, or else that of the record; undefined for one that is gone. */
function findCurrentNumber(outbox: Outbox, name: string): string | undefined {
  const find = findByLocalId(outbox, name);
  if (find !== undefined && (find.isHidden || isDropped(outbox, find.uuid))) return undefined;
  const subject = find?.uuid ?? makeRecordSubject(name);
  const queued = findLastNumber(outbox, subject, ['dropped', 'refused', 'accepted']);
  return queued?.value ?? findKnownNumber(outbox, subject) ?? undefined;
}
