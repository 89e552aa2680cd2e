import { msg } from '../../base/message.ts';
import type { Entry, ImportEntry } from '../../outbox/entry.ts';
import { importOfRecord } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { releaseRecord } from '../../outbox/ownership.ts';

/**
 * Detaches a record from its previous find, since the service gave it to this one: a record has one find, so the other find, and
 * everything sent to the record for it, becomes uncertain.
 * @returns that find's import; undefined where the record had no other find
 */
export function reassignRecord(outbox: Outbox, { id, localId: find }: Entry, identCely: string): ImportEntry | undefined {
  const owner = importOfRecord(outbox, identCely);
  if (owner === undefined || owner.id === id) return undefined;
  const localId = find ?? '';
  const reason = msg`the service gave its record ${identCely} to ${localId}: it may have been restored from a backup and lost this one`;
  releaseRecord(outbox, owner, reason);
  return owner;
}
