import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ServerMs } from '../base/clock.ts';
import { DatabaseError } from '../base/errors.ts';
import { Issue } from '../base/issue.ts';
import {
  cmd,
  deserializeValue,
  type Message,
  msg,
  type StoredMessage,
  serializeValue,
} from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';
import {
  createRowGuard,
  type GuardedType,
  isBytes,
  isNumber,
  isText,
  orNull,
  type RowOf,
} from '../store/database.ts';
import type { EntryKind, Photograph } from './entry.ts';

/**
 * Kinds of events. An event is immutable; outbox and journal store it under one id, so that they
 * merge in any order.
 */
const EVENT_KINDS = [
  'attempted',
  'answered',
  'found',
  'absent',
  'decided',
  'bound',
  'moved',
] as const;
type EventKind = (typeof EVENT_KINDS)[number];

/**
 * Effect of an answer on its entry. `unknown`: the service may or may not have executed the
 * attempt.
 */
export type AnswerEffect = 'accepted' | 'refused' | 'queued' | 'unknown';

/** The find of an import, so that it can be restored from the journal. */
export type SentFind = {
  readonly localId: string;
  readonly elements: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
};

export type SentPhotograph = {
  readonly name: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  /** Hexadecimal; `original`: before GPS data were removed. */
  readonly sha512: string;
  readonly original: string | null;
  readonly link: string | null;
};

export function serializePhotograph(photograph: Photograph): SentPhotograph {
  const { name, mediaType, sizeBytes, sha512, originalSha512, link } = photograph;
  return {
    name,
    mediaType,
    sizeBytes,
    sha512: sha512.toString('hex'),
    original: originalSha512?.toString('hex') ?? null,
    link: link ?? null,
  };
}

export function parsePhotograph({
  name,
  mediaType,
  sizeBytes,
  sha512,
  original,
  link,
}: SentPhotograph): Photograph {
  return {
    name,
    mediaType,
    sizeBytes,
    sha512: Buffer.from(sha512, 'hex'),
    ...(original === null ? {} : { originalSha512: Buffer.from(original, 'hex') }),
    ...(link === null ? {} : { link }),
  };
}

export type AttemptedBody = {
  readonly entryKind: EntryKind;
  readonly account: string;
  readonly method: string;
  readonly path: string;
  /** Wall clock: displayed, never used for a decision. */
  readonly at: number;
  /**
   * Earliest server time of arrival, and latest time of complete sending; null where the server
   * time is unknown.
   */
  readonly fromMs: ServerMs | null;
  readonly sentByMs: ServerMs | null;
  /** Maximum time for which the service may work on the request after that, in milliseconds. */
  readonly settleMs: number;
  /** Record to change; null for an import. */
  readonly target: string | null;
  readonly localId: string | null;
  readonly project: string | null;
  /**
   * For an import: digest of the find as found, and the compressed document and find in base64;
   * null after thinning.
   */
  readonly digest: string | null;
  readonly content: string | null;
  readonly value: string | null;
  readonly expects: string | null;
  readonly photograph: SentPhotograph | null;
};

export type AnsweredBody = {
  readonly attempt: string;
  readonly outcome: AttemptOutcome;
  readonly settles: AnswerEffect;
  readonly at: number;
  readonly status: number | null;
  readonly identCely: string | null;
  readonly serverDateMs: ServerMs | null;
  /**
   * Server time at the end of the attempt, from its answer or computed with the monotonic clock.
   */
  readonly endedMs: ServerMs | null;
  readonly notBeforeAt: number;
  readonly reason: StoredMessage | null;
  readonly issues: string | null;
};

/** Evidence from harvesting about the attempts that it explains. */
export type EvidenceBody = {
  readonly attempts: readonly string[];
  readonly identCely: string | null;
  readonly at: number;
  readonly serverMs: ServerMs | null;
  /** Stable code of the basis. */
  readonly basis: string;
  readonly reason: StoredMessage;
  readonly candidates: readonly string[];
  /** Account of the lookup; null for an anonymous harvest. */
  readonly account: string | null;
};

/**
 * A decision of a person, or a fact that detaches a record. `created`: this record is the entry's.
 * `send`: the listed attempts did not arrive, and the candidates are not this entry. `abandon`: the
 * entry is not sent. `release`: the service gave the record to another find. `undo`: the event `of`
 * does not count.
 */
export type DecidedBody = {
  readonly answer: 'created' | 'send' | 'abandon' | 'release' | 'undo';
  readonly by: 'person' | 'service' | 'later-number';
  readonly at: number;
  readonly attempts: readonly string[];
  readonly identCely: string | null;
  readonly candidates: readonly string[];
  /** Question that was open for the entry, as JSON; an undo asks it again. */
  readonly held: string | null;
  /** Shared by the events of one command. */
  readonly group: string;
  readonly of: string | null;
  readonly reason: StoredMessage;
};

type BoundBody = { readonly account: string; readonly address: string; readonly at: number };
type MovedBody = { readonly from: string; readonly to: string; readonly at: number };

