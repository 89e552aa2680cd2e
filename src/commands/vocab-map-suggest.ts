import type { Command } from 'commander';
import { BYTE_ORDER_MARK, csvCell } from '../base/csv.ts';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingFile, readTableOrInput, writeResult } from '../context/own-files.ts';
import { readOwnTerms } from '../find/own-terms.ts';
import { type Proposal, type Proposals, suggestMapping } from '../flows/suggest-mapping.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { printable } from '../ui/terminal.ts';
import type { Suggestion } from '../vocabulary/suggest.ts';
import { defineCommand, type Runner } from './command.ts';
import { setArgument } from './vocab-map-set.ts';
import { openProfileVocabulary } from './vocab-terms.ts';

type SuggestOptions = GlobalOptions & { readonly set?: string; readonly out?: string; readonly force?: boolean };

const CANDIDATES = 4;
const COLUMNS = ['set', 'term', 'id', 'label', 'score', 'why', 'others', 'confirmed', 'note'] as const;

export function registerSuggest(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'suggest <terms>',
    summary: t`Propose an entry for each term of a list (a column "term", if wanted one "set" or "element"), with a score and why. Nothing is taken until a person confirms it.`,
    examples: ['pas vocab map suggest terms.csv --out proposals.csv', 'pas vocab map suggest periods.txt --set obdobi --json'],
  })
    .option('--set <set>', t`the set, or element of a find, of all terms that name none`)
    .option('--out <file>', t`write to this file instead of stdout`)
    .option('--force', t`replace a file that is there already`)
    .action((file: string, options: SuggestOptions) => run(options, (context) => suggest(context, file, options)));
}

async function suggest(context: Context, file: string, options: SuggestOptions): Promise<ExitReason> {
  const { terminal } = context;
  const { terms, issues } = readOwnTerms(await readTableOrInput(context, file));
  const set = options.set === undefined ? undefined : setArgument(options.set);
  const progress = terminal.progress(t`Comparing`);
  const found = suggestMapping(
    terms.map((term) => (set === undefined ? term : { set, ...term })),
    {
      vocabulary: await openProfileVocabulary(context),
      mapping: readMappingFile(context),
      candidates: CANDIDATES,
      onProgress: (done, total) => progress.update(done, total),
    },
  );
  progress.end();
  refuseWithoutVocabulary(found);
  printIssues(terminal, issues, terminal.warn);
  if (!terminal.json) await writeResult(context, options, proposalsText(found.proposals));
  report(context, found, issues);
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

/** @throws UsageError where nothing at all could have been proposed */
function refuseWithoutVocabulary({ proposals, notHarvested }: Proposals): void {
  if (notHarvested.length === 0 || proposals.some(({ candidates }) => candidates.length > 0)) return;
  const sets = notHarvested.join(', ');
  throw new UsageError(t`Nothing was harvested of ${sets}.`, { hint: t`Run \`pas harvest-vocab\` first.` });
}

function report({ terminal }: Context, found: Proposals, issues: readonly Issue[]): void {
  const { proposals, alreadyMapped, notHarvested } = found;
  const proposed = proposals.filter(({ candidates }) => candidates.length > 0).length;
  const [all, sets] = [proposals.length, notHarvested.join(', ')];
  if (sets !== '') terminal.warn(t`Not harvested, so nothing is proposed from it: ${sets}.`);
  terminal.note(ngettext(msgid`${proposed} of ${all} term has a proposal.`, `${proposed} of ${all} terms have a proposal.`, all));
  if (alreadyMapped > 0) {
    terminal.note(
      ngettext(
        msgid`${alreadyMapped} term more is mapped already.`,
        `${alreadyMapped} terms more are mapped already.`,
        alreadyMapped,
      ),
    );
  }
  if (proposed > 0) {
    terminal.note(t`Review them: write yes under "confirmed" where the entry is right, then \`pas vocab map import FILE\`.`);
  }
  terminal.value({
    terms: proposals.length + alreadyMapped,
    proposed,
    already_mapped: alreadyMapped,
    not_harvested: notHarvested,
    proposals: proposals.map(proposalValue),
    issues: issueValues(terminal, issues),
  });
}

/** The same columns as the mapping has, so that the reviewed file can be imported. */
function proposalsText(proposals: readonly Proposal[]): string {
  const lines = proposals.map(({ set, term, candidates: [best, ...others] }) => {
    const cells = [
      best?.term.setSpec ?? set ?? '',
      term,
      best?.term.ident ?? '',
      best?.term.label ?? '',
      best === undefined ? '' : best.score.toFixed(2),
      best === undefined ? t`nothing resembles it` : best.why.join('; '),
      others.map((other) => `${other.term.ident} ${other.term.label} (${other.score.toFixed(2)})`).join(', '),
      '',
      '',
    ];
    return cells.map((cell) => csvCell(printable(cell), ';')).join(';');
  });
  return `${BYTE_ORDER_MARK}${[COLUMNS.join(';'), ...lines].join('\n')}\n`;
}

function proposalValue({ row, set, term, candidates: [best, ...others] }: Proposal): Record<string, unknown> {
  return {
    row,
    set: best?.term.setSpec ?? set ?? null,
    term,
    ...(best === undefined ? { id: null, label: null, score: null, why: [] } : candidateValue(best)),
    others: others.map(candidateValue),
  };
}

function candidateValue({ term, score, why }: Suggestion): Record<string, unknown> {
  return { id: term.ident, label: term.label, score: Math.round(score * 1000) / 1000, why };
}
