import { msg } from '../../base/message.ts';
import type { Entry, ImportEntry } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { disown, ownerOf } from '../../outbox/owners.ts';

/**
 * A record has one find. Where the service gave it to this one, the find that it was taken for is in doubt, with all that
 * was sent to the record for it.
 * @returns that find's import; undefined where the record was nobody's
 */
export function takeFromOwner(outbox: ServiceOutbox, { id, localId: find }: Entry, identCely: string): ImportEntry | undefined {
  const owner = ownerOf(outbox, identCely);
  if (owner === undefined || owner.id === id) return undefined;
  const localId = find ?? '';
  const reason = msg`the service gave its record ${identCely} to ${localId}: it may have been put back from a backup and have lost this one`;
  disown(outbox, owner, reason);
  return owner;
}
