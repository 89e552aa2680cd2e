import { type Command, InvalidArgumentError } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { table } from '../ui/table.ts';
import { printable } from '../ui/terminal.ts';
import { allHarvests, isHarvested } from '../vocabulary/harvests.ts';
import { searchTerms } from '../vocabulary/search.ts';
import type { Dating, Term } from '../vocabulary/term.ts';
import { countBySet, inferiorsOf, type Neighbour, superiorsOf, termByIdent, termsOfSet } from '../vocabulary/terms.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';
import { defineCommand, type Runner } from './command.ts';
import { harvestBaseOf } from './harvesting.ts';

type SearchOptions = GlobalOptions & { readonly set?: string; readonly limit: number };
type ListOptions = GlobalOptions & { readonly gone?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('vocab').description('Use the harvested vocabularies, without a network.');
  defineCommand(parent, {
    name: 'search <term>',
    summary: 'Find entries by Czech or English name, without accents, begun only or mistyped.',
    examples: ['pas vocab search spona', 'pas vocab search brooch --set heslo:predmet_druh --json'],
  })
    .option('--set <set>', 'only in this set or family of sets')
    .option('--limit <n>', 'at most this many', positiveNumber, 20)
    .action((typed: string, options: SearchOptions) => run(options, (context) => search(context, typed, options)));
  defineCommand(parent, {
    name: 'show <id>',
    summary: 'Show one entry with its place in the hierarchy.',
    examples: ['pas vocab show HES-000253', 'pas vocab show ruian-676730 --json'],
  }).action((ident: string, options: GlobalOptions) => run(options, (context) => show(context, ident)));
  defineCommand(parent, {
    name: 'list <set>',
    summary: 'List the entries of a set in its own order.',
    examples: ['pas vocab list heslo:obdobi', 'pas vocab list organizace --json'],
  })
    .option('--gone', 'also those that were deleted or have vanished')
    .action((set: string, options: ListOptions) => run(options, (context) => list(context, set, options)));
  defineCommand(parent, {
    name: 'sets',
    summary: 'List the sets that were harvested, and when.',
    examples: ['pas vocab sets', 'pas vocab sets --json'],
  }).action((options: GlobalOptions) => run(options, sets));
}

function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 1 or more.');
  return Number(text);
}

export async function search(context: Context, typed: string, options: SearchOptions): Promise<ExitReason> {
  const vocabulary = await openProfileVocabulary(context);
  if (options.set !== undefined) requireSet(vocabulary, options.set);
  const { limit, set } = options;
  const hits = searchTerms(vocabulary, typed, { limit, ...(set === undefined ? {} : { setSpec: set }) });
  if (hits.length === 0) context.terminal.note(`Nothing resembles "${printable(typed)}".`);
  print(
    context,
    hits.map(({ term }) => term),
  );
  context.terminal.value(hits.map(({ term, score }) => ({ ...asJson(term), score: Math.round(score * 1000) / 1000 })));
  return 'done';
}

export async function list(context: Context, set: string, options: ListOptions): Promise<ExitReason> {
  const vocabulary = await openProfileVocabulary(context);
  requireSet(vocabulary, set);
  const terms = [...termsOfSet(vocabulary, set, options.gone === true ? 'with-gone' : 'without-gone')];
  print(context, terms);
  context.terminal.value(terms.map(asJson));
  return 'done';
}

function print({ terminal }: Context, terms: readonly Term[]): void {
  const rows = terms.map((term) => [term.ident, term.setSpec, term.label, term.labelEn ?? '', term.gone ?? '']);
  const lines = rows.length === 0 ? [] : table(['ID', 'SET', 'CZECH', 'ENGLISH', ''], rows);
  for (const line of lines) terminal.line(printable(line));
}

export async function show(context: Context, ident: string): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const term = termByIdent(vocabulary, ident.trim());
  if (term === undefined) {
    throw new UsageError(`${ident} is not among the harvested entries.`, {
      hint: 'Find it by name with `pas vocab search`, or harvest again with `pas harvest-vocab`.',
    });
  }
  const above = superiorsOf(vocabulary, term.ident);
  const below = inferiorsOf(vocabulary, term.ident);
  for (const line of linesOf(term, above, below)) terminal.line(printable(line));
  terminal.value({ ...asJson(term), above, below });
  return 'done';
}

