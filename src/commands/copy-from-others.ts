import { msgid, ngettext, t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import { openValidation } from '../context/validation.ts';
import { copyFinds, findsToCopy } from '../flows/copy-finds.ts';
import { asFind, contentOf } from '../flows/enqueue-finds.ts';
import { countElsewhere } from '../outbox/counts.ts';
import { allFinds, findByLocalId, type StoredFind } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { findCount } from './counted.ts';

type CopyOptions = {
  /** As the user gave them; none means all. */
  readonly names: readonly string[];
  /** Also to production, without being named. */
  readonly all: boolean;
  readonly dryRun: boolean;
};

/**
 * Queues finds that so far only other services have. To a training instance all of them go, since nothing there is real; to
 * production only those that are named, or all where that is asked for: what was made for practice is not to become a record.
 */
export async function copyFromOthers(
  context: Context,
  outbox: ServiceOutbox,
  { names, all, dryRun }: CopyOptions,
): Promise<void> {
  const { terminal } = context;
  const profile = context.profile();
  const finds = names.length === 0 ? findsOfOthers(outbox) : findsToCopy(outbox, named(outbox, names));
  if (finds.length === 0) return;
  const count = findCount(finds.length);
  if (names.length === 0 && profile.kind === 'production' && !all) {
    terminal.note(t`${count} of other services are not queued for this one. To send them here too: name them, or add --copy.`);
    return;
  }
  if (dryRun) {
    terminal.note(t`${count} of other services would be queued for this one first.`);
    return;
  }
  const check = await openValidation(context);
  const states = copyFinds({ outbox, contentOf: (stored) => contentOf(asFind(stored), check(asFind(stored))) }, finds);
  const drafts = states.filter((state) => state === 'draft').length;
  terminal.note(t`${count} of other services are queued for this one as well, each as an entry of its own.`);
  if (drafts > 0)
    terminal.warn(
      ngettext(
        msgid`${drafts} of them is a draft here: pas status says what is wrong.`,
        `${drafts} of them are drafts here: pas status says what is wrong.`,
        drafts,
      ),
    );
}

/** Finds that could be sent to this profile's service as well. */
function findsOfOthers(outbox: ServiceOutbox): StoredFind[] {
  // As a rule there are none, and a season has many finds.
  if (countElsewhere(outbox) === 0) return [];
  return findsToCopy(outbox, allFinds(outbox));
}

function named(outbox: ServiceOutbox, names: readonly string[]): StoredFind[] {
  return names.flatMap((name) => findByLocalId(outbox, name) ?? []);
}
