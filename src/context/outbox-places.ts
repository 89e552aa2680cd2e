import { existsSync, rmSync } from 'node:fs';
import { OutboxLeasedError, PasError } from '../base/errors.ts';
import type { OutboxPlace } from '../flows/outbox/restore-outbox.ts';
import { checkUnited } from '../flows/queue/check-entered.ts';
import { isEmptyOutbox } from '../outbox/backup-copy.ts';
import { type Outbox, openOutbox, readHeader } from '../outbox/open-outbox.ts';
import { acquirePushLock, type PushLock } from '../outbox/push-lock.ts';
import { type United, uniteWithOutbox } from '../outbox/unite.ts';
import type { WithLockIfFree } from '../push/resolve-entries.ts';
import { setProfilesOutbox } from './change-config.ts';
import { listProfilesOfOutbox } from './config.ts';
import type { Context } from './context.ts';
import { listOutboxFolders, openOutboxWithLedger } from './profile-outbox.ts';

/** Returns the places of any outbox of the data home, and a function that opens it. */
export function listOutboxPlaces(context: Context): (id: string) => OutboxPlace {
  return (id) => ({
    ...context.getOutboxPlaces(id),
    lock: context.pushLock(id),
    open: () => openOutboxWithLedger({ ...context, findOutboxId: () => id }, id, 'push'),
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

/**
 * Unites the outbox of the profile with the one that the account has in this data home already, and
 * uses that from now on.
 * @returns what came into it; undefined where there is no other one
 */
export async function joinOutboxOfAccount(
  context: Context,
  account: string,
): Promise<United | undefined> {
  const own = await context.openOutbox();
  const { outbox: ownId, service, account: bound } = readHeader(own);
  if (bound !== account) return undefined;
  for (const id of listOutboxFolders(context.places.outboxesFolder)) {
    if (id === ownId || !existsSync(context.getOutboxPlaces(id).outboxFile)) continue;
    const other = await openIfUsable(context, id);
    const header = other === undefined ? undefined : readHeader(other);
    if (other === undefined || header?.account !== account || header.service !== service) continue;
    const united = checkUnited(other, uniteWithOutbox(own, other));
    setProfileOutbox(context, id);
    return united;
  }
  return undefined;
}

async function openIfUsable(context: Context, id: string): Promise<Outbox | undefined> {
  try {
    return await context.openOutboxById(id);
  } catch (thrown) {
    if (thrown instanceof PasError) return undefined;
    throw thrown;
  }
}

/** Keeps an outbox that cannot be opened. */
function removeUnused(context: Context, id: string): void {
  const { folder, outboxFile } = context.getOutboxPlaces(id);
  if (!existsSync(outboxFile)) return;
  try {
    const outbox = openOutbox(outboxFile, context.clock);
    try {
      // In one transaction, so that no other process adds anything between check and removal.
      outbox.change(() => {
        if (isEmptyOutbox(outbox)) rmSync(folder, { recursive: true, force: true });
      });
    } finally {
      outbox.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
  }
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
