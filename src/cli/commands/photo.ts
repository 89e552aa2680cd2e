import { basename } from 'node:path';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { cmd, formatDecimal, type Message, msg, msgid, ngettext, t } from '../../base/message.ts';
import { addPhotograph, type PhotoChange } from '../../outbox/changes/enqueue-change.ts';
import {
  type FileStatus,
  type MatchedFolder,
  matchFolder,
  type QueueResult,
  queueMatches,
} from '../../outbox/changes/match-folder.ts';
import { findSubject } from '../../outbox/changes/resolve-finds.ts';
import { getOriginalDigest } from '../../outbox/facts.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import type { Confidence, MatchReason } from '../../photos/match-photographs.ts';
import { defineCommand, parseWholeNumber, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { makePhotographKeepingOfProfile } from '../context/find-input.ts';
import { announceService } from '../context/open-service.ts';
import { formatFindCount, printNextStep } from '../result-texts.ts';
import { printIssues, toIssuesJson, withProgress } from '../terminal.ts';

/**
 * Makes the question if likely matches are queued as well. It is asked on a terminal only; with
 * `--yes`, `--json` or `--dry-run` the answer is no without it.
 */
function makeLikelyQuestion(context: Context, options: MatchFlags) {
  const { terminal, isConfirmed, prompt } = context;
  const mayAsk = terminal.interactive && !terminal.json && !isConfirmed && options.dryRun !== true;
  return async (count: number): Promise<boolean> =>
    mayAsk && (await prompt()).confirm(t`Queue the likely matches as well (${count})?`, true);
}

// Texts of matches for people; programs read the codes.

const CONFIDENCE_WORDS: Readonly<Record<Confidence, Message>> = {
  sure: msg`certain`,
  likely: msg`likely`,
  doubtful: msg`doubtful`,
  none: '–',
};

const KILOMETRE_M = 1000;

function formatReason(reason: MatchReason): string {
  switch (reason.kind) {
    case 'name':
      return t`named ${reason.id}`;
    case 'folder':
      return t`in the folder ${reason.id}`;
    case 'like-name':
      return t`named like ${reason.id}`;
    case 'several-names': {
      const ids = reason.ids.join(', ');
      return t`named after several: ${ids}`;
    }
    case 'distance': {
      const metres = Math.round(reason.metres);
      return t`${metres} m from it`;
    }
    case 'far': {
      const away =
        reason.metres < KILOMETRE_M
          ? `${Math.round(reason.metres)} m`
          : `${formatDecimal(reason.metres / KILOMETRE_M, 1)} km`;
      return t`but ${away} from it`;
    }
    case 'same-day':
      return t`on its day`;
    case 'other-day': {
      const days = reason.days > 0 ? `+${reason.days}` : reason.days;
      return t`but ${days} d from its day`;
    }
  }
}

/** Formats what became of a file as a row of the table: file, find, confidence and reasons. */
function formatMatchRow(fate: FileStatus): readonly string[] {
  switch (fate.kind) {
    case 'matched': {
      const { find, confidence } = fate.match;
      return [
        fate.file,
        find ?? '',
        String(CONFIDENCE_WORDS[confidence]),
        fate.match.reasons.map(formatReason).join(', '),
      ];
    }
    case 'known': {
      const names = new Set(fate.entries.map(({ find }) => find));
      const finds = [...names].join(', ');
      const states = [...new Set(fate.entries.map(({ state }) => STATE_WORDS[state]))].join(', ');
      const count = names.size;
      return count > 1
        ? [fate.file, finds, t`several`, t`already here for ${count} finds: ${states}`]
        : [fate.file, finds, t`known`, t`already here: ${states}`];
    }
    case 'copy':
      return [fate.file, '', t`copy`, t`the same picture as ${fate.of}`];
    case 'refused':
      return [fate.file, '', t`skipped`, t`cannot be sent, see below`];
  }
}

type MatchFlags = GlobalOptions & { readonly within?: number; readonly dryRun?: boolean };

/** Accuracy of a phone's GPS, and a few steps. */
const WITHIN_M = 25;

/**
 * Matches the photographs of a folder to finds and queues the certain matches; other ones only
 * after a question on a terminal. With `--dry-run` nothing is queued.
 * @returns `dataRefused` where a photograph cannot be sent
 */
async function runPhotoMatch(
  context: Context,
  folder: string,
  options: MatchFlags,
): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  outbox.command.words = 'photo-match';
  const { inspectPhotograph, storePhotograph } = makePhotographKeepingOfProfile(context);
  const withinM = options.within ?? WITHIN_M;
  const matches = await withProgress(terminal, t`Reading the photographs`, (onProgress) =>
    matchFolder(folder, { outbox, inspectPhotograph, withinM, onProgress }),
  );
  await printFound(context, matches);
  const dryRun = options.dryRun === true;
  const queued = await queueMatches(matches.files, {
    outbox,
    storePhotograph,
    dryRun,
    confirmLikely: makeLikelyQuestion(context, options),
  });
  printEnd(context, matches, queued, options);
  return hasErrors(matches.issues) ? 'dataRefused' : 'done';
}

async function printFound({ terminal }: Context, { files, issues }: MatchedFolder): Promise<void> {
  if (files.length === 0) terminal.printLine(t`There are no files in this folder.`);
  else await terminal.printTable([t`FILE`, t`FIND`, t`MATCH`, t`WHY`], files.map(formatMatchRow));
  printIssues(terminal, issues);
}

