import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { cmd, joinMessages, msg } from '../base/message.ts';
import { FINDER_MATCHED } from '../finds/resolve-references.ts';
import { NOT_HARVESTED } from '../finds/value-rules.ts';

type CountedIssue = { readonly issue: Issue; count: number };

/**
 * Collects issues in little memory, since each row of a table may repeat them. Warnings about the
 * same project, or about the same spelling of a finder, become one, which counts the finds.
 * Warnings that an identifier was not checked become one, which counts the identifiers. Errors
 * beyond a maximum are only counted. All other issues are kept.
 */
export class IssueCollector {
  readonly #kept: CountedIssue[] = [];
  readonly #alike = new Map<string, CountedIssue>();
  readonly #maxErrors: number;
  #errors = 0;
  #unchecked = 0;

  constructor(maxErrors = Number.POSITIVE_INFINITY) {
    this.#maxErrors = maxErrors;
  }

  add(issue: Issue): void {
    if (issue.severity === 'error') this.#errors += 1;
    if (issue.rule === NOT_HARVESTED) this.#unchecked += 1;
    else if (issue.severity !== 'error' || this.#errors <= this.#maxErrors) this.#keep(issue);
  }

  #keep(issue: Issue): void {
    const key = getAlikeKey(issue);
    const alike = this.#alike.get(key ?? '');
    if (alike !== undefined) {
      alike.count += 1;
      return;
    }
    const kept: CountedIssue = { issue, count: 1 };
    this.#kept.push(kept);
    if (key !== undefined) this.#alike.set(key, kept);
  }

  /**
   * Returns the kept issues in the order of their first occurrence, then the counts: a warning of
   * identifiers that were not checked, an error of errors beyond the maximum.
   */
  listAll(): readonly Issue[] {
    const issues = this.#kept.map(({ issue, count }) =>
      count === 1 ? issue : sumUpWarnings(issue, count),
    );
    const unchecked = this.#unchecked;
    if (unchecked > 0) {
      const message = msg`Identifiers that were not checked, because their vocabularies were not harvested: ${unchecked}. Run ${cmd`pas harvest-vocab`} to check them.`;
      issues.push(makeWarningIssue(NOT_HARVESTED, message));
    }
    const more = this.#errors - this.#maxErrors;
    if (more > 0) {
      const message = msg`Errors that are not listed: ${more}. Correct these and import the table again; --issues-to FILE writes all errors next to the rows of a CSV or XLSX.`;
      issues.push(makeErrorIssue('more-errors', message));
    }
    return issues;
  }
}

/** Returns what warnings about one project or finder have in common; undefined for other issues. */
function getAlikeKey(issue: Issue): string | undefined {
  const { severity, element, rule, message } = issue;
  const isOfMany = element === 'projekt' || rule === FINDER_MATCHED;
  return severity === 'warning' && isOfMany ? message : undefined;
}

/** Makes the warning that stands for several, without their rows and finds. */
function sumUpWarnings({ rule, says, element, written, file }: Issue, count: number): Issue {
  const named = msg`Finds that use it: ${count}.`;
  return makeWarningIssue(rule, joinMessages([says, named], ' '), {
    element,
    written,
    file: written === undefined ? undefined : file,
  });
}

/** Returns the issues as {@link IssueCollector} lists them, without a maximum of errors. */
export function collapseRepeatedWarnings(issues: readonly Issue[]): readonly Issue[] {
  const collector = new IssueCollector();
  for (const issue of issues) collector.add(issue);
  return collector.listAll();
}
