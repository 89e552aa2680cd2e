import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openValidation } from '../../context/validation.ts';
import { mergeOutbox } from '../../flows/outbox/merge-outbox.ts';
import { canMergeOutbox, selectFindsToCopy } from '../../flows/outbox/rehearsal.ts';
import { type CopiedFind, copyFinds } from '../../flows/queue/copy-finds.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';

type CopyOptions = GlobalOptions & { readonly to: string; readonly all?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'copy [find...]',
    summary: t`Copy finds to another profile's outbox as new finds: with the same local ids, elements and photographs, without numbers.`,
    examples: ['pas copy K-017 K-018 --to museum', 'pas copy --all --to museum'],
  })
    .option(
      '--all',
      t`all finds of the outbox; if nothing was sent from it, with everything queued for them`,
    )
    .requiredOption('--to <profile>', t`profile to whose outbox the finds are copied`)
    .action((finds: string[], options: CopyOptions) =>
      run(options, (context) => copy(context, finds, options)),
    );
}

async function copy(
  context: Context,
  names: readonly string[],
  options: CopyOptions,
): Promise<ExitReason> {
  if ((options.all === true) === names.length > 0)
    throw new UsageError(t`Specify the finds to copy, or --all.`, {
      hint: t`\`${cmd`pas list`}\` shows the finds.`,
    });
  const from = await context.openOutbox();
  const target = context.asProfile(options.to);
  if (target.getOutboxId() === context.getOutboxId())
    throw new UsageError(t`Both profiles share one outbox: there is nothing to copy.`);
  const to = await target.openOutbox();
  to.command.words = 'copy';
  const folders = {
    from: context.getOutboxPlaces().photosFolder,
    to: target.getOutboxPlaces().photosFolder,
  };
  if (options.all === true && canMergeOutbox(from, to))
    return copyIntoOutbox(context, from, to, folders, options.to);
  const progress = context.terminal.startProgress(t`Copying finds`);
  const copies = await copyFinds(from, to, selectFindsToCopy(from, names), {
    validate: await openValidation(target),
    photosFolders: folders,
    onProgress: progress.update,
  }).finally(progress.end);
  return report(context, copies, options.to);
}

function report({ terminal }: Context, copies: readonly CopiedFind[], profile: string): ExitReason {
  const copied = copies.filter((each) => each.kind === 'copied');
  const taken = copies.flatMap((each) => (each.kind === 'taken' ? [each.localId] : []));
  const drafts = copied.flatMap(({ state, localId }) => (state === 'draft' ? [localId] : []));
  const lost = copied.flatMap((each) => each.lost);
  printCopied(terminal, copied.length, profile);
  if (taken.length > 0) {
    const names = printable(taken.join(', '));
    terminal.warn(t`Not copied, because that outbox has finds with the same local ids: ${names}`);
  }
  if (drafts.length > 0) {
    const names = printable(drafts.join(', '));
    terminal.note(
      t`Kept as drafts, because they are not complete for that service: ${names}. See ${cmd`pas validate --profile ${profile}`}`,
    );
  }
  printLostPhotographs(terminal, lost, profile);
  const photos = copied.reduce((sum, { photographs }) => sum + photographs, 0);
  terminal.printValue({
    to: profile,
    copied: copied.length,
    photos,
    taken,
    drafts,
    photos_lost: lost,
  });
  return taken.length + lost.length > 0 ? 'dataRefused' : 'done';
}

function printCopied(
  { printLine, note }: Context['terminal'],
  count: number,
  profile: string,
): void {
  printLine(
    ngettext(
      msgid`${count} find is new in the outbox of ${profile}.`,
      `${count} finds are new in the outbox of ${profile}.`,
      count,
    ),
  );
  if (count > 0)
    note(t`Send them with ${cmd`pas push --profile ${profile}`}. The finds here stay as they are.`);
}

function printLostPhotographs(
  { warn }: Context['terminal'],
  lost: readonly string[],
  profile: string,
): void {
  if (lost.length === 0) return;
  const names = printable(lost.join(', '));
  warn(
    t`Copies of photographs are missing and were not moved: ${names}. Add them again with ${cmd`pas photo add --profile ${profile}`} FIND FILE`,
  );
}

type Folders = { readonly from: string; readonly to: string };

async function copyIntoOutbox(
  { terminal }: Context,
  from: Outbox,
  to: Outbox,
  folders: Folders,
  profile: string,
): Promise<ExitReason> {
  const { added, same, renamed, lost, changes } = await mergeOutbox(from, to, folders);
  printCopied(terminal, added + renamed.length, profile);
  if (same > 0)
    terminal.printLine(
      ngettext(msgid`${same} find was already there.`, `${same} finds were already there.`, same),
    );
  for (const { localId, now } of renamed) {
    const before = printable(localId);
    const after = printable(now);
    terminal.warn(
      t`In that outbox, ${before} is called ${after} and held, because it has another find ${before}.`,
    );
  }
  printLostPhotographs(terminal, lost, profile);
  terminal.printValue({
    to: profile,
    copied: added + renamed.length,
    changes,
    same,
    renamed,
    photos_lost: lost,
  });
  return renamed.length + lost.length > 0 ? 'dataRefused' : 'done';
}
