import { extname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { withoutFullStop } from '../../base/characters.ts';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import {
  harvestRecords,
  type RecordHarvest,
  type SetFigures,
} from '../../harvest/harvest-records.ts';
import { isNeededByImports } from '../../harvest/harvest-vocabulary.ts';
import type { Subject } from '../../harvest/harvested-records.ts';
import { formatSetName } from '../../harvest/pass.ts';
import type { HarvestRequest, SetResult } from '../../harvest/service-lists.ts';
import { defineCommand, type Runner } from '../command.ts';
import {
  type Context,
  type GlobalOptions,
  installSignalHandlers,
  makeDeadlineSignal,
} from '../context/context.ts';
import { openOutput, saveMalformedAnswer } from '../context/harvest-output.ts';
import {
  fetchHarvestingAccount,
  getHarvestAccount,
  getHarvestBase,
  openHarvestClient,
} from '../context/open-service.ts';
import { formatRecordCount } from '../result-texts.ts';
import type { Progress, Terminal } from '../terminal.ts';

/** Describes a record that `--skip-broken` leaves out. */
export function formatLeftOut(identifier: string | null | undefined, sentence: string): string {
  const record = identifier ?? t`a record`;
  const reason = withoutFullStop(sentence);
  return t`Skipped ${record}: ${reason}.`;
}

/** Makes the JSON of a set's result. */
export function toSetJson({ setSpec, unconfirmed, ...figures }: SetResult) {
  const kind = unconfirmed?.held === 0 ? 'empty' : 'losses';
  return {
    set: setSpec || null,
    ...figures,
    kept_in_doubt: unconfirmed === undefined ? null : kind,
  };
}

const MAX_NAMED = 5;

/**
 * Prints the sets with unconfirmed losses.
 * @returns true if the harvest is therefore incomplete
 */
export function warnOfUnconfirmedLosses(
  terminal: Terminal,
  sets: readonly SetResult[],
  command: 'harvest' | 'harvest-vocab',
): boolean {
  let isIncomplete = false;
  for (const { setSpec, unconfirmed } of sets) {
    if (unconfirmed === undefined) continue;
    const name = formatSetName(setSpec);
    const { lost, held, inUse } = unconfirmed;
    isIncomplete ||= held > 0 || isNeededByImports(setSpec);
    if (held === 0) {
      terminal.warn(
        setSpec === ''
          ? t`The service lists no records. The next run reads everything again.`
          : t`${name}: the service lists this set but no records in it. The next run reads it in full.`,
      );
      continue;
    }
    const used = inUse.slice(0, MAX_NAMED).join(', ');
    const inUseText = used === '' ? '' : t` Finds or the mapping use ${used}.`;
    const flag = cmd`--accept-losses`;
    const again = command === 'harvest' ? cmd`pas harvest` : cmd`pas harvest-vocab`;
    terminal.warn(
      t`${name}: the service no longer lists ${lost} of ${held} records; its index may be being rebuilt. All are kept.${inUseText} Run \`${again}\` again in an hour, or add ${flag} if they are really gone.`,
    );
  }
  return isIncomplete;
}

/** Flags of both harvests; `--deadline` is one of records only. */
export type RequestOptions = {
  readonly full?: boolean;
  readonly skipBroken?: boolean;
  readonly acceptLosses?: boolean;
  readonly deadline?: string;
};

/**
 * Runs a harvest of sets until done, Ctrl-C or `--deadline`; the bytes of a malformed answer are
 * saved.
 */
export async function runHarvest<Result>(
  context: Context,
  options: RequestOptions,
  harvest: (request: HarvestRequest) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = context;
  const interrupts = installSignalHandlers(context, t`Stopping. The harvested records are kept.`);
  let bar: Progress | undefined;
  const { account, waitedMs } = await fetchHarvestingAccount(context);
  return harvest({
    client: await openHarvestClient(context, waitedMs),
    clock,
    full: options.full === true,
    skipBroken: options.skipBroken === true,
    acceptLosses: options.acceptLosses === true,
    rights: account === undefined ? undefined : `${account.role}, ${account.organisation}`,
    indexAllowanceMs: context.getProfile().indexAllowanceMs,
    onNote: terminal.note,
    startProgress: (list) => {
      bar?.end();
      bar = terminal.startProgress(list);
      return bar.update;
    },
    signal: makeDeadlineSignal(context, interrupts.stop, options.deadline),
  })
    .catch((thrown: unknown) => saveMalformedAnswer(context, thrown))
    .finally(() => bar?.end());
}

type HarvestOptions = GlobalOptions &
  RequestOptions & {
    readonly format?: string;
    readonly from?: string;
    readonly until?: string;
    readonly out: string;
    readonly verify?: boolean;
    readonly all?: boolean;
  };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'harvest [set...]',
    summary: t`Harvest the records of sets into a file: everything the first time, then only changes. Resumes after an interruption.`,
    examples: [
      'pas harvest samostatny_nalez --out finds.jsonl',
      'pas harvest projekt lokalita --format oai_dc --from 2025-01-01 --out sites.xml',
    ],
  })
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
    .option('--full', t`read everything again and mark records that no longer exist`)
    .option(
      '--verify',
      t`read everything again, compare it with the output, and correct differences`,
    )
    .option('--accept-losses', t`accept at once that records no longer listed are gone`)
    .option('--skip-broken', t`skip records that cannot be read, and list them`)
    .option('--deadline <time>', t`stop after this time, such as 30m or 2h; the next run continues`)
    .action(run(harvest));
}

