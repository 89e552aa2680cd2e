import { type Issue, makeErrorIssue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import type { Settlement } from '../outbox/claims.ts';
import type { Entry } from '../outbox/entry.ts';
import type { ServerFinding } from '../pas-api/error-body.ts';

/** Makes the settlement of a refused entry, with the findings as issues of its elements. */
export function makeRefusal(
  entry: Entry,
  detail: Message,
  findings: readonly ServerFinding[],
): Settlement {
  return {
    state: 'refused',
    reason: detail,
    issues: findings.map((finding) => toIssue(entry, finding)),
  };
}

const ERROR_TYPE_RULES: Readonly<Record<number, string>> = {
  1: 'service-missing-record',
  2: 'service-invalid-data',
  3: 'service-permission',
};

/**
 * Converts a finding of the service to an issue with the element on its line of the sent document.
 */
function toIssue(entry: Entry, finding: ServerFinding): Issue {
  const element =
    entry.kind === 'import' && entry.document !== null
      ? findElementAtLine(entry.document, finding.line)
      : undefined;
  return makeErrorIssue(
    ERROR_TYPE_RULES[finding.errorType ?? 0] ?? 'service-refusal',
    finding.message,
    {
      ...(entry.localId === null ? {} : { find: entry.localId }),
      line: finding.line,
      ...(element === undefined || element === 'samostatny_nalez' ? {} : { element }),
    },
  );
}

const START_TAG = /<(?:[\w.-]+:)?([\w.-]+)/;

/** Returns the element on a line: pas writes one element per line, so it is the first tag. */
function findElementAtLine(document: Buffer, line: number | undefined): string | undefined {
  if (line === undefined) return undefined;
  const text = document.toString('utf8').split('\n')[line - 1];
  return START_TAG.exec(text ?? '')?.[1];
}
