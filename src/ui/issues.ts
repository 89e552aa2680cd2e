import { type Issue, placeText } from '../base/issue.ts';
import { printable, type Terminal } from './terminal.ts';

/** One paragraph an issue: where, which element, what is wrong and what to do. */
export function printIssues(terminal: Terminal, issues: readonly Issue[], print: (text: string) => void = terminal.line): void {
  const { color } = terminal;
  for (const issue of issues) {
    const mark = issue.severity === 'error' ? color.red('✗') : color.yellow('!');
    const place = [issue.find, placeText(issue)].filter((part) => part !== undefined && part !== '').join(', ');
    const element = issue.element === undefined ? '' : color.bold(`${issue.element}: `);
    print(`${mark} ${place === '' ? '' : color.dim(`${printable(place)}  `)}${element}${printable(issue.message)}`);
  }
}

/** The issues as `--json` prints them. */
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
  };
}