type BodyOf = {
  readonly attempted: AttemptedBody;
  readonly answered: AnsweredBody;
  readonly found: EvidenceBody;
  readonly absent: EvidenceBody;
  readonly decided: DecidedBody;
  readonly bound: BoundBody;
  readonly moved: MovedBody;
};

type Head = {
  readonly id: string;
  readonly outbox: string;
  readonly find: string | null;
  readonly entry: string | null;
  readonly position: number;
};

export type OutboxEvent = {
  readonly [Kind in EventKind]: Head & { readonly kind: Kind; readonly body: BodyOf[Kind] };
}[EventKind];
export type EventOf<Kind extends EventKind> = Extract<OutboxEvent, { readonly kind: Kind }>;

/** Columns that the checksum covers. */
const COVERED = {
  id: isText,
  outbox: isText,
  find: orNull(isText),
  entry: orNull(isText),
  position: isNumber,
  kind: isText,
  body: isText,
};
type EventContent = RowOf<typeof COVERED>;

const isEventRow = createRowGuard({ ...COVERED, seq: isNumber, crc: isNumber });

/** A row of the table `events`, in the outbox and in the journal. */
export type EventRow = GuardedType<typeof isEventRow>;

export function makeEventId(): string {
  return randomUUID();
}

/** Serialises an event as a row, with a checksum over all its columns. */
export function serializeEvent(event: OutboxEvent): EventContent & { readonly crc: number } {
  const { id, outbox, find, entry, position, kind } = event;
  const body = JSON.stringify(event.body);
  return {
    id,
    outbox,
    find,
    entry,
    position,
    kind,
    body,
    crc: computeEventChecksum({ id, outbox, find, entry, position, kind, body }),
  };
}

/** @throws DatabaseError where the row differs from what was written */
export function parseEventRow(path: string, row: unknown): EventRow {
  if (!isEventRow(row)) throw makeDamagedRowError(path, msg`an event`);
  if (computeEventChecksum(row) !== row.crc) throw makeDamagedRowError(path, msg`event ${row.id}`);
  return row;
}

/** @throws DatabaseError where the row differs from what was written */
export function parseEvent(path: string, row: unknown): OutboxEvent {
  return parseNumberedEvent(path, row).event;
}

/**
 * Parses an event with its sequence number in the database.
 * @throws DatabaseError where the row differs from what was written
 */
export function parseNumberedEvent(
  path: string,
  row: unknown,
): { readonly seq: number; readonly event: OutboxEvent } {
  const { seq, id, outbox, find, entry, position, kind, body } = parseEventRow(path, row);
  const event = { id, outbox, find, entry, position, kind, body: JSON.parse(body) };
  if (!isOutboxEvent(event)) throw makeDamagedRowError(path, msg`event ${id}`);
  return { seq, event };
}

/** The checksum proves that pas wrote the body for this kind. */
function isOutboxEvent(event: { readonly kind: string }): event is OutboxEvent {
  return EVENT_KINDS.some((kind) => kind === event.kind);
}

function computeEventChecksum({
  id,
  outbox,
  find,
  entry,
  position,
  kind,
  body,
}: EventContent): number {
  return computeChecksum([id, outbox, find, entry, position, kind, body]);
}

/** Distinguishes null from an empty text. */
const NO_VALUE = '\u0001';

/**
 * Returns the CRC-32 of the values of a row. Outboxes and journals store it: another formula would
 * call all of them damaged.
 */
export function computeChecksum(values: readonly (string | number | null | Buffer)[]): number {
  let text = '';
  for (const value of values) text += `${isBytes(value) ? value.length : (value ?? NO_VALUE)}\0`;
  let crc = crc32(text);
  for (const value of values) if (isBytes(value)) crc = crc32(value, crc);
  return crc;
}

export function makeDamagedRowError(path: string, what: Parameters<typeof msg>[1]): DatabaseError {
  return new DatabaseError(msg`${path}: ${what} is damaged: its checksum does not match.`, {
    damaged: true,
    hint: msg`Restore the last backup: ${cmd`pas restore`} FILE --replace moves the damaged file aside. The journal adds what was sent since.`,
  });
}

/** Parses JSON that pas wrote. @throws DatabaseError where it is damaged */
export function parseStored(path: string, what: Parameters<typeof msg>[1], text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw makeDamagedRowError(path, what);
  }
}

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
type StoredIssue = {
  readonly rule: string;
  readonly severity: Issue['severity'];
  readonly message: StoredMessage;
};

/** Serialises issues as JSON, independent of the language; null for none. */
export function serializeIssues(issues: readonly Issue[]): string | null {
  return issues.length === 0
    ? null
    : JSON.stringify(
        issues.map(({ says, ...issue }) => ({ ...issue, message: serializeValue(says) })),
      );
}

export function deserializeIssues(text: string | null): Issue[] {
  const issues: StoredIssue[] = JSON.parse(text ?? '[]');
  return issues.map(
    ({ message, ...issue }) => new Issue({ ...issue, says: deserializeValue(message) as Message }),
  );
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
