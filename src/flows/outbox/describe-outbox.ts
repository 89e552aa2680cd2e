import { existsSync, renameSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { isDamaged } from '../../base/errors.ts';
import { refoldAll, removeDamaged } from '../../outbox/backup-copy.ts';
import { findKnownAccount, findKnownUsername } from '../../outbox/bound-account.ts';
import { assertSoundLedger } from '../../outbox/ledger.ts';
import { type Header, type Outbox, readHeader, updateHeader } from '../../outbox/open-outbox.ts';
import { countEntries } from '../../outbox/overview.ts';
import { type PushLockOptions, withPushLock } from '../../outbox/push-lock.ts';
import { countFinds } from '../../outbox/stored-finds.ts';
import { getPlace, type Place, restartUnion, uniteWithLedger } from '../../outbox/unite.ts';
import { parseTexts } from '../../store/database.ts';
import { makeBackupPath } from '../../store/database-file.ts';

export type Description = {
  readonly header: Header;
  /** User name or e-mail address of its account; undefined where none has signed in. */
  readonly user: string | undefined;
  /** Undefined where the ledger is unusable. */
  readonly place: Place['kind'] | undefined;
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
    user: findKnownUsername(outbox) ?? findKnownAccount(outbox)?.email,
    place: outbox.ledger === undefined ? undefined : getPlace(outbox, machine).kind,
    finds: countFinds(outbox),
    entries: sum(() => true),
    accepted: sum((state) => state === 'accepted'),
    unsent: sum((state) => state !== 'accepted' && state !== 'dropped'),
  };
}

export type Repair = {
  /** New path of a damaged ledger; undefined where it was sound. */
  readonly ledgerAside: string | undefined;
  /** Ids of removed facts and intents. */
  readonly removed: readonly string[];
  /** Finds or records whose cache was wrong. */
  readonly corrected: readonly string[];
};

type Damaged = {
  readonly lock: PushLockOptions;
  readonly ledgerFile: string;
  readonly clock: Clock;
  /** Opens the outbox, without uniting it: what is damaged would end that. */
  open(): Promise<Outbox>;
};

/**
 * Under the push lock: moves a damaged ledger aside, removes what differs from what was written,
 * unites outbox and ledger again, and makes the caches anew.
 */
export async function repairOutbox({ lock, ledgerFile, clock, open }: Damaged): Promise<Repair> {
  return withPushLock(lock, async () => {
    const ledgerAside = isSoundLedger(ledgerFile)
      ? undefined
      : setLedgerAside(ledgerFile, clock.now());
    const outbox = await open();
    const removed = removeDamaged(outbox);
    outbox.change(() => updateHeader(outbox, { account: findSender(outbox) ?? null }));
    restartUnion(outbox);
    uniteWithLedger(outbox);
    return { ledgerAside, removed, corrected: refoldAll(outbox) };
  });
}

/** Returns the account of the attempts; without one, the next sign-in binds the outbox. */
function findSender(outbox: Outbox): string | undefined {
  const accounts = outbox.sql(
    `select distinct body ->> 'account' from facts where kind = 'attempted'`,
  );
  return parseTexts(accounts.pluck().all()).at(0);
}

function isSoundLedger(path: string): boolean {
  if (!existsSync(path)) return true;
  try {
    assertSoundLedger(path);
    return true;
  } catch (thrown) {
    if (isDamaged(thrown)) return false;
    throw thrown;
  }
}

/** The next union makes the ledger again from the outbox. @returns its new path */
function setLedgerAside(path: string, nowMs: number): string {
  const aside = makeBackupPath(`${path.replace(/\.sqlite$/, '')}-damaged`, nowMs);
  for (const suffix of ['-wal', '-shm', ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}
