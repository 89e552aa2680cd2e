import { Option } from 'commander';
import { ConfigError, type ExitReason, PasError, UsageError } from '../../base/errors.ts';
import { cmd, joinMessages, type Message, msgid, ngettext, t } from '../../base/message.ts';
import { storeQuestionsAboutChangedFinds } from '../../outbox/alike-finds.ts';
import { removeFindAsSame } from '../../outbox/changes/remove-finds.ts';
import { findSubjectsWithEntries, parseTypedIdent } from '../../outbox/changes/resolve-finds.ts';
import {
  ANSWERS_OF_ROWS,
  type Entry,
  type ImportEntry,
  isAnswerable,
  ROW_ANSWERS,
  type RowAnswer,
} from '../../outbox/entry.ts';
import { type AskedRow, type CandidateIdentity, parseStoredMessage } from '../../outbox/facts.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByUuid, getSubjectName, type StoredFind } from '../../outbox/stored-finds.ts';
import type { ReconciledEntry } from '../../push/judge-import.ts';
import { reconcileOutbox } from '../../push/push-all.ts';
import {
  fetchRecordComparison,
  findRecordProblem,
  getOpenDecision,
  type PersonDecision,
  resolveEntries,
} from '../../push/resolve-entries.ts';
import {
  ANSWER_WORDS,
  findNamedFindWithImport,
  listFindsWithQuestion,
} from '../../tables/import-table.ts';
import { defineCommand, parseWholeNumber, type Registration } from '../command.ts';
import {
  type Context,
  findOwnHarvestBase,
  type GlobalOptions,
  makeNoHarvestingError,
} from '../context/context.ts';
import { openHarvestClient, openServiceAccess } from '../context/open-service.ts';
import { openUnitedOutbox, withPushLockIfFree } from '../context/profile-outbox.ts';
import { importAnsweredRow } from '../interview/ask-about-table.ts';
import {
  findMeantCandidate,
  formatKeeping,
  listAnswerWords,
  listWays,
  type Way,
} from '../result-texts.ts';
import { requireConfirmation, toIssuesJson, withProgress } from '../terminal.ts';
import { formatReconciledEntry } from './push-progress.ts';

type ResolveOptions = GlobalOptions & {
  readonly created?: string;
  readonly resend?: boolean;
  readonly drop?: boolean;
  readonly entry?: number;
  readonly answer?: RowAnswer;
  readonly all?: RowAnswer;
};

/** Registers `pas reconcile` and `pas resolve`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'reconcile [find...]',
    t`Look up uncertain entries in the service: accept those found, queue again those proven absent, leave the rest to you.`,
    ['pas reconcile', 'pas reconcile K-017 --json'],
  ).action(run(reconcile));
  defineCommand(
    program,
    'resolve [find...]',
    t`Answer the questions about finds, resolve uncertain entries after checking the service, and resend or drop refused ones.`,
    [
      'pas resolve K-017',
      'pas resolve K-017 --created C-202400101-N00042',
      'pas resolve K-017 K-018 --resend',
      'pas resolve K-017 --answer same',
      'pas resolve --all same',
    ],
  )
    .addOption(
      new Option(
        '--answer <answer>',
        t`the row or find that is asked about is this find (same) or another (new); if the find was changed here too, use the values of the table, or mine`,
      ).choices(ROW_ANSWERS),
    )
    .addOption(
      new Option('--all <answer>', t`give this answer to every question that has it`).choices(
        ROW_ANSWERS,
      ),
    )
    .option('--created <identifier>', t`the service has it, as the record with this identifier`)
    .option('--resend', t`the service does not have it: send it again`)
    .option('--drop', t`do not send it; importing the table again does not change that`)
    .option(
      '--entry <n>',
      t`only this entry, by the number shown in \`${cmd`pas status`}\``,
      parseWholeNumber,
    )
    .action(run(resolve));
};

/**
 * Searches the service for uncertain entries, all or those of the named finds, and settles what is
 * proven.
 * @returns `uncertain` where any are left
 * @throws ConfigError where no interface shows the profile's own records
 */
