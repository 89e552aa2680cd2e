import { errorIssue, type Issue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { columnsOf, keyOf, setNamed } from './mapping.ts';
import type { Table } from './table.ts';

/** A term of a museum's list; without a set, it may stand for an entry of any that a find needs. */
export type OwnTerm = { readonly row: number; readonly term: string; readonly set?: string };

/**
 * The different terms of a list: a column `term`, or the only column that there is, and a column `set` or `element` if
 * there is one.
 */
export function readOwnTerms(table: Table): { readonly terms: readonly OwnTerm[]; readonly issues: readonly Issue[] } {
  const columns = columnsOf(table);
  const issues: Issue[] = [...table.issues];
  const [termAt, setAt] = [columns.get('term') ?? (table.header.length === 1 ? 0 : undefined), columns.get('set')];
  if (termAt === undefined) {
    const known = table.header.join(', ');
    const message = t`The list has no column "term". Its columns are ${known}; call the one with your terms "term".`;
    return { terms: [], issues: [...issues, errorIssue('list-column', message, { file: table.file, row: 1 })] };
  }
  const terms = new Map<string, OwnTerm>();
  for (const { row, cells } of table.rows) {
    const term = (cells[termAt] ?? '').trim();
    const named = setAt === undefined ? '' : (cells[setAt] ?? '').trim();
    const set = named === '' ? undefined : setNamed(named);
    if (term === '') continue;
    if (named !== '' && set === undefined) {
      const message = t`"${named}" is no set and no element of a find. Write heslo:obdobi or obdobi, or leave it empty.`;
      issues.push(errorIssue('list-set', message, { file: table.file, row }));
      continue;
    }
    const key = keyOf(set ?? '', term);
    if (!terms.has(key)) terms.set(key, { row, term, ...(set === undefined ? {} : { set }) });
  }
  return { terms: [...terms.values()], issues };
}
