import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context } from '../../context/context.ts';
import { openValidation } from '../../context/validation.ts';
import { copyFinds } from '../../flows/queue/copy-finds.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { findCount } from '../counted.ts';

type CopyOptions = {
  /** They were asked for. */
  readonly alsoToProduction: boolean;
  readonly dryRun: boolean;
};

/**
 * Queues finds that so far only other services have. To a training instance all of them go, since nothing there is real; to
 * production only those that are named, or all where that is asked for: what was made for practice is not to become a record.
 */
export async function copyFromOthers(
  context: Context,
  finds: readonly StoredFind[],
  { alsoToProduction, dryRun }: CopyOptions,
): Promise<void> {
  if (finds.length === 0) return;
  const { terminal } = context;
  const count = findCount(finds.length);
  if (context.profile().kind === 'production' && !alsoToProduction) {
    terminal.note(t`${count} of other services are not queued for this one. To send them here too: name them, or add --copy.`);
    return;
  }
  if (dryRun) {
    terminal.note(t`${count} of other services would be queued for this one first.`);
    return;
  }
  const states = copyFinds(await context.outbox(), finds, await openValidation(context));
  const drafts = states.filter((state) => state === 'draft').length;
  terminal.note(t`${count} of other services are queued for this one as well, each as an entry of its own.`);
  if (drafts > 0)
    terminal.warn(
      ngettext(
        msgid`${drafts} of them is a draft here: ${cmd`pas status`} says what is wrong.`,
        `${drafts} of them are drafts here: ${cmd`pas status`} says what is wrong.`,
        drafts,
      ),
    );
}
