import { existsSync } from 'node:fs';
import { ConfigError, UsageError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { fitsUser, knownAccount } from '../outbox/bound-account.ts';
import { mergeJournal } from '../outbox/merge.ts';
import { headerOf, type Outbox } from '../outbox/open-outbox.ts';
import { assertJournal } from '../outbox/record-events.ts';
import { assertBinding, bindingOf } from './check-binding.ts';
import type { Context } from './context.ts';

/**
 * Opens an earlier outbox of the profile's service, rebuilt from the journal where its folder is missing. The caller holds its
 * lock.
 * @throws UsageError where neither a folder nor the journal has it; ConfigError where it is of another service or account
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
  const { account } = headerOf(outbox);
  const own = knownAccount(await context.outboxToPush())?.identCely;
  const isOwn = account === null || own === undefined ? fitsUser(outbox, profile.username) : own === account;
  const [sender, named] = [account ?? '', profile.name];
  if (!isOwn)
    throw new ConfigError(msg`The outbox ${id} sends as the account ${sender}, which is not that of profile ${named}.`, {
      hint: msg`${cmd`pas outbox show --all`} lists the outboxes with their accounts.`,
    });
  mergeJournal(outbox, { withOpen: true });
  return outbox;
}
