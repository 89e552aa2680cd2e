import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { targetOf } from '../flows/enqueue-change.ts';
import { refuseUntouched } from '../flows/named-finds.ts';
import { recoverAbandoned } from '../outbox/abandoned.ts';
import { entriesOfFind, type Target } from '../outbox/entries.ts';
import type { Entry } from '../outbox/entry.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { type Removal, removable, removeTarget } from '../outbox/removal.ts';
import { openContentStore } from '../store/content-store.ts';
import { printable } from '../ui/printable.ts';
import { defineCommand, type Runner } from './command.ts';
import { numberCount, photographCount } from './counted.ts';

type RemoveOptions = GlobalOptions & { readonly yes?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'remove <find...>',
    summary: t`Remove finds that were never sent or that the service refused, with their numbers and photographs.`,
    examples: ['pas remove K-017', 'pas remove K-017 K-018 --yes'],
  })
    .option('--yes', t`do not ask`)
    .action((finds: string[], options: RemoveOptions) => run(options, (context) => remove(context, finds, options)));
}

type Asked = { readonly name: string; readonly target: Target };

async function remove(context: Context, names: readonly string[], { yes }: RemoveOptions): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.outbox();
  recoverAbandoned(outbox);
  const asked = [...new Set(names)].map((name): Asked => ({ name, target: targetOf(outbox, name) }));
  for (const { name, target } of asked) if (target.findId === null) refuseUntouched(outbox, name);
  if (yes !== true) await confirm(context, outbox, asked);

  const removed: string[] = [];
  const kept: { readonly name: string; readonly because: Entry }[] = [];
  for (const { name, target } of asked) {
    const removal = removeTarget(outbox, target);
    if (removal.kind === 'kept') {
      kept.push({ name, because: removal.because });
      continue;
    }
    for (const sha512 of removal.unusedPhotographs)
      rmSync(openContentStore(context.places.photosFolder).pathOf(sha512), { force: true });
    removed.push(name);
    terminal.line(removedText(outbox, name, target, removal));
  }
  for (const { name, because } of kept) {
    const find = printable(name);
    terminal.warn(`${t`${find} was not removed.`} ${whyKept(because, shellWord(name))}`);
  }
  terminal.value({
    removed,
    kept: kept.map(({ name, because }) => ({ find: name, entry: because.id, kind: because.kind, state: because.state })),
  });
  return kept.length > 0 ? 'dataRefused' : 'done';
}

/** @throws UsageError when nobody can be asked, or the answer is no */
async function confirm(context: Context, outbox: ServiceOutbox, asked: readonly Asked[]): Promise<void> {
  const [finds, names] = [asked.length, asked.map(({ name }) => printable(name)).join(', ')];
  const entries = asked.flatMap(({ target }) => removable(outbox, target));
  const what = partsText(entries);
  if (!context.terminal.interactive) {
    throw new UsageError(t`What is removed cannot be brought back: ${names} (${what}).`, { hint: t`Add --yes to remove it.` });
  }
  const question = ngettext(
    msgid`Remove ${finds} find for good: ${names} (${what})?`,
    `Remove ${finds} finds for good: ${names} (${what})?`,
    finds,
  );
  if (!(await (await context.prompt()).confirm(question))) throw new UsageError(t`Nothing was removed.`);
}

function partsText(entries: readonly Entry[]): string {
  const count = (kind: Entry['kind']): number => entries.filter((entry) => entry.kind === kind).length;
  return `${photographCount(count('photo'))}, ${numberCount(count('number'))}`;
}

function removedText(
  outbox: ServiceOutbox,
  name: string,
  { findId }: Target,
  removal: Extract<Removal, { kind: 'removed' }>,
): string {
  const [find, parts, { address }] = [printable(name), partsText(removal.entries), outbox];
  const isElsewhere = !removal.findRemoved && findId !== null && entriesOfFind(outbox, findId).length === 0;
  return isElsewhere
    ? t`${find} is removed for ${address}, with ${parts}. It stays for other services.`
    : t`${find} is removed, with ${parts}.`;
}

function whyKept({ kind, state, identCely, localId, id }: Entry, find: string): string {
  const ident = identCely ?? '';
  switch (state) {
    case 'accepted':
      return kind === 'import'
        ? t`The service has it as ${ident}. What is still queued for it can be given up: pas resolve ${find} --drop`
        : t`Something of it was accepted as part of ${ident}.`;
    case 'sending':
      return t`It is being sent: wait for the push to end. If none is running, pas doctor says what to do.`;
    default:
      return localId === null || kind === 'import'
        ? t`The service may have it. Find out first: pas reconcile ${find}`
        : t`The service may have a part of it. Find out first: pas reconcile ${find}, or pas resolve ${find} --entry ${id} --drop`;
  }
}
