import { hasErrors, type Issue } from '../base/issue.ts';
import { type ColumnName, FIELDS } from '../find/fields.ts';
import type { Find } from '../find/find.ts';
import type { LookupTerm } from '../find/lookup.ts';
import type { ResolvePhoto } from '../photo/photograph.ts';
import type { Table } from '../tables/table.ts';
import type { ColumnMap } from './column-rule.ts';
import { applyColumnRule } from './column-rule.ts';
import { mapTable } from './map-table.ts';
import type { ColumnProposal } from './propose-columns.ts';

export type Preview = {
  readonly rows: number;
  readonly finds: readonly Find[];
  /** Rows that could not be read. */
  readonly leftOut: number;
  readonly drafts: number;
  /** Most frequent issues with their number of rows. */
  readonly commonest: readonly { readonly issue: Issue; readonly rows: number }[];
};

type PreviewContext = {
  readonly lookupTerm: LookupTerm;
  readonly resolvePhoto: ResolvePhoto;
  readonly check: (find: Find) => readonly Issue[];
};

const MAX_FINDS = 3;
const MAX_ISSUES = 6;

/**
 * Maps all rows without storing anything; counts drafts and unreadable rows, with the first finds
 * and commonest errors.
 */
export function previewImport(table: Table, map: ColumnMap, context: PreviewContext): Preview {
  const mapped = mapTable(table, { ...context, map });
  const finds: Find[] = [];
  const problems = new Map<string, { issue: Issue; rows: number }>();
  let read = 0;
  let drafts = 0;
  const note = (issue: Issue): void => {
    const key = `${issue.rule} ${issue.element ?? issue.column ?? ''}`;
    const sameProblem = problems.get(key);
    if (sameProblem === undefined) problems.set(key, { issue, rows: 1 });
    else sameProblem.rows += 1;
  };
  for (const issue of mapped.issues) if (issue.severity === 'error') note(issue);
  for (const { find, issues } of mapped.rows) {
    const all = [...issues, ...(find === undefined ? [] : context.check(find))];
    for (const issue of all) if (issue.severity === 'error') note(issue);
    if (find === undefined) continue;
    read += 1;
    if (hasErrors(all)) drafts += 1;
    if (finds.length < MAX_FINDS) finds.push(find);
  }
  const commonest = [...problems.values()].sort((a, b) => b.rows - a.rows).slice(0, MAX_ISSUES);
  return { rows: table.rowCount, finds, leftOut: table.rowCount - read, drafts, commonest };
}

/** A museum's term that matches no entry, or several. */
export type UnmappedTerm = {
  readonly element: ColumnName;
  readonly set: string;
  readonly term: string;
  readonly rows: number;
  readonly kind: 'unknown' | 'ambiguous';
};

/** Returns the terms that must be mapped before their rows can be read, most frequent first. */
export function listUnmappedTerms(
  columns: readonly ColumnProposal[],
  lookupTerm: LookupTerm,
): UnmappedTerm[] {
  const unmapped = columns.flatMap(({ profile, rule }) => {
    const field =
      rule.kind === 'read' ? FIELDS.find(({ name }) => name === rule.element) : undefined;
    if (rule.kind === 'ignored' || field?.kind !== 'term' || field.set === undefined) return [];
    const set = field.set;
    return [...profile.values].flatMap(([text, rows]): UnmappedTerm[] => {
      const term = applyColumnRule(text, rule);
      const { kind } = lookupTerm(set, term);
      return kind === 'unknown' || kind === 'ambiguous'
        ? [{ element: rule.element, set, term, rows, kind }]
        : [];
    });
  });
  return unmapped.sort((a, b) => b.rows - a.rows);
}
