import { errorIssue, type Issue } from '../../base/issue.ts';
import { msgid } from '../../base/language.ts';
import { nmsg } from '../../base/message.ts';

const MAX_ERRORS = 10_000;

/** Collects the first errors of a table, and counts the others, so that a large faulty table does not fill the memory. */
export class IssueCollector {
  readonly #kept: Issue[] = [];
  #errors = 0;

  add(issue: Issue): void {
    if (issue.severity === 'warning' || ++this.#errors <= MAX_ERRORS) this.#kept.push(issue);
  }

  all(): readonly Issue[] {
    const more = this.#errors - MAX_ERRORS;
    if (more <= 0) return this.#kept;
    const message = nmsg(
      msgid`${more} more error is not listed. Correct these and import the table again; --issues-to FILE writes all of them beside the rows of a CSV or XLSX.`,
      msgid`${more} more errors are not listed. Correct these and import the table again; --issues-to FILE writes all of them beside the rows of a CSV or XLSX.`,
      more,
    );
    return [...this.#kept, errorIssue('more-errors', message)];
  }
}
