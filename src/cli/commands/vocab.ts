import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { formatIso } from '../../base/clock.ts';
import type { ExitReason } from '../../base/errors.ts';
import { cmd, type Message, msg, t } from '../../base/message.ts';
import { searchTerms } from '../../finds/vocabulary/search.ts';
import { describeProject, type Term } from '../../finds/vocabulary/term.ts';
import {
  countTermsBySet,
  listTermsOfSet,
  listVocabularyHarvests,
  type Neighbour,
} from '../../finds/vocabulary/terms.ts';
import { harvestVocabularies, type SetHarvest } from '../../harvest/harvest-vocabulary.ts';
import {
  assertHarvested,
  expandSetName,
  getTermWithNeighbours,
  renderTerms,
  toTermJson,
} from '../../tables/own-terms/map-terms.ts';
import { defineCommand, parseWholeNumber, type Registration } from '../command.ts';
import { type Context, type GlobalOptions, requireHarvestBase } from '../context/context.ts';
import { listTermIdsInUse } from '../context/find-input.ts';
import { getHarvestUsername, openProfileVocabulary } from '../context/open-service.ts';
import { renewProfileDocuments } from '../context/profile-outbox.ts';
import { formatJsonTree } from '../result-texts.ts';
import {
  type HarvestFlags,
  hasDoubtfulRecords,
  runHarvest,
  toSetResultJson,
  warnOfBrokenRecords,
  warnOfUnconfirmedLosses,
} from '../run-harvest.ts';
import { registerMapCommands, writeTermList } from './vocab-map.ts';

type SearchOptions = GlobalOptions & { readonly set?: string; readonly limit: number };
type ExportOptions = GlobalOptions & { readonly out: string };

/**
 * Registers `pas harvest-vocab`, and the group `pas vocab` with its commands `search`, `show`,
 * `list`, `export` and those of `map`.
 */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'harvest-vocab [set...]',
    t`Harvest the vocabularies and projects: everything the first time, then only changes. Resumes after an interruption.`,
    ['pas harvest-vocab', 'pas harvest-vocab heslo organizace --full --json'],
  )
    .option('--full', t`read everything again, not only what changed`)
    .option('--accept-losses', t`accept at once that records no longer listed are gone`)
    .action(run(harvestVocab));
  const parent = program.command('vocab').description(t`Use the harvested vocabularies offline.`);
  defineCommand(
    parent,
    'search <term>',
    t`Find entries by Czech or English name, also without accents, by the beginning of a word, or with typing errors.`,
    ['pas vocab search spona', 'pas vocab search brooch --set heslo:predmet_druh --json'],
  )
    .option('--set <set>', t`only of this set or family of sets`)
    .option('--limit <n>', t`maximum number`, parsePositiveWholeNumber, 20)
    .action(run(search));
  defineCommand(parent, 'show <id>', t`Show one entry with its place in the hierarchy.`, [
    'pas vocab show HES-000253',
    'pas vocab show ruian-676730 --json',
  ]).action(run(show));
  defineCommand(
    parent,
    'list [set]',
    t`List the entries of a set in its own order; without a set, the sets that were harvested, and when.`,
    ['pas vocab list', 'pas vocab list heslo:obdobi'],
  ).action(run(list));
  defineCommand(
    parent,
    'export [set...]',
    t`Write harvested entries as a table, or with --json as JSON; all vocabularies if no set is specified.`,
    [
      'pas vocab export heslo:obdobi --out periods.csv',
      'pas vocab export --json --out vocabularies.json',
    ],
  )
    .option('--out <file>', t`file to write, or - for standard output`, '-')
    .action(run(writeTerms));
  registerMapCommands(parent, run);
};

/** Parses as {@link parseWholeNumber}, but not 0. */
function parsePositiveWholeNumber(text: string): number {
  const number = parseWholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError(t`Enter a whole number, 1 or more.`);
}

function noteNothingHarvested({ terminal }: Context): void {
  terminal.note(t`Nothing was harvested yet. Run \`${cmd`pas harvest-vocab`}\`.`);
}

async function search(
  context: Context,
  typed: string,
  options: SearchOptions,
): Promise<ExitReason> {
  const { limit } = options;
  const set = options.set && expandSetName(options.set);
  const vocabulary = await openProfileVocabulary(context);
  if (set !== undefined) assertHarvested(vocabulary, set);
  const hits = searchTerms(vocabulary, typed, { limit, setSpec: set });
  const isHeld = listVocabularyHarvests(vocabulary).some(
    ({ completedAtMs }) => completedAtMs !== null,
  );
  if (!isHeld) noteNothingHarvested(context);
  else if (hits.length === 0) context.terminal.note(t`Nothing resembles "${typed}".`);
  await print(
    context,
    hits.map(({ term }) => term),
  );
  context.terminal.printValue(
    hits.map(({ term, score }) => ({
      ...toTermJson(term),
      score: Math.round(score * 1000) / 1000,
    })),
  );
  return 'done';
}

