import { t } from './language.ts';
import type { Message } from './message.ts';

/** One finding about data: where it stands, which element and rule it concerns, what is wrong and what to do. */
export class Issue {
  /** Stable name of the rule, kebab-case, for programs. */
  declare readonly rule: string;
  /** What is wrong, in one sentence, and then what to do about it. */
  declare readonly says: Message;
  /** A warning does not keep a find from being queued. */
  declare readonly severity: 'error' | 'warning';
  /** Element name as the contract writes it. */
  declare readonly element?: string;
  /** The find's local id. */
  declare readonly find?: string;
  declare readonly file?: string;
  /** Sheet of a workbook, or layer of a GeoPackage. */
  declare readonly sheet?: string;
  /** Row of the table as a person counts: the header is row 1. Of a feature, waypoint or find its number. */
  declare readonly row?: number;
  /** What `row` counts, where it is no row of a spreadsheet. */
  declare readonly unit?: 'feature' | 'waypoint' | 'find';
  /** Header text of the column. */
  declare readonly column?: string;
  /** Line of an XML document, from 1. */
  declare readonly line?: number;
  /** Of a conflict: the value as last imported, the find's, and the row's; null where there is none. */
  declare readonly base?: string | null;
  declare readonly ours?: string | null;
  declare readonly theirs?: string | null;

  /** The cell as it was written, where it could not be taken as it is. */
  declare readonly written?: string;
  /** What may be meant instead. */
  declare readonly candidates?: readonly { readonly id: string; readonly label: string }[];

  constructor(issue: Fields) {
    Object.assign(this, issue);
  }

  /** What it says, in the language of whoever reads it: words are made when they are read, since a table may have 100,000 issues. */
  get message(): string {
    return String(this.says);
  }

  /** The same finding in another place, or weighed otherwise. */
  with(changes: Partial<Fields>): Issue {
    return new Issue({ ...this, ...changes });
  }

  /** For where there is no such place to name. */
  without(...places: readonly (keyof Where)[]): Issue {
    const issue = new Issue(this);
    for (const place of places) Reflect.deleteProperty(issue, place);
    return issue;
  }

  toJSON(): Fields & { readonly message: string } {
    return { ...this, message: this.message };
  }
}

type Fields = Omit<Issue, 'message' | 'with' | 'without' | 'toJSON'>;

/** Where it stands. */
type Where = Omit<Fields, 'rule' | 'says' | 'severity' | 'base' | 'ours' | 'theirs'>;

export function hasErrors(issues: readonly Issue[]): boolean {
  return issues.some((issue) => issue.severity === 'error');
}

export function errorIssue(rule: string, says: Message, where: Where = {}): Issue {
  return new Issue({ rule, says, severity: 'error', ...where });
}

export function warningIssue(rule: string, says: Message, where: Where = {}): Issue {
  return new Issue({ rule, says, severity: 'warning', ...where });
}

/** "season.csv, row 4, column obdobi" */
export function placeText(issue: Where): string {
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
