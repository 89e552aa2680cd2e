import type { Command } from 'commander';
import { ConfigError, type ExitReason, UsageError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd, msg } from '../../base/message.ts';
import { setProfilesOutbox } from '../../context/change-config.ts';
import { listProfilesOfOutbox } from '../../context/config.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openContinued, withLock, withLocks } from '../../context/other-outboxes.ts';
import { isOutboxId } from '../../context/places.ts';
import { describeOutbox } from '../../flows/outbox/describe-outbox.ts';
import {
  adopt,
  assertUnattempted,
  findEarlierOutboxes,
  getFence,
  storeSeparate,
} from '../../flows/outbox/fence.ts';
import { type MergedOutbox, mergeOutbox } from '../../flows/outbox/merge-outbox.ts';
import { printable, requireConfirmation } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';

type AdoptOptions = GlobalOptions & {
  readonly continue?: string;
  readonly separate?: boolean;
  readonly yes?: boolean;
};

export function registerAdopt(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'adopt',
    summary: t`Push the outbox from this machine from now on. Stop pushing it from the other machine first.`,
    examples: ['pas outbox adopt', 'pas outbox adopt --yes'],
  })
    .option(
      '--continue <outbox>',
      t`continue this earlier outbox, and move the finds of the current one into it`,
    )
    .option('--separate', t`keep the outbox separate from the account's earlier ones`)
    .option('--yes', t`do not ask`)
    .action((options: AdoptOptions) => run(options, (context) => adoptCommand(context, options)));
}

async function adoptCommand(context: Context, options: AdoptOptions): Promise<ExitReason> {
  if (options.continue !== undefined && options.separate === true)
    throw new UsageError(t`--continue and --separate cannot be combined.`);
  if (options.continue !== undefined)
    return continueEarlier(context, options.continue, options.yes === true);
  return options.separate === true
    ? separate(context)
    : adoptForeign(context, options.yes === true);
}

async function adoptForeign(context: Context, yes: boolean): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutboxToPush();
  const { kind } = getFence(outbox, context.getMachineId());
  if (kind === 'own' || kind === 'new') {
    terminal.printLine(t`The outbox is already pushed from here: there is nothing to adopt.`);
    terminal.printValue({ adopted: false, belongs_to: kind });
    return 'done';
  }
  await confirm(
    context,
    yes,
    t`This outbox was pushed from another machine or with another journal. If both places push it, finds are sent twice.`,
    t`Has the other place stopped sending for good?`,
  );
  await withLock(context, async () => adopt(outbox, context.getMachineId()));
  terminal.printLine(t`The outbox is pushed from here from now on.`);
  terminal.note(t`Before sending, pas searches the service for entries that are not sent yet.`);
  terminal.printValue({ adopted: true, belongs_to: 'own' });
  return 'done';
}

/** Keeps the outbox of the profile separate from the earlier ones of its account. */
export async function separate(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutboxToPush();
  const { header, account } = describeOutbox(outbox, context.getMachineId());
  const sender = header.account ?? account?.identCely;
  if (sender === undefined)
    throw new UsageError(t`The account of this outbox is not known yet.`, {
      hint: t`Sign in first: ${cmd`pas login`}`,
    });
  const otherOutboxes = findEarlierOutboxes(outbox, sender).map((earlier) => earlier.outbox);
  await withLock(context, async () => storeSeparate(outbox, otherOutboxes));
  terminal.printLine(
    ngettext(
      msgid`This outbox is separate from ${otherOutboxes.length} earlier one of the account.`,
      `This outbox is separate from ${otherOutboxes.length} earlier ones of the account.`,
      otherOutboxes.length,
    ),
  );
  terminal.printValue({ separate_from: otherOutboxes });
  return 'done';
}

/**
 * Moves the content of the present outbox, which was never attempted, into the one that the journal
 * knows.
 */
export async function continueEarlier(
  context: Context,
  id: string,
  yes: boolean,
): Promise<ExitReason> {
  const { terminal } = context;
  if (!isOutboxId(id))
    throw new ConfigError(
      t`"${id}" cannot be the identifier of an outbox: it must be a UUID in lower case.`,
    );
  const present = await context.openOutboxToPush();
  const presentId = context.getOutboxId();
  if (id === presentId) throw new UsageError(t`${id} is already the outbox of this profile.`);
  assertUnattempted(present, msg`Keep the two separate: ${cmd`pas outbox adopt --separate`}`);
  await confirm(
    context,
    yes,
    t`The finds of the current outbox will be moved into the outbox ${id}, and the profile will use that one.`,
    t`Does this outbox continue the other one?`,
  );
  const poured = await withLocks(context, [id, presentId], async () => {
    const earlier = await openContinued(context, id);
    if (getFence(earlier, context.getMachineId()).kind !== 'own')
      adopt(earlier, context.getMachineId());
    const folders = {
      from: context.getOutboxPlaces(presentId).photosFolder,
      to: context.getOutboxPlaces(id).photosFolder,
    };
    const done = await mergeOutbox(present, earlier, folders);
    context.changeConfig((config) =>
      setProfilesOutbox(config, listProfilesOfOutbox(config, presentId), id),
    );
    return done;
  });
  print(context, poured);
  terminal.printValue({ outbox: id, ...poured });
  return 'done';
}

function print({ terminal }: Context, { added, same, renamed, lost }: MergedOutbox): void {
  const all = added + renamed.length;
  terminal.printLine(
    ngettext(msgid`${all} find was moved into it.`, `${all} finds were moved into it.`, all),
  );
  if (same > 0)
    terminal.printLine(
      ngettext(msgid`${same} find was already there.`, `${same} finds were already there.`, same),
    );
  for (const { localId, now } of renamed) {
    const before = printable(localId);
    const after = printable(now);
    terminal.warn(
      t`${before} is now called ${after} and held, because another find was sent as ${before}. See ${cmd`pas show ${now}`}`,
    );
  }
  if (lost.length > 0) {
    const names = printable(lost.join(', '));
    terminal.warn(
      t`Copies of photographs are missing and were not moved: ${names}. Add them again with ${cmd`pas photo add`} FIND FILE`,
    );
  }
}

async function confirm(
  context: Context,
  yes: boolean,
  what: string,
  question: string,
): Promise<void> {
  if (yes) return;
  if (context.terminal.interactive) context.terminal.note(what);
  await requireConfirmation(
    context,
    question,
    [what, t`If the answer is yes, add --yes: ${question}`],
    t`Nothing was changed.`,
  );
}
