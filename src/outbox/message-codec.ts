import { Issue } from '../base/issue.ts';
import { deserializeValue, type Message, type StoredMessage, serializeValue } from '../base/message.ts';

/** Messages as the outbox stores them: JSON, independent of the language. */

export function serializeMessage(message: Message | null): string | null {
  return message === null ? null : JSON.stringify(serializeValue(message));
}

export function deserializeMessage(text: string): Message;
export function deserializeMessage(text: string | null): Message | null;
export function deserializeMessage(text: string | null): Message | null {
  return text === null ? null : (deserializeValue(JSON.parse(text) as StoredMessage) as Message);
}

/** Fields that each stored issue has; the others are copied. */
type StoredIssue = { readonly rule: string; readonly severity: Issue['severity']; readonly message: StoredMessage };

export function serializeIssues(issues: readonly Issue[]): string | null {
  return issues.length === 0
    ? null
    : JSON.stringify(issues.map(({ says, ...issue }) => ({ ...issue, message: serializeValue(says) })));
}

export function deserializeIssues(text: string | null): Issue[] {
  const issues: StoredIssue[] = JSON.parse(text ?? '[]');
  return issues.map(({ message, ...issue }) => new Issue({ ...issue, says: deserializeValue(message) as Message }));
}
