import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type ExitReason, FileError, InterruptedError, UsageError } from '../base/errors.ts';
import { msgid, ngettext, spokenLanguage, t } from '../base/language.ts';
import { packageVersion } from '../base/package-root.ts';
import { profileFlag } from '../context/advice.ts';
import type { Profile } from '../context/config.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { watchInterrupts } from '../context/interrupts.ts';
import { knownAccount } from '../outbox/accounts.ts';
import { findsText, sizeText } from '../report/format.ts';
import { openContentStore } from '../store/content-store.ts';
import { beginningOf, writeOutputFile } from '../store/output-file.ts';
import { writeToReader } from '../store/output-stream.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { findsNamed } from './named-finds.ts';

type ReportOptions = GlobalOptions & {
  readonly force?: boolean;
  readonly photos?: boolean;
  readonly photoSize: number;
  readonly withoutPlaces?: boolean;
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'report <file> [find...]',
    summary: t`Make one page to look at and print: maps, photographs, states and what to do next. FILE may be - for stdout.`,
    examples: ['pas report season.html', 'pas report share.html --without-places --lang cs'],
  })
    .option('--without-places', t`leave out exact findspots: coordinates, maps, areas, descriptions, notes, finders`)
    .option('--no-photos', t`leave out photographs`)
    .option('--photo-size <pixels>', t`longer side of a photograph, 80 to 1600`, pixels, 320)
    .option('--force', t`replace a file that is no report`)
    .addHelpText(
      'after',
      `\n${t`Findspots are looted: a page with places is for those who may see them, and only you can read its file. To hand a page on, use --without-places. It needs no network and asks for nothing when it is opened.`}`,
    )
    .action((file: string, finds: string[], options: ReportOptions) =>
      run(options, (context) => report(context, file, finds, options)),
    );
}

function pixels(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value < 80 || value > 1600) throw new InvalidArgumentError(t`Give a number from 80 to 1600.`);
  return value;
}

async function report(context: Context, file: string, names: readonly string[], options: ReportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const toStdout = file === '-';
  if (toStdout && options.json === true) throw new UsageError(t`The page and --json cannot both go to stdout. Name a file.`);
  const target = resolve(context.cwd, file);
  const { GENERATOR, renderPage } = await import('../report/page.ts');
  if (!toStdout) refuseTarget(context, target, GENERATOR, options.force === true);

  const { report: told, finds } = await gather(context, names, options);
  const { pictureFinds } = await import('../flows/picture-finds.ts');
  const { readAssets } = await import('../report/assets.ts');
  const progress = terminal.progress(t`Finds`);
  let missing = 0;
  const pictured = pictureFinds(finds, {
    makeThumbnail: options.photos === false ? undefined : await openThumbnails(options.photoSize),
    pathOf: openContentStore(context.places.photosFolder).pathOf,
    names: told.places,
    onFind: (done) => progress.update(done, finds.length),
    onMissing: () => {
      missing += 1;
    },
  });
  const pieces = renderPage(told, pictured, readAssets());
  if (toStdout) {
    await writeToReader(context.streams.stdout, pieces).finally(() => progress.end());
    return 'done';
  }
  const sizeBytes = await write(target, pieces, told.places === 'shown' ? 0o600 : 0o644).finally(() => progress.end());
  const size = sizeText(sizeBytes);
  const found = finds.length;
  const shown = options.photos === false ? 0 : told.photographs - missing;
  const counted = findsText(found);
  const photographs = ngettext(msgid`${shown} photograph`, `${shown} photographs`, shown);
  const path = printable(target);
  terminal.line(t`${path}: ${counted}, ${photographs}, ${size}.`);
  if (missing > 0) terminal.note(t`Photographs without a picture: ${missing}. The page says why at each.`);
  if (told.places === 'shown' && found > 0)
    terminal.note(t`It gives away exact findspots. For a page to hand on: --without-places`);
  if (sizeBytes > LARGE_BYTES)
    terminal.note(t`A telephone may take long to open it: name some finds, or use --photo-size or --no-photos.`);
  terminal.value({
    file: target,
    size_bytes: sizeBytes,
    finds: found,
    photos: shown,
    photos_missing: missing,
    maps: told.maps.length,
    places: told.places === 'shown',
  });
  return 'done';
}

const LARGE_BYTES = 25e6;

async function gather(context: Context, names: readonly string[], options: ReportOptions) {
  const profile = context.profile();
  const outbox = await context.outbox();
  const { gatherReport } = await import('../flows/gather-report.ts');
  const account = knownAccount(outbox);
  return gatherReport({
    outbox,
    vocabulary: (await context.vocabulary()).source(profile.oaiBase ?? ''),
    profileFlag: profileFlag(context),
    recordBase: recordBaseOf(profile),
    language: spokenLanguage(),
    finds: names.length === 0 ? undefined : findsNamed(outbox, [...new Set(names)]),
    places: options.withoutPlaces === true ? 'left-out' : 'shown',
    pictures: options.photos === false ? 'left-out' : 'shown',
    madeMs: context.clock.now(),
    version: packageVersion(),
    profile: { name: profile.name, kind: profile.kind, host: new URL(recordBaseOf(profile) ?? profile.baseUrl).host },
    account: account === undefined ? undefined : [account.name, account.organisation].filter((part) => part !== '').join(', '),
  });
}

/** A training instance shares the harvesting interface of production, where an identifier of its own is another record. */
function recordBaseOf({ kind, baseUrl, oaiBase }: Profile): string | undefined {
  if (oaiBase === undefined || kind === 'production') return oaiBase;
  return new URL(oaiBase).host === new URL(baseUrl).host ? oaiBase : undefined;
}

async function openThumbnails(maxPx: number) {
  const { loadImageLibrary, makeThumbnails } = await import('../find/thumbnail.ts');
  return makeThumbnails({ maxPx, library: await loadImageLibrary() });
}

/** A report may take the place of an older one, but never of anything else by mistake, nor of what pas lives on. */
function refuseTarget({ places }: Context, target: string, generator: string, force: boolean): void {
  const beginning = beginningOf(target, Buffer.byteLength(generator));
  if (beginning === undefined) return;
  const own = [
    places.configFile,
    places.outboxFile,
    places.vocabularyFile,
    places.mappingFile,
    places.secretsFile,
    places.paceFile,
  ];
  const isOwn = own.some((path) => existsSync(path) && realpathSync(path) === realpathSync(target));
  if (isOwn) throw new FileError(target, t`${target} belongs to pas itself.`, { hint: t`Choose another place.` });
  if (beginning === generator || force) return;
  throw new FileError(target, t`${target} is there already, and is no report of pas.`, { hint: t`Add --force to replace it.` });
}

async function write(target: string, pieces: AsyncIterable<string>, mode: number): Promise<number> {
  const interrupts = watchInterrupts(() => {});
  try {
    return await writeOutputFile(target, pieces, { overwrite: true, mode, signal: interrupts.stop });
  } catch (thrown) {
    throw interrupts.stop.aborted ? new InterruptedError(t`Interrupted. No page was written.`) : thrown;
  } finally {
    interrupts.close();
  }
}
