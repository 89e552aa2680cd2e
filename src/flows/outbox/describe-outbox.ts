import { existsSync, renameSync } from 'node:fs';
import { refoldAll, removeDamaged } from '../../outbox/backup.ts';
import {
  findKnownAccount,
  findKnownUsername,
  type KnownAccount,
} from '../../outbox/bound-account.ts';
import { type Header, type Outbox, readHeader } from '../../outbox/open-outbox.ts';
import { countEntries } from '../../outbox/overview.ts';
import { countFinds } from '../../outbox/stored-finds.ts';
import { getPlace, type Place, restartUnion, uniteWithLedger } from '../../outbox/unite.ts';
import { makeBackupPath } from '../../store/database-file.ts';

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
 * Removes what differs from what was written, unites with the ledger again, and makes the caches
 * anew. The caller holds the push lock.
 * @returns the ids of removed facts and intents, and the finds or records whose cache was wrong
 */
export function repairOutbox(outbox: Outbox): {
  readonly removed: readonly string[];
  readonly corrected: readonly string[];
} {
  const removed = removeDamaged(outbox);
  restartUnion(outbox);
  uniteWithLedger(outbox);
  return { removed, corrected: refoldAll(outbox) };
}

/** Moves a damaged ledger aside; the next union makes it again from the outbox. @returns its path */
export function setLedgerAside(path: string, nowMs: number): string {
  const aside = makeBackupPath(`${path.replace(/\.sqlite$/, '')}-damaged`, nowMs);
  for (const suffix of ['-wal', '-shm', ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}