async function reconcile(context: Context, names: readonly string[]): Promise<ExitReason> {
  const outbox = await openUnitedOutbox(context, 'push');
  const subjects = names.length === 0 ? undefined : findSubjectsWithEntries(outbox, names);
  const sync = await openServiceAccess(context);
  if (sync.harvesting === undefined) throw makeNoHarvestingError(context.getProfile());
  const { harvesting } = sync;
  const { settled, left: remainingCount } = await withProgress(
    context.terminal,
    t`Checking the service`,
    (onSearch) => reconcileOutbox({ ...sync, onSearch }, harvesting, subjects),
  );
  for (const one of settled) context.terminal.printLine(formatReconciledEntry(one));
  if (settled.length === 0) context.terminal.printLine(t`Nothing is uncertain.`);
  context.terminal.printValue({ reconciled: settled.map(toReconciledJson) });
  return remainingCount > 0 ? 'uncertain' : 'done';
}

function toReconciledJson({ entry, verdict }: ReconciledEntry): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    find: entry.find,
    verdict: verdict.kind,
    ident_cely: verdict.kind === 'found' ? verdict.identCely : null,
    reason: String(verdict.reason),
    candidates: verdict.candidates,
  };
}

/**
 * Answers the question or carries out the decision about one find after another; after an error,
 * those before stay resolved.
 * @returns `dataRefused` where an answered row still has an error, a question, or differs
 */
async function resolve(
  context: Context,
  names: readonly string[],
  options: ResolveOptions,
): Promise<ExitReason> {
  if (options.all === undefined) assertDecidable(names, options);
  const outbox = await context.openOutbox();
  outbox.command.words = 'resolve';
  const answer = options.all ?? options.answer;
  const finds = options.all === undefined ? names : listFindsToAnswer(outbox, names, options.all);
  let isDone = true;
  for (const name of finds) {
    // A question is one of the find.
    const entryId = answer === undefined ? options.entry : undefined;
    const find: FindToResolve = { context, outbox, name, entryId };
    if ((await resolveOne(find, { ...options, answer })) === 'differs') isDone = false;
  }
  // An answered row may be like a find that the question was not about.
  if (answer !== undefined) storeQuestionsAboutChangedFinds(outbox);
  return isDone ? 'done' : 'dataRefused';
}

/** A find as the user named it; `entryId` where only that entry of it is meant. */
type FindToResolve = {
  readonly context: Context;
  readonly outbox: Outbox;
  readonly name: string;
  readonly entryId: number | undefined;
};

/** @throws UsageError without finds, or where several need a decision of their own */
function assertDecidable(names: readonly string[], options: ResolveOptions): void {
  if (names.length === 0)
    throw new UsageError(t`Specify the finds, or an answer for all questions: --all same`);
  const isForOne = options.created !== undefined || options.entry !== undefined;
  const isSaid = options.resend === true || options.drop === true || options.answer !== undefined;
  if (names.length > 1 && (isForOne || !isSaid))
    throw new UsageError(
      t`Several finds need one decision for all, such as --answer same or --drop.`,
    );
}

/**
 * Returns the local ids of finds about which there is a question that has this answer.
 * @throws UsageError where there are none, or finds are named
 */
function listFindsToAnswer(
  outbox: Outbox,
  names: readonly string[],
  answer: RowAnswer,
): readonly string[] {
  if (names.length > 0) throw new UsageError(t`--all is for every find. Leave out the names.`);
  const open = listFindsWithQuestion(outbox).filter(({ entry }) =>
    listAnswerWords(entry.held).includes(answer),
  );
  if (open.length === 0) throw new UsageError(t`No question has the answer ${answer}.`);
  return open.map(({ stored }) => stored.localId);
}

/**
 * @returns `differs` where an answered row still has an error, a question, or differs
 * @throws UsageError where nothing is decided, with the command of each decision
 */
async function resolveOne(
  find: FindToResolve,
  options: ResolveOptions,
): Promise<'done' | 'differs'> {
  if (options.answer !== undefined) return answerQuestion(find, options.answer);
  const decision = parseDecision(options);
  if (decision === undefined) throw makeUndecidedError(find);
  await carryOut(find, decision, find.context.isConfirmed);
  return 'done';
}

/**
 * Answers the first question about a find: what a row is, or if the find is another find or a
 * record. Another question about a row is named, since the same answer may be wrong there. Where
 * the find is the `same` as another one here, that gets its number and photographs, and it is
 * removed, without a further question.
 * @throws UsageError where there is no question, or it has no such answer
 */
