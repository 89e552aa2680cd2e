import { selectEntries } from './entries.ts';
import type { PhotoEntry, Photograph } from './entry.ts';
import type { Outbox } from './outbox.ts';

/** Photographs that the service may not have yet, of every profile. */
export function unsentPhotographs(outbox: Outbox): Photograph[] {
  return unsentPhotoEntries(outbox).map(({ photograph }) => photograph);
}

export function unsentPhotoEntries(outbox: Outbox): PhotoEntry[] {
  return selectEntries(outbox, `kind = 'photo' and state not in ('accepted', 'dropped')`, {}).filter(
    (entry) => entry.kind === 'photo',
  );
}

/** All of a profile's photographs, those that were given up included. */
export function photoEntries(outbox: Outbox, profile: string): PhotoEntry[] {
  return selectEntries(outbox, `kind = 'photo' and profile = :profile`, { profile }).filter((entry) => entry.kind === 'photo');
}
