import { setFlagsFromString } from 'node:v8';
import { type Command, Option } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openOutput } from '../context/harvest-output.ts';
import { accountOf, harvestBaseOf, openHarvestClient } from '../context/harvesting.ts';
import { stopWithin, watchInterrupts } from '../context/interrupts.ts';
import { keepMalformedAnswer } from '../context/malformed-answer.ts';
import { harvestRecords, RECORD_FORMS, type RecordHarvest } from '../flows/harvest-records.ts';
import type { OutputForm, Subject } from '../ledger/subject.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { recordCount } from './counted.ts';
import { leftOutText, progressPerSet } from './harvest-progress.ts';

type HarvestOptions = GlobalOptions & {
  readonly format?: string;
  readonly from?: string;
  readonly until?: string;
  readonly out: string;
  readonly to?: OutputForm;
  readonly schemaVersion?: string;
  readonly skipBroken?: boolean;
  readonly full?: boolean;
  readonly deadline?: string;
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'harvest <set>',
    summary: t`Harvest the records of a set into a file: all the first time, then what changed. Goes on where it was cut off.`,
    examples: [
      'pas harvest samostatny_nalez --out finds.jsonl',
      'pas harvest projekt --format oai_dc --from 2025-01-01 --out projects.sqlite',
    ],
  })
    .option('--format <prefix>', t`oai_dc, or the native format (default)`)
    .option('--from <date>', t`changed then or later, UTC: 2025-06-18 or 2025-06-18T08:30:00Z`)
    .option('--until <date>', t`changed then or earlier`)
    .option('--out <file>', t`where to: a file or a folder; - is stdout, and cannot be resumed`, '-')
    .addOption(
      new Option('--to <form>', t`what to write (default: by the ending of --out, .jsonl, .xml, .sqlite; else files)`).choices(
        RECORD_FORMS,
      ),
    )
    .option('--schema-version <version>', t`version of the endpoint, such as 2.1, or newest (default: the profile’s)`)
    .option('--full', t`read everything again, and mark the records that are no longer there`)
    .option('--skip-broken', t`leave records out that cannot be read, and list them`)
    .option('--deadline <time>', t`stop after this time, such as 30m or 2h; the next run goes on`)
    .action((set: string, options: HarvestOptions) => run(options, (context) => harvest(context, set, options)));
}

export async function harvest(context: Context, setSpec: string, options: HarvestOptions): Promise<ExitReason> {
  const { terminal, clock } = context;
  // A harvest makes much that lives for one page only. Left to itself, the heap grows to more than is needed.
  setFlagsFromString('--heap-growing-percent=200');
  const subject = subjectFrom(context, setSpec, options);
  const interrupts = watchInterrupts(context, t`Stopping. What was harvested is kept.`);
  const show = progressPerSet(terminal);
  const result = await harvestRecords({
    client: await openHarvestClient(context, subject.version),
    clock,
    openOutput: () => openOutput(context, options.out, subject),
    setSpec,
    metadataPrefix: subject.format,
    from: options.from,
    until: options.until,
    skipBroken: options.skipBroken === true,
    full: options.full === true,
    indexAllowanceMs: context.profile().indexAllowanceMs,
    onNote: (text) => terminal.note(printable(text)),
    onProgress: (progress) => show.update({ setSpec, ...progress }),
    signal: stopWithin(context, interrupts, options.deadline),
  })
    .catch((thrown: unknown) => keepMalformedAnswer(context, thrown))
    .finally(show.end);
  return report(context, subject, options.out, result);
}

function subjectFrom(context: Context, setSpec: string, options: HarvestOptions): Subject {
  const profile = context.profile();
  return {
    oaiBase: harvestBaseOf(profile),
    version: options.schemaVersion ?? profile.schemaVersion,
    setSpec,
    format: options.format ?? `oai_${profile.prefix}`,
    fromBound: options.from ?? '',
    untilBound: options.until ?? '',
    account: accountOf(profile),
    form: options.to ?? formOf(options.out),
  };
}

function formOf(out: string): OutputForm {
  if (out === '-' || /\.(jsonl|ndjson)$/i.test(out)) return 'jsonl';
  if (/\.xml$/i.test(out)) return 'xml';
  if (/\.(sqlite3?|db)$/i.test(out)) return 'sqlite';
  if (/\.[A-Za-z0-9]{1,5}$/.test(out)) {
    const forms = RECORD_FORMS.join(', ');
    throw new UsageError(t`The ending of ${out} does not say what to write.`, { hint: t`Add --to with one of ${forms}.` });
  }
  return 'files';
}

/** The result goes to stdout, unless that holds the records. */
function report({ terminal }: Context, subject: Subject, out: string, result: RecordHarvest): ExitReason {
  const { pass, records, written, deleted, vanished, masked, held, broken, elapsedMs } = result;
  const perSecond = Math.round((records * 1000) / Math.max(1, elapsedMs));
  const met = recordCount(records);
  const figures = t`${met}, ${written} new or changed, ${deleted} deleted, ${vanished} vanished, ${masked} not shown to this account; ${held} in all (${perSecond}/s).`;
  const line = `${subject.setSpec}: ${pass === 'full' ? figures : t`changes, ${figures}`}`;
  for (const { identifier, reason } of broken) {
    terminal.warn(printable(leftOutText(identifier, reason)));
  }
  if (out === '-') terminal.note(line);
  else terminal.line(line);
  const { setSpec, format, version, form } = subject;
  const value = { set: setSpec, format, version, form, out, pass, records, written, deleted, vanished, masked, held, broken };
  if (out !== '-') terminal.value({ ...value, elapsed_ms: Math.round(elapsedMs) });
  return broken.length > 0 ? 'dataRefused' : 'done';
}
