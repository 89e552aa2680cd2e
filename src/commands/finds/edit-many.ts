import { type ExitReason, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { parseSetting, settingsOrRefusal } from '../../columns/settings.ts';
import type { Context } from '../../context/context.ts';
import { openValidationContext } from '../../context/validation.ts';
import { isElementName } from '../../find/fields.ts';
import type { FindChoice } from '../../flows/finds/chosen-finds.ts';
import { ENTRY_STATES } from '../../flows/finds/entry-words.ts';
import { openEdit, type PlannedEdit } from '../../flows/interview/edit-find.ts';
import { foldUnchecked } from '../../flows/queue/fold-issues.ts';
import { listFinds } from '../../flows/queue/known-finds.ts';
import { findsNamed } from '../../flows/queue/named-finds.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { printable } from '../../text/printable.ts';
import { issueValues, printIssues } from '../../ui/issues.ts';
import { findCount } from '../counted.ts';
import { type EditOptions, printChanges } from './edit.ts';

type Planned = { readonly stored: StoredFind; readonly plan: Extract<PlannedEdit, { readonly kind: 'planned' }> };
type Refused = { readonly find: string; readonly because: string };

/**
 * Makes the same change to several finds, which is shown first.
 * @throws UsageError without something to change, without a terminal to ask on, and where the answer is no
 */
export async function editMany(context: Context, names: readonly string[], options: EditOptions): Promise<ExitReason> {
  const { terminal } = context;
  const { set = [], point, where = [], yes } = options;
  if (names.length === 0 && where.length === 0) {
    throw new UsageError(t`Name the finds to edit, or choose them: --where element=value.`, {
      hint: t`\`${cmd`pas list`}\` shows the finds.`,
    });
  }
  if (set.length === 0 && point === undefined) throw new UsageError(t`Say what is to change in the finds: --set element=value.`);
  settingsOrRefusal(set);
  const outbox = await context.outbox();
  outbox.command.words = 'edit';
  const known = await openValidationContext(context);
  const chosen = where.length === 0 ? undefined : listFinds(outbox, choiceOf(where)).map(({ find }) => find);
  const named = names.length === 0 ? undefined : findsNamed(outbox, names);
  const wanted = named?.filter((find) => chosen?.some(({ id }) => id === find.id) ?? true) ?? chosen ?? [];
  const planned: Planned[] = [];
  const refused: Refused[] = [];
  const issues: Issue[] = [];
  for (const stored of wanted) {
    const plan = planFor(stored, refused, () => openEdit({ outbox, known }, stored).planBySettings(set, point));
    if (plan?.kind === 'planned') planned.push({ stored, plan });
    if (plan?.kind === 'unreadable') issues.push(...plan.issues.map((issue) => issue.with({ find: stored.localId })));
  }
  for (const { find, because } of refused) terminal.warn(`${printable(find)}: ${because}`);
  for (const { stored, plan } of planned) printChanges(context, plan.changed, stored);
  if (yes !== true && planned.length > 0) await confirm(context, planned.length);
  for (const { stored, plan } of planned) {
    const edited = plan.store();
    if (edited.kind === 'stored') issues.push(...edited.issues.map((issue) => issue.with({ find: stored.localId })));
  }
  const told = foldUnchecked(issues);
  printIssues(terminal, told);
  const [all, of] = [findCount(planned.length), wanted.length];
  terminal.line(t`Changed: ${all} of ${of}.`);
  terminal.value({
    changed: planned.map(({ stored, plan }) => ({ find: stored.localId, changed: plan.changed })),
    refused,
    issues: issueValues(told),
  });
  return refused.length > 0 || hasErrors(told) ? 'dataRefused' : 'done';
}

/** One find that was sent does not keep the others from being changed. */
function planFor(stored: StoredFind, refused: Refused[], plan: () => PlannedEdit): PlannedEdit | undefined {
  try {
    return plan();
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    refused.push({ find: stored.localId, because: thrown.message });
    return undefined;
  }
}

async function confirm(context: Context, finds: number): Promise<void> {
  if (!context.terminal.interactive) {
    throw new UsageError(t`There is no terminal to ask on. Nothing was changed.`, {
      hint: t`To change them as shown, add --yes.`,
    });
  }
  const question = ngettext(msgid`Change ${finds} find so?`, `Change ${finds} finds so?`, finds);
  if (!(await (await context.prompt()).confirm(question, false))) throw new UsageError(t`Nothing was changed.`);
}

/** @throws UsageError for a filter that is none */
function choiceOf(filters: readonly string[]): FindChoice {
  const [named, others] = [new Map<string, string>(), [] as string[]];
  for (const filter of filters) {
    const [, name = '', value = ''] = /^\s*(state|since|until|text)\s*=(.*)$/s.exec(filter) ?? [];
    if (name === '') others.push(filter);
    else named.set(name, value.trim());
  }
  const [state, since, until, text] = ['state', 'since', 'until', 'text'].map((name) => named.get(name));
  for (const day of [since, until]) {
    if (day !== undefined && !/^\d{4}-\d\d-\d\d$/.test(day))
      throw new UsageError(t`"${day}" is no date. Write it as YYYY-MM-DD.`);
  }
  return {
    ...(state === undefined ? {} : { state: statesOf(state) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(text === undefined ? {} : { text }),
    elements: others.map(elementFilter),
  };
}

function statesOf(text: string) {
  const words = text.split(/[\s,]+/);
  const unknown = words.find((word) => !ENTRY_STATES.some((state) => state === word));
  const all = ENTRY_STATES.join(', ');
  if (unknown !== undefined) throw new UsageError(t`There is no state ${unknown}. There are: ${all}.`);
  return ENTRY_STATES.filter((state) => words.includes(state));
}

function elementFilter(filter: string) {
  const setting = parseSetting(filter);
  if ('rule' in setting) throw new UsageError(setting.message);
  if (!isElementName(setting.name)) throw new UsageError(t`Finds cannot be chosen by ${setting.given}.`);
  return [setting.name, setting.value] as const;
}
