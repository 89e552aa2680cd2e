import { existsSync } from 'node:fs';
import { UsageError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { mergeJournal } from '../outbox/merge.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { assertJournal } from '../outbox/record-events.ts';
import { assertBinding, bindingOf } from './check-binding.ts';
import type { Context } from './context.ts';

/**
 * Opens an earlier outbox of the profile's service, which is made anew from the journal where its folder is gone. To be called under its
 * lock.
 * @throws UsageError where neither a folder nor the journal has it; ConfigError where it is of another service
 */
export async function openContinued(context: Context, id: string): Promise<Outbox> {
  const isHere = existsSync(context.outboxPlaces(id).outboxFile);
  if (!isHere) {
    const known = assertJournal(await context.outboxToPush()).eventsSince(id, 0);
    if (known.length === 0)
      throw new UsageError(msg`Neither the data home nor the journal knows an outbox ${id}.`, {
        hint: msg`${cmd`pas outbox show --all`} lists those of the data home.`,
      });
  }
  const profile = context.profile();
  const outbox = await context.outboxOf(id, bindingOf(profile));
  assertBinding(outbox, profile);
  mergeJournal(outbox, { withOpen: true });
  return outbox;
}
