import { resolve } from 'node:path';
import { formatIso } from '../../base/clock.ts';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, formatMoment, t } from '../../base/message.ts';
import {
  backUpPhotographs,
  createBackup,
  type RestoreResult,
  restoreOutbox,
} from '../../outbox/restore-outbox.ts';
import { defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { findOutboxOwner, openStoredOutbox } from '../context/profile-outbox.ts';
import { formatFindCount, formatPhotographCount } from '../result-texts.ts';
import { confirmReplacing, withProgress } from '../terminal.ts';

type BackupOptions = GlobalOptions & { readonly photos?: boolean };

/** Registers `pas backup` and `pas restore`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'backup <file>',
    t`Back up the outbox, even during a push, and check the copy.`,
    ['pas backup /media/card/outbox.sqlite', 'pas backup evening.sqlite --photos --yes'],
  )
    .option('--photos', t`also copy the photographs that are not sent yet, into FILE.photos`)
    .action(run(runBackup));
  defineCommand(
    program,
    'restore <file>',
    t`Restore a backup as the outbox. The ledger of this machine adds what was sent since.`,
    ['pas restore /media/card/outbox.sqlite', 'pas restore evening.sqlite --replace'],
  )
    .option(
      '--replace',
      t`replace an outbox that has finds, as with --yes; the old outbox is moved aside`,
    )
    .action(run(restore));
};

/**
 * Copies the outbox to a file; with `--photos` also the photographs that are not sent, otherwise
 * says how many the copy lacks.
 */
async function runBackup(
  context: Context,
  file: string,
  options: BackupOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  assertIsFile(file);
  const target = resolve(context.cwd, file);
  const { photosFolder } = context.getOutboxPlaces();
  const { sizeBytes, photographs } = await createBackup({
    open: context.openOutbox,
    target,
    replace: await confirmReplacing(context, target),
  });
  const sizeKib = Math.ceil(sizeBytes / 1024);
  terminal.printLine(t`The outbox was copied to ${target} (${sizeKib} KiB, checked).`);
  const count = options.photos === true ? photographs.length : 0;
  if (options.photos === true) {
    await withProgress(terminal, t`Copying photographs`, (onProgress) =>
      backUpPhotographs(photosFolder, `${target}.photos`, photographs, onProgress),
    );
    const copied = formatPhotographCount(count);
    terminal.printLine(t`${target}.photos has ${copied} not sent yet.`);
  }
  const remainingCount = photographs.length - count;
  if (remainingCount > 0) {
    const absent = formatPhotographCount(remainingCount);
    terminal.note(t`The copy does not contain ${absent} not sent yet (--photos includes them).`);
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

/** @throws UsageError for standard input or output */
function assertIsFile(file: string): void {
  if (file === '-')
    throw new UsageError(t`A backup is a file, not standard input or output. Specify a file.`);
}

const MAX_NAMED = 20;

type RestoreFlags = GlobalOptions & { readonly replace?: boolean };

/**
 * Restores a backup as the outbox of the profile, and prints what it lacks.
 * @throws UsageError where finds would be replaced without `--replace` or `--yes`; as
 * {@link restoreOutbox}
 */
async function restore(context: Context, file: string, options: RestoreFlags): Promise<ExitReason> {
  const { clock, places, terminal } = context;
  // Checked first: a restored outbox is of no use without a profile.
  const profile = context.getProfile();
  assertIsFile(file);
  const owner = await findOutboxOwner(context, profile);
  const restored = await withProgress(terminal, t`Reading the photographs`, (onPhotograph) =>
    restoreOutbox({
      clock,
      place: {
        ...context.getOutboxPlaces(),
        open: () => openStoredOutbox(context, profile.outbox),
      },
      backup: resolve(context.cwd, file),
      outboxesFolder: places.outboxesFolder,
      owner,
      replace: options.replace === true || context.isConfirmed,
      onPhotograph,
    }),
  );
  print(context, restored);
  terminal.printValue({
    made_at: formatIso(restored.madeMs),
    outbox: restored.id,
    finds: restored.finds,
    uncertain: restored.uncertain,
    ledger_facts: restored.united.facts,
    ledger_finds: restored.united.finds,
    put_aside: restored.aside ?? null,
    lost: restored.lost,
    photos_copied: restored.photosCopied,
    photos_missing: restored.missing.map(({ find, photograph }) => ({
      find,
      name: photograph.name,
      sha512: photograph.sha512,
    })),
  });
  return 'done';
}

function print(context: Context, restored: RestoreResult): void {
  const { terminal } = context;
  const { aside, finds, united, ledgerProblem } = restored;
  const madeAt = formatMoment(restored.madeMs);
  const all = formatFindCount(finds);
  terminal.printLine(t`The outbox was restored from the backup of ${madeAt}, with ${all}.`);
  if (ledgerProblem !== undefined) terminal.warn(t`The ledger added nothing: ${ledgerProblem}`);
  const added = formatFindCount(united.finds);
  if (united.facts > 0)
    terminal.printLine(
      t`The ledger added what it has of sent finds, also ${added} that the backup did not have.`,
    );
  if (aside !== undefined) terminal.printLine(t`The previous outbox is in ${aside}.`);
  if (restored.lost.length > 0) {
    const names = restored.lost.slice(0, MAX_NAMED).join(', ');
    terminal.warn(
      t`The backup does not have what was changed since for these finds and not sent: ${names}. It is only in the previous outbox.`,
    );
  }
  printMissing(context, restored);
  terminal.note(
    t`Except for finds that were sent, it has nothing that was changed after ${madeAt}. Next: ${cmd`pas status`}`,
  );
}

function printMissing({ terminal }: Context, { missing }: RestoreResult): void {
  const count = missing.length;
  if (count === 0) return;
  const all = formatPhotographCount(count);
  terminal.warn(t`Missing, though not sent yet: ${all}.`);
  for (const { find, photograph } of missing.slice(0, MAX_NAMED)) {
    const digest = photograph.sha512.slice(0, 16);
    const { name } = photograph;
    terminal.warn(
      t`  ${name} of ${find} (SHA-512 ${digest}…). Add it again: ${cmd`pas photo add ${find}`} FILE`,
    );
  }
  if (count > MAX_NAMED) {
    const more = count - MAX_NAMED;
    terminal.warn(t`  … and ${more} more (--json lists them all)`);
  }
}
