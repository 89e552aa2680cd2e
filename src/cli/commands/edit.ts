import type { Command } from 'commander';
import { type ExitReason, InterruptedError, UsageError } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, msgid, ngettext, t } from '../../base/message.ts';
import { FORM_QUESTIONS, getElementNames } from '../../finds/questions.ts';
import { resolveFindNames } from '../../outbox/changes/resolve-finds.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { askAboutChangedFinds } from '../../outbox/unite.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import { listFinds } from '../../outbox/views/records-at-service.ts';
import { collapseRepeatedWarnings } from '../../tables/collapse-issues.ts';
import { addWhereOption, appendValue, defineCommand, type Runner } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import {
  askAboutFinders,
  openAddingSources,
  openOfferSources,
  openValidationContext,
} from '../context/validation.ts';
import { parseFilters } from '../find-filters.ts';
import { makeInterviewContext, openEntrySession } from '../interview/add-find.ts';
import {
  type ElementChange,
  type FindEdit,
  openEdit,
  type PlannedEdit,
  planEdits,
} from '../interview/edit-find.ts';
import { type InterviewResult, reviewFind } from '../interview/interview.ts';
import { formatFindCount } from '../result-texts.ts';
import { printIssues, requireConfirmation, toIssuesJson } from '../terminal.ts';

export function register(program: Command, run: Runner): void {
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
    .action(run(start));
}

async function start(
  context: Context,
  finds: readonly string[],
  options: EditOptions,
): Promise<ExitReason> {
  const [find, another] = finds;
  if (find !== undefined && another === undefined && options.where === undefined)
    return edit(context, find, options);
  return editMany(context, finds, options);
}

async function edit(context: Context, name: string, options: EditOptions): Promise<ExitReason> {
  const outbox = await context.openOutbox();
  outbox.command.words = 'edit';
  const [stored] = resolveFindNames(outbox, [name]);
  if (stored === undefined) return 'done';
  const ruleContext = await askAboutFinders(context, await openValidationContext(context), options);
  const opened = openEdit({ outbox, ruleContext }, stored);
  const reason = await editOne(context, stored, opened, options);
  askAboutChangedFinds(outbox);
  return reason;
}

async function editOne(
  context: Context,
  stored: StoredFind,
  opened: FindEdit,
  options: EditOptions,
): Promise<ExitReason> {
  const { set, point } = options;
  if (set !== undefined || point !== undefined)
    return finish(context, stored, opened.planBySettings(set ?? [], point));
  if (context.terminal.interactive)
    return finish(context, stored, opened.planByAnswers(await askForChanges(context, opened)));
  throw new UsageError(t`pas cannot ask questions without a terminal.`, {
    hint: t`Give the values with --set element=value.`,
  });
}

/** Shows the find, and lets the person change any answer of `pas add`. */
async function askForChanges(context: Context, { find }: FindEdit): Promise<InterviewResult> {
  const { terminal } = context;
  const adding = openEntrySession(await openAddingSources(context), {});
  const asking = {
    prompt: await context.prompt(),
    say: terminal.note,
    offers: await openOfferSources(context),
  };
  terminal.note(t`Enter keeps a value · - empty · Ctrl-C changes nothing`);
  try {
    return await reviewFind(find, {
      ...makeInterviewContext(adding, asking),
      questions: FORM_QUESTIONS.filter(({ name }) => getElementNames(name).length > 0),
      keep: async () => {},
    });
  } catch (thrown) {
    throw thrown instanceof InterruptedError
      ? new InterruptedError(t`Interrupted. Nothing was changed.`)
      : thrown;
  }
}

/** Stores the edit and prints what was changed. */
function finish(context: Context, edited: StoredFind, planned: PlannedEdit): ExitReason {
  const { terminal } = context;
  const stored = planned.store?.();
  const find = edited.localId;
  const isUnreadable = planned.issues.length > 0;
  const issues = collapseRepeatedWarnings(stored?.issues ?? planned.issues);
  if (stored !== undefined) printChanges(context, planned.changed, edited);
  printIssues(
    terminal,
    issues.map((issue) => issue.without('file', 'row', 'column', 'find')),
  );
  if (isUnreadable) terminal.printLine(t`${find} was not changed: correct what is marked ✗.`);
  else if (stored === undefined) terminal.printLine(t`Nothing was changed.`);
  else {
    const state = STATE_WORDS[stored.state];
    const text = {
      queued: t`${find} is queued. Send it: ${cmd`pas push`}`,
      draft: t`${find} stays a draft until you correct what is marked ✗.`,
    };
    terminal.printLine(
      stored.state in text ? text[stored.state as keyof typeof text] : `${find}: ${state}`,
    );
  }
  terminal.printValue({
    find,
    changed: planned.changed,
    state: stored?.state ?? null,
    issues: toIssuesJson(issues),
  });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

type EditOptions = GlobalOptions & {
  readonly where?: readonly string[];
  readonly set?: readonly string[];
  readonly point?: string;
};

/**
 * Shows and makes one change in several finds.
 * @throws UsageError without a change or a terminal, or when the answer is no
 */
async function editMany(
  context: Context,
  names: readonly string[],
  options: EditOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const { set = [], point, where = [] } = options;
  if (names.length === 0 && where.length === 0) {
    throw new UsageError(t`Specify the finds to edit, or select them: --where element=value.`, {
      hint: t`\`${cmd`pas list`}\` shows the finds.`,
    });
  }
  if (set.length === 0 && point === undefined)
    throw new UsageError(t`Specify what to change: --set element=value.`);
  const outbox = await context.openOutbox();
  outbox.command.words = 'edit';
  const ruleContext = await openValidationContext(context);
  const chosen =
    where.length === 0 ? undefined : listFinds(outbox, parseFilters(where)).map(({ find }) => find);
  const named = names.length === 0 ? undefined : resolveFindNames(outbox, names);
  const requested =
    named?.filter((find) => chosen?.some(({ uuid }) => uuid === find.uuid) ?? true) ?? chosen ?? [];
  const { planned, refused, issues } = planEdits({ outbox, ruleContext }, requested, set, point);
  for (const { find, because } of refused) terminal.warn(`${find}: ${because}`);
  for (const { stored, plan } of planned) printChanges(context, plan.changed, stored);
  if (planned.length > 0) await confirm(context, planned.length);
  for (const { stored, plan } of planned) {
    const edited = plan.store?.();
    issues.push(...(edited?.issues ?? []).map((issue) => issue.with({ find: stored.localId })));
  }
  if (planned.length > 0) askAboutChangedFinds(outbox);
  const reported = collapseRepeatedWarnings(issues);
  printIssues(terminal, reported);
  const all = formatFindCount(planned.length);
  const of = requested.length;
  terminal.printLine(t`Changed: ${all} of ${of}.`);
  terminal.printValue({
    changed: planned.map(({ stored, plan }) => ({ find: stored.localId, changed: plan.changed })),
    refused,
    issues: toIssuesJson(reported),
  });
  return refused.length > 0 || hasErrors(reported) ? 'dataRefused' : 'done';
}

async function confirm(context: Context, finds: number): Promise<void> {
  const question = ngettext(
    msgid`Change ${finds} find like this?`,
    `Change ${finds} finds like this?`,
    finds,
  );
  await requireConfirmation(context, question);
}

function printChanges(
  { terminal }: Context,
  changes: readonly ElementChange[],
  stored: StoredFind,
): void {
  terminal.printLine(terminal.color.bold(stored.localId));
  for (const { element, was, is } of changes)
    terminal.printLine(`  ${element}: ${was ?? '–'} → ${is ?? '–'}`);
}
