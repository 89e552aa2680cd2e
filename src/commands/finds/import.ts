import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Context } from '../../context/context.ts';
import { collect, defineCommand, type Runner } from '../command.ts';
import { type ImportOptions, importTables } from './import-tables.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'import [file...]',
    summary: t`Read tables of finds, check every row and queue the finds. Imported again, a table changes only what changed in it since.`,
    examples: [
      'pas import season.csv',
      'pas import season.xlsx --sheet 2024 --photos ./camera --dry-run',
      'pas import walk.gpx --set projekt=C-202400101 --set stav=1 --set pristupnost=archeolog',
      'pas import pas_finds.zip',
      'pas import museum.xlsx --wizard',
      'pas import museum.xlsx --map museum.map.toml --issues-to to-mend.xlsx --only-bad',
      'pas import season.csv --theirs',
      'pas import petrovice.csv --id-prefix PET-',
      'pas import --undo',
    ],
  })
    .option('--dry-run', t`show what would happen and change nothing`)
    .option('--link', t`refer to the photographs where they are instead of copying them`)
    .option('--strip-gps', t`take the place (GPS) out of what is queued; the files themselves stay as they are`)
    .option('--photos <folder>', t`folder of the photographs (default: the folder of the table)`)
    .option('--sheet <name>', t`sheet of a workbook to read (default: the first that holds something)`)
    .option('--layer <name>', t`layer of a GeoPackage, or shapefile of an archive, to read (default: the first with points)`)
    .option('--encoding <name>', t`encoding of a CSV table or a shapefile (default: recognised)`)
    .option('--header-row <n>', t`row with the names of the columns, or 2-3 (default: found)`)
    .option('--set <element=value>', t`value for each find whose cell for this element is empty; may be repeated`, collect)
    .option('--map <file>', t`what the columns of a strange table are; the file that --wizard writes`)
    .option('--wizard', t`propose what the columns are, let a person decide, and write it to a file for --map`)
    .option('--yes', t`with --wizard: take the proposals without asking`)
    .option('--ours', t`where a row and its find changed to different values: keep the find's`)
    .option('--theirs', t`where a row and its find changed to different values: take the row's`)
    .option('--ours-of <find>', t`the same as --ours, for this find alone; may be repeated`, collect)
    .option('--theirs-of <find>', t`the same as --theirs, for this find alone; may be repeated`, collect)
    .option('--same', t`rows that look like other finds of these local ids, or come from another table, are those finds`)
    .option('--id-prefix <text>', t`write this before each local id of the table, which numbers finds as another table does`)
    .option('--rename', t`a row that reads as a find under another local id is that find, renamed, if it was never sent`)
    .option('--as-new', t`a row that reads as a find under another local id is a find of its own`)
    .option('--as-correction <file>', t`list what differs from sent finds in a CSV file for the curator; numbers are queued`)
    .option('--undo', t`take back the last import, as far as nothing of it was sent`)
    .option('--strict', t`leave out rows whose photographs are missing`)
    .option('--keep-rows', t`take rows for finds that are left out otherwise, such as totals and remarks`)
    .option('--issues-to <file>', t`copy the table to this CSV or XLSX file, with a column of what is wrong with each row`)
    .option('--only-bad', t`with --issues-to: copy only rows that something is wrong with`)
    .option('--force', t`replace a file that is there already`)
    .action((files: string[], options: ImportOptions) => run(options, (context) => start(context, files, options)));
}

async function start(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  if (options.undo === true) {
    if (files.length > 0) throw new UsageError(t`--undo takes back the last import. Give it without a file.`);
    return (await import('./undo.ts')).undoCommand(context, 'import');
  }
  if (files.length === 0) throw new UsageError(t`Name the tables to import.`);
  if (options.wizard === true) return (await import('./import-wizard.ts')).runWizard(context, files, options);
  return importTables(context, files, options);
}
