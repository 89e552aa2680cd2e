import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { type Context, type GlobalOptions, namedServices } from '../../context/context.ts';
import { type Restored, restoreOutbox } from '../../flows/reconcile/restore-outbox.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';

type RestoreFlags = GlobalOptions & { readonly replace?: boolean; readonly nothingSent?: boolean; readonly takeOver?: boolean };

const MOST_NAMED = 20;

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'restore <file>',
    summary: t`Put a backup back as the outbox. What was to be sent when it was made is in doubt until ${cmd`pas reconcile`} has looked.`,
    examples: ['pas restore /media/card/outbox.sqlite', 'pas restore evening.sqlite --replace'],
  })
    .option('--replace', t`put it in the place of an outbox with finds, which is moved aside`)
    .option('--nothing-sent', t`nothing was sent since the backup was made: leave queued what is queued in it`)
    .option('--take-over', t`take the outbox from a pas that you know is gone, where that cannot be seen from here`)
    .action((file: string, options: RestoreFlags) => run(options, (context) => restore(context, file, options)));
}

async function restore(context: Context, file: string, options: RestoreFlags): Promise<ExitReason> {
  const { clock, places, terminal } = context;
  // Before anything is touched: without a profile nothing could be done with what was put back.
  context.profile();
  if (file === '-') throw new UsageError(t`A backup is a file; it cannot come from standard input.`);
  const progress = terminal.progress(t`Looking at the photographs`);
  const restored = await restoreOutbox({
    backup: resolve(context.cwd, file),
    outboxFile: places.outboxFile,
    photosFolder: places.photosFolder,
    clock,
    openPresent: () => context.outbox(),
    replace: options.replace === true,
    nothingSent: options.nothingSent === true,
    profiles: namedServices(context.config()),
    takeOver: options.takeOver === true,
    onPhotograph: progress.update,
  }).finally(progress.end);
  print(context, restored, options.nothingSent === true);
  terminal.value({
    made_at: new Date(restored.madeMs).toISOString(),
    finds: restored.finds,
    uncertain: restored.doubtful.length,
    put_aside: restored.aside ?? null,
    photos_copied: restored.photosCopied,
    photos_missing: restored.missing.map(({ localId, identCely, photograph }) => ({
      find: localId ?? identCely,
      name: photograph.name,
      sha512: photograph.sha512.toString('hex'),
      link: photograph.link ?? null,
    })),
  });
  return 'done';
}

function print(context: Context, restored: Restored, nothingSent: boolean): void {
  const { terminal } = context;
  const { aside, finds, photosCopied } = restored;
  const made = new Date(restored.madeMs).toISOString();
  const doubtful = restored.doubtful.length;
  terminal.line(
    ngettext(
      msgid`The outbox is as it was at ${made}, with ${finds} find.`,
      `The outbox is as it was at ${made}, with ${finds} finds.`,
      finds,
    ),
  );
  if (aside !== undefined) {
    const place = printable(aside);
    terminal.line(t`What was there before is in ${place}.`);
  }
  if (photosCopied > 0)
    terminal.line(
      ngettext(msgid`${photosCopied} photograph was copied back.`, `${photosCopied} photographs were copied back.`, photosCopied),
    );
  printMissing(context, restored);
  if (doubtful > 0) {
    terminal.line(
      ngettext(
        msgid`${doubtful} entry may have been sent since then. It is uncertain now and is not sent again by itself.`,
        `${doubtful} entries may have been sent since then. They are uncertain now and are not sent again by themselves.`,
        doubtful,
      ),
    );
    terminal.line(t`Look for them at the service: ${cmd`pas reconcile`}`);
  }
  terminal.note(
    nothingSent
      ? t`Finds and photographs that were added after ${made} are not in it.`
      : t`Finds and photographs that were added after ${made} are not in it. If you add them again, they are uncertain until ${cmd`pas reconcile`} has looked whether they were sent.`,
  );
  for (const name of restored.unnamed)
    terminal.warn(
      t`It has entries of a profile ${name}, which is not here. Say which service that was: ${cmd`pas service moved ${name}`} ADDRESS`,
    );
}

function printMissing({ terminal }: Context, { missing }: Restored): void {
  const count = missing.length;
  if (count === 0) return;
  terminal.warn(
    ngettext(
      msgid`${count} photograph that was not sent yet is not here:`,
      `${count} photographs that were not sent yet are not here:`,
      count,
    ),
  );
  for (const { localId, identCely, photograph } of missing.slice(0, MOST_NAMED)) {
    const find = printable(localId ?? identCely ?? '');
    const name = printable(photograph.name);
    const digest = photograph.sha512.toString('hex').slice(0, 16);
    const link = photograph.link === undefined ? undefined : printable(photograph.link);
    terminal.warn(
      link === undefined
        ? t`  ${name} of ${find} (SHA-512 ${digest}…). Give it again: ${cmd`pas photo add ${find}`} FILE`
        : t`  ${name} of ${find} (SHA-512 ${digest}…), which was at ${link}. Put it there again.`,
    );
  }
  if (count > MOST_NAMED) {
    const more = count - MOST_NAMED;
    terminal.warn(t`  … and ${more} more (--json lists them all)`);
  }
}
