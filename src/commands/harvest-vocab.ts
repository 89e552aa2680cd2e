import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { DEFAULT_SETS, type HarvestProgress, harvestVocabulary, type SetHarvest } from '../flows/harvest-vocabulary.ts';
import { table } from '../ui/table.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { harvestBaseOf, openHarvestClient } from './harvesting.ts';
import { watchInterrupts } from './interrupts.ts';
import { keepMalformedAnswer } from './malformed-answer.ts';

export type HarvestVocabOptions = GlobalOptions & { readonly full?: boolean; readonly skipBroken?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'harvest-vocab [set...]',
    summary: t`Harvest the vocabularies: everything the first time, then what changed. Goes on where it was cut off.`,
    examples: ['pas harvest-vocab', 'pas harvest-vocab heslo organizace --full --json'],
  })
    .option('--full', t`read everything again, and mark the entries that are no longer there`)
    .option('--skip-broken', t`leave records out that cannot be read, and list them`)
    .action((sets: string[], options: HarvestVocabOptions) => run(options, (context) => harvestVocab(context, sets, options)));
}

export async function harvestVocab(context: Context, sets: readonly string[], options: HarvestVocabOptions): Promise<ExitReason> {
  const { terminal, clock } = context;
  const profile = context.profile();
  const store = await context.vocabulary();
  const interrupts = watchInterrupts(() => terminal.warn('\nStopping. What was harvested is kept.'));
  context.onClose(() => interrupts.close());
  const show = progressOf(context);
  const results = await harvestVocabulary({
    client: await openHarvestClient(context),
    vocabulary: store.source(harvestBaseOf(profile)),
    clock,
    sets: sets.length === 0 ? DEFAULT_SETS : sets,
    metadataPrefix: `oai_${profile.prefix}`,
    full: options.full === true,
    skipBroken: options.skipBroken === true,
    onProgress: show.update,
    signal: interrupts.stop,
  })
    .catch((thrown: unknown) => keepMalformedAnswer(context, thrown))
    .finally(show.end);
  for (const line of table(['SET', 'PASS', 'RECORDS', 'DELETED', 'VANISHED'], results.map(rowOf))) terminal.line(line);
  terminal.value({ sets: results.map(asJson) });
  return warnOfLosses(context, results) ? 'dataRefused' : 'done';
}

function warnOfLosses({ terminal }: Context, results: readonly SetHarvest[]): boolean {
  const unreadable = results.flatMap((result) => result.unreadable);
  const broken = results.flatMap((result) => result.broken);
  if (unreadable.length > 0)
    terminal.warn(printable(`Left out, as they are no terms that pas can read: ${unreadable.join(', ')}.`));
  for (const { identifier, reason } of broken)
    terminal.warn(printable(`Left out: ${identifier ?? 'a record'}, since ${reason}.`));
  return unreadable.length + broken.length > 0;
}

/** One bar per set, with the rate and the time left. */
function progressOf({ terminal }: Context): { update(progress: HarvestProgress): void; end(): void } {
  let current: { readonly setSpec: string; readonly bar: ReturnType<typeof terminal.progress> } | undefined;
  return {
    update: ({ setSpec, done, total, perSecond }) => {
      if (current?.setSpec !== setSpec) {
        current?.bar.end();
        current = { setSpec, bar: terminal.progress(setSpec) };
      }
      const secondsLeft = total === undefined || perSecond === 0 ? undefined : Math.ceil((total - done) / perSecond);
      current.bar.update(done, total, `${Math.round(perSecond)}/s${secondsLeft === undefined ? '' : `, ${secondsLeft} s left`}`);
    },
    end: () => current?.bar.end(),
  };
}

function rowOf({ setSpec, pass, records, deleted, vanished }: SetHarvest): string[] {
  return [setSpec, pass, String(records), String(deleted), String(vanished)];
}

function asJson({ setSpec, pass, records, deleted, vanished, unreadable, broken, elapsedMs }: SetHarvest): object {
  return { set: setSpec, pass, records, deleted, vanished, unreadable, broken, elapsed_ms: Math.round(elapsedMs) };
}
