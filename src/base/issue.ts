import { escapeLineBreaks, type Message, t } from './message.ts';

/** One finding about data: position, element, rule, cause and remedy. */
export class Issue {
  /** Stable name of the rule, kebab-case, for programs. */
  declare readonly rule: string;
  /** The fault in one sentence, then the remedy. */
  declare readonly says: Message;
  /** A warning does not keep a find from being queued. */
  declare readonly severity: 'error' | 'warning';
  /** Element name in the spelling of the contract. */
  declare readonly element?: string;
  /** Local id of the find. */
  declare readonly find?: string;
  declare readonly file?: string;
  /** Sheet of a workbook, or layer of a GeoPackage. */
  declare readonly sheet?: string;
  /**
   * Row of the table as spreadsheets number it: the header is row 1. For a feature, waypoint or
   * find its number.
   */
  declare readonly row?: number;
  /** Unit that `row` counts, where it is no row of a spreadsheet. */
  declare readonly unit?: 'feature' | 'waypoint' | 'find';
  declare readonly column?: string;
  /** Line of an XML document, from 1. */
  declare readonly line?: number;
  /**
   * For a conflict: the value of the last import, of the find and of the row; null where there is
   * none.
   */
  declare readonly base?: string | null;
  declare readonly ours?: string | null;
  declare readonly theirs?: string | null;

  /** Original text of a cell that could not be taken unchanged. */
  declare readonly written?: string;
  /** Terms or records that may be meant instead. */
  declare readonly candidates?: readonly { readonly id: string; readonly label: string }[];

  constructor(issue: Fields) {
    Object.assign(this, issue);
  }

  /**
   * Text of the issue in the reader's language. It is made on demand, since a table may have
   * 100,000 issues.
   */
  get message(): string {
    return String(this.says);
  }

  /** Returns a copy with these fields in place of its own. */
  with(changes: Partial<Fields>): Issue {
    return new Issue({ ...this, ...changes });
  }

  /** Returns a copy without these fields, such as positions that the output does not have. */
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

/** Position and further facts of an issue. */
type Where = Partial<Fields>;

/** Tells if any of the issues is an error, which keeps its find from being queued. */
export function hasErrors(issues: readonly Issue[]): boolean {
  return issues.some((issue) => issue.severity === 'error');
}

/** Makes an issue that keeps its find from being queued. */
export function makeErrorIssue(rule: string, says: Message, where: Where = {}): Issue {
  return new Issue({ rule, says, severity: 'error', ...where });
}

/** Makes an issue that a person should read, and that keeps nothing from being queued. */
export function makeWarningIssue(rule: string, says: Message, where: Where = {}): Issue {
  return new Issue({ rule, says, severity: 'warning', ...where });
}

/**
 * Makes an issue from a doubt about a value, or from the problem of one that cannot be read; it is
 * an error unless the doubt has another severity.
 */
export function toIssue({ rule, problem, severity = 'error' }: Doubt, where: Where = {}): Issue {
  return new Issue({ rule, says: problem, severity, ...where });
}

/**
 * Formats the position of an issue: "season.csv, row 4, column obdobi"; the empty text without one.
 * Its find and its element are not named.
 */
export function formatIssuePlace(issue: Where): string {
  const parts: string[] = [];
  if (issue.file !== undefined) parts.push(escapeLineBreaks(issue.file));
  const { sheet, row, line, column } = issue;
  if (sheet !== undefined)
    parts.push(issue.unit === 'feature' ? t`layer ${sheet}` : t`sheet ${sheet}`);
  if (row !== undefined) parts.push(formatRow(row, issue.unit));
  if (line !== undefined) parts.push(t`line ${line}`);
  if (column) parts.push(t`column ${column}`);
  return parts.join(', ');
}

function formatRow(row: number, unit: Issue['unit']): string {
  const counted = {
    feature: t`feature ${row}`,
    waypoint: t`waypoint ${row}`,
    find: t`find ${row}`,
  };
  return unit === undefined ? t`row ${row}` : counted[unit];
}

/** Value of a cell, or the problem of one that cannot be read. */
export type Reading<T> = { readonly value: T } | RuleProblem;

/**
 * A fault of a value: it cannot be read, or is hardly what was meant. `rule` names the fault for
 * programs, as in {@link Issue}; `problem` has the cause, then the remedy.
 */
export type RuleProblem = { readonly rule: string; readonly problem: Message };

/** An indication that a value is not what was meant; a warning keeps the value. */
export type Doubt = RuleProblem & { readonly severity?: Issue['severity'] };

/**
 * Makes the problem of a value: the reading of one that cannot be read, or a doubt about one that
 * can.
 */
export function makeRuleProblem(rule: string, problem: Message): RuleProblem {
  return { rule, problem };
}

/** Tells if a reading has a value; else it is the problem. */
export function isReadable<T>(reading: Reading<T>): reading is { readonly value: T } {
  return 'value' in reading;
}
