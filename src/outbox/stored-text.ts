import { randomUUID } from 'node:crypto';
import { Issue } from '../base/issue.ts';
import {
  deserializeValue,
  type Message,
  type StoredMessage,
  serializeValue,
} from '../base/message.ts';

/** Messages and issues as the outbox stores them: JSON, independent of the language. */

export function storeMessage(message: Message): StoredMessage {
  return serializeValue(message) as StoredMessage;
}

export function readMessage(stored: StoredMessage): Message {
  return deserializeValue(stored) as Message;
}

export function deserializeMessage(text: string): Message;
export function deserializeMessage(text: string | null): Message | null;
export function deserializeMessage(text: string | null): Message | null {
  return text === null ? null : readMessage(JSON.parse(text));
}

/** Fields that each stored issue has; the others are copied. */
type StoredIssue = {
  readonly rule: string;
  readonly severity: Issue['severity'];
  readonly message: StoredMessage;
};

/** Serialises issues; null for none. */
export function serializeIssues(issues: readonly Issue[]): string | null {
  return issues.length === 0
    ? null
    : JSON.stringify(
        issues.map(({ says, ...issue }) => ({ ...issue, message: serializeValue(says) })),
      );
}

export function deserializeIssues(text: string | null): Issue[] {
  const issues: StoredIssue[] = JSON.parse(text ?? '[]');
  return issues.map(({ message, ...issue }) => new Issue({ ...issue, says: readMessage(message) }));
}

/**
 * A UUID of version 7 (RFC 9562): it begins with the time, so that the rows of an import stand
 * beside one another in an index.
 * @param now milliseconds since 1970 UTC
 */
export function makeUuid(now: number): string {
  const time = Math.floor(now).toString(16).padStart(12, '0');
  // A random one differs in its first twelve digits and in the version.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