function linesOf(term: Term, above: readonly Neighbour[], below: readonly Neighbour[]): string[] {
  const { dating, links = [], facts = {} } = term.details;
  const lines: [string, string | null][] = [
    ['id', term.ident],
    ['set', term.setSpec],
    ['Czech', term.label],
    ['English', term.labelEn],
    ['abbreviation', term.abbreviation],
    ['description', term.description],
    ['in English', term.descriptionEn],
    ['dating', dating === undefined ? null : datingText(dating)],
    ...Object.entries(facts),
    ...above.map((one): [string, string] => ['above', neighbourText(one)]),
    ...below.map((one): [string, string] => ['below', neighbourText(one)]),
    ...links.map((link): [string, string] => ['link', `${link.relation} ${link.uri ?? `${link.source} ${link.code}`}`]),
    ['changed', new Date(term.datestampMs).toISOString()],
    ['gone', term.goneAtMs === null ? null : `${term.gone} ${new Date(term.goneAtMs).toISOString()}`],
  ];
  return lines.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(14)}${value}`]));
}

function neighbourText({ ident, label, kind }: Neighbour): string {
  return `${ident} ${label} (${kind})`;
}

function datingText({ fromMin, fromMax, toMin, toMax, note }: Dating): string {
  const range = (first: number | null, last: number | null): string =>
    first === last ? String(first ?? '?') : `${first ?? '?'} to ${last ?? '?'}`;
  return `from ${range(fromMin, fromMax)} until ${range(toMin, toMax)}${note === null ? '' : ` (${note})`}`;
}

export async function sets(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const counts = countBySet(vocabulary);
  const harvests = allHarvests(vocabulary);
  const rows = counts.map(({ setSpec, terms, gone }) => [setSpec, String(terms), String(gone)]);
  for (const line of table(['SET', 'ENTRIES', 'GONE'], rows)) terminal.line(line);
  for (const harvest of harvests) {
    const when =
      harvest.completedAtMs === null ? 'never complete' : `complete on ${new Date(harvest.completedAtMs).toISOString()}`;
    terminal.line(`${harvest.setSpec}: ${when}${harvest.pass === null ? '' : ', a harvest is unfinished'}`);
  }
  if (harvests.length === 0) terminal.note('Nothing was harvested yet. Run `pas harvest-vocab`.');
  terminal.value({
    sets: counts.map(({ setSpec, terms, gone }) => ({ set: setSpec, entries: terms, gone })),
    harvests: harvests.map(({ setSpec, completedAtMs, watermarkMs, pass }) => ({
      set: setSpec,
      completed_at: isoOrNull(completedAtMs),
      current_as_of: isoOrNull(watermarkMs),
      unfinished: pass !== null,
    })),
  });
  return 'done';
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

async function openProfileVocabulary(context: Context): Promise<Vocabulary> {
  return (await context.vocabulary()).source(harvestBaseOf(context.profile()));
}

/** @throws UsageError for a set of which nothing is here, so that a typing error does not look like an empty set */
function requireSet(vocabulary: Vocabulary, set: string): void {
  if (
    isHarvested(vocabulary, set) &&
    countBySet(vocabulary).some(({ setSpec }) => setSpec === set || setSpec.startsWith(`${set}:`))
  ) {
    return;
  }
  throw new UsageError(`Nothing was harvested of the set ${set}.`, {
    hint: '`pas vocab sets` lists what is here; `pas harvest-vocab` brings the rest.',
  });
}

function asJson(term: Term): object {
  return {
    id: term.ident,
    set: term.setSpec,
    label: term.label,
    label_en: term.labelEn,
    abbreviation: term.abbreviation,
    description: term.description,
    description_en: term.descriptionEn,
    order: term.sortOrder,
    ...term.details,
    changed_at: new Date(term.datestampMs).toISOString(),
    gone: term.gone,
    gone_at: isoOrNull(term.goneAtMs),
  };
}
