import { type Issue, placeText } from '../base/issue.ts';
import { onOneLine, t } from '../base/language.ts';
import { printable, type Terminal } from './terminal.ts';

/** Up to this number issues are listed one by one; more are grouped by kind. */
const MAX_LISTED = 20;
/** Distinct examples per group, and row numbers per group. */
const EXAMPLES = 3;
const ROWS_NAMED = 5;

/**
 * Prints issues in the order of rows, one paragraph each: position, element, cause and remedy. Of many issues, each kind gets a
 * line with its count and some examples.
 * @returns true if every issue was printed
 */
export function printIssues(
  terminal: Terminal,
  issues: readonly Issue[],
  print: (text: string) => void = terminal.line,
): boolean {
  const sorted = inOrderOfRows(issues);
  const kinds = new Map<string, Issue[]>();
  for (const issue of sorted) {
    const kind = sorted.length <= MAX_LISTED ? '' : [issue.severity, issue.rule, issue.element ?? issue.column].join(' ');
    const alike = kinds.get(kind);
    if (alike === undefined) kinds.set(kind, [issue]);
    else alike.push(issue);
  }
  let isAll = true;
  for (const alike of kinds.values()) {
    const isShown = alike.length <= EXAMPLES || sorted.length <= MAX_LISTED;
    isAll &&= isShown;
    if (!isShown) print(countOf(terminal, alike));
    for (const issue of isShown ? alike : differentOnes(alike)) print(`${isShown ? '' : '    '}${paragraph(terminal, issue)}`);
  }
  return isAll;
}

function paragraph({ color, elementName }: Terminal, issue: Issue): string {
  const place = [issue.find, placeText(issue)].filter((part) => part !== undefined && part !== '').join(', ');
  const element = issue.element === undefined ? '' : color.bold(`${elementName(issue.element)}: `);
  return `${markOf(color, issue)} ${place === '' ? '' : color.dim(`${onOneLine(printable(place))}  `)}${element}${printable(issue.message)}`;
}

function markOf(color: Terminal['color'], { severity }: Issue): string {
  return severity === 'error' ? color.red('✗') : color.yellow('!');
}

/** Formats a group: `✗ 356 × date (datum_nalezu): rows 4, 5, 9, 12, 13 …` */
function countOf({ color }: Terminal, alike: readonly Issue[]): string {
  const [first] = alike;
  if (first === undefined) return '';
  const about = first.element ?? first.column;
  const kind = about === undefined ? first.rule : `${first.rule} (${onOneLine(printable(about))})`;
  const rows = [...new Set(alike.map(({ row }) => row))].filter((row) => row !== undefined);
  const named = `${rows.slice(0, ROWS_NAMED).join(', ')}${rows.length > ROWS_NAMED ? ' …' : ''}`;
  const where = rows.length === 0 ? '' : `: ${first.unit === undefined ? t`rows ${named}` : named}`;
  return `${markOf(color, first)} ${color.bold(`${alike.length} × ${kind}`)}${where}`;
}

function differentOnes(alike: readonly Issue[]): Issue[] {
  const found = new Map<string, Issue>();
  for (const issue of alike) {
    if (found.size === EXAMPLES) break;
    if (!found.has(issue.message)) found.set(issue.message, issue);
  }
  return [...found.values()];
}

function inOrderOfRows(issues: readonly Issue[]): readonly Issue[] {
  const files = new Map<string | undefined, number>();
  for (const { file } of issues) if (!files.has(file)) files.set(file, files.size);
  const placeOf = ({ file, row }: Issue): readonly [file: number, row: number] => [files.get(file) ?? 0, row ?? 0];
  return issues.toSorted((a, b) => {
    const [one, other] = [placeOf(a), placeOf(b)];
    return one[0] - other[0] || one[1] - other[1];
  });
}

/** Returns the issues in the form of `--json`. */
export function issueValues(issues: readonly Issue[]): Record<string, unknown>[] {
  return issues.map(issueValue);
}

export function issueValue(issue: Issue): Record<string, unknown> {
  return {
    find: issue.find ?? null,
    file: issue.file ?? null,
    sheet: issue.sheet ?? null,
    row: issue.row ?? null,
    unit: issue.row === undefined ? null : (issue.unit ?? 'row'),
    column: issue.column ?? null,
    line: issue.line ?? null,
    element: issue.element ?? null,
    rule: issue.rule,
    severity: issue.severity,
    message: issue.message,
    ...(issue.written === undefined ? {} : { written: issue.written }),
    ...(issue.candidates === undefined ? {} : { candidates: issue.candidates.map(({ id, label }) => ({ id, label })) }),
    ...(issue.rule === 'conflict' ? { base: issue.base, ours: issue.ours, theirs: issue.theirs } : {}),
  };
}
