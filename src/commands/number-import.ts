import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors } from '../base/issue.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readTableOrInput } from '../context/own-files.ts';
import { announceInstance } from '../context/service.ts';
import { enqueueNumbers } from '../flows/enqueue-numbers.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';
import { numberCount } from './counted.ts';

type NumberImportOptions = GlobalOptions & { readonly dryRun?: boolean; readonly sheet?: string };

export function registerNumberImport(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'import <table>',
    summary: t`Queue the registration numbers of a table with the columns local_id or ident_cely, and evidencni_cislo. Importing it again changes nothing.`,
    examples: ['pas number import numbers.csv --dry-run', 'pas number import register.xlsx --sheet 2024'],
  })
    .option('--dry-run', t`say what would happen and change nothing`)
    .option('--sheet <name>', t`sheet of a workbook to read (default: the first that holds something)`)
    .action((file: string, options: NumberImportOptions) => run(options, (context) => importNumbers(context, file, options)));
}

async function importNumbers(context: Context, file: string, options: NumberImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.outbox();
  const dryRun = options.dryRun === true;
  const { numbers, issues } = enqueueNumbers(outbox, await readTableOrInput(context, file, options.sheet), { dryRun });
  const count = (...changes: readonly string[]): number => numbers.filter(({ change }) => changes.includes(change)).length;
  const [queued, replaced, current] = [count('queued'), count('replaced'), count('kept', 'current')];
  if (queued + replaced > 0) announceInstance(context);
  printIssues(terminal, issues);
  const all = numberCount(numbers.length);
  terminal.line(
    dryRun
      ? t`Would take ${all}: ${queued} queued, ${replaced} replaced, ${current} as they are already.`
      : t`${all}: ${queued} queued, ${replaced} replaced, ${current} as they are already.`,
  );
  if (!dryRun && queued + replaced > 0) terminal.note(t`Next: \`pas push --only number\` when there is a network.`);
  terminal.value({ dry_run: dryRun, queued, replaced, unchanged: current, numbers, issues: issueValues(terminal, issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
