import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import {
  type PlannedRemoval,
  planRemoval,
  removeFinds,
} from '../../outbox/changes/undo-command.ts';
import type { Entry } from '../../outbox/entry.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context } from '../context/context.ts';
import { formatNumberCount, formatPhotographCount } from '../result-texts.ts';
import { requireConfirmation } from '../terminal.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'remove <find...>',
    summary: t`Remove finds that were never sent or that the service refused, with their numbers and photographs.`,
    examples: ['pas remove K-017', 'pas remove K-017 K-018 --yes'],
  }).action(run(remove));
}

async function remove(context: Context, names: readonly string[]): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  outbox.command.words = 'remove';
  const planned = planRemoval(outbox, names);
  const removable = [] as PlannedRemoval[];
  const keptFinds = [] as { readonly name: string; readonly because: Entry }[];
  for (const each of planned) {
    if (each.because === undefined) removable.push(each);
    else keptFinds.push({ name: each.name, because: each.because });
  }
  // Printed before the question.
  for (const one of keptFinds) printKept(context, one);
  if (removable.length > 0) await confirm(context, removable);

  const removed: string[] = [];
  for (const [index, removal] of removeFinds(
    outbox,
    removable,
    context.getOutboxPlaces().photosFolder,
  ).entries()) {
    const name = removable[index]?.name ?? '';
    if (removal.kind === 'kept') {
      keptFinds.push({ name, because: removal.because });
      printKept(context, { name, because: removal.because });
      continue;
    }
    removed.push(name);
    const parts = formatParts(removal.entries);
    terminal.printLine(t`${name} is removed, with ${parts}.`);
    if (removal.isHidden)
      terminal.note(
        t`It was sent once, so its local_id stays reserved. To queue it again: ${cmd`pas resolve ${name} --resend`}`,
      );
  }
  terminal.printValue({
    removed,
    kept: keptFinds.map(({ name, because }) => ({
      find: name,
      entry: because.id,
      kind: because.kind,
      state: because.state,
    })),
  });
  return keptFinds.length > 0 ? 'dataRefused' : 'done';
}

function printKept(
  { terminal }: Context,
  { name, because }: { readonly name: string; readonly because: Entry },
): void {
  terminal.warn(`${t`${name} cannot be removed.`} ${explainKept(because, name)}`);
}

async function confirm(context: Context, planned: readonly PlannedRemoval[]): Promise<void> {
  const finds = planned.length;
  const names = planned.map(({ name }) => name).join(', ');
  const what = formatParts(planned.flatMap(({ entries }) => entries));
  const question = ngettext(
    msgid`Remove ${finds} find: ${names} (${what})?`,
    `Remove ${finds} finds: ${names} (${what})?`,
    finds,
  );
  await requireConfirmation(context, question);
}

function formatParts(entries: readonly Entry[]): string {
  const count = (kind: Entry['kind']): number =>
    entries.filter((entry) => entry.kind === kind).length;
  return `${formatPhotographCount(count('photo'))}, ${formatNumberCount(count('number'))}`;
}

function explainKept({ kind, state, identCely, localId, id }: Entry, find: string): string {
  const ident = identCely ?? '';
  switch (state) {
    case 'accepted':
      return kind === 'import'
        ? t`It was sent, and the service has it as ${ident}. To drop what is still queued for it: ${cmd`pas resolve ${find} --drop`}`
        : t`The service has accepted a part of it into the record ${ident}.`;
    case 'sending':
      return t`It is being sent: wait for the push to end. If the push was interrupted, run ${cmd`pas push`} or ${cmd`pas reconcile ${find}`}.`;
    default:
      return localId === null || kind === 'import'
        ? t`The service may have it. Find out first: ${cmd`pas reconcile ${find}`}`
        : t`The service may have a part of it. Find out first: ${cmd`pas reconcile ${find}`}, or ${cmd`pas resolve ${find} --entry ${id} --drop`}`;
  }
}
