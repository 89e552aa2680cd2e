import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, msgid, ngettext, t } from '../../base/message.ts';
import {
  harvestRecords,
  type RecordHarvest,
  type SetFigures,
} from '../../harvest/harvest-records.ts';
import type { RecordHarvestSubject } from '../../harvest/harvest-store.ts';
import { openHarvestOutput } from '../../harvest/open-output.ts';
import { formatSetName } from '../../harvest/protocol.ts';
import { defineCommand, type Registration } from '../command.ts';
import { type Context, type GlobalOptions, requireHarvestBase } from '../context/context.ts';
import { getHarvestUsername } from '../context/open-service.ts';
import {
  type HarvestFlags,
  hasDoubtfulRecords,
  runHarvest,
  toSetResultJson,
  warnOfBrokenRecords,
  warnOfUnconfirmedLosses,
} from '../run-harvest.ts';

type HarvestOptions = GlobalOptions &
  HarvestFlags & {
    readonly format?: string;
    readonly from?: string;
    readonly until?: string;
    readonly out: string;
    readonly verify?: boolean;
    readonly all?: boolean;
  };

/** Registers `pas harvest`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'harvest [set...]',
    t`Harvest the records of sets into a file: everything the first time, then only changes. Resumes after an interruption.`,
    [
      'pas harvest samostatny_nalez --out finds.jsonl',
      'pas harvest projekt lokalita --format oai_dc --from 2025-01-01 --out sites.xml',
    ],
  )
    .option('--all', t`harvest all records, without a set`)
    .option('--format <prefix>', t`oai_dc, or the native format (default)`)
    .option(
      '--from <date>',
      t`changed at or after this time, UTC: 2025-06-18 or 2025-06-18T08:30:00Z`,
    )
    .option('--until <date>', t`changed at or before this time`)
    .option(
      '--out <file>',
      t`.jsonl or .xml file; - is lines on stdout, which cannot be resumed`,
      '-',
    )
    .option('--full', t`read everything again, not only what changed`)
    .option('--verify', t`read everything again, and write the output anew if it was changed`)
    .option('--accept-losses', t`accept at once that records no longer listed are gone`)
    .option('--deadline <time>', t`stop after this time, such as 30m or 2h; the next run continues`)
    .action(run(harvestCommand));
};

/**
 * Harvests records into the output of `--out`.
 * @returns `dataRefused` where records were skipped or losses are unconfirmed
 */
async function harvestCommand(
  context: Context,
  setArguments: readonly string[],
  options: HarvestOptions,
): Promise<ExitReason> {
  // Most objects of a harvest live for one page; without this flag the heap grows more than needed.
  setFlagsFromString('--heap-growing-percent=200');
  const sets = parseSets(setArguments, options.all === true);
  if (options.verify === true && options.out === '-')
    throw new UsageError(t`--verify repairs an output file, and there is none.`, {
      hint: t`Name a file with --out.`,
    });
  const subject = parseSubject(context, sets, options);
  const { cwd, streams, onClose } = context;
  const place = { out: options.out, cwd, stdout: streams.stdout, onClose };
  const result = await runHarvest(context, options, (request) =>
    harvestRecords({
      ...request,
      openOutput: (opening) => openHarvestOutput(place, subject, opening),
      sets,
      metadataPrefix: subject.format,
      from: options.from,
      until: options.until,
      verify: options.verify === true,
    }),
  );
  return report(context, subject, options, result);
}

/**
 * Sorts and deduplicates sets, so that the same sets are the same harvest; empty for everything.
 * @throws UsageError for both sets and `--all`, or neither
 */
function parseSets(sets: readonly string[], all: boolean): string[] {
  if (all === sets.length > 0)
    throw new UsageError(t`Specify either sets, which ${cmd`pas oai sets`} lists, or --all.`);
  return [...new Set(sets)].sort();
}

function parseSubject(
  context: Context,
  sets: readonly string[],
  options: HarvestOptions,
): RecordHarvestSubject {
  const profile = context.getProfile();
  return {
    oaiBase: requireHarvestBase(profile),
    version: profile.schemaVersion,
    sets: sets.join(' '),
    format: options.format ?? `oai_${profile.prefix}`,
    fromBound: options.from ?? '',
    untilBound: options.until ?? '',
    account: getHarvestUsername(profile),
    form: parseForm(options.out),
  };
}

function parseForm(out: string): RecordHarvestSubject['form'] {
  if (out === '-') return 'jsonl';
  const ending = extname(out).toLowerCase();
  if (ending === '.jsonl') return 'jsonl';
  if (ending === '.xml') return 'xml';
  const names = '.jsonl, .xml';
  throw new UsageError(t`pas cannot tell the format from the name ${out}.`, {
    hint: t`Use a file name that ends with one of these: ${names}`,
  });
}

/** Prints the result to stdout; where that has the records, to stderr and without JSON. */
function report(
  { terminal }: Context,
  subject: RecordHarvestSubject,
  { out }: HarvestOptions,
  result: RecordHarvest,
): ExitReason {
  const { sets, held, broken, elapsedMs, ...sum } = result;
  warnOfBrokenRecords(terminal, sets);
  const perSecond = Math.round((sum.records * 1000) / Math.max(1, elapsedMs));
  const lines = sets.map((figures) => formatFigures(figures));
  lines.push(`${lines.pop() ?? ''}; ${t`${held} in total (${perSecond}/s).`}`);
  for (const line of lines) {
    if (out === '-') terminal.note(line);
    else terminal.printLine(line);
  }
  const { format, version, form } = subject;
  const each = sets.map(toSetResultJson);
  warnOfUnconfirmedLosses(terminal, sets);
  const value = {
    set: each.length === 1 ? each[0]?.set : null,
    format,
    version,
    form,
    out,
    ...sum,
    held,
    broken,
  };
  if (out !== '-') terminal.printValue({ ...value, sets: each, elapsed_ms: Math.round(elapsedMs) });
  return hasDoubtfulRecords(sets) ? 'dataRefused' : 'done';
}

function formatFigures({
  setSpec,
  pass,
  records,
  written,
  deleted,
  vanished,
  masked,
}: SetFigures): string {
  const countText = ngettext(msgid`${records} record`, `${records} records`, records);
  const figures = t`${countText}, ${written} new or changed, ${deleted} deleted, ${vanished} vanished, ${masked} not shown to this account`;
  return `${formatSetName(setSpec)}: ${pass === 'full' ? figures : t`changes, ${figures}`}`;
}
