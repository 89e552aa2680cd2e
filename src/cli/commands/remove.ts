import type { ExitReason } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import {
  type PlannedRemoval,
  planRemoval,
  removeFinds,
} from '../../outbox/changes/remove-finds.ts';
import type { Entry } from '../../outbox/entry.ts';
import { defineCommand, type Registration } from '../command.ts';
import type { Context } from '../context/context.ts';
import { formatFindCount, formatNumberCount, formatPhotographCount } from '../result-texts.ts';
import { requireConfirmation, type Terminal } from '../terminal.ts';

/** Registers `pas remove`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'remove <find...>',
    t`Remove finds that were never sent or that the service refused, with their numbers and photographs.`,
    ['pas remove K-017', 'pas remove K-017 K-018 --yes'],
  ).action(run(remove));
};

/**
 * Removes finds that can be removed, after a confirmation, and says why the others stay.
 * @returns `dataRefused` where one stays, also one that was sent meanwhile
 * @throws UsageError for an unknown find, or without a confirmation: then nothing is removed
 */
async function remove(context: Context, names: readonly string[]): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  outbox.command.words = 'remove';
  const planned = planRemoval(outbox, names);
  const isRemovable = ({ because }: PlannedRemoval): boolean => because === undefined;
  const removable = planned.filter(isRemovable);
  // Printed before the question.
  for (const removal of planned) printKept(context, removal);
  if (removable.length > 0) await confirm(context, removable);

  const removals = removeFinds(outbox, removable, context.getOutboxPlaces().photosFolder);
  for (const removal of removals) {
    printKept(context, removal);
    if (isRemovable(removal)) printRemoved(terminal, removal);
  }
  const kept = [...planned, ...removals].flatMap(({ name, because }) =>
    because === undefined
      ? []
      : [{ find: name, entry: because.id, kind: because.kind, state: because.state }],
  );
  terminal.printValue({ removed: removals.filter(isRemovable).map(({ name }) => name), kept });
  return kept.length > 0 ? 'dataRefused' : 'done';
}

function printRemoved(terminal: Terminal, { name, entries }: PlannedRemoval): void {
  const parts = formatParts(entries);
  terminal.printLine(t`${name} is removed, with ${parts}.`);
  if (entries.some(({ attempts }) => attempts > 0))
    terminal.note(
      t`It was sent once, so its local_id stays reserved. To queue it again: ${cmd`pas resolve ${name} --resend`}`,
    );
}

function printKept({ terminal }: Context, { name, because }: PlannedRemoval): void {
  if (because === undefined) return;
  terminal.warn(`${t`${name} cannot be removed.`} ${explainKept(because, name)}`);
}

async function confirm(context: Context, planned: readonly PlannedRemoval[]): Promise<void> {
  const finds = formatFindCount(planned.length);
  const names = planned.map(({ name }) => name).join(', ');
  const what = formatParts(planned.flatMap(({ entries }) => entries));
  await requireConfirmation(context, t`Remove ${finds}: ${names} (${what})?`);
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
        ? t`It was sent, and the service accepted it as ${ident}. If a number or photograph of it is still queued, this drops it: ${cmd`pas resolve ${find} --drop`}`
        : t`The service has accepted a part of it into the record ${ident}.`;
    case 'sending':
      return t`Wait for the push to end. If it was interrupted, run ${cmd`pas push`} or ${cmd`pas reconcile ${find}`}.`;
    default:
      return localId === null || kind === 'import'
        ? t`Find out first: ${cmd`pas reconcile ${find}`}`
        : t`The service may have a part of it. Find out first: ${cmd`pas reconcile ${find}`}, or ${cmd`pas resolve ${find} --entry ${id} --drop`}`;
  }
}
