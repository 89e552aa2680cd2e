import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { errorIssue, hasErrors, type Issue, warningIssue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingToChange, readTableOrInput, writeMappingFile } from '../context/own-files.ts';
import { standingOf } from '../find/check-mapping.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { keyOf, type Mapping, type MappingRow, readMapping } from '../find/mapping.ts';
import { mappedAstrayMessage } from '../find/resolve-reference.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';

type ImportOptions = GlobalOptions & { readonly confirmed?: boolean };

export function registerImport(parent: Command, run: Runner): void {
  defineCommand(parent, {
    name: 'import <file>',
    summary: t`Take reviewed proposals, or a table of your own, into the mapping: the rows that are confirmed, and no others.`,
    examples: ['pas vocab map import proposals.csv', 'pas vocab map import our-terms.csv --confirmed --json'],
  })
    .option('--confirmed', t`every row of the file has been checked by a person`)
    .action((file: string, options: ImportOptions) => run(options, (context) => importMapping(context, file, options)));
}

type Tally = { added: number; changed: number; unchanged: number; unconfirmed: number; issues: Issue[] };

async function importMapping(context: Context, file: string, options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const given = readMapping(await readTableOrInput(context, file));
  const kept = readMappingToChange(context);
  const { lookupTerm } = (await context.vocabulary()).lookups(context.profile().oaiBase ?? '');
  const tally: Tally = { added: 0, changed: 0, unchanged: 0, unconfirmed: 0, issues: [...given.issues] };
  const rows = merge(kept, confirmedRows(given, options.confirmed === true), lookupTerm, tally);
  if (tally.added + tally.changed > 0) writeMappingFile(context, rows);
  printIssues(terminal, tally.issues, terminal.json ? () => {} : terminal.line);
  const { added, changed, unchanged, unconfirmed, issues } = tally;
  terminal.line(
    ngettext(
      msgid`${added} term added, ${changed} changed, ${unchanged} as before; ${unconfirmed} not confirmed and left out.`,
      `${added} terms added, ${changed} changed, ${unchanged} as before; ${unconfirmed} not confirmed and left out.`,
      added,
    ),
  );
  terminal.value({ added, changed, unchanged, unconfirmed, issues: issueValues(terminal, issues) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}

function confirmedRows({ rows, file }: Mapping, all: boolean): (MappingRow & { readonly file: string })[] {
  return rows.map((row) => ({ ...row, file, confirmed: row.confirmed || (all && (row.id !== '' || row.label !== '')) }));
}

function merge(
  kept: Mapping,
  given: readonly (MappingRow & { readonly file: string })[],
  lookupTerm: LookupTerm,
  tally: Tally,
): Omit<MappingRow, 'row'>[] {
  const merged = new Map<string, Omit<MappingRow, 'row'>>(kept.rows.map((row) => [keyOf(row.set, row.term), row]));
  for (const { file, row: number, ...row } of given) {
    const settled = row.confirmed ? settle({ ...row, row: number }, lookupTerm) : undefined;
    if (settled === undefined) {
      tally.unconfirmed++;
      continue;
    }
    if ('issue' in settled) tally.issues.push({ ...settled.issue, file, row: number });
    if (!('row' in settled)) continue;
    const key = keyOf(settled.row.set, settled.row.term);
    const before = merged.get(key);
    merged.set(key, settled.row);
    if (before === undefined || !before.confirmed) tally.added++;
    else if (before.id === settled.row.id && before.note === settled.row.note) tally.unchanged++;
    else tally.changed++;
  }
  return [...merged.values()];
}

type Settled = { readonly row: Omit<MappingRow, 'row'>; readonly issue?: Issue } | { readonly issue: Issue };

/** The row with the entry's own identifier and label. One whose identifier and label disagree is nobody's word. */
function settle(row: MappingRow, lookupTerm: LookupTerm): Settled {
  const { row: _row, ...content } = row;
  const { set, term: own, id, label } = row;
  const standing = standingOf(row, lookupTerm);
  const astray = { kind: 'mapped-astray', own, target: id === '' ? label : id } as const;
  switch (standing.kind) {
    case 'good':
      // A family such as `heslo` was named: no element takes its entries from all of it.
      return { row: { ...content, set: standing.entry.setSpec, id: standing.entry.id, label: standing.entry.label } };
    case 'other-label': {
      const message = t`"${own}" names ${id}, which is "${standing.entry.label}", but says "${label}". Write the identifier of the right entry, or leave its label empty.`;
      return { issue: errorIssue('mapping-label', message) };
    }
    case 'deleted':
    case 'wrong-set': {
      const message = mappedAstrayMessage({ ...astray, term: standing.entry, because: standing.kind }, set);
      return { issue: errorIssue(standing.kind === 'deleted' ? 'mapping-deleted' : 'mapping-moved', message) };
    }
    case 'unknown':
      return { issue: errorIssue('mapping-unknown', mappedAstrayMessage(astray, set)) };
    case 'not-harvested': {
      const message = t`"${own}" is taken unchecked: ${set} was not harvested. Run pas harvest-vocab, then pas vocab map check.`;
      if (id !== '') return { row: content, issue: warningIssue('mapping-unchecked', message) };
      return { issue: errorIssue('mapping-unchecked', t`"${own}" names no identifier, and ${set} was not harvested.`) };
    }
  }
}
