import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { backUp, backUpPhotographs } from '../../outbox/restore-outbox.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';

type BackupOptions = GlobalOptions & { readonly force?: boolean; readonly photos?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'backup <file>',
    summary: t`Back up the outbox, even during a push, and check the copy.`,
    examples: [
      'pas backup /media/card/outbox.sqlite',
      'pas backup evening.sqlite --photos --force',
    ],
  })
    .option('--force', t`overwrite an existing file`)
    .option('--photos', t`also copy the photographs that are not sent yet, into FILE.photos`)
    .action(run(runBackup));
}

async function runBackup(
  context: Context,
  file: string,
  options: BackupOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  if (file === '-')
    throw new UsageError(t`A backup cannot be written to standard output. Specify a file.`, {
      hint: t`Give the name of the file to write.`,
    });
  const target = resolve(context.cwd, file);
  const { outboxFile, photosFolder } = context.getOutboxPlaces();
  const { sizeBytes, copies, linked } = await backUp({
    outboxFile,
    open: context.openOutboxToRead,
    target,
    replace: options.force === true,
  });
  const sizeKib = Math.ceil(sizeBytes / 1024);
  terminal.printLine(t`The outbox was copied to ${target} (${sizeKib} KiB, checked).`);
  const count = options.photos === true ? copies.length : 0;
  if (options.photos === true) {
    const progress = terminal.startProgress(t`Copying photographs`);
    await backUpPhotographs(photosFolder, `${target}.photos`, copies, progress.update).finally(
      progress.end,
    );
    terminal.printLine(
      ngettext(
        msgid`${count} photograph that is not sent yet is in ${target}.photos.`,
        `${count} photographs that are not sent yet are in ${target}.photos.`,
        count,
      ),
    );
  }
  const remainingCount = copies.length - count + linked;
  if (remainingCount > 0) {
    const absent = ngettext(
      msgid`The copy does not contain ${remainingCount} photograph that is not sent yet`,
      `The copy does not contain ${remainingCount} photographs that are not sent yet`,
      remainingCount,
    );
    terminal.note(
      copies.length === remainingCount ? t`${absent} (--photos includes them).` : `${absent}.`,
    );
  }
  terminal.note(t`The copy does not contain profiles, passwords or vocabularies.`);
  const { name } = context.getProfile();
  terminal.note(
    t`Restore it with ${cmd`pas restore --profile ${name} ${file}`}: the ledger adds what was sent since.`,
  );
  terminal.printValue({
    file: target,
    size_bytes: sizeBytes,
    photos: count,
    photos_left_out: remainingCount,
  });
  return 'done';
}
