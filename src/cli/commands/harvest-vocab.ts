import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { harvestVocabulary, type SetHarvest } from '../../harvest/harvest-vocabulary.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { getHarvestAccount, getHarvestBase, listEntriesInUse } from '../context/open-service.ts';
import {
  formatLeftOut,
  type RequestOptions,
  runHarvest,
  toSetJson,
  warnOfUnconfirmedLosses,
} from './harvest.ts';

const MAX_NAMED = 20;

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'harvest-vocab [set...]',
    summary: t`Harvest the vocabularies and projects: everything the first time, then only changes. Resumes after an interruption.`,
    examples: ['pas harvest-vocab', 'pas harvest-vocab heslo organizace --full --json'],
  })
    .option('--full', t`read everything again and mark entries that no longer exist`)
    .option('--accept-losses', t`accept at once that records no longer listed are gone`)
    .option('--skip-broken', t`skip records that cannot be read, and list them`)
    .action(run(harvestVocab));
}

/**
 * Harvests vocabularies; `dataRefused` where records were skipped, or lost ones are not confirmed.
 */
export async function harvestVocab(
  context: Context,
  sets: readonly string[],
  options: GlobalOptions & RequestOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.getProfile();
  const store = await context.openVocabulary();
  const results = await runHarvest(context, options, (request) =>
    harvestVocabulary({
      ...request,
      vocabulary: store.openSource(getHarvestBase(profile)),
      sets,
      metadataPrefix: `oai_${profile.prefix}`,
      inUse: () => listEntriesInUse(context),
      subject: `${profile.schemaVersion} ${getHarvestAccount(profile)}`,
    }),
  );
  await terminal.printTable(
    [t`SET`, t`PASS`, t`RECORDS`, t`DELETED`, t`VANISHED`],
    results.map(formatHarvestRow),
  );
  terminal.printValue({ sets: results.map(asJson) });
  const isUnconfirmed = warnOfUnconfirmedLosses(terminal, results, 'harvest-vocab');
  return warnOfLosses(context, results) || isUnconfirmed ? 'dataRefused' : 'done';
}

function warnOfLosses({ terminal }: Context, results: readonly SetHarvest[]): boolean {
  const unreadable = results.flatMap((result) => result.unreadable);
  const broken = results.flatMap((result) => result.broken);
  if (unreadable.length > 0)
    terminal.warn(formatUnreadable(unreadable.slice(0, MAX_NAMED).join(', ')));
  if (unreadable.length > MAX_NAMED) {
    const more = unreadable.length - MAX_NAMED;
    terminal.warn(t`  … and ${more} more (--json lists them all)`);
  }
  for (const { identifier, reason } of broken) terminal.warn(formatLeftOut(identifier, reason));
  return unreadable.length + broken.length > 0;
}

function formatUnreadable(identifiers: string): string {
  return t`Skipped, because pas cannot read them as terms: ${identifiers}.`;
}

const PASS_WORDS: Readonly<Record<SetHarvest['pass'], Message>> = {
  full: msg`full`,
  changes: msg`changes`,
};

function formatHarvestRow({ setSpec, pass, records, deleted, vanished }: SetHarvest): Message[] {
  return [setSpec, PASS_WORDS[pass], String(records), String(deleted), String(vanished)];
}

function asJson({ elapsedMs, ...result }: SetHarvest): object {
  return { ...toSetJson(result), elapsed_ms: Math.round(elapsedMs) };
}
