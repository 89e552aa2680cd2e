import { type Command, Option } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { writeOutputFile } from '../store/output-file.ts';
import { writeToReader } from '../store/output-stream.ts';
import { csvLines, type ExportedTerm, turtleLines } from '../vocabulary/export.ts';
import { superiorsOf, termsOfSet } from '../vocabulary/terms.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';
import { defineCommand, type Runner } from './command.ts';
import { openProfileVocabulary, requireSet, termAsJson } from './vocab-terms.ts';

const FORMATS = ['csv', 'json', 'turtle'] as const;
type ExportOptions = GlobalOptions & {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly gone?: boolean;
  readonly force?: boolean;
};

export function registerExport(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'export [set...]',
    summary: t`Write harvested entries as a table, as JSON or as SKOS in Turtle; all vocabularies where no set is named.`,
    examples: ['pas vocab export heslo:obdobi --out periods.csv', 'pas vocab export --format turtle --out vocabularies.ttl'],
  })
    .addOption(new Option('--format <format>', t`form of the output`).choices(FORMATS).default('csv'))
    .option('--out <file>', t`write to this file instead of stdout`)
    .option('--force', t`replace a file that is there already`)
    .option('--gone', t`also entries that were deleted or have vanished`)
    .action((sets: string[], options: ExportOptions) => run(options, (context) => exportTerms(context, sets, options)));
}

async function exportTerms(context: Context, sets: readonly string[], options: ExportOptions): Promise<ExitReason> {
  const vocabulary = await openProfileVocabulary(context);
  const wanted = sets.length === 0 ? ['heslo'] : sets;
  for (const set of wanted) requireSet(vocabulary, set);
  const lines = linesOf(vocabulary, termsOf(vocabulary, wanted, options.gone === true), options);
  if (options.out === undefined || options.out === '-') {
    await writeToReader(context.streams.stdout, withLineEnds(lines));
    return 'done';
  }
  await writeOutputFile(options.out, withLineEnds(lines), { overwrite: options.force === true });
  context.terminal.note(t`Written to ${options.out}.`);
  return 'done';
}

function* termsOf(vocabulary: Vocabulary, sets: readonly string[], gone: boolean): Generator<ExportedTerm> {
  for (const set of sets) {
    for (const term of termsOfSet(vocabulary, set, gone ? 'with-gone' : 'without-gone')) {
      yield { ...term, superiors: superiorsOf(vocabulary, term.ident) };
    }
  }
}

function linesOf(vocabulary: Vocabulary, terms: Iterable<ExportedTerm>, { format, json }: ExportOptions): Iterable<string> {
  switch (json === true ? 'json' : format) {
    case 'csv':
      return csvLines(terms);
    case 'turtle':
      return turtleLines(terms, vocabulary.oaiBase);
    case 'json':
      return [
        JSON.stringify([...terms].map((term) => ({ ...termAsJson(term), superiors: term.superiors.map(({ ident }) => ident) }))),
      ];
  }
}

function* withLineEnds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
