import { assertSound, refoldAll } from '../../outbox/backup.ts';
import {
  findKnownAccount,
  findKnownUsername,
  type KnownAccount,
} from '../../outbox/bound-account.ts';
import { assertSoundLedger } from '../../outbox/ledger.ts';
import { type Header, type Outbox, readHeader } from '../../outbox/open-outbox.ts';
import { countEntries } from '../../outbox/overview.ts';
import { countFinds } from '../../outbox/stored-finds.ts';
import { getPlace, type Place } from '../../outbox/unite.ts';

export type Description = {
  readonly header: Header;
  readonly account: KnownAccount | undefined;
  readonly username: string | undefined;
  /** Undefined where the ledger is unusable. */
  readonly place: Place | undefined;
  readonly finds: number;
  readonly entries: number;
  readonly accepted: number;
  /** Entries that the service does not have yet, without dropped ones. */
  readonly unsent: number;
};

/** @param machine identifier of this machine; empty where it has none */
export function describeOutbox(outbox: Outbox, machine: string): Description {
  const states = Object.values(countEntries(outbox)).flatMap((counts) => Object.entries(counts));
  const sum = (isCounted: (state: string) => boolean): number =>
    states.reduce((all, [state, count]) => all + (isCounted(state) ? count : 0), 0);
  return {
    header: readHeader(outbox),
    account: findKnownAccount(outbox),
    username: findKnownUsername(outbox),
    place: outbox.ledger === undefined ? undefined : getPlace(outbox, machine),
    finds: countFinds(outbox),
    entries: sum(() => true),
    accepted: sum((state) => state === 'accepted'),
    unsent: sum((state) => state !== 'accepted' && state !== 'dropped'),
  };
}

/**
 * Verifies each fact of the outbox and of the ledger by its id, and makes the caches again.
 * @returns the finds or records that were wrong
 * @throws DatabaseError where anything is damaged, or the ledger is unusable
 */
export function repairCaches(outbox: Outbox): string[] {
  assertSound(outbox);
  const corrected = refoldAll(outbox);
  if (outbox.ledgerProblem !== undefined) throw outbox.ledgerProblem;
  if (outbox.ledger !== undefined) assertSoundLedger(outbox.ledger);
  return corrected;
}
