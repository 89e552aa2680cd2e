import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { printable } from '../ui/terminal.ts';
import type { Dating, Term } from '../vocabulary/term.ts';
import { inferiorsOf, type Neighbour, pathTo, superiorsOf, termByIdent } from '../vocabulary/terms.ts';
import { defineCommand, type Runner } from './command.ts';
import { GONE_WORDS, openProfileVocabulary, termAsJson } from './vocab-terms.ts';

export function registerShow(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'show <id>',
    summary: t`Show one entry with its place in the hierarchy.`,
    examples: ['pas vocab show HES-000253', 'pas vocab show ruian-676730 --json'],
  }).action((ident: string, options: GlobalOptions) => run(options, (context) => show(context, ident)));
}

async function show(context: Context, ident: string): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const term = termByIdent(vocabulary, ident.trim());
  if (term === undefined) {
    throw new UsageError(t`${ident} is not among the harvested entries.`, {
      hint: t`Find it by name with \`pas vocab search\`, or harvest again with \`pas harvest-vocab\`.`,
    });
  }
  const above = superiorsOf(vocabulary, term.ident);
  const below = inferiorsOf(vocabulary, term.ident);
  const path = pathTo(vocabulary, term.ident);
  for (const line of linesOf(term, path, above, below)) terminal.line(printable(line));
  terminal.value({
    ...termAsJson(term),
    path: path.map(neighbourAsJson),
    above: above.map(neighbourAsJson),
    below: below.map(neighbourAsJson),
  });
  return 'done';
}

function linesOf(term: Term, path: readonly Neighbour[], above: readonly Neighbour[], below: readonly Neighbour[]): string[] {
  const { dating, links = [], facts = {} } = term.details;
  const lines: [string, string | null][] = [
    [t`id`, term.ident],
    [t`set`, term.setSpec],
    [t`Czech`, term.label],
    [t`English`, term.labelEn],
    [t`abbreviation`, term.abbreviation],
    [t`description`, term.description],
    [t`in English`, term.descriptionEn],
    [t`dating`, dating === undefined ? null : datingText(dating)],
    ...Object.entries(facts),
    [t`place`, path.length === 0 ? null : [...path.map((one) => one.label || one.ident), term.label].join(' > ')],
    ...above.map((one): [string, string] => [t`above`, neighbourText(one)]),
    ...below.map((one): [string, string] => [t`below`, neighbourText(one)]),
    ...links.map((link): [string, string] => [t`link`, `${link.relation} ${link.uri ?? `${link.source} ${link.code}`}`]),
    [t`changed`, new Date(term.datestampMs).toISOString()],
    [
      t`gone`,
      term.gone === null || term.goneAtMs === null ? null : `${GONE_WORDS[term.gone]} ${new Date(term.goneAtMs).toISOString()}`,
    ],
  ];
  return lines.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(14)}${value}`]));
}

function neighbourAsJson({ ident, label, kind }: Neighbour): object {
  return { id: ident, label, kind };
}

function neighbourText({ ident, label, kind }: Neighbour): string {
  return `${ident} ${label} (${kind})`;
}

function datingText({ fromMin, fromMax, toMin, toMax, note }: Dating): string {
  const [from, until] = [rangeText(fromMin, fromMax), rangeText(toMin, toMax)];
  const span = t`from ${from} until ${until}`;
  return note === null ? span : `${span} (${note})`;
}

function rangeText(first: number | null, last: number | null): string {
  const [earliest, latest] = [first ?? '?', last ?? '?'];
  return first === last ? String(earliest) : t`${earliest} to ${latest}`;
}
