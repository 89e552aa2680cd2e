import { type Command, InvalidArgumentError } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { printable } from '../ui/terminal.ts';
import { allHarvests } from '../vocabulary/harvests.ts';
import { searchTerms } from '../vocabulary/search.ts';
import type { Term } from '../vocabulary/term.ts';
import { countBySet, termsOfSet } from '../vocabulary/terms.ts';
import { defineCommand, type Runner } from './command.ts';
import { registerExport } from './vocab-export.ts';
import { registerMap } from './vocab-map.ts';
import { registerShow } from './vocab-show.ts';
import { GONE_WORDS, isoOrNull, openProfileVocabulary, requireSet, termAsJson } from './vocab-terms.ts';

type SearchOptions = GlobalOptions & { readonly set?: string; readonly limit: number };
type ListOptions = GlobalOptions & { readonly gone?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('vocab').description(t`Use the harvested vocabularies, without a network.`);
  defineCommand(parent, {
    name: 'search <term>',
    summary: t`Find entries by Czech or English name, without accents, begun only or mistyped.`,
    examples: ['pas vocab search spona', 'pas vocab search brooch --set heslo:predmet_druh --json'],
  })
    .option('--set <set>', t`only in this set or family of sets`)
    .option('--limit <n>', t`at most this many`, positiveNumber, 20)
    .action((typed: string, options: SearchOptions) => run(options, (context) => search(context, typed, options)));
  registerShow(parent, run);
  defineCommand(parent, {
    name: 'list <set>',
    summary: t`List the entries of a set in its own order.`,
    examples: ['pas vocab list heslo:obdobi', 'pas vocab list organizace --json'],
  })
    .option('--gone', t`also those that were deleted or have vanished`)
    .action((set: string, options: ListOptions) => run(options, (context) => list(context, set, options)));
  defineCommand(parent, {
    name: 'sets',
    summary: t`List the sets that were harvested, and when.`,
    examples: ['pas vocab sets', 'pas vocab sets --json'],
  }).action((options: GlobalOptions) => run(options, sets));
  registerExport(parent, run);
  registerMap(parent, run);
}

function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError(t`Give a whole number, 1 or more.`);
  return Number(text);
}

async function search(context: Context, typed: string, options: SearchOptions): Promise<ExitReason> {
  const vocabulary = await openProfileVocabulary(context);
  if (options.set !== undefined) requireSet(vocabulary, options.set);
  const { limit, set } = options;
  const hits = searchTerms(vocabulary, typed, { limit, ...(set === undefined ? {} : { setSpec: set }) });
  if (hits.length === 0) {
    const sought = printable(typed);
    context.terminal.note(t`Nothing resembles "${sought}".`);
  }
  print(
    context,
    hits.map(({ term }) => term),
  );
  context.terminal.value(hits.map(({ term, score }) => ({ ...termAsJson(term), score: Math.round(score * 1000) / 1000 })));
  return 'done';
}

export async function list(context: Context, set: string, options: ListOptions): Promise<ExitReason> {
  const vocabulary = await openProfileVocabulary(context);
  requireSet(vocabulary, set);
  const terms = [...termsOfSet(vocabulary, set, options.gone === true ? 'with-gone' : 'without-gone')];
  print(context, terms);
  context.terminal.value(terms.map(termAsJson));
  return 'done';
}

function print({ terminal }: Context, terms: readonly Term[]): void {
  const rows = terms.map((term) => [
    term.ident,
    term.setSpec,
    term.label,
    term.labelEn ?? '',
    term.gone === null ? '' : GONE_WORDS[term.gone],
  ]);
  if (rows.length > 0) terminal.table([t`ID`, t`SET`, t`CZECH`, t`ENGLISH`, ''], rows);
}

async function sets(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const counts = countBySet(vocabulary);
  const harvests = allHarvests(vocabulary);
  const rows = counts.map(({ setSpec, terms, gone }) => [setSpec, String(terms), String(gone)]);
  terminal.table([t`SET`, t`ENTRIES`, t`GONE`], rows);
  for (const harvest of harvests) {
    const completed = isoOrNull(harvest.completedAtMs);
    const when = completed === null ? t`never complete` : t`complete on ${completed}`;
    terminal.line(`${harvest.setSpec}: ${harvest.unfinished ? t`${when}, a harvest is unfinished` : when}`);
  }
  if (harvests.length === 0) terminal.note(t`Nothing was harvested yet. Run \`pas harvest-vocab\`.`);
  terminal.value({
    sets: counts.map(({ setSpec, terms, gone }) => ({ set: setSpec, entries: terms, gone })),
    harvests: harvests.map(({ setSpec, completedAtMs, watermarkMs, unfinished }) => ({
      set: setSpec,
      completed_at: isoOrNull(completedAtMs),
      current_as_of: isoOrNull(watermarkMs),
      unfinished,
    })),
  });
  return 'done';
}
