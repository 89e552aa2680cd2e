import type { Find } from '../../find/find.ts';
import type { ValidatedFind } from '../../find/validate-find.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  entriesOfFind,
  importOfFind,
  importsElsewhere,
  wasGivenUp,
} from '../../outbox/entries.ts';
import type { Entry, EntryState } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { asFind, contentOf } from './enqueue-finds.ts';

/** Finds that other services have or are to have, and this one never had, by the order in which they were entered. */
export function findsToCopy(outbox: ServiceOutbox, finds: Iterable<StoredFind>): StoredFind[] {
  return [...finds].filter(
    ({ id }) => importOfFind(outbox, id) === undefined && !wasGivenUp(outbox, id) && importsElsewhere(outbox, id).length > 0,
  );
}

/**
 * Queues finds for a second service, as entries of its own: with their photographs, and with the number that was set last. What became
 * of them at the first service stays as it is.
 * @returns what each is now
 */
export function copyFinds(
  outbox: ServiceOutbox,
  finds: readonly StoredFind[],
  validate: (find: Find) => ValidatedFind,
): EntryState[] {
  return finds.map((find) => {
    const content = contentOf(asFind(find), validate(asFind(find)));
    return outbox.change(() => {
      // Another pas may have copied it since it was looked for.
      if (!findsToCopy(outbox, [find]).includes(find)) return 'dropped';
      const source = latest(importsElsewhere(outbox, find.id));
      const entries =
        source === undefined ? [] : entriesOfFind({ ...outbox, serviceId: source.serviceId }, find.id).filter(isWanted);
      const target = { findId: find.id, identCely: null };
      addImport(outbox, find.id, content);
      for (const entry of entries) if (entry.kind === 'photo') addPhoto(outbox, target, entry.photograph);
      const number = entries.filter((entry) => entry.kind === 'number').at(-1);
      if (number !== undefined) addNumber(outbox, target, number.value);
      return importOfFind(outbox, find.id)?.state ?? 'dropped';
    });
  });
}

/** The service that knows most about the find: where its import changed last. */
function latest(imports: readonly Entry[]): Entry | undefined {
  return [...imports].sort((one, other) => one.updatedAt - other.updatedAt).at(-1);
}

function isWanted({ state }: Entry): boolean {
  return state !== 'dropped';
}
