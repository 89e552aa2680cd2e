import { type Command, Option } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { documentProfileOf } from '../context/own-schema.ts';
import type { ExportedFind } from '../find/export/exported-find.ts';
import { type ExportFilter, exportedFinds } from '../flows/exported-finds.ts';
import { countFinds } from '../outbox/counts.ts';
import { ENTRY_STATES, type EntryState } from '../outbox/entry.ts';
import { databaseImage } from '../store/database.ts';
import { writeOutputFile } from '../store/output-file.ts';
import { writeToReader } from '../store/output-stream.ts';
import { defineCommand, type Runner } from './command.ts';
import { findCount } from './counted.ts';
import { findsNamed } from './named-finds.ts';

const FORMATS = ['csv', 'xlsx', 'geojson', 'gpkg', 'xml'] as const;
type Format = (typeof FORMATS)[number];

type ExportOptions = GlobalOptions & {
  readonly format?: Format;
  readonly out?: string;
  readonly state?: readonly EntryState[];
  readonly project?: string;
  readonly separator: 'semicolon' | 'comma' | 'tab';
  readonly force?: boolean;
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'export [find...]',
    summary: t`Write finds to a table, a map layer or XML. Importing it again changes nothing.`,
    examples: [
      'pas export --out season.csv',
      'pas export --state draft refused --out to-mend.xlsx',
      'pas export --format geojson > finds.geojson',
    ],
  })
    .addOption(
      new Option('--format <format>', t`format of the file (default: by the name of the file, else csv)`).choices(FORMATS),
    )
    .option('--out <file>', t`file to write, or - for standard output (default)`)
    .addOption(new Option('--state <state...>', t`only finds whose import is in one of these states`).choices(ENTRY_STATES))
    .option('--project <id>', t`only finds of this project`)
    .addOption(
      new Option('--separator <name>', t`what stands between the cells of CSV`)
        .choices(['semicolon', 'comma', 'tab'])
        .default('semicolon'),
    )
    .option('--force', t`replace a file that is there already`)
    .action((finds: string[], options: ExportOptions) => run(options, (context) => exportCommand(context, finds, options)));
}

async function exportCommand(context: Context, names: readonly string[], options: ExportOptions): Promise<ExitReason> {
  const { terminal, streams } = context;
  const toStdout = options.out === undefined || options.out === '-';
  if (terminal.json && toStdout) {
    throw new UsageError(t`With --json the finds cannot go to standard output.`, { hint: t`Name a file with --out.` });
  }
  const format = options.format ?? formatNamed(options.out);
  const outbox = await context.outbox();
  const _profile = context.profile().name;
  const filter: ExportFilter = {
    ...(names.length === 0 ? {} : { finds: findsNamed(outbox, names) }),
    ...(options.state === undefined ? {} : { states: options.state }),
    ...(options.project === undefined ? {} : { project: options.project }),
  };
  const total = filter.finds?.length ?? countFinds(outbox);
  const progress = terminal.progress(t`Exporting`);
  let count = 0;
  const finds = function* (): Generator<ExportedFind> {
    for (const find of exportedFinds(outbox, filter)) {
      count += 1;
      progress.update(count, total);
      yield find;
    }
  };
  const parts = await render(context, format, finds(), options);
  if (toStdout) {
    const isTaken = await writeToReader(streams.stdout, parts).finally(() => progress.end());
    if (!isTaken) return 'done';
  } else await writeOutputFile(options.out ?? '', parts, { overwrite: options.force === true });
  progress.end();
  const said = findCount(count);
  terminal.note(toStdout ? t`${said} exported.` : t`${said} exported to ${options.out}.`);
  terminal.value({ format, file: toStdout ? null : options.out, finds: count });
  return 'done';
}

function formatNamed(out: string | undefined): Format {
  const extension = /\.(\w+)$/.exec(out ?? '')?.[1]?.toLowerCase();
  const format = FORMATS.find((each) => each === extension || (each === 'geojson' && extension === 'json'));
  if (format !== undefined) return format;
  if (extension === undefined || ['txt', 'tsv'].includes(extension)) return 'csv';
  const known = FORMATS.join(', ');
  throw new UsageError(t`The name ${out} does not say in what format.`, { hint: t`Give --format: ${known}.` });
}

async function render(
  context: Context,
  format: Format,
  finds: Iterable<ExportedFind>,
  { separator }: ExportOptions,
): Promise<Iterable<string | Buffer>> {
  switch (format) {
    case 'csv':
      return (await import('../find/export/export-csv.ts')).exportCsv(finds, separator);
    case 'xlsx':
      return [await (await import('../find/export/export-xlsx.ts')).exportXlsx(finds)];
    case 'geojson':
      return (await import('../find/export/export-geojson.ts')).exportGeoJson(finds);
    case 'gpkg': {
      const { exportGeoPackage } = await import('../find/export/export-gpkg.ts');
      const nowIso = new Date(context.clock.now()).toISOString();
      return [databaseImage((database) => exportGeoPackage(database, finds, nowIso))];
    }
    case 'xml':
      return (await import('../find/export/export-xml.ts')).exportXml(finds, documentProfileOf(context.profile()));
  }
}
