import { existsSync, renameSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { parseTexts } from '../base/disk/database.ts';
import { makeBackupPath } from '../base/disk/database-file.ts';
import { isSound } from '../base/errors.ts';
import { isSoundFile, refoldAll, removeDamaged, salvageRows } from './backup-copy.ts';
import { assertSoundLedger } from './ledger.ts';
import {
  findKnownAccount,
  findKnownUsername,
  type Header,
  type Outbox,
  readHeader,
  updateHeader,
} from './open-outbox.ts';
import { countEntries } from './overview.ts';
import { type PushLockOptions, withPushLock } from './push-lock.ts';
import { countFinds, listNamedEntries, type NamedEntry } from './stored-finds.ts';
import { getPlace, type Place, restartUnion, restoreContents, uniteWithLedger } from './unite.ts';

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
  /** New path of the outbox, where its file is damaged. */
  readonly outboxAside: string | undefined;
  /** Local ids of finds of which something was removed. */
  readonly damaged: readonly string[];
  /** Local ids of finds without document now. */
  readonly drafts: readonly string[];
  /** Finds or records whose cache was wrong. */
  readonly corrected: readonly string[];
};

type Damaged = {
  readonly lock: PushLockOptions;
  readonly ledgerFile: string;
  readonly outboxFile: string;
  readonly clock: Clock;
  /** Opens or makes the outbox, without uniting it: what is damaged would end that. */
  open(): Outbox;
};

/**
 * Under the push lock: moves a damaged file aside and takes its readable rows, removes what differs
 * from what was written, unites outbox and ledger again, and makes the caches anew.
 */
export async function repairOutbox(options: Damaged): Promise<Repair> {
  const { lock, ledgerFile, outboxFile, clock, open } = options;
  return withPushLock(lock, async () => {
    const ledgerAside = isSoundLedger(ledgerFile) ? undefined : setAside(ledgerFile, clock.now());
    const outboxAside = isSoundFile(outboxFile) ? undefined : setAside(outboxFile, clock.now());
    const outbox = open();
    const before =
      outboxAside === undefined ? listNamedEntries(outbox) : salvageRows(outboxAside, outbox);
    const { subjects, intents, drafts } = removeDamaged(outbox);
    outbox.change(() => updateHeader(outbox, { account: findSender(outbox) ?? null }));
    restartUnion(outbox);
    uniteWithLedger(outbox);
    restoreContents(outbox, intents);
    const corrected = refoldAll(outbox);
    const after = listNamedEntries(outbox);
    const getName = ({ uuid, key }: NamedEntry): string => `${uuid} ${key}`;
    const left = new Set(after.map(getName));
    const damaged = before.filter(
      (entry) => !left.has(getName(entry)) || subjects.includes(entry.uuid),
    );
    return {
      ledgerAside,
      outboxAside,
      damaged: listLocalIds(damaged),
      drafts: listLocalIds(after.filter(({ uuid }) => drafts.includes(uuid))),
      corrected,
    };
  });
}

function listLocalIds(entries: readonly NamedEntry[]): string[] {
  return [...new Set(entries.map(({ localId }) => localId))];
}

/** Returns the account of the attempts; without one, the next sign-in binds the outbox. */
function findSender(outbox: Outbox): string | undefined {
  const accounts = outbox.sql(
    `select distinct body ->> 'account' from facts where kind = 'attempted'`,
  );
  return parseTexts(accounts.pluck().all()).at(0);
}

function isSoundLedger(path: string): boolean {
  return !existsSync(path) || isSound(() => assertSoundLedger(path));
}

/** @returns the new path */
function setAside(path: string, nowMs: number): string {
  const aside = makeBackupPath(`${path.replace(/\.sqlite$/, '')}-damaged`, nowMs);
  for (const suffix of ['-wal', '-shm', ''])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}