async function answerQuestion(find: FindToResolve, answer: RowAnswer): Promise<'done' | 'differs'> {
  const { context, outbox, name } = find;
  const { stored, entry } = findNamedFindWithImport(outbox, name) ?? {};
  const [asked, left] = stored?.wish.asked ?? [];
  if (stored !== undefined && asked !== undefined) {
    assertAnswers(ANSWERS_OF_ROWS[asked.basis], answer, name);
    const { outcome, issues } = await importAnsweredRow(context, stored, asked, answer);
    context.terminal.printValue({ find: name, settled: [], issues: toIssuesJson(issues) });
    if (left !== undefined) warnOfQuestion(find, stored, left);
    return outcome;
  }
  assertAnswers(listAnswerWords(entry?.held ?? null), answer, name);
  const { basis, candidates = [] } = entry?.held ?? {};
  const isHere = ({ uuid = '' }: CandidateIdentity): boolean =>
    findByUuid(outbox, uuid)?.isHidden === false;
  const isAboutFind = stored !== undefined && basis === 'alike-here';
  const meant = isAboutFind ? candidates.filter(isHere) : candidates;
  const candidate = findMeantCandidate(meant) ?? { name: '' };
  const other = candidate.name;
  if (answer !== 'same') await carryOut(find, { kind: 'resend' }, true);
  else if (isAboutFind) {
    removeAlike(outbox, stored, candidate);
    context.terminal.printLine(t`${name} is the same as ${other} and was removed.`);
    context.terminal.printValue({ find: name, settled: [] });
  } else await carryOut(find, { kind: 'created', identCely: other }, true);
  return 'done';
}

function warnOfQuestion(
  { context, outbox }: FindToResolve,
  { uuid }: StoredFind,
  { question: stored }: AskedRow,
): void {
  const question = parseStoredMessage(stored);
  // The answer before may have given the find another local id.
  const answer = cmd`pas resolve ${getSubjectName(outbox, uuid)}`;
  context.terminal.warn(t`Not imported: ${question} Answer: ${answer}`);
}

/** @throws UsageError where a number would replace another one, or the find was sent meanwhile */
function removeAlike(
  outbox: Outbox,
  stored: StoredFind,
  { name, uuid = '' }: CandidateIdentity,
): void {
  const other = findByUuid(outbox, uuid);
  const isRemoved =
    other !== undefined &&
    removeFindAsSame(outbox, stored, other, (value, replaces) => {
      const { localId } = stored;
      const omit = cmd`pas edit ${localId} --set evidencni_cislo=`;
      throw new UsageError(
        t`${name} has the number ${replaces}, and ${localId} the number ${value}. Nothing was changed.`,
        {
          hint: t`Remove that of ${localId} first: ${omit}`,
        },
      );
    });
  if (!isRemoved) throw new UsageError(t`There is no question about ${stored.localId}.`);
}

/** @throws UsageError where the question has no such answer */
function assertAnswers(answers: readonly RowAnswer[], answer: RowAnswer, name: string): void {
  if (answers.includes(answer)) return;
  const list = answers.join(', ');
  throw answers.length === 0
    ? new UsageError(t`There is no question about ${name}.`)
    : new UsageError(t`The answers about ${name} are ${list}.`);
}

/**
 * Settles the entries by a decision, and prints what was settled. That it is a certain record is
 * checked before.
 * @param isSure no further question is asked
 * @throws UsageError where there is nothing to decide
 */
async function carryOut(
  find: FindToResolve,
  decision: PersonDecision,
  isSure: boolean,
): Promise<void> {
  const { context, outbox, name, entryId } = find;
  const { terminal } = context;
  let asked: Entry | undefined;
  if (decision.kind === 'created') {
    const { entry, kinds } = getOpenDecision(outbox, name, entryId);
    if (kinds.includes('created')) {
      asked = entry;
      await checkRecord(find, asked, decision.identCely, isSure);
    }
  }
  const settled = withPushLockIfFree(context, (isLocked) =>
    resolveEntries(outbox, name, decision, entryId, isLocked, asked),
  );
  const count = settled.length;
  terminal.printLine(
    ngettext(
      msgid`${count} entry of ${name} resolved.`,
      `${count} entries of ${name} resolved.`,
      count,
    ),
  );
  terminal.note(t`To undo this, unless something was sent because of it: ${cmd`pas undo`}`);
  terminal.printValue({
    find: name,
    settled: settled.map((entry) => ({ entry: entry.id, kind: entry.kind })),
  });
}

/**
 * Makes the error that lists the possible answers or decisions, each with its command.
 * @throws UsageError where there is nothing to decide
 */
