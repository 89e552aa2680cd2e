import { t } from './language.ts';
import type { Message } from './message.ts';

/** One finding about data: where it stands, which element and rule it concerns, what is wrong and what to do. */
export type Issue = {
  /** Stable name of the rule, kebab-case, for programs. */
  readonly rule: string;
  /** What is wrong, in one sentence, and then what to do about it. */
  readonly says: Message;
  /** The same in words, in the language of whoever reads it. */
  readonly message: string;
  /** A warning does not keep a find from being queued. */
  readonly severity: 'error' | 'warning';
  /** Element name as the contract writes it. */
  readonly element?: string;
  /** The find's local id. */
  readonly find?: string;
  readonly file?: string;
  /** Sheet of a workbook, or layer of a GeoPackage. */
  readonly sheet?: string;
  /** Row of the table as a person counts: the header is row 1. Of a feature, waypoint or find its number. */
  readonly row?: number;
  /** What `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: 'feature' | 'waypoint' | 'find';
  /** Header text of the column. */
  readonly column?: string;
  /** Line of an XML document, from 1. */
  readonly line?: number;
};

export function hasErrors(issues: readonly Issue[]): boolean {
  return issues.some((issue) => issue.severity === 'error');
}

type Where = Omit<Issue, 'rule' | 'says' | 'message' | 'severity'>;

export function errorIssue(rule: string, says: Message, where: Where = {}): Issue {
  return issueOf({ rule, says, severity: 'error', ...where });
}

export function warningIssue(rule: string, says: Message, where: Where = {}): Issue {
  return issueOf({ rule, says, severity: 'warning', ...where });
}

export function issueOf(issue: Omit<Issue, 'message'>): Issue {
  return {
    ...issue,
    get message() {
      return String(issue.says);
    },
  };
}

/** "season.csv, row 4, column obdobi" */
export function placeText(issue: Issue): string {
  const parts: string[] = [];
  if (issue.file !== undefined) parts.push(issue.file);
  const { sheet, row, line, column } = issue;
  if (sheet !== undefined) parts.push(issue.unit === 'feature' ? t`layer ${sheet}` : t`sheet ${sheet}`);
  if (row !== undefined) parts.push(rowText(row, issue.unit));
  if (line !== undefined) parts.push(t`line ${line}`);
  if (column !== undefined) parts.push(t`column ${column}`);
  return parts.join(', ');
}

function rowText(row: number, unit: Issue['unit']): string {
  const counted = { feature: t`feature ${row}`, waypoint: t`waypoint ${row}`, find: t`find ${row}` };
  return unit === undefined ? t`row ${row}` : counted[unit];
}
