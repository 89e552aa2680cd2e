import { Option } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, msg, t } from '../../base/message.ts';
import { findNamedFinds } from '../../outbox/changes/resolve-finds.ts';
import { makeLabelLookup, makeReferenceFormatter } from '../../tables/exports/exported-find.ts';
import {
  EXPORT_FORMATS,
  EXPORT_PURPOSES,
  EXPORTERS,
  type ExportFormat,
  type ExportPurpose,
  exportFinds,
  findFormatOfExtension,
} from '../../tables/exports/exporters.ts';
import { parseFindFilters } from '../../tables/find-filters.ts';
import { addWhereOption, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openMappedLookup, openProfileVocabulary } from '../context/open-service.ts';
import { formatFindCount } from '../result-texts.ts';
import { confirmReplacing, withProgress } from '../terminal.ts';

const ENDINGS = EXPORT_FORMATS.map((each) => `.${each}`).join(', ');
/** A word may be meant as a find, or as the file. */
const HINT_OF_WORDS = msg`\`${cmd`pas list`}\` shows the finds; the name of a file ends with one of these: ${ENDINGS}.`;

type ExportOptions = GlobalOptions & {
  readonly where?: readonly string[];
  readonly format?: ExportFormat;
  readonly out?: string;
  readonly codes?: boolean;
  readonly for?: ExportPurpose;
};

/** Registers `pas export`. */
export const registerCommands: Registration = (program, run) => {
  const command = defineCommand(
    program,
    'export [find-or-file...]',
    t`Export finds to a table, a map layer or XML. Importing that file again changes nothing.`,
    [
      'pas export season.xlsx',
      'pas export --where state=draft,refused --out to-mend.xlsx',
      'pas export --format geojson > finds.geojson',
    ],
  );
  addWhereOption(command)
    .addOption(
      new Option(
        '--format <format>',
        t`file format (default: from the file name, otherwise csv)`,
      ).choices(EXPORT_FORMATS),
    )
    .option('--out <file>', t`file to write, or - for standard output`)
    .option('--codes', t`identifiers of vocabulary entries in place of their labels`)
    .addOption(
      new Option(
        '--for <form>',
        EXPORT_PURPOSES.map((name) => `${name}: ${EXPORTERS[name].summary}`).join('; '),
      ).choices(EXPORT_PURPOSES),
    )
    .action(run(exportCommand));
};

/**
 * Exports finds to stdout, or to a file: that of `--out`, else the first word with the ending of a
 * format; the other words are finds.
 * @throws UsageError where the format cannot be told, or `--json` would share stdout
 */
async function exportCommand(
  context: Context,
  words: readonly string[],
  given: ExportOptions,
): Promise<ExitReason> {
  const named = words.find((word) => findFormatOfExtension(getExtension(word)) !== undefined);
  const file = given.out === undefined ? named : undefined;
  const names = words.filter((word) => word !== file);
  const options = { ...given, out: given.out ?? file ?? '-' };
  const { terminal, streams } = context;
  const toStdout = options.out === '-';
  if (terminal.json && toStdout) {
    throw new UsageError(t`The finds and --json cannot both go to standard output.`, {
      hint: t`Name a file with --out.`,
    });
  }
  const format = chooseFormat(options);
  const outbox = await context.openOutbox();
  const finds = names.length === 0 ? undefined : findNamedFinds(outbox, names, HINT_OF_WORDS);
  const getLabels = makeLabelLookup(await openProfileVocabulary(context));
  const formatReference =
    options.codes === true
      ? undefined
      : makeReferenceFormatter(getLabels, await openMappedLookup(context));
  const request = {
    filters: parseFindFilters(options.where),
    exporter: options.for,
    getLabels,
    formatReference,
    format,
    documents: context.getProfile(),
    finds,
    nowMs: context.clock.now(),
  };
  const destination = toStdout
    ? { stream: streams.stdout }
    : { file: options.out, overwrite: await confirmReplacing(context, options.out) };
  const exported = await withProgress(terminal, t`Exporting`, (onProgress) =>
    exportFinds(outbox, { ...request, onProgress }, destination),
  );
  if (exported === undefined) return 'done';
  const countText = formatFindCount(exported);
  terminal.note(toStdout ? t`${countText} exported.` : t`${countText} exported to ${options.out}.`);
  terminal.printValue({
    format,
    file: toStdout ? null : options.out,
    finds: exported,
  });
  return 'done';
}

/**
 * Returns the format of the flag, else that of the ending, else the first that `--for` allows.
 * @throws UsageError for an unknown ending, or a format that `--for` does not allow
 */
function chooseFormat({ format, out = '-', for: reader }: ExportOptions): ExportFormat {
  const formats = reader === undefined ? EXPORT_FORMATS : EXPORTERS[reader].formats;
  const [first = 'csv'] = formats;
  const extension = getExtension(out);
  const chosen = format ?? (extension === '' ? first : findFormatOfExtension(extension));
  if (chosen !== undefined && formats.includes(chosen)) return chosen;
  const names = formats.map((each) => `.${each}`).join(', ');
  const named = format ?? out;
  throw new UsageError(t`The finds cannot be written as ${named}.`, {
    hint: t`Use a file name that ends with one of these: ${names}`,
  });
}

function getExtension(name: string): string {
  return /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}
