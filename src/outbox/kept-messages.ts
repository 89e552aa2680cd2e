import { Issue } from '../base/issue.ts';
import { fromKept, type Kept, type Message, toKept } from '../base/message.ts';

/** What people read of an entry, as the outbox keeps it: JSON, in no language. */

export function reasonText(reason: Message | null): string | null {
  return reason === null ? null : JSON.stringify(toKept(reason));
}

export function readReason(text: string): Message;
export function readReason(text: string | null): Message | null;
export function readReason(text: string | null): Message | null {
  return text === null ? null : (fromKept(JSON.parse(text) as Kept) as Message);
}

export function issuesText(issues: readonly Issue[]): string | null {
  return issues.length === 0 ? null : JSON.stringify(issues.map(({ says, ...issue }) => ({ ...issue, message: toKept(says) })));
}

export function readIssues(text: string | null): Issue[] {
  const issues = JSON.parse(text ?? '[]') as (Omit<Issue, 'says' | 'message'> & { readonly message: Kept })[];
  return issues.map(({ message, ...issue }) => new Issue({ ...issue, says: fromKept(message) as Message }));
}
