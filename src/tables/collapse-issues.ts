import { groupBy, memoize } from '../base/collections.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../base/message.ts';
import { FINDER_MATCHED } from '../finds/resolve-references.ts';
import { NOT_HARVESTED } from '../finds/value-rules.ts';

/**
 * Replaces the issues of each key that has several by one, in the place of the first; the others
 * stay, in their order.
 * @param getKey returns undefined for an issue that stays
 * @param makeOne called once for each key that is replaced, with all of its issues
 * @param least fewer issues of one key stay as they are
 */
function collapseAlike(
  issues: readonly Issue[],
  getKey: (issue: Issue) => string | undefined,
  makeOne: (alike: readonly Issue[], first: Issue) => Issue,
  least = 2,
): Issue[] {
  const keyed = issues.map((issue) => ({ issue, key: getKey(issue) }));
  const groups = groupBy(keyed, ({ key }) => key);
  return keyed.flatMap((one) => {
    const alike = groups.get(one.key) ?? [];
    if (one.key === undefined || alike.length < least) return [one.issue];
    if (alike[0] !== one) return [];
    const ofKey = alike.map(({ issue }) => issue);
    return [makeOne(ofKey, one.issue)];
  });
}

/**
 * Sums up repeated warnings: those of one doubtful project or one differently written finder, which
 * every row has, become one in the place of the first, without row and find. All about
 * identifiers that were not checked, even a single one, become one with their number, at the end.
 * Errors and other warnings stay.
 * @param more unchecked identifiers that were only counted, without an issue
 */
export function collapseRepeatedWarnings(issues: readonly Issue[], more = 0): Issue[] {
  const checked = issues.filter((issue) => issue.rule !== NOT_HARVESTED);
  const unchecked = issues.length - checked.length + more;
  const getText = memoize((says: Message) => String(says));
  const rest = collapseAlike(
    checked,
    (issue) => getAlikeKey(issue, getText),
    ({ length: count }, { rule, says, element, written: text, file }) => {
      const named = msg`Finds that use it: ${count}.`;
      const where = { element, written: text, file: text === undefined ? undefined : file };
      return makeWarningIssue(rule, joinMessages([says, named], ' '), where);
    },
  );
  if (unchecked === 0) return rest;
  const message = msg`Identifiers that were not checked, because their vocabularies were not harvested: ${unchecked}. Run ${cmd`pas harvest-vocab`} to check them.`;
  return [...rest, makeWarningIssue(NOT_HARVESTED, message)];
}

/** Fewer unknown columns are reported one by one, each with similar names. */
const MIN_UNKNOWN_COLUMNS = 3;

/**
 * Sums up the errors of unknown columns in one per file; a file with fewer than {@link
 * MIN_UNKNOWN_COLUMNS} keeps them. Other issues stay.
 */
export function collapseUnknownColumns(issues: readonly Issue[]): readonly Issue[] {
  return collapseAlike(
    issues,
    ({ rule, file = '' }) => (rule === 'column-unknown' ? file : undefined),
    (alike, { file, row }) => {
      const count = alike.length;
      const names = alike.map(({ column }) => column).join(', ');
      const message = msg`${count} columns are not known elements: ${names}. To read them by a column map: --map FILE. To let pas propose one: ${cmd`pas import`} TABLE --wizard`;
      return makeErrorIssue('column-unknown', message, { file, row });
    },
    MIN_UNKNOWN_COLUMNS,
  );
}

/** Returns what warnings about one project or finder have in common; undefined for other issues. */
function getAlikeKey(
  { severity, element, rule, written: text = '', says }: Issue,
  getText: (says: Message) => string,
): string | undefined {
  if (severity !== 'warning') return undefined;
  if (element === 'projekt') return getText(says);
  return rule === FINDER_MATCHED ? `${rule} ${text}` : undefined;
}

const MAX_ERRORS = 10_000;

/**
 * Collects the issues of a table in little memory: the first {@link MAX_ERRORS} errors with a count
 * of the others, and all warnings. A warning that {@link collapseRepeatedWarnings} sums up is
 * kept as the first of its kind, which then occurs several times; so its own row is lost.
 */
export class IssueCollector {
  readonly #kept: Issue[] = [];
  readonly #alike = new Map<string, Issue>();
  #errors = 0;

  /** Keeps an issue, or the earlier one like it; only counts an error beyond the limit. */
  add(issue: Issue): void {
    if (issue.severity === 'error' && ++this.#errors > MAX_ERRORS) return;
    const key = getAlikeKey(issue, String);
    const kept = this.#alike.get(key ?? '') ?? issue;
    if (key !== undefined) this.#alike.set(key, kept);
    this.#kept.push(kept);
  }

  /** Returns the kept issues in their order, and an error that counts the others. */
  listAll(): readonly Issue[] {
    const more = this.#errors - MAX_ERRORS;
    if (more <= 0) return this.#kept;
    const message = msg`Errors that are not listed: ${more}. Correct these and import the table again; --issues-to FILE writes all errors next to the rows of a CSV or XLSX.`;
    return [...this.#kept, makeErrorIssue('more-errors', message)];
  }
}