function makeUndecidedError({ outbox, name, entryId }: FindToResolve): UsageError {
  const [asked] = findNamedFindWithImport(outbox, name)?.stored.wish.asked ?? [];
  if (asked !== undefined) {
    const answers = ANSWERS_OF_ROWS[asked.basis].map(
      (answer): Way => [ANSWER_WORDS[answer], `--answer ${answer}`],
    );
    return makeChoiceError(name, cmd`pas resolve ${name}`, answers);
  }
  const command =
    entryId === undefined ? cmd`pas resolve ${name}` : cmd`pas resolve ${name} --entry ${entryId}`;
  const open = getOpenDecision(outbox, name, entryId);
  const kept = isAnswerable(open.entry) ? [] : [formatKeeping(open.entry, name)];
  return makeChoiceError(name, command, listWays(open), kept);
}

function makeChoiceError(
  name: string,
  command: Message,
  ways: readonly Way[],
  otherLines: readonly Message[] = [],
): UsageError {
  const lines = ways.map(([words, flag]) =>
    joinMessages([words, joinMessages([command, flag], ' ')], ': '),
  );
  const hint = joinMessages([...otherLines, ...lines], '\n');
  return new UsageError(t`Decide about ${name}:`, { hint });
}

/**
 * Returns the decision of the flags; undefined without one.
 * @throws UsageError for more than one
 */
function parseDecision({ created, resend, drop }: ResolveOptions): PersonDecision | undefined {
  const decisions: PersonDecision[] = [];
  if (created !== undefined)
    decisions.push({ kind: 'created', identCely: parseTypedIdent(created) ?? created.trim() });
  if (resend === true) decisions.push({ kind: 'resend' });
  if (drop === true) decisions.push({ kind: 'drop' });
  if (decisions.length > 1)
    throw new UsageError(t`Use one of --created IDENT, --resend and --drop.`);
  return decisions[0];
}

/**
 * Shows the record beside the find of an import, and asks if it is the record of the find.
 * @param isSure nothing is asked; then the service must list the record, if that can be seen
 * @throws UsageError where it cannot be that of the find, without a terminal or on "no"; with
 * `isSure` only where it is not listed
 */
async function checkRecord(
  { context, outbox, name }: FindToResolve,
  entry: Entry,
  identCely: string,
  isSure: boolean,
): Promise<void> {
  const problem = findRecordProblem(outbox, entry, identCely);
  if (problem !== undefined) throw problem;
  if (entry.kind !== 'import') return;
  const looked = await showRecord(context, outbox, entry, identCely);
  const mayAsk = !isSure && context.terminal.interactive;
  if (looked === 'unseen' && !mayAsk)
    throw new UsageError(t`Nothing was changed.`, {
      hint: t`Check the identifier, or wait until the service lists it. On a terminal, without --yes, pas asks you.`,
    });
  if (!isSure) await requireConfirmation(context, t`Is ${identCely} the record of ${name}?`);
}

/**
 * Shows the service's record, with the evidence against it. Where it cannot be looked up, such as
 * without a harvesting interface or an answer, it only warns.
 * @returns `unseen` where the service should list it, and does not; `seen` also after that warning
 */
async function showRecord(
  context: Context,
  outbox: Outbox,
  entry: ImportEntry,
  identCely: string,
): Promise<'seen' | 'unseen'> {
  const { terminal } = context;
  const { prefix, oaiAuth } = context.getProfile();
  try {
    if (findOwnHarvestBase(context) === undefined)
      throw makeNoHarvestingError(context.getProfile());
    const client = await openHarvestClient(context);
    const looked = await fetchRecordComparison(
      outbox,
      { client, format: `oai_${prefix}` },
      entry,
      identCely,
    );
    if (looked !== undefined) {
      const header = ['', t`ELEMENT`, entry.localId ?? '', identCely];
      await terminal.printTable(
        header,
        looked.compared.map(({ element, sent, now, differs }) => [
          differs ? '≠' : '',
          element,
          sent ?? '–',
          now ?? '–',
        ]),
      );
      for (const doubt of looked.doubts) terminal.warn(String(doubt));
    } else if (oaiAuth === 'none') {
      throw new ConfigError(
        t`The profile does not sign in for harvesting (oai_auth = none), so only archived finds are visible.`,
      );
    } else {
      terminal.warn(
        t`The service does not list ${identCely}: it does not exist, was deleted, or was created only minutes ago.`,
      );
      return 'unseen';
    }
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    terminal.warn(t`The record could not be looked up: ${thrown.message}`);
  }
  return 'seen';
}
