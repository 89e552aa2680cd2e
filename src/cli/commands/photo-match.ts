import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import {
  type FileStatus,
  getFindName,
  type MatchedFile,
  type MatchedFolder,
  matchFolder,
  type QueueResult,
  queueMatches,
} from '../../outbox/changes/match-folder.ts';
import type { Confidence } from '../../photos/match-photographs.ts';
import { collapseGpsWarnings } from '../../tables/collapse-issues.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { type KeepingFlags, makeContextKeeping } from '../context/validation.ts';
import { formatMatchRow, makeMatchQuestions } from '../interview/ask-about-matches.ts';
import { formatStrippedCount, printNextStep } from '../result-texts.ts';
import { printIssues, toIssuesJson } from '../terminal.ts';

export type MatchFlags = GlobalOptions &
  KeepingFlags & {
    readonly within?: number;
    readonly dryRun?: boolean;
  };

/** Accuracy of a phone's GPS, and a few steps. */
const WITHIN_M = 25;

/**
 * Queues the certain matches of a folder; other matches after a question on a terminal.
 */
export async function matchPhotos(
  context: Context,
  folder: string,
  options: MatchFlags,
): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  outbox.command.words = 'photo-match';
  const { inspectPhotograph, storePhotograph } = makeContextKeeping(context, options);
  const progress = terminal.startProgress(t`Reading the photographs`);
  const matches = await matchFolder(folder, {
    outbox,
    inspectPhotograph,
    withinM: options.within ?? WITHIN_M,
    onProgress: progress.update,
  }).finally(progress.end);
  await printFound(context, matches);
  const dryRun = options.dryRun === true;
  const asks = terminal.interactive && !terminal.json && !context.isConfirmed && !dryRun;
  const questions = asks ? makeMatchQuestions(outbox, await context.prompt()) : undefined;
  const queued = await queueMatches(matches.fates, {
    outbox,
    storePhotograph,
    dryRun,
    questions,
  });
  printEnd(context, matches, queued, options);
  return hasErrors(matches.issues) ? 'dataRefused' : 'done';
}

async function printFound({ terminal }: Context, { fates, issues }: MatchedFolder): Promise<void> {
  if (fates.length === 0) terminal.printLine(t`There are no files in this folder.`);
  else await terminal.printTable([t`FILE`, t`FIND`, t`MATCH`, t`WHY`], fates.map(formatMatchRow));
  printIssues(terminal, collapseGpsWarnings(issues));
}

function printEnd(
  context: Context,
  { fates, issues }: MatchedFolder,
  { queued, stripped }: QueueResult,
  options: MatchFlags,
): void {
  const { terminal } = context;
  const isDry = options.dryRun === true;
  const doneCount = queued.size;
  terminal.printLine(formatEnd(fates, queued, isDry));
  if (stripped > 0) terminal.printLine(formatStrippedCount(stripped));
  printLeft(context, fates, queued);
  if (doneCount > 0 && !isDry) printNextStep(context);
  terminal.printValue({
    dry_run: isDry,
    queued: doneCount,
    gps_stripped: stripped,
    files: fates.map((fate) => toStatusValue(fate, queued.get(fate.file))),
    issues: toIssuesJson(issues),
  });
}

function formatEnd(
  fates: readonly FileStatus[],
  queued: ReadonlyMap<string, string>,
  isDry: boolean,
): string {
  const doneCount = queued.size;
  const all = fates.length;
  const finds = new Set(queued.values()).size;
  const knownCount = fates.filter(({ kind }) => kind === 'known').length;
  if (knownCount > 0 && !fates.some(({ kind }) => kind === 'matched')) {
    return ngettext(
      msgid`Nothing to queue: ${knownCount} photograph was queued before; the list shows what happened to it.`,
      `Nothing to queue: ${knownCount} photographs were queued before; the list shows what happened to them.`,
      knownCount,
    );
  }
  return isDry
    ? ngettext(
        msgid`Would queue ${doneCount} of ${all} files, for ${finds} find.`,
        `Would queue ${doneCount} of ${all} files, for ${finds} finds.`,
        finds,
      )
    : ngettext(
        msgid`Queued ${doneCount} of ${all} files, for ${finds} find.`,
        `Queued ${doneCount} of ${all} files, for ${finds} finds.`,
        finds,
      );
}

function printLeft(
  { terminal }: Context,
  fates: readonly FileStatus[],
  queued: ReadonlyMap<string, string>,
): void {
  const left = fates.filter(
    (fate) => fate.kind === 'matched' && !queued.has(fate.file),
  ) as MatchedFile[];
  const count = (confidence: Confidence): number =>
    left.filter(({ match }) => match.confidence === confidence).length;
  const unsure = count('likely') + count('doubtful');
  const none = count('none');
  if (unsure > 0) {
    terminal.printLine(
      ngettext(
        msgid`${unsure} likely or doubtful match was not queued. Queue it with ${cmd`pas photo add`} FIND FILE, or run this on a terminal and answer.`,
        `${unsure} likely or doubtful matches were not queued. Queue each with ${cmd`pas photo add`} FIND FILE, or run this on a terminal and answer.`,
        unsure,
      ),
    );
  }
  if (none > 0) {
    terminal.printLine(
      ngettext(
        msgid`${none} photograph matches no find. To queue it: ${cmd`pas photo add`} FIND FILE`,
        `${none} photographs match no find. To queue them: ${cmd`pas photo add`} FIND FILE`,
        none,
      ),
    );
  }
}

function toStatusValue(fate: FileStatus, queuedFor: string | undefined): Record<string, unknown> {
  const nothing = {
    find: null,
    confidence: null,
    reasons: [],
    candidates: [],
    known: [],
    copy_of: null,
  };
  switch (fate.kind) {
    case 'matched': {
      const { find = null, confidence, reasons, candidates } = fate.match;
      const action = queuedFor === undefined ? 'left' : 'queued';
      return {
        file: fate.file,
        action,
        ...nothing,
        find: queuedFor ?? find,
        confidence,
        reasons,
        candidates,
      };
    }
    case 'known': {
      const knownEntries = fate.entries.map((entry) => ({
        find: getFindName(entry),
        state: entry.state,
      }));
      return { file: fate.file, action: 'known', ...nothing, known: knownEntries };
    }
    case 'copy':
      return { file: fate.file, action: 'copy', ...nothing, copy_of: fate.of };
    case 'refused':
      return {
        file: fate.file,
        action: 'refused',
        ...nothing,
        reasons: fate.rules.map((kind) => ({ kind })),
      };
  }
}
