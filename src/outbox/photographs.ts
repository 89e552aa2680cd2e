import { entriesOfService, selectEntries } from './entries.ts';
import type { PhotoEntry } from './entry.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** Photographs that the service may not have yet, for every service. */
export function unsentPhotoEntries(outbox: Outbox): PhotoEntry[] {
  return selectEntries(outbox, `kind = 'photo' and state not in ('accepted', 'dropped')`, {}).filter(
    (entry) => entry.kind === 'photo',
  );
}

/** All of a service's photographs, those that were given up included. */
export function photoEntries(outbox: ServiceOutbox): PhotoEntry[] {
  return entriesOfService(outbox, `kind = 'photo'`, {}).filter((entry) => entry.kind === 'photo');
}
