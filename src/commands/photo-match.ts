import type { ExitReason } from '../base/errors.ts';
import { hasErrors } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { type KeepingFlags, photographKeeping } from '../context/validation.ts';
import type { Confidence } from '../find/match-photographs.ts';
import { enqueuePhoto, targetOf } from '../flows/enqueue-change.ts';
import type { PhotographKeeping } from '../flows/kept-photographs.ts';
import { type FileFate, type MatchedFolder, matchFolder } from '../flows/match-photographs.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { table } from '../ui/table.ts';
import { printable } from '../ui/terminal.ts';
import { strippedText } from './counted.ts';
import { foldPlaces } from './fold-places.ts';
import { findOf, rowOf } from './match-words.ts';
import { adviseSending } from './next-command.ts';
import { openQuestions, type Questions } from './photo-match-asking.ts';

export type MatchFlags = GlobalOptions &
  KeepingFlags & {
    readonly recursive?: boolean;
    readonly within?: number;
    readonly yes?: boolean;
    readonly likely?: boolean;
    readonly dryRun?: boolean;
  };

/** What GPS in a telephone is off by, and a few steps. */
const WITHIN_M = 25;

type Matched = FileFate & { readonly kind: 'matched' };
/** What was queued so far, by file: the find that it went to. */
type Tally = { readonly queued: Map<string, string>; stripped: number };

export async function matchPhotos(context: Context, folder: string, options: MatchFlags): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.outbox();
  const keeping = photographKeeping(context, options);
  const progress = terminal.progress(t`Looking at the photographs`);
  const found = await matchFolder(folder, {
    outbox,
    inspectPhotograph: keeping.inspectPhotograph,
    localToMs: (local) => new Date(local).getTime(),
    recursive: options.recursive === true,
    withinM: options.within ?? WITHIN_M,
    onProgress: progress.update,
  }).finally(progress.end);
  printFound(context, found);
  const tally: Tally = { queued: new Map(), stripped: 0 };
  const matched = found.fates.filter((fate) => fate.kind === 'matched');
  const of = (confidence: Confidence): Matched[] => matched.filter(({ match }) => match.confidence === confidence);
  const take = async (fate: Matched, find: string | undefined): Promise<void> => {
    if (find === undefined) return;
    if (options.dryRun === true) tally.queued.set(fate.file, find);
    else await queue({ context, outbox, keeping, tally }, fate, find);
  };
  if (options.dryRun !== true) await stripKnown({ context, outbox, keeping, tally }, found.fates);
  for (const fate of of('sure')) await take(fate, fate.match.find);
  const asks = terminal.interactive && !terminal.json && options.yes !== true && options.dryRun !== true;
  const questions = asks ? await openQuestions(context, outbox) : undefined;
  const toAsk = await takeLikely(of('likely'), options, questions, take);
  if (questions !== undefined) await askAll([...toAsk, ...of('doubtful')], questions, take);
  printEnd(context, found, tally, options);
  return hasErrors(found.issues) ? 'dataRefused' : 'done';
}

function printFound({ terminal }: Context, { fates, issues }: MatchedFolder): void {
  if (fates.length === 0) terminal.line(t`There are no files in this folder. To look into the folders in it: --recursive`);
  else for (const line of table([t`FILE`, t`FIND`, t`MATCH`, t`WHY`], fates.map(rowOf))) terminal.line(printable(line));
  printIssues(terminal, foldPlaces(issues));
}

/** @returns those that are to be asked about one by one */
async function takeLikely(
  likely: readonly Matched[],
  options: MatchFlags,
  questions: Questions | undefined,
  take: (fate: Matched, find: string | undefined) => Promise<void>,
): Promise<readonly Matched[]> {
  if (likely.length === 0) return [];
  const isTaken = options.likely === true || (await questions?.takeLikely(likely.length)) === true;
  if (!isTaken) return likely;
  for (const fate of likely) await take(fate, fate.match.find);
  return [];
}

/** Each answer is queued at once, so that none is lost where somebody leaves in the middle. */
async function askAll(
  fates: readonly Matched[],
  questions: Questions,
  take: (fate: Matched, find: string | undefined) => Promise<void>,
): Promise<void> {
  for (const [index, fate] of fates.entries()) {
    const answer = await questions.whichFind(fate.match, index + 1, fates.length);
    if (answer.kind === 'stop') return;
    if (answer.kind === 'find') await take(fate, answer.localId);
  }
}

type Queueing = {
  readonly context: Context;
  readonly outbox: ServiceOutbox;
  readonly keeping: PhotographKeeping;
  readonly tally: Tally;
};

async function queue({ outbox, keeping, tally }: Queueing, fate: Matched, find: string): Promise<void> {
  const target = targetOf(outbox, find);
  const kept = await keeping.keepPhotograph(fate.photograph);
  if (enqueuePhoto(outbox, target, kept) === 'kept') return;
  tally.queued.set(fate.file, find);
  if (kept.isStripped === true) tally.stripped += 1;
}

