import { basename } from 'node:path';
import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { addPhotograph, type QueuedPhoto } from '../../outbox/changes/enqueue-change.ts';
import { findSubjectToChange } from '../../outbox/changes/resolve-finds.ts';
import { collapseGpsWarnings } from '../../tables/collapse-issues.ts';
import { defineCommand, parseWholeNumber, type Runner } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { announceInstance } from '../context/open-service.ts';
import { type KeepingFlags, makeContextKeeping } from '../context/validation.ts';
import { formatStrippedCount } from '../result-texts.ts';
import { printIssues, toIssuesJson } from '../terminal.ts';
import type { MatchFlags } from './photo-match.ts';

type AddOptions = GlobalOptions & KeepingFlags;

export function register(program: Command, run: Runner): void {
  const parent = program.command('photo').description(t`Queue photographs of finds.`);
  defineCommand(parent, {
    name: 'add <find> <file...>',
    summary: t`Queue photographs for a find. They are sent once the find has its identifier.`,
    examples: [
      'pas photo add K-017 IMG_0412.jpg IMG_0413.jpg',
      'pas photo add C-202400101-N00001 detail.png --strip-gps',
    ],
  })
    .option(
      '--strip-gps',
      t`remove the position (GPS) from the queued copies; the original files are not changed`,
    )
    .action(run(add));
  defineCommand(parent, {
    name: 'match <folder>',
    summary: t`Match photographs of a folder to finds by name, place and time, and queue them: certain matches at once, others after a question.`,
    examples: [
      'pas photo match /media/card/DCIM --dry-run',
      'pas photo match ./photos --strip-gps',
      'pas photo match ./photos --yes --within 10',
    ],
  })
    .option(
      '--within <metres>',
      t`maximum distance in metres of a photograph from a find's point (default: 25)`,
      parseWholeNumber,
    )
    .option('--dry-run', t`show what would happen and change nothing`)
    .option(
      '--strip-gps',
      t`remove the position (GPS) from the queued copies; the original files are not changed`,
    )
    .action(
      run(async (context, folder: string, options: MatchFlags) => {
        const { matchPhotos } = await import('./photo-match.ts');
        return matchPhotos(context, folder, options);
      }),
    );
}

async function add(
  context: Context,
  find: string,
  files: readonly string[],
  options: AddOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  if (files.includes('-')) {
    throw new UsageError(t`A photograph needs a file name, which standard input does not have.`, {
      hint: t`Save it to a file and specify that file.`,
    });
  }
  const outbox = await context.openOutbox();
  outbox.command.words = 'photo-add';
  const subject = findSubjectToChange(outbox, find);
  const keeping = makeContextKeeping(context, options);
  const issues: Issue[] = [];
  /** Entries that this command queued, since file names may repeat in several folders. */
  const entries = new Set<number>();
  let queued = 0;
  let stripped = 0;
  const progress = terminal.startProgress(t`Reading the photographs`);
  for (const [index, file] of files.entries()) {
    progress.update(index, files.length);
    const added = await addPhotograph(outbox, subject, file, keeping, ({ id }) => entries.has(id));
    issues.push(...added.issues);
    if (added.queued === undefined) continue;
    entries.add(added.queued.entryId);
    printSameFile(context, basename(file), find, added.queued);
    if (added.queued.change === 'kept')
      terminal.note(t`${file} is already queued or sent for ${find}.`);
    if (added.queued.change === 'kept') continue;
    if (queued === 0) announceInstance(context);
    queued += 1;
    if (added.isStripped) stripped += 1;
  }
  progress.end();
  printIssues(terminal, collapseGpsWarnings(issues));
  const all = files.length;
  terminal.printLine(
    ngettext(
      msgid`${queued} of ${all} photograph queued for ${find}.`,
      `${queued} of ${all} photographs queued for ${find}.`,
      all,
    ),
  );
  if (stripped > 0) terminal.printLine(formatStrippedCount(stripped));
  terminal.printValue({ find, queued, gps_stripped: stripped, issues: toIssuesJson(issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

function printSameFile(
  { terminal }: Context,
  name: string,
  find: string,
  { sameFile, wasGone }: QueuedPhoto,
): void {
  if (wasGone === true)
    terminal.note(
      t`${name} was sent for ${find} before, and the last pull shows the record without it; it is queued again.`,
    );
  if (sameFile === 'replaced')
    terminal.note(
      t`${name} has changed since it was queued for ${find}; its current content will be sent.`,
    );
  if (sameFile === 'sent')
    terminal.warn(
      t`${name} has changed since it was sent for ${find}; its current content is queued as well.`,
    );
}
