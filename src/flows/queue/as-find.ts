import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';

/** The find layer's view of a stored find. Its photographs are entries of their own by now. */
export function asFind(stored: StoredFind): Find {
  return {
    localId: stored.localId,
    elements: stored.elements as FindElements,
    photos: [],
    ...(stored.sourceFile === null || stored.sourceRow === null
      ? {}
      : { source: { file: stored.sourceFile, row: stored.sourceRow } }),
  };
}