/** What waits with its place, and is wanted without, waits without from now on. */
async function stripKnown({ outbox, keeping, tally }: Queueing, fates: readonly FileFate[]): Promise<void> {
  for (const fate of fates) {
    if (fate.kind !== 'known' || fate.photograph.isStripped !== true) continue;
    const { twinSha512Hex } = fate.photograph;
    const waiting = fate.entries.filter(
      ({ state, photograph }) => state === 'queued' && photograph.sha512.toString('hex') === twinSha512Hex,
    );
    if (waiting.length === 0) continue;
    const kept = await keeping.keepPhotograph(fate.photograph);
    for (const entry of waiting) enqueuePhoto(outbox, targetOf(outbox, findOf(entry)), kept);
    tally.stripped += 1;
  }
}

function printEnd(context: Context, { fates, issues }: MatchedFolder, { queued, stripped }: Tally, options: MatchFlags): void {
  const { terminal } = context;
  const isDry = options.dryRun === true;
  const done = queued.size;
  terminal.line(endText(fates, queued, isDry));
  if (stripped > 0) terminal.line(strippedText(stripped));
  printLeft(context, fates, queued, options);
  if (done > 0 && !isDry) adviseSending(context);
  terminal.value({
    dry_run: isDry,
    queued: done,
    gps_stripped: stripped,
    files: fates.map((fate) => fateValue(fate, queued.get(fate.file))),
    issues: issueValues(terminal, issues),
  });
}

function endText(fates: readonly FileFate[], queued: ReadonlyMap<string, string>, isDry: boolean): string {
  const [done, all, finds] = [queued.size, fates.length, new Set(queued.values()).size];
  const known = fates.filter(({ kind }) => kind === 'known').length;
  if (known > 0 && !fates.some(({ kind }) => kind === 'matched')) {
    return ngettext(
      msgid`Nothing to queue: ${known} photograph was queued before; the list says what became of it.`,
      `Nothing to queue: ${known} photographs were queued before; the list says what became of them.`,
      known,
    );
  }
  return isDry
    ? ngettext(
        msgid`Would queue ${done} of ${all} files, for ${finds} find.`,
        `Would queue ${done} of ${all} files, for ${finds} finds.`,
        finds,
      )
    : ngettext(
        msgid`Queued ${done} of ${all} files, for ${finds} find.`,
        `Queued ${done} of ${all} files, for ${finds} finds.`,
        finds,
      );
}

function printLeft(
  { terminal }: Context,
  fates: readonly FileFate[],
  queued: ReadonlyMap<string, string>,
  { likely }: MatchFlags,
): void {
  const left = fates.filter((fate) => fate.kind === 'matched' && !queued.has(fate.file)) as Matched[];
  const count = (confidence: Confidence): number => left.filter(({ match }) => match.confidence === confidence).length;
  const [likelyLeft, doubtful, none] = [count('likely'), count('doubtful'), count('none')];
  if (likelyLeft > 0 && likely !== true) {
    terminal.line(
      ngettext(
        msgid`${likelyLeft} likely match was left: --likely takes it too.`,
        `${likelyLeft} likely matches were left: --likely takes them too.`,
        likelyLeft,
      ),
    );
  }
  const advise = (text: string): void => terminal.line(terminal.advised(text));
  if (doubtful > 0) {
    advise(
      ngettext(
        msgid`${doubtful} doubtful match was left: pas photo add FIND FILE, or answer on a terminal.`,
        `${doubtful} doubtful matches were left: pas photo add FIND FILE, or answer on a terminal.`,
        doubtful,
      ),
    );
  }
  if (none > 0) {
    advise(
      ngettext(
        msgid`Nothing says which find ${none} photograph shows: pas photo add FIND FILE`,
        `Nothing says which find ${none} photographs show: pas photo add FIND FILE`,
        none,
      ),
    );
  }
}

function fateValue(fate: FileFate, queuedFor: string | undefined): Record<string, unknown> {
  const nothing = { find: null, confidence: null, reasons: [], candidates: [], known: [], copy_of: null };
  switch (fate.kind) {
    case 'matched': {
      const { find = null, confidence, reasons, candidates } = fate.match;
      const action = queuedFor === undefined ? 'left' : 'queued';
      return { file: fate.file, action, ...nothing, find: queuedFor ?? find, confidence, reasons, candidates };
    }
    case 'known': {
      const known = fate.entries.map((entry) => ({ find: findOf(entry), state: entry.state }));
      return { file: fate.file, action: 'known', ...nothing, known };
    }
    case 'copy':
      return { file: fate.file, action: 'copy', ...nothing, copy_of: fate.of };
    case 'refused':
      return { file: fate.file, action: 'refused', ...nothing, reasons: fate.rules.map((kind) => ({ kind })) };
  }
}
