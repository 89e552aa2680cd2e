import type { Entry } from '../../src/outbox/entry.ts';
import { findEntryById } from '../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../src/outbox/open-outbox.ts';

/** Returns all entries in the order of the queue. */
export function listAllEntries(outbox: Outbox): Entry[] {
  const ids = outbox.sql('select id from entries order by id').pluck().all() as number[];
  return ids.flatMap((id) => findEntryById(outbox, id) ?? []);
}