async function list(context: Context, set: string | undefined): Promise<ExitReason> {
  if (set === undefined) return showSets(context);
  const vocabulary = await openProfileVocabulary(context);
  const setSpec = expandSetName(set);
  assertHarvested(vocabulary, setSpec);
  const terms = listTermsOfSet(vocabulary, setSpec);
  await print(context, terms);
  context.terminal.printValue(terms.map(toTermJson));
  return 'done';
}

async function print(context: Context, terms: readonly Term[]): Promise<void> {
  const { terminal } = context;
  const rows = terms.map(({ ident, setSpec, label, labelEn, details }) => [
    ident,
    setSpec,
    describeProject(details) || label,
    labelEn ?? '',
  ]);
  if (rows.length > 0) await terminal.printTable([t`ID`, t`SET`, t`CZECH`, t`ENGLISH`], rows);
}

async function showSets(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const counts = countTermsBySet(vocabulary);
  const harvests = listVocabularyHarvests(vocabulary);
  const rows = counts.map(({ setSpec, terms, gone }) => [setSpec, String(terms), String(gone)]);
  await terminal.printTable([t`SET`, t`ENTRIES`, t`GONE`], rows);
  for (const harvest of harvests) {
    const completed = formatIso(harvest.completedAtMs);
    const when = completed === null ? t`never complete` : t`complete on ${completed}`;
    terminal.printLine(
      `${harvest.setSpec}: ${harvest.unfinished ? t`${when}, a harvest is unfinished` : when}`,
    );
  }
  if (harvests.length === 0) noteNothingHarvested(context);
  terminal.printValue({
    sets: counts.map(({ setSpec, terms, gone }) => ({ set: setSpec, entries: terms, gone })),
    harvests: harvests.map(({ setSpec, completedAtMs, watermarkMs, unfinished }) => ({
      set: setSpec,
      completed_at: formatIso(completedAtMs),
      current_as_of: formatIso(watermarkMs),
      unfinished,
    })),
  });
  return 'done';
}

async function writeTerms(
  context: Context,
  sets: readonly string[],
  options: ExportOptions,
): Promise<ExitReason> {
  const form = context.terminal.json ? 'json' : 'csv';
  const text = renderTerms(await openProfileVocabulary(context), sets.map(expandSetName), form);
  await writeTermList(context, options.out, [text]);
  return 'done';
}

async function show(context: Context, ident: string): Promise<ExitReason> {
  const { terminal } = context;
  const { term, path, above, below } = getTermWithNeighbours(
    await openProfileVocabulary(context),
    ident,
  );
  const value = {
    ...toTermJson(term),
    path: path.map(toNeighbourJson),
    above: above.map(toNeighbourJson),
    below: below.map(toNeighbourJson),
  };
  terminal.printLine(
    terminal.color.bold([...path.map((one) => one.label || one.ident), term.label].join(' > ')),
  );
  for (const line of formatJsonTree(value)) terminal.printLine(line);
  terminal.printValue(value);
  return 'done';
}

function toNeighbourJson({ ident, label, kind }: Neighbour) {
  return { id: ident, label, kind };
}

/**
 * Harvests sets into the vocabulary, all of them where none is named, and prints the results. Then
 * finds of the outbox are checked again: drafts, which may be complete with the new entries, and,
 * where any record was read, queued finds.
 * @returns `dataRefused` where records were skipped, lost ones are not confirmed, or a find has
 * become a draft
 */
async function harvestVocab(
  context: Context,
  sets: readonly string[],
  options: GlobalOptions & HarvestFlags,
): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.getProfile();
  const store = await context.openVocabulary();
  const results = await runHarvest(context, options, (request) =>
    harvestVocabularies({
      ...request,
      vocabulary: store.openSource(requireHarvestBase(profile)),
      sets,
      metadataPrefix: `oai_${profile.prefix}`,
      inUse: () => listTermIdsInUse(context),
      subject: `${profile.schemaVersion} ${getHarvestUsername(profile)}`,
    }),
  );
  await terminal.printTable(
    [t`SET`, t`PASS`, t`RECORDS`, t`DELETED`, t`VANISHED`],
    results.map(({ setSpec, pass, ...counts }) => [
      setSpec,
      PASS_WORDS[pass],
      ...[counts.records, counts.deleted, counts.vanished].map(String),
    ]),
  );
  terminal.printValue({
    sets: results.map(({ elapsedMs, ...result }) => ({
      ...toSetResultJson(result),
      elapsed_ms: Math.round(elapsedMs),
    })),
  });
  warnOfUnconfirmedLosses(terminal, results);
  warnOfBrokenRecords(terminal, results);
  const after = results.some(({ records }) => records > 0) ? 'harvest' : 'change';
  const hasOutbox = existsSync(context.getOutboxPlaces().outboxFile);
  const issues = hasOutbox ? await renewProfileDocuments(context, after) : [];
  return hasDoubtfulRecords(results) || issues.length > 0 ? 'dataRefused' : 'done';
}

const PASS_WORDS: Readonly<Record<SetHarvest['pass'], Message>> = {
  full: msg`full`,
  changes: msg`changes`,
};
