import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingToChange, writeMappingFile } from '../context/own-files.ts';
import type { LookupTerm, TermCandidate } from '../find/lookup.ts';
import { keyOf, setNamed } from '../find/mapping.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';

type SetOptions = GlobalOptions & { readonly note?: string };

export function registerSet(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'set <set> <term> <entry>',
    summary: t`Map one of your own terms to an entry, named by its identifier or its label. This is your word for it.`,
    examples: ['pas vocab map set obdobi laten HES-000286', 'pas vocab map set heslo:predmet_druh "zl. nádoby" "zlomek nádoby"'],
  })
    .option('--note <text>', t`a note to go with it`)
    .action((set: string, term: string, entry: string, options: SetOptions) =>
      run(options, (context) => setOne(context, set, term, entry, options)),
    );
  defineCommand(parent, {
    name: 'remove <set> <term>',
    summary: t`Take one of your own terms out of the mapping.`,
    examples: ['pas vocab map remove obdobi laten', 'pas vocab map remove heslo:predmet_druh "zl. nádoby" --json'],
  }).action((set: string, term: string, options: GlobalOptions) => run(options, (context) => removeOne(context, set, term)));
}

/** @throws UsageError for what is neither a set nor an element of a find with one */
export function setArgument(text: string): string {
  const set = setNamed(text);
  if (set !== undefined) return set;
  throw new UsageError(t`"${text}" is no set and no element of a find.`, { hint: t`Write heslo:obdobi, or obdobi, or period.` });
}

async function setOne(
  context: Context,
  setText: string,
  term: string,
  entryText: string,
  options: SetOptions,
): Promise<ExitReason> {
  const named = setArgument(setText);
  if (term.trim() === '') throw new UsageError(t`The term is empty.`);
  const { lookupTerm } = (await context.vocabulary()).lookups(context.profile().oaiBase ?? '');
  const entry = entryNamed(lookupTerm, named, entryText.trim());
  // Where a family such as `heslo` was named: no element takes its entries from all of it.
  const set = entry.setSpec;
  const mapping = readMappingToChange(context);
  const key = keyOf(set, term);
  const before = mapping.rows.find((row) => row.confirmed && keyOf(row.set, row.term) === key);
  const row = {
    set,
    term: term.trim(),
    id: entry.id,
    label: entry.label,
    note: options.note ?? before?.note ?? '',
    confirmed: true,
  };
  writeMappingFile(context, [...mapping.rows.filter((other) => keyOf(other.set, other.term) !== key), row]);
  context.terminal.line(printable(t`"${row.term}" in ${set} means ${entry.id} (${entry.label}).`));
  context.terminal.value({ set, term: row.term, id: entry.id, label: entry.label, replaced: before?.id ?? null });
  return 'done';
}

/** @throws UsageError where it is no entry of the set that could be used */
function entryNamed(lookupTerm: LookupTerm, set: string, text: string): TermCandidate {
  const found = lookupTerm(set, text);
  const refuse = (message: string, nearest: readonly TermCandidate[] = []): never => {
    const names = nearest.map(({ id, label }) => `${id} (${label})`).join(', ');
    throw new UsageError(message, { hint: names === '' ? `pas vocab search "${text}" --set ${set}` : t`It may be ${names}.` });
  };
  switch (found.kind) {
    case 'found':
      return found.term;
    case 'ambiguous':
      return refuse(t`"${text}" can mean several entries of ${set}.`, found.candidates);
    case 'unknown':
    case 'mapped-astray':
      return refuse(t`"${text}" is no entry of ${set}.`, found.kind === 'unknown' ? found.nearest : []);
    case 'deleted':
      return refuse(t`"${text}" (${found.term.label}) was deleted from ${set}.`);
    case 'wrong-set':
      return refuse(t`"${text}" (${found.term.label}) is an entry of ${found.term.setSpec}.`);
    case 'not-harvested':
      throw new UsageError(t`${set} was not harvested yet.`, { hint: t`Run \`pas harvest-vocab\` first.` });
  }
}

async function removeOne(context: Context, setText: string, term: string): Promise<ExitReason> {
  const set = setArgument(setText);
  const mapping = readMappingToChange(context);
  const rest = mapping.rows.filter((row) => keyOf(row.set, row.term) !== keyOf(set, term));
  if (rest.length === mapping.rows.length) {
    throw new UsageError(t`"${term}" is not mapped in ${set}.`, { hint: t`\`pas vocab map list\` shows what is.` });
  }
  writeMappingFile(context, rest);
  const removed = term.trim();
  context.terminal.line(printable(t`"${removed}" in ${set} is no longer mapped.`));
  context.terminal.value({ set, term: removed, removed: mapping.rows.length - rest.length });
  return 'done';
}
