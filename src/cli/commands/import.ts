import { basename, extname } from 'node:path';
import { type Command, Option } from 'commander';
import { assertMayWrite } from '../../base/disk/output-file.ts';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, msgid, ngettext, quoteShellWord, t } from '../../base/message.ts';
import type { TableProposal } from '../../tables/columns/propose-columns.ts';
import { proposeTableColumns, type UnmappedTerm } from '../../tables/columns/wizard.ts';
import { addSheetOption, appendValue, defineCommand, type Registration } from '../command.ts';
import type { Context } from '../context/context.ts';
import { openConversionContext, openTermOffers, readTableOrInput } from '../context/find-input.ts';
import {
  askAboutTable,
  formatTableProposal,
  formatUnmappedTerms,
  hasVocabulary,
} from '../interview/ask-about-table.ts';
import { type ImportOptions, importTables, ON_CONFLICT } from './import-tables.ts';

/** Registers `pas import`. */
export const registerCommands: Registration = (program, run) => {
  const command = defineCommand(
    program,
    'import [file...]',
    t`Read tables of finds, check every row and queue the finds. Importing a table again applies only what changed in it.`,
    [
      'pas import season.csv',
      'pas import season.xlsx --sheet 2024 --photos ./camera --dry-run',
      'pas import walk.gpx --set projekt=C-202400101 --set stav=1 --set pristupnost=archeolog',
      'pas import pas_finds',
      'pas import museum.xlsx --wizard',
      'pas import museum.xlsx --map museum.map.toml --issues-to to-mend.xlsx',
      'pas import season.csv --on-conflict table',
      'pas import petrovice.csv --id-prefix PET-',
    ],
  ).option('--dry-run', t`show what would happen and change nothing`);
  addReadingOptions(command)
    .option(
      '--set <element=value>',
      t`value for each find whose cell for this element is empty; may be repeated`,
      appendValue,
    )
    .option('--map <file>', t`file that describes the columns of the table; --wizard writes it`)
    .option(
      '--wizard',
      t`propose an element for each column, let you correct it (not with --yes), and write a column map for --map`,
    );
  addMergeOptions(command)
    .option('--photos <folder>', t`folder of the photographs (default: the folder of the table)`)
    .option('--keep-rows', t`read rows that are otherwise skipped, such as totals and remarks`)
    .option(
      '--issues-to <file>',
      t`copy the table to a new CSV or XLSX file, with a column for the errors of each row; rows with errors come first`,
    )
    .action(run(start));
};

/** Adds the flags that say how to read a table; returns the command. */
function addReadingOptions(command: Command): Command {
  return addSheetOption(command)
    .option('--encoding <name>', t`encoding of a CSV table (default: detected)`)
    .option(
      '--header-row <n>',
      t`row with the column names, or two rows such as 2-3 (default: detected)`,
    );
}

/** Answers to the questions of an import that meets finds. */
function addMergeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--on-conflict <answer>',
        t`if a row and its find were both changed: ask, or use the values of the table or mine`,
      )
        .choices(ON_CONFLICT)
        .default('ask'),
    )
    .option(
      '--id-prefix <text>',
      t`put this before each local id of the table, if another table uses the same numbers`,
    )
    .option(
      '--corrections <file>',
      t`write the differences from sent finds to a CSV file for the curator; numbers are queued`,
    );
}

async function start(
  context: Context,
  files: readonly string[],
  options: ImportOptions,
): Promise<ExitReason> {
  if (files.length === 0) throw new UsageError(t`Specify the tables to import.`);
  if (options.wizard === true) return runWizard(context, files, options);
  return importTables(context, files, options);
}

/**
 * Proposes the column map of a table, lets a person change it on a terminal, and writes it.
 * Own terms without one entry go into another file beside the table.
 * @returns `dataRefused` where something is left to decide in the written map
 * @throws UsageError where several files or standard input are given, the map exists, or there is
 * neither a terminal nor `--yes`; FileError where the table cannot be read; InterruptedError
 */
