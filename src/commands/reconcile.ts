import type { Command } from 'commander';
import { profileFlag } from '../advice.ts';
import type { ExitReason } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { type Reconciled, reconcile } from '../flows/reconcile.ts';
import { recoverInterrupted } from '../outbox/claims.ts';
import { entriesInState } from '../outbox/entries.ts';
import { entryText } from '../outbox/entry-words.ts';
import { releaseHeld } from '../outbox/gaps.ts';
import { takeLease } from '../outbox/lease.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { noteGap } from './gap-note.ts';
import { openHarvestClient } from './harvesting.ts';
import { recordsNamed } from './named-finds.ts';
import { commandFor } from './next-command.ts';
import { otherService } from './other-service.ts';
import { accountOf } from './service.ts';

type ReconcileOptions = GlobalOptions & { readonly takeOver?: boolean; readonly releaseNew?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'reconcile [find...]',
    summary: t`Settle uncertain entries by looking at the service: found, proven absent and queued again, or left to you.`,
    examples: ['pas reconcile', 'pas reconcile K-017 --json'],
  })
    .option('--release-new', t`what was added since a restore was not sent before it: queue it, and hold no more`)
    .option('--take-over', t`take the outbox from a pas that you know is gone, where that cannot be seen from here`)
    .action((finds: string[], options: ReconcileOptions) => run(options, (context) => reconcileCommand(context, finds, options)));
}

async function reconcileCommand(context: Context, names: readonly string[], options: ReconcileOptions): Promise<ExitReason> {
  const outbox = await context.outbox();
  const profile = context.profile();
  const recordKeys = names.length === 0 ? undefined : recordsNamed(outbox, profile.name, names);
  const lease = takeLease(outbox, { takeOver: options.takeOver === true });
  try {
    recoverInterrupted(outbox, profile.name);
    if (options.releaseNew === true) {
      const released = releaseHeld(outbox, profile.name);
      const count = released.length;
      context.terminal.line(ngettext(msgid`${count} entry is queued.`, `${count} entries are queued.`, count));
      context.terminal.value({ released: released.map(({ id }) => id) });
      return 'done';
    }
    const settled = await reconcileEntries(context, outbox, recordKeys);
    const flag = profileFlag(context);
    for (const one of settled) context.terminal.line(sentence(one, flag));
    if (settled.length === 0) context.terminal.line(t`Nothing is uncertain.`);
    noteGap(context, outbox);
    context.terminal.value({ reconciled: settled.map(value) });
  } finally {
    lease.release();
  }
  return entriesInState(outbox, profile.name, 'uncertain').length > 0 ? 'uncertain' : 'done';
}

/** To be called while holding the lease. */
export async function reconcileEntries(
  context: Context,
  outbox: Outbox,
  recordKeys: readonly string[] | undefined,
): Promise<Reconciled[]> {
  const profile = context.profile();
  const progress = context.terminal.progress(t`Looking at the service`);
  return reconcile({
    outbox,
    profile: profile.name,
    client: await openHarvestClient(context),
    format: `oai_${profile.prefix}`,
    clock: context.clock,
    user: accountOf(context, outbox),
    settleMs: profile.settleMs,
    indexAllowanceMs: profile.indexAllowanceMs,
    isOtherService: otherService(context),
    recordKeys,
    onProgress: progress.update,
  }).finally(progress.end);
}

function sentence({ entry, verdict }: Reconciled, flag: string): string {
  const what = printable(entryText(entry.kind, entry.localId ?? entry.identCely));
  const reason = printable(verdict.reason);
  switch (verdict.kind) {
    case 'found':
      return t`${what}: accepted as ${verdict.identCely}; ${reason}.`;
    case 'absent':
      return t`${what}: queued again; ${reason}.`;
    case 'undecided': {
      const [candidates, command] = [verdict.candidates.join(', '), commandFor(entry, flag)];
      const sentences = [
        t`${what}: still uncertain; ${reason}.`,
        candidates === '' ? '' : t`Look at ${candidates}.`,
        t`Decide with: ${command}`,
      ];
      return sentences.filter((one) => one !== '').join(' ');
    }
  }
}

function value({ entry, verdict }: Reconciled): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    verdict: verdict.kind,
    ident_cely: verdict.kind === 'found' ? verdict.identCely : null,
    reason: verdict.reason,
    candidates: verdict.candidates,
  };
}
