import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { printable } from '../ui/terminal.ts';
import type { Dating, Term } from '../vocabulary/term.ts';
import { inferiorsOf, type Neighbour, pathTo, superiorsOf, termByIdent } from '../vocabulary/terms.ts';
import { defineCommand, type Runner } from './command.ts';
import { openProfileVocabulary, termAsJson } from './vocab-terms.ts';

export function registerShow(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'show <id>',
    summary: t`Show one entry with its place in the hierarchy.`,
    examples: ['pas vocab show HES-000253', 'pas vocab show ruian-676730 --json'],
  }).action((ident: string, options: GlobalOptions) => run(options, (context) => show(context, ident)));
}

export async function show(context: Context, ident: string): Promise<ExitReason> {
  const { terminal } = context;
  const vocabulary = await openProfileVocabulary(context);
  const term = termByIdent(vocabulary, ident.trim());
  if (term === undefined) {
    throw new UsageError(`${ident} is not among the harvested entries.`, {
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
    ['id', term.ident],
    ['set', term.setSpec],
    ['Czech', term.label],
    ['English', term.labelEn],
    ['abbreviation', term.abbreviation],
    ['description', term.description],
    ['in English', term.descriptionEn],
    ['dating', dating === undefined ? null : datingText(dating)],
    ...Object.entries(facts),
    ['place', path.length === 0 ? null : [...path.map((one) => one.label || one.ident), term.label].join(' > ')],
    ...above.map((one): [string, string] => ['above', neighbourText(one)]),
    ...below.map((one): [string, string] => ['below', neighbourText(one)]),
    ...links.map((link): [string, string] => ['link', `${link.relation} ${link.uri ?? `${link.source} ${link.code}`}`]),
    ['changed', new Date(term.datestampMs).toISOString()],
    ['gone', term.goneAtMs === null ? null : `${term.gone} ${new Date(term.goneAtMs).toISOString()}`],
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
  const range = (first: number | null, last: number | null): string =>
    first === last ? String(first ?? '?') : `${first ?? '?'} to ${last ?? '?'}`;
  return `from ${range(fromMin, fromMax)} until ${range(toMin, toMax)}${note === null ? '' : ` (${note})`}`;
}
