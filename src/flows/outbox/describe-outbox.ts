import { existsSync, readdirSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { PasError } from '../../base/errors.ts';
import { assertSound } from '../../outbox/backup-copy.ts';
import {
  findKnownAccount,
  findKnownUsername,
  type KnownAccount,
} from '../../outbox/bound-account.ts';
import { assertSoundJournal } from '../../outbox/journal.ts';
import { rebuildStates } from '../../outbox/merge.ts';
import {
  type Binding,
  type Header,
  isSameBinding,
  type Outbox,
  readHeader,
  repairHeader,
  updateHeader,
} from '../../outbox/open-outbox.ts';
import { countEntries } from '../../outbox/overview.ts';
import { type NewEvent, recordEvents } from '../../outbox/record-events.ts';
import { countFinds } from '../../outbox/stored-finds.ts';
import { type Fence, getFence } from './fence.ts';

export type Description = {
  readonly header: Header;
  readonly account: KnownAccount | undefined;
  readonly username: string | undefined;
  /** Undefined where the journal is unusable. */
  readonly fence: Fence | undefined;
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
    fence: outbox.journal === undefined ? undefined : getFence(outbox, machine),
    finds: countFinds(outbox),
    entries: sum(() => true),
    accepted: sum((state) => state === 'accepted'),
    unsent: sum((state) => state !== 'accepted' && state !== 'dropped'),
  };
}

/** Returns sorted names of folders that may be outboxes. */
export function listOutboxFolders(outboxesFolder: string): string[] {
  if (!existsSync(outboxesFolder)) return [];
  return readdirSync(outboxesFolder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort();
}

/**
 * Returns the result of `work`, or the error of an unusable outbox, so that a damaged one does not
 * hide others.
 */
export async function catchUnusable<T>(work: () => Promise<T>): Promise<T | PasError> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof PasError) return thrown;
    throw thrown;
  }
}

/**
 * Verifies every row of an outbox and its journal by checksum, and updates every state from the
 * events.
 * @returns the finds or records whose state was wrong
 * @throws DatabaseError where anything is damaged, or the journal is unusable
 */
export function verifyOutbox(outbox: Outbox): string[] {
  assertSound(outbox);
  const corrected = rebuildStates(outbox);
  if (outbox.journalProblem !== undefined) throw outbox.journalProblem;
  if (outbox.journal !== undefined) assertSoundJournal(outbox.journal);
  return corrected;
}

/**
 * Rebuilds a damaged header from the binding of the profile, under the push lock.
 * @returns false for a sound one
 */
export function repairOutbox(
  outboxFile: string,
  clock: Clock,
  binding: Binding,
  id: string,
): boolean {
  return existsSync(outboxFile) && repairHeader(outboxFile, clock, binding, id);
}

/** New address and documents of a service. */
export type ServiceMove = {
  readonly address: string;
  readonly prefix?: string;
  readonly schemaVersion?: string;
};

/**
 * Records a new address or document form of the service, under the push lock.
 * @returns false where nothing changes
 */
export function moveOutbox(
  outbox: Outbox,
  { address, prefix, schemaVersion }: ServiceMove,
): boolean {
  return outbox.change(() => {
    const before = readHeader(outbox);
    const after = {
      address,
      prefix: prefix ?? before.prefix,
      schemaVersion: schemaVersion ?? before.schemaVersion,
    };
    if (isSameBinding(before, after)) return false;
    if (address !== before.address) {
      const at = Math.floor(outbox.clock.now());
      const moved: NewEvent = {
        kind: 'moved',
        entry: null,
        body: { from: before.address, to: address, at },
      };
      // Later outboxes of the account find this one by the address.
      const bound: NewEvent[] =
        before.account === null
          ? []
          : [{ kind: 'bound', entry: null, body: { account: before.account, address, at } }];
      recordEvents(outbox, [moved, ...bound]);
    }
    updateHeader(outbox, after);
    return true;
  });
}
