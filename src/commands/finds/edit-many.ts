import { type ExitReason, UsageError } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openValidationContext } from '../../context/validation.ts';
import { listFinds } from '../../flows/finds/select-finds.ts';
import { type CellChange, planEdits } from '../../flows/interview/edit-find.ts';
import { collapseUnchecked } from '../../flows/queue/collapse-issues.ts';
import { parseChoice } from '../../flows/queue/find-filters.ts';
import { resolveFindNames } from '../../flows/queue/resolve-finds.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { toPrintable } from '../../text/characters.ts';
import { printIssues, requireConfirmation, toIssuesJson } from '../../ui/terminal.ts';
import { formatFindCount } from '../result-texts.ts';

export type EditOptions = GlobalOptions & {
  readonly where?: readonly string[];
  readonly yes?: boolean;
  readonly set?: readonly string[];
  readonly point?: string;
  readonly ask?: boolean;
  readonly discard?: boolean;
};

/**
 * Shows and makes the same change in several finds.
 * @throws UsageError without a change, without a terminal for the question, or when the answer is no
 */
export async function editMany(context: Context, names: readonly string[], options: EditOptions): Promise<ExitReason> {
  const { terminal } = context;
  const { set = [], point, where = [], yes } = options;
  if (names.length === 0 && where.length === 0) {
    throw new UsageError(t`Name the finds to edit, or choose them: --where element=value.`, {
      hint: t`\`${cmd`pas list`}\` shows the finds.`,
    });
  }
  if (set.length === 0 && point === undefined) throw new UsageError(t`Give the change for the finds: --set element=value.`);
  const outbox = await context.openOutbox();
  outbox.command.words = 'edit';
  const ruleContext = await openValidationContext(context);
  const chosen = where.length === 0 ? undefined : listFinds(outbox, parseChoice(where)).map(({ find }) => find);
  const named = names.length === 0 ? undefined : resolveFindNames(outbox, names);
  const requested = named?.filter((find) => chosen?.some(({ id }) => id === find.id) ?? true) ?? chosen ?? [];
  const { planned, refused, issues } = planEdits({ outbox, ruleContext }, requested, set, point);
  for (const { find, because } of refused) terminal.warn(`${toPrintable(find)}: ${because}`);
  for (const { stored, plan } of planned) printChanges(context, plan.changed, stored);
  if (yes !== true && planned.length > 0) await confirm(context, planned.length);
  for (const { stored, plan } of planned) {
    const edited = plan.store();
    if (edited.kind === 'stored') issues.push(...edited.issues.map((issue) => issue.with({ find: stored.localId })));
  }
  const reported = collapseUnchecked(issues);
  printIssues(terminal, reported);
  const [all, of] = [formatFindCount(planned.length), requested.length];
  terminal.printLine(t`Changed: ${all} of ${of}.`);
  terminal.printValue({
    changed: planned.map(({ stored, plan }) => ({ find: stored.localId, changed: plan.changed })),
    refused,
    issues: toIssuesJson(reported),
  });
  return refused.length > 0 || hasErrors(reported) ? 'dataRefused' : 'done';
}

async function confirm(context: Context, finds: number): Promise<void> {
  const question = ngettext(msgid`Change ${finds} find like this?`, `Change ${finds} finds like this?`, finds);
  const unasked = [t`There is no terminal to ask on. Nothing was changed.`, t`To change them as shown, add --yes.`] as const;
  await requireConfirmation(context, question, unasked, t`Nothing was changed.`);
}

export function printChanges({ terminal }: Context, changes: readonly CellChange[], stored: StoredFind): void {
  terminal.printLine(terminal.color.bold(toPrintable(stored.localId)));
  for (const { element, was, is } of changes)
    terminal.printLine(`  ${element}: ${toPrintable(was ?? '–')} → ${toPrintable(is ?? '–')}`);
}
