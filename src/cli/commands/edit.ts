import { type ExitReason, InterruptedError, UsageError } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, t } from '../../base/message.ts';
import type { Find } from '../../finds/find.ts';
import { FIND_QUESTIONS, listElementsOfQuestion } from '../../finds/questions.ts';
import { storeQuestionsAboutChangedFinds } from '../../outbox/alike-finds.ts';
import { findNamedFinds } from '../../outbox/changes/resolve-finds.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { listFinds } from '../../outbox/views/records-at-service.ts';
import { collapseRepeatedWarnings } from '../../tables/collapse-issues.ts';
import { parseFindFilters } from '../../tables/find-filters.ts';
import { addWhereOption, appendValue, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openConversionContext } from '../context/find-input.ts';
import { openAddingSession, openInterview } from '../interview/add-find.ts';
import { readPosition } from '../interview/answer.ts';
import { type PlannedEdit, planAnsweredEdit, planEdits } from '../interview/edit-find.ts';
import { type InterviewResult, reviewFind } from '../interview/interview.ts';
import { formatFindCount, printNextStep } from '../result-texts.ts';
import { printIssues, requireConfirmation, toIssuesJson } from '../terminal.ts';

type EditOptions = GlobalOptions & {
  readonly where?: readonly string[];
  readonly set?: readonly string[];
  readonly point?: string;
};

/** Registers `pas edit`. */
export const registerCommands: Registration = (program, run) => {
  const command = defineCommand(
    program,
    'edit [find...]',
    t`Edit a find that was not sent or was refused: answer questions, or with flags. If it is complete, it is queued again.`,
    [
      'pas edit K-017',
      "pas edit K-017 --set depth_cm=20 --set note='beside the path'",
      "pas edit --where project=C-202400101 --where finder='Novák, Jan' --set accessibility=archeolog",
    ],
  );
  addWhereOption(command)
    .option(
      '--set <element=value>',
      t`set an element, named like a table column; an empty value removes it; may be repeated`,
      appendValue,
    )
    .option('--point <position>', t`as in ${cmd`pas add`}`)
    .action(run(edit));
};

/**
 * Makes one change in the named or selected finds, which is shown before; that of several must be
 * confirmed. After an error while storing, the finds before it stay changed.
 * @returns `dataRefused` where a find cannot be changed, or has an error
 * @throws UsageError without a change, for a single find that was sent, or when the answer is no
 */
async function edit(
  context: Context,
  names: readonly string[],
  options: EditOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const { where = [] } = options;
  if (names.length === 0 && where.length === 0) {
    throw new UsageError(t`Specify the finds to edit, or select them: --where element=value.`, {
      hint: t`\`${cmd`pas list`}\` shows the finds.`,
    });
  }
  const outbox = await context.openOutbox();
  outbox.command.words = 'edit';
  const finds = selectFinds(outbox, names, where);
  const { planned, refused, issues } = await planChange(context, outbox, finds, options);
  for (const { find, because } of refused) terminal.warn(`${find}: ${because}`);
  for (const each of planned) printChanges(context, each);
  const isOne = names.length === 1 && where.length === 0;
  if (planned.length > 0 && !isOne) await confirm(context, planned.length);
  const changed = planned.map(({ stored, changes, store }) => {
    const edited = store();
    issues.push(...edited.issues.map((issue) => issue.with({ find: stored.localId })));
    return { find: stored.localId, state: edited.state, changed: changes };
  });
  if (changed.length > 0) storeQuestionsAboutChangedFinds(outbox);
  const reported = collapseRepeatedWarnings(issues);
  printIssues(terminal, reported);
  const all = formatFindCount(changed.length);
  const of = finds.length;
  terminal.printLine(t`Changed: ${all} of ${of}.`);
  const drafts = changed.filter(({ state }) => state === 'draft').map(({ find }) => find);
  const draftNames = drafts.join(', ');
  if (drafts.length > 0)
    terminal.printLine(t`Drafts until you correct what is marked ✗: ${draftNames}.`);
  if (changed.some(({ state }) => state === 'queued')) printNextStep(context);
  terminal.printValue({ changed, refused, issues: toIssuesJson(reported) });
  return refused.length > 0 || hasErrors(reported) ? 'dataRefused' : 'done';
}

/** Returns those of the named finds, or of all where none is named, that match all filters. */
function selectFinds(
  outbox: Outbox,
  names: readonly string[],
  where: readonly string[],
): readonly StoredFind[] {
  if (where.length === 0) return findNamedFinds(outbox, names);
  const chosen = listFinds(outbox, parseFindFilters(where)).map(({ find }) => find);
  if (names.length === 0) return chosen;
  return findNamedFinds(outbox, names).filter((find) =>
    chosen.some(({ uuid }) => uuid === find.uuid),
  );
}

/** Plans the change that the flags describe; without them that of one find, by questions. */
async function planChange(
  context: Context,
  outbox: Outbox,
  finds: readonly StoredFind[],
  options: EditOptions,
) {
  const { set = [], point } = options;
  const ruleContext = await openConversionContext(context);
  const position = point === undefined ? undefined : await readPosition(point, context.cwd);
  if (set.length > 0 || position !== undefined)
    return planEdits({ outbox, ruleContext }, finds, set, position);
  const [only, another] = finds;
  if (only === undefined || another !== undefined || !context.terminal.interactive)
    throw new UsageError(t`Specify what to change: --set element=value.`);
  return planAnsweredEdit({ outbox, ruleContext }, only, (find) => askForChanges(context, find));
}

/** Shows the find, and lets the person change any answer of `pas add`. */
async function askForChanges(context: Context, find: Find): Promise<InterviewResult> {
  const interview = await openInterview(context, await openAddingSession(context, {}));
  context.terminal.note(t`Enter keeps a value · - empty · Ctrl-C changes nothing`);
  try {
    return await reviewFind(find, {
      ...interview,
      questions: FIND_QUESTIONS.filter(({ name }) => listElementsOfQuestion(name).length > 0),
      keep: async () => {},
    });
  } catch (thrown) {
    throw thrown instanceof InterruptedError
      ? new InterruptedError(t`Interrupted. Nothing was changed.`)
      : thrown;
  }
}

async function confirm(context: Context, finds: number): Promise<void> {
  const all = formatFindCount(finds);
  await requireConfirmation(context, t`Change ${all} like this?`);
}

function printChanges({ terminal }: Context, { stored, changes }: PlannedEdit): void {
  terminal.printLine(terminal.color.bold(stored.localId));
  for (const { element, was, is } of changes)
    terminal.printLine(`  ${element}: ${was ?? '–'} → ${is ?? '–'}`);
}