function printEnd(
  context: Context,
  { files, issues }: MatchedFolder,
  { queued, stripped }: QueueResult,
  options: MatchFlags,
): void {
  const { terminal } = context;
  const isDry = options.dryRun === true;
  const doneCount = queued.size;
  const all = files.length;
  const finds = formatFindCount(new Set(queued.values()).size);
  terminal.printLine(
    isDry
      ? t`Would queue ${doneCount} of ${all} files, for ${finds}.`
      : t`Queued ${doneCount} of ${all} files, for ${finds}.`,
  );
  if (stripped > 0) terminal.printLine(formatPlaceRemovedNote(stripped));
  if (files.some(({ kind, file }) => kind === 'matched' && !queued.has(file)))
    terminal.printLine(t`To queue another match: ${cmd`pas photo add`} FIND FILE`);
  if (doneCount > 0 && !isDry) printNextStep(context);
  terminal.printValue({
    dry_run: isDry,
    queued: doneCount,
    gps_stripped: stripped,
    files: files.map((fate) => toStatusValue(fate, queued.get(fate.file))),
    issues: toIssuesJson(issues),
  });
}

/** Converts what became of a file to JSON; `queuedFor` is undefined where it was not queued. */
function toStatusValue(fate: FileStatus, queuedFor: string | undefined): Record<string, unknown> {
  const match = fate.kind === 'matched' ? fate.match : undefined;
  const left = queuedFor === undefined ? 'left' : 'queued';
  const known = fate.kind === 'known' ? fate.entries : [];
  const refusals = fate.kind === 'refused' ? fate.rules.map((kind) => ({ kind })) : [];
  return {
    file: fate.file,
    action: match === undefined ? fate.kind : left,
    find: queuedFor ?? match?.find ?? null,
    confidence: match?.confidence ?? null,
    reasons: match?.reasons ?? refusals,
    candidates: match?.candidates ?? [],
    known: known.map(({ find, state }) => ({ find, state })),
    copy_of: fate.kind === 'copy' ? fate.of : null,
  };
}

/** Registers the group `pas photo` with its commands `add` and `match`. */
export const registerCommands: Registration = (program, run) => {
  const parent = program.command('photo').description(t`Queue photographs of finds.`);
  defineCommand(
    parent,
    'add <find> <file...>',
    t`Queue photographs for a find. They are sent once the find has its identifier.`,
    [
      'pas photo add K-017 IMG_0412.jpg IMG_0413.jpg',
      'pas photo add C-202400101-N00001 detail.png',
    ],
  ).action(run(add));
  defineCommand(
    parent,
    'match <folder>',
    t`Match photographs of a folder to finds by name, place and time, and queue them: certain matches at once, likely ones after a question.`,
    ['pas photo match /media/card/DCIM --dry-run', 'pas photo match ./photos --yes --within 10'],
  )
    .option(
      '--within <metres>',
      t`maximum distance in metres of a photograph from a find's point (default: 25)`,
      parseWholeNumber,
    )
    .option('--dry-run', t`show what would happen and change nothing`)
    .action(run(runPhotoMatch));
};

/**
 * Queues photographs for a find, one after another; one that cannot be sent has an issue, and the
 * others are queued.
 * @returns `dataRefused` where one cannot be sent
 * @throws UsageError for standard input or an unknown find; those queued before an error stay
 */
async function add(context: Context, find: string, files: readonly string[]): Promise<ExitReason> {
  const { terminal } = context;
  if (files.includes('-')) {
    throw new UsageError(t`A photograph needs a file name, which standard input does not have.`, {
      hint: t`Save it to a file and specify that file.`,
    });
  }
  const outbox = await context.openOutbox();
  outbox.command.words = 'photo-add';
  const subject = findSubject(outbox, find);
  const keeping = makePhotographKeepingOfProfile(context);
  const issues: Issue[] = [];
  const together = new Set<string>();
  let queued = 0;
  let stripped = 0;
  await withProgress(terminal, t`Reading the photographs`, async (update) => {
    for (const [index, file] of files.entries()) {
      update(index, files.length);
      const added = await addPhotograph(outbox, subject, file, keeping, together);
      issues.push(...added.issues);
      if (added.change === undefined) continue;
      together.add(getOriginalDigest(added.photograph));
      printSameFile(context, file, find, added.change);
      if (added.change === 'kept') continue;
      if (queued === 0) announceService(context);
      queued += 1;
      if (added.photograph.originalSha512 !== undefined) stripped += 1;
    }
  });
  printIssues(terminal, issues);
  const all = files.length;
  terminal.printLine(
    ngettext(
      msgid`${queued} of ${all} photograph queued for ${find}.`,
      `${queued} of ${all} photographs queued for ${find}.`,
      all,
    ),
  );
  if (stripped > 0) terminal.printLine(formatPlaceRemovedNote(stripped));
  terminal.printValue({ find, queued, gps_stripped: stripped, issues: toIssuesJson(issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

function printSameFile(
  { terminal }: Context,
  file: string,
  find: string,
  change: PhotoChange,
): void {
  const name = basename(file);
  if (change === 'kept') terminal.note(t`${file} is already queued or sent for ${find}.`);
  if (change === 'again')
    terminal.note(
      t`${name} was sent for ${find} before, and the last pull shows the record without it; it is queued again.`,
    );
  if (change === 'replaced' || change === 'beside')
    terminal.warn(
      t`${name} has changed since it was queued or sent for ${find}; its current content is queued.`,
    );
}

/** Formats the sentence that the place was removed from `count` photographs. */
function formatPlaceRemovedNote(count: number): string {
  return ngettext(
    msgid`The place was removed from ${count} photograph.`,
    `The place was removed from ${count} photographs.`,
    count,
  );
}
