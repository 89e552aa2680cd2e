import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { DatabaseError, type ExitReason, FileError, UsageError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { backUpOutbox } from '../outbox/backup-copy.ts';
import { unsentPhotographs } from '../outbox/photographs.ts';
import { openContentStore } from '../store/content-store.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';

type BackupOptions = GlobalOptions & { readonly force?: boolean; readonly photos?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'backup <file>',
    summary: t`Copy the outbox as it is now, also while a push runs, and check the copy.`,
    examples: ['pas backup /media/card/outbox.sqlite', 'pas backup evening.sqlite --photos --force'],
  })
    .option('--force', t`replace a file that is there`)
    .option('--photos', t`also copy the photographs that are not sent yet, into FILE.photos`)
    .action((file: string, options: BackupOptions) => run(options, (context) => backup(context, file, options)));
}

async function backup(context: Context, file: string, options: BackupOptions): Promise<ExitReason> {
  const { places, terminal } = context;
  if (file === '-')
    throw new UsageError(t`A backup is a file; it cannot go to standard output.`, { hint: t`Name the file to make.` });
  const target = resolve(context.cwd, file);
  refuseTarget(context, target, options.force === true);
  const outbox = await context.outbox();
  backUpOutbox(places.outboxFile, target, context.clock);
  const sizeBytes = statSync(target).size;
  const [copy, sizeKib] = [printable(target), Math.ceil(sizeBytes / 1024)];
  terminal.line(t`The outbox is in ${copy} (${sizeKib} KiB, checked).`);

  const waiting = unsentPhotographs(outbox);
  const copies = waiting.filter(({ link }) => link === undefined);
  if (options.photos === true) {
    const progress = terminal.progress(t`Copying photographs`);
    await copyPhotographs(places.photosFolder, `${target}.photos`, copies, (done) =>
      progress.update(done, copies.length),
    ).finally(progress.end);
    const count = copies.length;
    terminal.line(
      ngettext(
        msgid`${count} photograph that is not sent yet is in ${copy}.photos.`,
        `${count} photographs that are not sent yet are in ${copy}.photos.`,
        count,
      ),
    );
  }
  const left = options.photos === true ? waiting.length - copies.length : waiting.length;
  if (left > 0) {
    const absent = ngettext(
      msgid`Not in it: ${left} photograph that is not sent yet`,
      `Not in it: ${left} photographs that are not sent yet`,
      left,
    );
    terminal.note(copies.length === left ? t`${absent} (--photos adds them).` : `${absent}.`);
  }
  terminal.note(t`Not in it: profiles, secrets and vocabularies.`);
  terminal.note(t`Put it back with pas restore ${file}: it then looks for what was sent meanwhile.`);
  terminal.value({
    file: target,
    size_bytes: sizeBytes,
    photos: options.photos === true ? copies.length : 0,
    photos_left_out: left,
  });
  return 'done';
}

function refuseTarget({ places }: Context, target: string, force: boolean): void {
  if (!existsSync(places.outboxFile)) throw new UsageError(t`There is no outbox in ${places.home} yet.`);
  if (!existsSync(dirname(target))) throw noFolder(target);
  if (!existsSync(target)) return;
  const found = statSync(target);
  const own = statSync(places.outboxFile);
  if (found.ino === own.ino && found.dev === own.dev) throw new FileError(target, t`${target} is the outbox itself.`);
  if (!found.isFile()) throw new FileError(target, t`${target} is not a file.`, { hint: t`Name the file to make.` });
  if (!force) throw new FileError(target, t`${target} is there already.`, { hint: t`Add --force to replace it.` });
}

function noFolder(target: string): FileError {
  const folder = dirname(target);
  return new FileError(target, t`There is no folder ${folder}.`);
}

type Kept = { readonly name: string; readonly sha512: Buffer };

/** @throws DatabaseError when a photograph here is no longer what was queued */
async function copyPhotographs(
  from: string,
  to: string,
  photographs: readonly Kept[],
  onProgress: (done: number) => void,
): Promise<void> {
  const source = openContentStore(from);
  const copy = openContentStore(to);
  for (const [index, { name, sha512 }] of photographs.entries()) {
    onProgress(index);
    const path = source.pathOf(sha512);
    const copied = existsSync(path) ? await copy.add(path) : undefined;
    if (copied === undefined || !copied.sha512.equals(sha512)) {
      throw new DatabaseError(t`${path}: the queued photograph ${name} was removed or changed.`, {
        hint: t`Queue it again with \`pas photo add\`. The outbox itself was copied.`,
      });
    }
  }
}
