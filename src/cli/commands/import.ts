import { type Command, Option } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { addReadingOptions, appendValue, defineCommand, type Runner } from '../command.ts';
import type { Context } from '../context/context.ts';
import { type ImportOptions, importTables, ON_CONFLICT } from './import-tables.ts';

export function register(program: Command, run: Runner): void {
  const command = defineCommand(program, {
    name: 'import [file...]',
    summary: t`Read tables of finds, check every row and queue the finds. Importing a table again applies only what changed in it.`,
    examples: [
      'pas import season.csv',
      'pas import season.xlsx --sheet 2024 --photos ./camera --dry-run',
      'pas import walk.gpx --set projekt=C-202400101 --set stav=1 --set pristupnost=archeolog',
      'pas import pas_finds.zip',
      'pas import museum.xlsx --wizard',
      'pas import museum.xlsx --map museum.map.toml --issues-to to-mend.xlsx',
      'pas import season.csv --on-conflict table',
      'pas import petrovice.csv --id-prefix PET-',
    ],
  }).option('--dry-run', t`show what would happen and change nothing`);
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
  if (options.wizard === true)
    return (await import('./import-wizard.ts')).runWizard(context, files, options);
  return importTables(context, files, options);
}