/** Harvests sets into an output, as {@link runHarvest}. */
export async function harvest(
  context: Context,
  setArguments: readonly string[],
  options: HarvestOptions,
): Promise<ExitReason> {
  // Most objects of a harvest live for one page; without this flag the heap grows more than needed.
  setFlagsFromString('--heap-growing-percent=200');
  const sets = parseSets(setArguments, options.all === true);
  const subject = parseSubject(context, sets, options);
  const result = await runHarvest(context, options, (request) =>
    harvestRecords({
      ...request,
      openOutput: (opening) => openOutput(context, options.out, subject, opening),
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
 */
function parseSets(sets: readonly string[], all: boolean): string[] {
  const hint = t`Specify sets, or --all; see \`${cmd`pas oai sets`}\`.`;
  if (all && sets.length > 0)
    throw new UsageError(t`--all cannot be combined with a set.`, { hint });
  if (!all && sets.length === 0) throw new UsageError(t`No set is specified.`, { hint });
  return [...new Set(sets)].sort();
}

function parseSubject(context: Context, sets: readonly string[], options: HarvestOptions): Subject {
  const profile = context.getProfile();
  return {
    oaiBase: getHarvestBase(profile),
    version: profile.schemaVersion,
    sets: sets.join(' '),
    format: options.format ?? `oai_${profile.prefix}`,
    fromBound: options.from ?? '',
    untilBound: options.until ?? '',
    account: getHarvestAccount(profile),
    form: parseForm(options.out),
  };
}

function parseForm(out: string): Subject['form'] {
  if (out === '-') return 'jsonl';
  const ending = extname(out).toLowerCase();
  if (ending === '.jsonl') return 'jsonl';
  if (ending === '.xml') return 'xml';
  throw new UsageError(t`The extension of ${out} does not name an output format.`, {
    hint: t`Let it end in .jsonl or .xml.`,
  });
}

/** Prints the result to stdout, unless that has the records. */
function report(
  { terminal }: Context,
  subject: Subject,
  { out, verify }: HarvestOptions,
  result: RecordHarvest,
): ExitReason {
  const { sets, held, broken, elapsedMs, ...sum } = result;
  const { mended } = sum;
  for (const { identifier, reason } of broken) terminal.warn(formatLeftOut(identifier, reason));
  const perSecond = Math.round((sum.records * 1000) / Math.max(1, elapsedMs));
  const compared = verify === true ? t`${mended} repaired; ` : '';
  const lines = sets.map((figures) => formatFigures(figures));
  lines.push(`${lines.pop() ?? ''}; ${compared}${t`${held} in total (${perSecond}/s).`}`);
  for (const line of lines) {
    if (out === '-') terminal.note(line);
    else terminal.printLine(line);
  }
  const { format, version, form } = subject;
  const each = sets.map(toSetJson);
  const isUnconfirmed = warnOfUnconfirmedLosses(terminal, sets, 'harvest');
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
  return broken.length > 0 || isUnconfirmed ? 'dataRefused' : 'done';
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
  const countText = formatRecordCount(records);
  const figures = t`${countText}, ${written} new or changed, ${deleted} deleted, ${vanished} vanished, ${masked} not shown to this account`;
  return `${formatSetName(setSpec)}: ${pass === 'full' ? figures : t`changes, ${figures}`}`;
}
