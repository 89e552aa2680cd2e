import { selectEntries } from './entries.ts';
import type { Photograph } from './entry.ts';
import type { Outbox } from './outbox.ts';

/** Photographs that the service may not have yet, of every profile. */
export function unsentPhotographs(outbox: Outbox): Photograph[] {
  return selectEntries(outbox, `kind = 'photo' and state not in ('accepted', 'dropped')`, {}).flatMap((entry) =>
    entry.kind === 'photo' ? [entry.photograph] : [],
  );
}
