import { countElsewhere, countOfOthers } from '../../outbox/counts.ts';
import { entryById } from '../../outbox/entries.ts';
import { ENTRY_KINDS } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { countQueued } from '../../outbox/overview.ts';
import { allFinds, findByLocalId, type StoredFind } from '../../outbox/stored-finds.ts';
import { entryTotals } from '../finds/outbox-status.ts';
import { findsToCopy } from '../queue/copy-finds.ts';
import { recordsNamed } from '../queue/named-finds.ts';
import type { PushResult } from './push-due.ts';

export const SENDABLE_KINDS = ENTRY_KINDS;

/**
 * What a push would be about.
 * @param names of finds; none means all
 * @param everyones also what other accounts have queued; who names a find wants it sent, whoever queued it
 * @throws UsageError for a name of which nothing is known
 */
export function planPush(outbox: ServiceOutbox, names: readonly string[], everyones: boolean) {
  const recordKeys = names.length === 0 ? undefined : recordsNamed(outbox, names);
  const which = { recordKeys, anyAccount: recordKeys !== undefined || everyones };
  return {
    ...which,
    /** Of these finds, those that so far only other services have. */
    elsewhere: findsElsewhere(outbox, names),
    queued: countQueued(outbox, which),
  };
}

function findsElsewhere(outbox: ServiceOutbox, names: readonly string[]): StoredFind[] {
  if (names.length > 0)
    return findsToCopy(
      outbox,
      names.flatMap((name) => findByLocalId(outbox, name) ?? []),
    );
  // As a rule there are none, and a season has many finds.
  return countElsewhere(outbox) === 0 ? [] : findsToCopy(outbox, allFinds(outbox));
}

export function leftAfterPush(outbox: ServiceOutbox, { oddlyAnswered, sentAs = outbox.username }: PushResult) {
  return {
    totals: entryTotals(outbox),
    otherAccounts: countOfOthers({ ...outbox, username: sentAs }),
    /** Of those that were looked up since and are not at the service: they are to be sent again, to one that answers oddly. */
    stillOdd: oddlyAnswered.filter((id) => entryById(outbox, id)?.state === 'queued').length,
  };
}
