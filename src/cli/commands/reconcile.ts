import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import { findSubjectsWithEntries } from '../../outbox/changes/resolve-finds.ts';
import { formatEntry } from '../../outbox/views/entry-words.ts';
import type { ReconciledEntry } from '../../push/judge-import.ts';
import { reconcileNow } from '../../push/push-all.ts';
import { defineCommand, type Runner } from '../command.ts';
import { makeNoHarvestingError } from '../context/chosen-profile.ts';
import type { Context } from '../context/context.ts';
import { openServiceAccess } from '../context/open-service.ts';
import { getSettlingCommand } from '../result-texts.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(
    program,
    'reconcile [find...]',
    t`Look up uncertain entries in the service: accept those found, queue again those proven absent, leave the rest to you.`,
    ['pas reconcile', 'pas reconcile K-017 --json'],
  ).action(run(reconcileCommand));
}

async function reconcileCommand(context: Context, names: readonly string[]): Promise<ExitReason> {
  const outbox = await context.openOutboxToPush();
  const subjects = names.length === 0 ? undefined : findSubjectsWithEntries(outbox, names);
  const sync = await openServiceAccess(context);
  if (sync.harvesting === undefined) throw makeNoHarvestingError(context.getProfile());
  const progress = context.terminal.startProgress(t`Checking the service`);
  const { settled, left: remainingCount } = await reconcileNow(
    { ...sync, onSearch: progress.update },
    sync.harvesting,
    subjects,
  ).finally(progress.end);
  for (const one of settled) context.terminal.printLine(formatReconciled(one));
  if (settled.length === 0) context.terminal.printLine(t`Nothing is uncertain.`);
  context.terminal.printValue({ reconciled: settled.map(toReconciledJson) });
  return remainingCount > 0 ? 'uncertain' : 'done';
}

function formatReconciled({ entry, verdict }: ReconciledEntry): string {
  const what = formatEntry(entry.kind, entry.localId ?? entry.identCely);
  switch (verdict.kind) {
    case 'found':
      return t`${what}: accepted as ${verdict.identCely}; ${verdict.reason}.`;
    case 'absent':
      return t`${what}: queued again; ${verdict.reason}.`;
    case 'undecided': {
      const candidates = verdict.candidates.join(', ');
      const command = getSettlingCommand(entry);
      const sentences = [
        t`${what}: still uncertain; ${verdict.reason}.`,
        candidates === '' ? '' : t`Check ${candidates}.`,
        t`Decide with: ${command}`,
      ];
      return sentences.filter((one) => one !== '').join(' ');
    }
  }
}

function toReconciledJson({ entry, verdict }: ReconciledEntry): Record<string, unknown> {
  return {
    entry: entry.id,
    kind: entry.kind,
    find: entry.localId ?? entry.identCely,
    verdict: verdict.kind,
    ident_cely: verdict.kind === 'found' ? verdict.identCely : null,
    reason: String(verdict.reason),
    candidates: verdict.candidates,
  };
}