async function runWizard(
  context: Context,
  files: readonly string[],
  options: ImportOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const { file, mapFile, asks } = resolveWizardFiles(context, files, options);
  const termsFile = `${withoutExtension(file)}.terms.csv`;
  terminal.note(t`Reading ${file} …`);
  const wizard = proposeTableColumns(await readTableOrInput(context, file, options), {
    outbox: await context.openOutbox(),
    mapFile,
    set: options.set ?? [],
    lookupTerm: (await openConversionContext(context)).lookupTerm,
  });
  const { proposed } = wizard;
  // Such as the detected header row.
  for (const { severity, row, message } of wizard.table.issues)
    if (severity === 'warning' && row === undefined) terminal.note(message);
  const name = basename(file);
  const rows = wizard.table.rowCount;
  terminal.note(
    ngettext(
      msgid`${name}: ${rows} row. The columns seem to be:`,
      `${name}: ${rows} rows. The columns seem to be:`,
      rows,
    ),
  );
  terminal.note(`\n${formatTableProposal(proposed).join('\n')}`);
  const proposal = asks
    ? await askAboutTable({
        ...wizard,
        prompt: await context.prompt(),
        say: terminal.note,
        offerTerms: await openTermOffers(context),
      })
    : proposed;
  const { strange, termsKept, problems } = await wizard.write(proposal, termsFile);
  if (strange.length > 0) terminal.note(`\n${formatUnmappedTerms(strange.length, termsFile)}`);
  if (termsKept) terminal.warn(t`${termsFile} already exists and stays as it is.`);
  for (const { message } of problems) terminal.warn(message);
  for (const element of proposal.undecided) {
    terminal.warn(
      t`${element} has no value yet: add it under [fixed] in ${mapFile}, or with --set ${element}=…`,
    );
    if (hasVocabulary(element)) terminal.note(t`Its values: \`${cmd`pas vocab list ${element}`}\``);
  }
  for (const { problem } of proposal.questions)
    terminal.warn(t`${problem} Write the answer in ${mapFile}.`);
  terminal.printLine(t`Written: ${mapFile}`);
  terminal.printValue(
    toWizardJson(mapFile, strange.length > 0 ? termsFile : undefined, rows, proposal, strange),
  );
  const map = quoteShellWord(mapFile);
  terminal.note(t`Next: the same command, with --map ${map} --dry-run in place of --wizard.`);
  return proposal.undecided.length + problems.length + proposal.questions.length > 0
    ? 'dataRefused'
    : 'done';
}

/**
 * Returns the table, the file of its map, and if a person is asked: on a terminal, unless `--yes`
 * or `--json` is given.
 * @throws UsageError where no person can answer and `--yes` is missing, for several tables or
 * standard input, and where the map's file exists
 */
function resolveWizardFiles(
  { isConfirmed, terminal }: Context,
  files: readonly string[],
  options: ImportOptions,
) {
  const [file, another] = files;
  if (file === undefined || another !== undefined || [file, options.map].includes('-')) {
    throw new UsageError(
      t`--wizard reads one table from a file, and writes its column map to a file.`,
    );
  }
  const asks = !isConfirmed && terminal.interactive && !terminal.json;
  if (!asks && !isConfirmed) {
    throw new UsageError(t`pas cannot ask questions without a terminal.`, {
      hint: t`To accept the proposals: --wizard --yes`,
    });
  }
  const mapFile = options.map ?? `${withoutExtension(file)}.map.toml`;
  assertMayWrite(mapFile, false, t`Edit it, delete it, or write another one with --map FILE.`);
  return { file, mapFile, asks };
}

function withoutExtension(file: string): string {
  return file.slice(0, file.length - extname(file).length);
}

function toWizardJson(
  mapFile: string,
  termsFile: string | undefined,
  rows: number,
  { columns, fixed, undecided, questions }: TableProposal,
  strange: readonly UnmappedTerm[],
): Record<string, unknown> {
  return {
    map: mapFile,
    terms: termsFile ?? null,
    columns: columns.map(({ profile, rule, doubt }) => {
      const { element = null, ...details } = rule;
      return {
        column: profile.key,
        element,
        ...details,
        filled: profile.filled,
        examples: profile.examples,
        doubt: doubt ?? null,
      };
    }),
    fixed: Object.fromEntries(fixed.map(({ name, value }) => [name, value])),
    undecided,
    questions,
    rows,
    strange_terms: strange,
  };
}
