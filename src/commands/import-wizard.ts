import { existsSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { BYTE_ORDER_MARK, csvCell } from '../base/csv.ts';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { Context } from '../context/context.ts';
import { readTableOrInput } from '../context/own-files.ts';
import { openValidationContext, photoRootOf } from '../context/validation.ts';
import { columnMapText } from '../find/column-map/column-map-text.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { photoResolver } from '../find/photo-path.ts';
import { examplesOf } from '../find/propose/column-profile.ts';
import { type Preview, previewImport, type StrangeTerm, strangeTerms } from '../find/propose/preview.ts';
import { mapOfProposal, proposeColumns, type TableProposal } from '../find/propose/propose-columns.ts';
import { checkRules } from '../find/rules.ts';
import { readConstants } from '../find/with-constants.ts';
import { writeOutputFile } from '../store/output-file.ts';
import { issueValue } from '../ui/issues.ts';
import { printable } from '../ui/printable.ts';
import type { Terminal } from '../ui/terminal.ts';
import { wrapped } from '../ui/wrap.ts';
import { fixedProblems } from './column-map-file.ts';
import { type ImportOptions, importTables } from './import-tables.ts';
import type { Decision, Wizard } from './wizard-asking.ts';
import { overviewLines, previewLines, strangeLines } from './wizard-text.ts';

/**
 * Proposes what the columns of a table are, has a person decide where there is a terminal, and writes the column map.
 * @throws UsageError without a terminal and `--yes`, for several tables, and where the map's file is there already
 */
export async function runWizard(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const [file, another] = files;
  if (file === undefined || another !== undefined || file === '-') {
    throw new UsageError(t`--wizard looks at one table, which is a file.`);
  }
  const asks = options.yes !== true && terminal.interactive && !terminal.json;
  if (!asks && options.yes !== true) {
    throw new UsageError(t`There is no terminal to ask on.`, { hint: t`Take the proposals as they are: --wizard --yes` });
  }
  const stem = file.slice(0, file.length - extname(file).length);
  const mapFile = options.map ?? `${stem}.map.toml`;
  if (mapFile === '-') throw new UsageError(t`--wizard writes the map to a file. Name it: --map FILE`);
  if (existsSync(mapFile) && options.force !== true) {
    throw new UsageError(t`There is a file ${mapFile} already.`, {
      hint: t`Edit it, write another one with --map FILE, or replace it with --force.`,
    });
  }
  const termsFile = `${stem}.terms.csv`;
  terminal.note(t`Looking at ${file} …`);
  const wizard = await openWizard(context, file, options);
  const proposed = proposeColumns(wizard.table, readConstants(options.set ?? []), wizard);
  const [name, rows] = [basename(file), wizard.table.rowCount];
  wizard.say([
    ngettext(
      msgid`${name}: ${rows} row. This is what the columns seem to be:`,
      `${name}: ${rows} rows. This is what the columns seem to be:`,
      rows,
    ),
    '',
  ]);
  wizard.say(overviewLines(proposed));
  const decision: Decision = asks
    ? await (await import('./wizard-asking.ts')).askAboutTable(wizard, proposed)
    : { proposal: proposed, importNow: false };
  const { proposal } = decision;
  const preview = wizard.preview(proposal);
  const strange = strangeTerms(proposal.columns, wizard.lookupTerm);
  if (!asks) wizard.say(['', ...previewLines(preview)]);
  await writeOutputFile(mapFile, [mapText(file, mapFile, proposal)], { overwrite: options.force === true });
  if (strange.length > 0) {
    // A list that somebody may be working on stays.
    const isThere = existsSync(termsFile) && options.force !== true;
    if (!isThere) await writeOutputFile(termsFile, [termsText(strange)], { overwrite: true });
    wizard.say(strangeLines(strange, termsFile));
    if (isThere) terminal.warn(t`${termsFile} was there already and stays as it is; --force replaces it.`);
  }
  const problems = fixedProblems(
    proposal.fixed.map(({ element, text }) => ({ name: element, given: element, value: text })),
    wizard.lookupTerm,
  );
  for (const { message } of problems) terminal.warn(message);
  for (const element of proposal.undecided) {
    terminal.warn(t`${element} is not decided: write it under [fixed] in ${mapFile}, or give it by --set ${element}=…`);
  }
  terminal.line(t`Written: ${mapFile}`);
  terminal.value(wizardValue(terminal, mapFile, strange.length > 0 ? termsFile : undefined, proposal, preview, strange));
  if (decision.importNow) return importTables(context, [file], { ...options, map: mapFile });
  const [shownFile, shownMap] = [shellWord(file), shellWord(mapFile)];
  terminal.note(t`Next: pas import ${shownFile} --map ${shownMap} --dry-run`);
  return proposal.undecided.length > 0 || problems.length > 0 ? 'dataRefused' : 'done';
}

async function openWizard(context: Context, file: string, options: ImportOptions): Promise<Wizard> {
  const sheet = options.sheet ?? options.layer;
  const table = await readTableOrInput(context, file, sheet === undefined ? {} : { sheet });
  const known = await openValidationContext(context);
  const unknown = () => ({ kind: 'not-harvested' }) as const;
  const { lookupArea = unknown } = known;
  const lookupTerm = remembered(known.lookupTerm ?? unknown);
  const columns = context.streams.stderr.columns ?? 100;
  return {
    context,
    table,
    lookupTerm,
    lookupArea,
    say: (lines) => context.terminal.note(lines.map((line) => indented(printable(line), columns)).join('\n')),
    preview: (proposal) =>
      previewImport(table, mapOfProposal(file, proposal), {
        lookupTerm,
        resolvePhoto: photoResolver(photoRootOf(resolve(context.cwd, file), options.photos)),
        check: (find) => checkRules(find, known),
      }),
  };
}

/** The same terms are looked up for the proposals, for every preview, and for the list of those that lead nowhere. */
function remembered(lookupTerm: LookupTerm): LookupTerm {
  const known = new Map<string, ReturnType<LookupTerm>>();
  return (set, cell) => {
    const key = `${set} ${cell}`;
    const found = known.get(key) ?? lookupTerm(set, cell);
    known.set(key, found);
    return found;
  };
}

/** What goes on in the next line begins below the text. */
function indented(line: string, columns: number): string {
  const [blanks = ''] = /^ */.exec(line) ?? [];
  return blanks + wrapped(line.slice(blanks.length), columns - blanks.length).replaceAll('\n', `\n${blanks}`);
}

function mapText(file: string, mapFile: string, proposal: TableProposal): string {
  return columnMapText(mapOfProposal(mapFile, proposal), {
    table: basename(file),
    columns: new Map(
      proposal.columns.map(({ profile, reasons, doubt }) => {
        const examples = examplesOf(profile).join(' · ');
        const why = [...reasons, ...(doubt === undefined ? [] : [`? ${doubt}`])].join('; ');
        return [profile.key, [examples, why].filter((text) => text !== '')];
      }),
    ),
    fixed: new Map(proposal.fixed.map(({ element, reasons }) => [element, reasons])),
    undecided: proposal.undecided,
  });
}

/** As `pas vocab map suggest` reads it. */
function termsText(terms: readonly StrangeTerm[]): string {
  const lines = terms.map(({ element, term }) => [element, csvCell(printable(term), ';')].join(';'));
  return `${BYTE_ORDER_MARK}${['element;term', ...lines].join('\n')}\n`;
}

function wizardValue(
  terminal: Terminal,
  mapFile: string,
  termsFile: string | undefined,
  { columns, fixed, undecided }: TableProposal,
  preview: Preview,
  strange: readonly StrangeTerm[],
): Record<string, unknown> {
  return {
    map: mapFile,
    terms: termsFile ?? null,
    columns: columns.map(({ profile, rule, reasons, doubt }) => {
      const { kind, ...said } = rule;
      return {
        column: profile.key,
        ...(kind === 'ignored' ? { element: null } : said),
        filled: profile.filled,
        examples: examplesOf(profile),
        reasons,
        doubt: doubt ?? null,
      };
    }),
    fixed: Object.fromEntries(fixed.map(({ element, text }) => [element, text])),
    undecided,
    rows: preview.rows,
    left_out: preview.leftOut,
    drafts: preview.drafts,
    issues: preview.commonest.map(({ issue, rows }) => ({ rows, ...issueValue(terminal, issue) })),
    strange_terms: strange.map(({ element, term, rows, kind }) => ({ element, term, rows, kind })),
  };
}
