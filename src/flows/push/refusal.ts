import { errorIssue, type Issue } from '../../base/issue.ts';
import type { Message } from '../../base/message.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { ServerFinding } from '../../pas-api/error-body.ts';

export function refusal(entry: Entry, detail: Message, findings: readonly ServerFinding[]): Settlement {
  return { state: 'refused', reason: detail, issues: findings.map((finding) => toIssue(entry, finding)) };
}

const ERROR_TYPE_RULES: Readonly<Record<number, string>> = {
  1: 'service-missing-record',
  2: 'service-invalid-data',
  3: 'service-permission',
};

/** A finding of the service beside the element that stands on its line of the document that was sent. */
function toIssue(entry: Entry, finding: ServerFinding): Issue {
  const element = entry.kind === 'import' && entry.document !== null ? elementAtLine(entry.document, finding.line) : undefined;
  return errorIssue(ERROR_TYPE_RULES[finding.errorType ?? 0] ?? 'service-refusal', finding.message, {
    ...(entry.localId === null ? {} : { find: entry.localId }),
    ...(finding.line === undefined ? {} : { line: finding.line }),
    ...(element === undefined || element === 'samostatny_nalez' ? {} : { element }),
  });
}

/**
 * True for a finding about what an entry says. One about an import that names no line, or the line of the root, is about the declaration or
 * the schema, which are those of every find.
 */
export function isAboutContent(entry: Entry, { line }: ServerFinding): boolean {
  if (entry.kind !== 'import' || entry.document === null) return true;
  if (line === undefined) return false;
  const element = elementAtLine(entry.document, line);
  return element === undefined || element !== START_TAG.exec(entry.document.toString('utf8'))?.[1];
}

const START_TAG = /<(?:[\w.-]+:)?([\w.-]+)/;

/** pas writes one element a line, so the line's first tag is the element that the service means. */
function elementAtLine(document: Buffer, line: number | undefined): string | undefined {
  if (line === undefined) return undefined;
  const text = document.toString('utf8').split('\n')[line - 1];
  return START_TAG.exec(text ?? '')?.[1];
}
