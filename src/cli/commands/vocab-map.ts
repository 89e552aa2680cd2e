import { toPrintable } from '../../base/characters.ts';
import { formatCsvTable } from '../../base/csv.ts';
import { writeOutputFile, writeToStdout } from '../../base/disk/output-file.ts';
import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, msgid, ngettext, t } from '../../base/message.ts';
import type { SearchHit } from '../../finds/vocabulary/search.ts';
import {
  type MappingProposals,
  mapOwnTerm,
  mergeMapping,
  proposeEntries,
  type TermProposal,
} from '../../tables/own-terms/map-terms.ts';
import { changeMappingFile, readMappingFile } from '../../tables/own-terms/mapping.ts';
import { addSheetOption, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readTableOrInput } from '../context/find-input.ts';
import { openProfileVocabulary, openVocabularyLookups } from '../context/open-service.ts';
import { confirmReplacing, printIssues, toIssuesJson, withProgress } from '../terminal.ts';

type SheetOptions = GlobalOptions & { readonly sheet?: string };

/**
 * Registers the group `map` in the group `pas vocab`; its commands change mapping.csv in the data
 * home.
 */
export const registerMapCommands: Registration = (vocab, run) => {
  const parent = vocab
    .command('map')
    .description(
      t`Map your own terms to entries of the vocabularies, in a table that you may edit: mapping.csv in the data home.`,
    );
  addSheetOption(
    defineCommand(
      parent,
      'suggest <terms>',
      t`Propose an entry for each term of a list (a column "term", and optionally "set" or "element"), with a score. Nothing is used until a person confirms it.`,
      [
        'pas vocab map suggest terms.csv --out proposals.csv',
        'pas vocab map suggest our-terms.xlsx --sheet 2 --json',
      ],
    ),
  )
    .option('--out <file>', t`file to write, or - for standard output`, '-')
    .action(run(suggest));
  addSheetOption(
    defineCommand(
      parent,
      'import <file>',
      t`Import reviewed proposals or your own table into the mapping. Only confirmed rows are used.`,
      [
        'pas vocab map import proposals.csv',
        'pas vocab map import our-terms.xlsx --sheet confirmed --json',
      ],
    ),
  ).action(run(importMapping));
  defineCommand(
    parent,
    'set <set> <term> <entry>',
    t`Map one of your own terms to an entry, specified by its identifier or label. This confirms the mapping.`,
    [
      'pas vocab map set obdobi laten HES-000286',
      'pas vocab map set heslo:predmet_druh "zl. nádoby" "zlomek nádoby"',
    ],
  ).action(run(setMapping));
  defineCommand(parent, 'list', t`List your own terms and what they are mapped to.`, [
    'pas vocab map list',
    'pas vocab map list --json',
  ]).action(run(printMapping));
};

