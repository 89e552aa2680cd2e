import { existsSync, readdirSync } from 'node:fs';
import { PasError } from '../../base/errors.ts';
import { type KnownAccount, knownAccount, knownUsername } from '../../outbox/bound-account.ts';
import { countEntries, countFinds } from '../../outbox/counts.ts';
import { type Header, headerOf, type Outbox } from '../../outbox/open-outbox.ts';
import { type Fence, fenceOf } from './fence.ts';

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
    header: headerOf(outbox),
    account: knownAccount(outbox),
    username: knownUsername(outbox),
    fence: outbox.journal === undefined ? undefined : fenceOf(outbox, machine),
    finds: countFinds(outbox),
    entries: sum(() => true),
    accepted: sum((state) => state === 'accepted'),
    unsent: sum((state) => state !== 'accepted' && state !== 'dropped'),
  };
}

/** Returns sorted names of folders that may be outboxes. */
export function outboxFolders(outboxesFolder: string): string[] {
  if (!existsSync(outboxesFolder)) return [];
  return readdirSync(outboxesFolder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort();
}

/** Returns the result of `work`, or the error of an unusable outbox, so that a damaged one does not hide others. */
export async function catchUnusable<T>(work: () => Promise<T>): Promise<T | PasError> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof PasError) return thrown;
    throw thrown;
  }
}
