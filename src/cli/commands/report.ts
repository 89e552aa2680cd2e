import { join, parse, resolve } from 'node:path';
import { type ExitReason, InterruptedError, UsageError } from '../../base/errors.ts';
import { formatSize, t } from '../../base/message.ts';
import { findNamedFinds } from '../../outbox/changes/resolve-finds.ts';
import { defineCommand, type Registration } from '../command.ts';
import {
  type Context,
  findOwnHarvestBase,
  type GlobalOptions,
  handleSignals,
} from '../context/context.ts';
import { openProfileVocabulary } from '../context/open-service.ts';
import { formatFindCount, formatPhotographCount } from '../result-texts.ts';
import { confirmReplacing, withProgress } from '../terminal.ts';

type ReportOptions = GlobalOptions & { readonly withoutPlaces?: boolean };

/** Registers `pas report`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'report <file> [find...]',
    t`Create a single page to read or print: maps, photographs and states. FILE may be - for stdout.`,
    ['pas report season.html', 'pas report share.html --without-places --lang cs'],
  )
    .option(
      '--without-places',
      t`leave out exact findspots: coordinates, maps, areas, descriptions, notes, finders`,
    )
    .addHelpText(
      'after',
      `\n${t`Looters look for findspots: give a page that shows places only to people who may know them. Only you can read its file. To make a page to share, use --without-places. The page works offline.`}`,
    )
    .action(run(report));
};

/**
 * Writes the page to a file, or to stdout, about which nothing else is printed.
 * @throws UsageError for stdout with `--json`, a name that does not end as HTML, or where the file
 * exists and may not be replaced; FileError where it is one of pas's own; InterruptedError on
 * Ctrl-C, after which no page is there
 */
async function report(
  context: Context,
  file: string,
  names: readonly string[],
  options: ReportOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const toStdout = file === '-';
  if (toStdout && options.json === true)
    throw new UsageError(t`The page and --json cannot both go to stdout. Specify a file.`);
  const target = resolve(context.cwd, file);
  const { writeReport } = await import('../../report/write-report.ts');
  const overwrite = !toStdout && (await confirmReplacing(context, target));
  const { dir, name, ext } = parse(file);
  if (!toStdout && !/^\.html?$/i.test(ext)) {
    const page = join(dir, `${name}.html`);
    throw new UsageError(t`The page is HTML, so its name must say so: ${page}`);
  }
  const request = await makeReportRequest(context, names, options);
  const write = (to: Parameters<typeof writeReport>[1]) =>
    withProgress(terminal, t`Finds`, (onFind) => writeReport({ ...request, onFind }, to));
  if (toStdout) {
    await write({ stream: context.streams.stdout });
    return 'done';
  }
  const {
    report: result,
    missing,
    sizeBytes,
  } = await runInterruptibly(context, (signal) => write({ file: target, overwrite, signal }));
  const size = formatSize(sizeBytes);
  const shown = result.photographs - missing;
  const counted = formatFindCount(result.finds);
  const photographs = formatPhotographCount(shown);
  terminal.printLine(t`${target}: ${counted}, ${photographs}, ${size}.`);
  if (missing > 0)
    terminal.note(t`Photographs without a preview: ${missing}. The page says why for each.`);
  if (result.places === 'shown' && result.finds > 0)
    terminal.note(
      t`The page reveals exact findspots. To make a page to share, use --without-places.`,
    );
  terminal.printValue({
    file: target,
    size_bytes: sizeBytes,
    finds: result.finds,
    photos: shown,
    photos_missing: missing,
    maps: result.maps.length,
    places: result.places === 'shown',
  });
  return 'done';
}

async function makeReportRequest(
  context: Context,
  names: readonly string[],
  options: ReportOptions,
) {
  const profile = context.getProfile();
  const outbox = await context.openOutbox();
  const recordBase = findOwnHarvestBase(context);
  return {
    outbox,
    vocabulary: await openProfileVocabulary(context),
    recordBase,
    finds: names.length === 0 ? undefined : findNamedFinds(outbox, [...new Set(names)]),
    places: options.withoutPlaces === true ? 'left-out' : 'shown',
    photosFolder: context.getOutboxPlaces().photosFolder,
    madeMs: context.clock.now(),
    profile: {
      name: profile.name,
      kind: profile.kind,
      host: new URL(recordBase ?? profile.baseUrl).host,
    },
  } as const;
}

async function runInterruptibly<T>(
  context: Context,
  write: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { stop } = handleSignals(context);
  try {
    return await write(stop);
  } catch (thrown) {
    throw stop.aborted ? new InterruptedError(t`Interrupted. No page was written.`) : thrown;
  }
}
