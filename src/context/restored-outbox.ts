import { existsSync, rmSync } from 'node:fs';
import { PasError } from '../base/errors.ts';
import type { OutboxPlace } from '../flows/outbox/restore-outbox.ts';
import { openOutbox } from '../outbox/open-outbox.ts';
import { acquirePushLock } from '../outbox/push-lock.ts';
import { pointProfiles, profilesOfOutbox } from './change-config.ts';
import { isUnused } from './check-binding.ts';
import type { Context } from './context.ts';
import { openOutboxOf } from './profile-outbox.ts';

/** Returns the places of any outbox of the data home, and a function that opens it with its journal. */
export function placesOfOutboxes(context: Context): (id: string) => OutboxPlace {
  return (id) => ({
    ...context.outboxPlaces(id),
    lock: context.pushLock(id),
    open: () => openOutboxOf({ ...context, knownOutboxId: () => id }, id, 'push'),
  });
}

/** Switches the profile, with others of the same outbox, to another outbox. The previous one stays, unless it was never used. */
export function pointProfileTo(context: Context, id: string): void {
  const { name } = context.profile();
  let before: string | undefined;
  context.changeConfig((config) => {
    before = config.profiles.get(name)?.outbox?.toString();
    if (before === id) return config;
    return pointProfiles(config, before === undefined ? [name] : profilesOfOutbox(config, before), id);
  });
  if (before !== undefined && before !== id) removeUnused(context, before);
}

/** Keeps an outbox that is being pushed or cannot be opened. */
function removeUnused(context: Context, id: string): void {
  const { folder, outboxFile } = context.outboxPlaces(id);
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
