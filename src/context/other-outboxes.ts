import { existsSync, rmSync } from 'node:fs';
import { ConfigError, OutboxLeasedError, PasError, UsageError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import type { Elsewhere } from '../columns/map-row.ts';
import type { OutboxPlace } from '../flows/outbox/restore-outbox.ts';
import type { WithLockIfFree } from '../push/resolve.ts';
import { findKnownAccount, isAccountOfUser } from '../outbox/bound-account.ts';
import { mergeJournal } from '../outbox/merge.ts';
import { type Outbox, openOutbox, readHeader } from '../outbox/open-outbox.ts';
import { acquirePushLock, type PushLock, withPushLock } from '../outbox/push-lock.ts';
import { assertJournal } from '../outbox/record-events.ts';
import { findByIdentCely } from '../outbox/stored-finds.ts';
import { setProfilesOutbox } from './change-config.ts';
import { listProfilesOfOutbox } from './config.ts';
import type { Context } from './context.ts';
import { assertBinding, getBinding, isUnused, openOutboxWithJournal } from './profile-outbox.ts';

type Issuer = { readonly profile: string; readonly outbox: Outbox };

/**
 * Looks up an identifier among those that other services, such as a training instance, gave to
 * finds of this data home.
 */
export function makeOutboxSearch(
  context: Context,
  current: Outbox,
): (identCely: string) => Elsewhere | undefined {
  const here = context.getProfile();
  let issuers: readonly Issuer[] | undefined;
  return (identCely) => {
    if (findByIdentCely(current, identCely) !== undefined) return undefined;
    issuers ??= openIssuers(context, here.baseUrl);
    for (const { profile, outbox } of issuers) {
      const localId = findByIdentCely(outbox, identCely)?.localId;
      if (localId === undefined) continue;
      const { address } = readHeader(outbox);
      return {
        localId,
        address,
        command: cmd`pas copy ${localId} --profile ${profile} --to ${here.name}`,
      };
    }
    return undefined;
  };
}

function openIssuers(context: Context, address: string): Issuer[] {
  return [...context.getConfig().profiles].flatMap(([profile, { base_url: other, outbox: id }]) => {
    const file =
      id === undefined || other === address
        ? undefined
        : context.getOutboxPlaces(id.toString()).outboxFile;
    if (file === undefined || !existsSync(file)) return [];
    try {
      const outbox = openOutbox(file, context.clock);
      context.onClose(() => outbox.close());
      return [{ profile, outbox }];
    } catch (thrown) {
      if (thrown instanceof PasError) return [];
      throw thrown;
    }
  });
}

/**
 * Returns the places of any outbox of the data home, and a function that opens it with its journal.
 */
export function listOutboxPlaces(context: Context): (id: string) => OutboxPlace {
  return (id) => ({
    ...context.getOutboxPlaces(id),
    lock: context.pushLock(id),
    open: () => openOutboxWithJournal({ ...context, findOutboxId: () => id }, id, 'push'),
  });
}

/**
 * Switches the profile, with others of the same outbox, to another outbox. The previous one stays,
 * unless it was never used.
 */
export function setProfileOutbox(context: Context, id: string): void {
  const { name } = context.getProfile();
  let before: string | undefined;
  context.changeConfig((config) => {
    before = config.profiles.get(name)?.outbox?.toString();
    if (before === id) return config;
    return setProfilesOutbox(
      config,
      before === undefined ? [name] : listProfilesOfOutbox(config, before),
      id,
    );
  });
  if (before !== undefined && before !== id) removeUnused(context, before);
}

/** Keeps an outbox that is being pushed or cannot be opened. */
function removeUnused(context: Context, id: string): void {
  const { folder, outboxFile } = context.getOutboxPlaces(id);
  if (!existsSync(outboxFile)) return;
  try {
    const lock = acquirePushLock(context.pushLock(id));
    const outbox = openOutbox(outboxFile, context.clock);
    try {
      // In one transaction, so that no other process adds anything between check and removal.
      outbox.change(() => {
        if (isUnused(outbox)) rmSync(folder, { recursive: true, force: true });
      });
    } finally {
      outbox.close();
      lock.release();
    }
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
  }
}

/**
 * Opens an earlier outbox of the profile's service, rebuilt from the journal where its folder is
 * missing. The caller holds its lock.
 * @throws UsageError where neither a folder nor the journal has it; ConfigError where it is of
 * another service or account
 */
export async function openContinued(context: Context, id: string): Promise<Outbox> {
  const isHere = existsSync(context.getOutboxPlaces(id).outboxFile);
  if (!isHere) {
    const events = assertJournal(await context.openOutboxToPush()).listEventsSince(id, 0, 1);
    if (events.length === 0)
      throw new UsageError(msg`Neither the data home nor the journal has an outbox ${id}.`, {
        hint: msg`${cmd`pas outbox show --all`} lists those of the data home.`,
      });
  }
  const profile = context.getProfile();
  const outbox = await context.openOutboxById(id, getBinding(profile));
  assertBinding(outbox, profile);
  const { account } = readHeader(outbox);
  const boundAccount = findKnownAccount(await context.openOutboxToPush())?.identCely;
  const isOwn =
    account === null || boundAccount === undefined
      ? isAccountOfUser(outbox, profile.username)
      : boundAccount === account;
  const [sender, named] = [account ?? '', profile.name];
  if (!isOwn)
    throw new ConfigError(
      msg`The outbox ${id} sends as the account ${sender}, which is not the account of profile ${named}.`,
      {
        hint: msg`${cmd`pas outbox show --all`} lists the outboxes with their accounts.`,
      },
    );
  mergeJournal(outbox, { withOpen: true });
  return outbox;
}

/**
 * Runs `work` under the push lock. @param id of another outbox than the profile's @throws
 * OutboxLeasedError during a push
 */
export function withLock<T>(context: Context, work: () => Promise<T>, id?: string): Promise<T> {
  return withPushLock(context.pushLock(id), work);
}

/**
 * Runs `work` under the lock where it is free, and without it during a push; `work` receives which.
 */
export function withLockIfFree(context: Context): WithLockIfFree {
  return (work) => {
    const lock = lockIfFree(context);
    try {
      return work(lock !== undefined);
    } finally {
      lock?.release();
    }
  };
}

function lockIfFree({ pushLock }: Context): PushLock | undefined {
  try {
    return acquirePushLock(pushLock());
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError) return undefined;
    throw thrown;
  }
}

/**
 * Runs `work` under the push locks of outboxes, taken in this order. @throws OutboxLeasedError
 * during a push of one
 */
export function withLocks<T>(
  context: Context,
  ids: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const [first, ...otherIds] = ids;
  return first === undefined
    ? work()
    : withLock(context, () => withLocks(context, otherIds, work), first);
}
