import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { announceInstance } from '../../context/open-service.ts';
import { readTableOrInput } from '../../context/own-files.ts';
import { openLookups } from '../../context/validation.ts';
import { enqueueNumber, targetForChange } from '../../flows/queue/enqueue-change.ts';
import { enqueueNumbers } from '../../flows/queue/enqueue-numbers.ts';
import { issueValues, printIssues } from '../../ui/issues.ts';
import { defineCommand, type Runner } from '../command.ts';
import { numberCount } from '../counted.ts';
import type { ImportOptions } from './import-tables.ts';

export function register(program: Command, run: Runner): void {
  const parent = program.command('number').description(t`Queue museum registration numbers.`);
  defineCommand(parent, {
    name: 'set <find> <value>',
    summary: t`Queue a registration number. It is sent once the find has its identifier.`,
    examples: ["pas number set K-017 'A 1250/2024'", "pas number set C-202400101-N00001 'MB-77'"],
  }).action((find: string, value: string, options: GlobalOptions) => run(options, (context) => set(context, find, value)));
  defineCommand(parent, {
    name: 'import <table>',
    summary: t`Queue the registration numbers of a table with the columns local_id or ident_cely, and evidencni_cislo. Importing it again changes nothing.`,
    examples: ['pas number import numbers.csv --dry-run', 'pas number import register.xlsx --sheet 2024'],
  })
    .option('--dry-run', t`say what would happen and change nothing`)
    .option('--sheet <name>', t`sheet of a workbook to read (default: the first that holds something)`)
    .option('--encoding <name>', t`encoding of a CSV table or a shapefile (default: recognised)`)
    .option('--header-row <n>', t`row with the names of the columns, or 2-3 (default: found)`)
    .option('--map <file>', t`as in ${cmd`pas import`}`)
    .option('--wizard', t`as in ${cmd`pas import`}`)
    .option('--yes', t`as in ${cmd`pas import`}`)
    .option('--force', t`as in ${cmd`pas import`}`)
    .action((file: string, options: ImportOptions) => run(options, (context) => importNumbers(context, file, options)));
}

async function set(context: Context, find: string, value: string): Promise<ExitReason> {
  const outbox = await context.outbox();
  outbox.command.words = 'number-set';
  const number = value.trim();
  const change = enqueueNumber(outbox, targetForChange(outbox, find), value);
  if (change !== 'kept') announceInstance(context);
  const said = {
    queued: t`Number ${number} for ${find} is queued.`,
    replaced: t`Number ${number} for ${find} replaces the one that was queued.`,
    kept: t`Number ${number} for ${find} is queued or set already.`,
  };
  context.terminal.line(said[change]);
  context.terminal.value({ find, value: number, change });
  return 'done';
}

async function readMapOf(context: Context, file: string) {
  const { readColumnMap } = await import('./import-tables.ts');
  return readColumnMap(context, file, (await openLookups(context)).lookupTerm);
}

export async function importNumbers(context: Context, file: string, options: ImportOptions): Promise<ExitReason> {
  if (options.wizard === true) return (await import('./import-wizard.ts')).runNumberWizard(context, file, options);
  const { terminal } = context;
  const outbox = await context.outbox();
  outbox.command.words = 'number-import';
  const dryRun = options.dryRun === true;
  const map = options.map === undefined ? undefined : await readMapOf(context, options.map);
  const { numbers, issues } = enqueueNumbers(outbox, await readTableOrInput(context, file, options), { dryRun, map });
  const count = (wanted: (typeof numbers)[number]['change']): number => numbers.filter(({ change }) => change === wanted).length;
  const [queued, replaced, current] = [count('queued'), count('replaced'), count('current')];
  if (queued + replaced > 0) announceInstance(context);
  printIssues(terminal, issues);
  const all = numberCount(numbers.length);
  terminal.line(
    dryRun
      ? t`Would take ${all}: ${queued} queued, ${replaced} replaced, ${current} as they are already.`
      : t`${all}: ${queued} queued, ${replaced} replaced, ${current} as they are already.`,
  );
  if (!dryRun && queued + replaced > 0) terminal.note(t`Next: \`${cmd`pas push --only`} number\` when there is a network.`);
  terminal.value({ dry_run: dryRun, queued, replaced, unchanged: current, numbers, issues: issueValues(issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