async function printMapping(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const { rows, issues } = await readMappingFile(context.places.mappingFile);
  const lines = rows.map((row) => [row.set, row.term, row.id, row.label, row.note]);
  await terminal.printTable([t`SET`, t`TERM`, t`ID`, t`LABEL`, t`NOTE`], lines);
  printIssues(terminal, issues, terminal.warn);
  if (rows.length === 0 && issues.length === 0) {
    terminal.note(
      t`Nothing is mapped yet. Start with \`${cmd`pas vocab map suggest`} TERMS.csv\`.`,
    );
  }
  terminal.printValue(rows.map(({ row: _row, ...mapped }) => ({ ...mapped, confirmed: true })));
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

/**
 * Adds the confirmed rows of a table to the mapping; a faulty row is left out.
 * @returns `dataRefused` where a row is faulty
 */
async function importMapping(
  context: Context,
  file: string,
  reading: SheetOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const table = await readTableOrInput(context, file, reading);
  const { lookupTerm } = await openVocabularyLookups(context);
  const { places, clock } = context;
  const merged = await changeMappingFile(places.mappingFile, clock, (mapping) =>
    mergeMapping(mapping, table, lookupTerm),
  );
  const { rows: _rows, issues, ...tally } = merged;
  const { added, changed, unchanged, unconfirmed } = tally;
  printIssues(terminal, issues, terminal.json ? () => {} : terminal.printLine);
  terminal.printLine(
    ngettext(
      msgid`${added} term added, ${changed} changed, ${unchanged} as before; ${unconfirmed} not confirmed and left out.`,
      `${added} terms added, ${changed} changed, ${unchanged} as before; ${unconfirmed} not confirmed and left out.`,
      added,
    ),
  );
  terminal.printValue({ ...tally, issues: toIssuesJson(issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

async function setMapping(
  context: Context,
  of: string,
  ownTerm: string,
  entry: string,
): Promise<ExitReason> {
  const { lookupTerm } = await openVocabularyLookups(context);
  const harvested = { lookupTerm, vocabulary: await openProfileVocabulary(context) };
  const row = { set: of, term: ownTerm, entry };
  const { places, clock } = context;
  const mapped = await changeMappingFile(places.mappingFile, clock, (mapping) =>
    mapOwnTerm(mapping, row, harvested),
  );
  const { set, term, id, label } = mapped.row;
  context.terminal.printLine(t`"${term}" in ${set} means ${id} (${label}).`);
  context.terminal.printValue({ set, term, id, label, replaced: mapped.replaced });
  return 'done';
}

type SuggestOptions = SheetOptions & { readonly out: string };

const COLUMNS = ['set', 'term', 'id', 'label', 'score', 'others', 'confirmed', 'note'] as const;

/**
 * Writes proposals for the terms of a table as CSV, or prints them as JSON under `--json`, which
 * writes no file.
 * @returns `dataRefused` where a row cannot be read
 */
async function suggest(
  context: Context,
  file: string,
  options: SuggestOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const list = await readTableOrInput(context, file, options);
  const vocabulary = await openProfileVocabulary(context);
  const mapping = await readMappingFile(context.places.mappingFile);
  const proposals = await withProgress(terminal, t`Comparing`, (onProgress) =>
    proposeEntries(list, { vocabulary, mapping, onProgress }),
  );
  printIssues(terminal, proposals.issues, terminal.warn);
  if (!terminal.json)
    await writeTermList(context, options.out, [formatProposals(proposals.proposals)]);
  report(context, proposals);
  return hasErrors(proposals.issues) ? 'dataRefused' : 'done';
}

function report(
  { terminal }: Context,
  { proposals, alreadyMapped, notHarvested, issues }: MappingProposals,
): void {
  const proposed = proposals.filter(({ candidates }) => candidates.length > 0).length;
  const all = proposals.length;
  const sets = notHarvested.join(', ');
  if (sets !== '') terminal.warn(t`Not harvested, so nothing is proposed from it: ${sets}.`);
  terminal.note(t`Terms with a proposal: ${proposed} of ${all}.`);
  if (alreadyMapped > 0) terminal.note(t`Already mapped: ${alreadyMapped}.`);
  if (proposed > 0) {
    terminal.note(
      t`Review them: write yes under "confirmed" where the entry is right, then \`${cmd`pas vocab map import`} FILE\`.`,
    );
  }
  terminal.printValue({
    terms: proposals.length + alreadyMapped,
    proposed,
    already_mapped: alreadyMapped,
    not_harvested: notHarvested,
    proposals: proposals.map(toProposalJson),
    issues: toIssuesJson(issues),
  });
}

/** Formats proposals as CSV with the columns of a mapping, so that the file can be imported. */
function formatProposals(proposals: readonly TermProposal[]): string {
  const rows = proposals.map(({ set, term, candidates: [best, ...otherCandidates] }) =>
    [
      best?.term.setSpec ?? set ?? '',
      term,
      best?.term.ident ?? '',
      best?.term.label ?? '',
      best === undefined ? '' : best.score.toFixed(2),
      otherCandidates
        .map((other) => `${other.term.ident} ${other.term.label} (${other.score.toFixed(2)})`)
        .join(', '),
      '',
      '',
    ].map(toPrintable),
  );
  return formatCsvTable([COLUMNS, ...rows]);
}

function toProposalJson({
  row,
  set,
  term,
  candidates: [best, ...otherCandidates],
}: TermProposal): Record<string, unknown> {
  return {
    row,
    set: best?.term.setSpec ?? set ?? null,
    term,
    ...(best === undefined ? { id: null, label: null, score: null } : toCandidateJson(best)),
    others: otherCandidates.map(toCandidateJson),
  };
}

function toCandidateJson({ term, score }: SearchHit): Record<string, unknown> {
  return { id: term.ident, label: term.label, score: Math.round(score * 1000) / 1000 };
}

/**
 * Writes a list of terms to a file that others may read, or to stdout for `-`; a person is asked
 * before a file is replaced.
 * @param pieces of the text, in order
 * @throws UsageError where the file exists and may not be replaced; FileError where it cannot be
 * written or is one of pas's own; DatabaseError when the disk is full
 */
export async function writeTermList(
  context: Context,
  file: string,
  pieces: Iterable<string>,
): Promise<void> {
  if (file === '-') {
    await writeToStdout(context.streams.stdout, pieces);
    return;
  }
  const overwrite = await confirmReplacing(context, file);
  // Terms are not confidential.
  await writeOutputFile(file, pieces, { overwrite, mode: 0o666 });
  context.terminal.note(t`Written to ${file}.`);
}
