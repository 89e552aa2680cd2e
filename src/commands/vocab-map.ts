import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingFile, writeResult } from '../context/own-files.ts';
import { checkMapping } from '../find/check-mapping.ts';
import { type MappingRow, mappingText } from '../find/mapping.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';
import { registerImport } from './vocab-map-import.ts';
import { registerSet, setArgument } from './vocab-map-set.ts';
import { registerSuggest } from './vocab-map-suggest.ts';

type ListOptions = GlobalOptions & { readonly set?: string };
type ExportOptions = GlobalOptions & { readonly out?: string; readonly force?: boolean };

export function registerMap(vocab: Command, run: Runner): void {
  const parent = vocab
    .command('map')
    .description(t`Map your own terms to entries of the vocabularies: a table, mapping.csv in the data home, that you may edit.`);
  registerSuggest(parent, run);
  registerImport(parent, run);
  registerSet(parent, run);
  defineCommand(parent, {
    name: 'list',
    summary: t`List your own terms and what they are mapped to.`,
    examples: ['pas vocab map list', 'pas vocab map list --set obdobi --json'],
  })
    .option('--set <set>', t`only of this set or element of a find`)
    .action((options: ListOptions) => run(options, (context) => list(context, options)));
  defineCommand(parent, {
    name: 'check',
    summary: t`Look whether the entries that your terms are mapped to are still there, and still in their sets.`,
    examples: ['pas vocab map check', 'pas vocab map check --json'],
  }).action((options: GlobalOptions) => run(options, check));
  defineCommand(parent, {
    name: 'export',
    summary: t`Write the mapping as a table, to edit, review or hand on.`,
    examples: ['pas vocab map export --out mapping.csv', 'pas vocab map export --json'],
  })
    .option('--out <file>', t`write to this file instead of stdout`)
    .option('--force', t`replace a file that is there already`)
    .action((options: ExportOptions) => run(options, (context) => exportMapping(context, options)));
}

async function list(context: Context, options: ListOptions): Promise<ExitReason> {
  const { terminal } = context;
  const { rows, issues } = readMappingFile(context);
  const set = options.set === undefined ? undefined : setArgument(options.set);
  const shown = rows.filter((row) => set === undefined || row.set === set);
  const lines = shown.map((row) => [row.set, row.term, row.id, row.label, row.confirmed ? t`yes` : t`no`, row.note]);
  terminal.table([t`SET`, t`TERM`, t`ID`, t`LABEL`, t`CONFIRMED`, t`NOTE`], lines);
  printIssues(terminal, issues, terminal.warn);
  if (rows.length === 0 && issues.length === 0) {
    terminal.note(t`Nothing is mapped yet. Begin with \`pas vocab map suggest TERMS.csv\`.`);
  }
  terminal.value(shown.map(rowValue));
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

function rowValue({ set, term, id, label, note, confirmed }: MappingRow): Record<string, unknown> {
  return { set, term, id, label, note, confirmed };
}

async function check(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const mapping = readMappingFile(context);
  const { lookupTerm } = (await context.vocabulary()).lookups(context.profile().oaiBase ?? '');
  const issues = checkMapping(mapping, lookupTerm);
  const confirmed = mapping.rows.filter((row) => row.confirmed).length;
  const astray = issues.filter(({ severity }) => severity === 'error').length;
  printIssues(terminal, issues, terminal.line);
  const unconfirmed = mapping.rows.length - confirmed;
  const problems = ngettext(msgid`${astray} problem`, `${astray} problems`, astray);
  terminal.line(
    ngettext(
      msgid`${confirmed} term is mapped, ${unconfirmed} not confirmed; ${problems}.`,
      `${confirmed} terms are mapped, ${unconfirmed} not confirmed; ${problems}.`,
      confirmed,
    ),
  );
  terminal.value({
    confirmed,
    unconfirmed,
    problems: astray,
    issues: issueValues(terminal, issues),
  });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

async function exportMapping(context: Context, options: ExportOptions): Promise<ExitReason> {
  const { rows, issues } = readMappingFile(context);
  printIssues(context.terminal, issues, context.terminal.warn);
  if (!context.terminal.json) await writeResult(context, options, mappingText(rows));
  context.terminal.value(rows.map(rowValue));
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
