import type { ServerMs } from '../base/clock.ts';
import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';

export const ENTRY_KINDS = ['import', 'number', 'photo'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export const ENTRY_STATES = [
  'draft',
  'queued',
  'sending',
  'accepted',
  'refused',
  'uncertain',
  'dropped',
] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** Row numbers of one outbox file, which never reuses one. */
export type FindId = number & { readonly __brand?: 'find' };
export type EntryId = number & { readonly __brand?: 'entry' };

export type Photograph = {
  readonly name: string;
  /** Media type detected from the bytes, such as `image/jpeg`. */
  readonly mediaType: string;
  readonly sha512: Buffer;
  readonly sizeBytes: number;
  /** Digest of the file before its GPS data were removed. */
  readonly originalSha512?: Buffer;
  /** Path of the imported file. */
  readonly source?: string;
  /** Path of the original, when it is linked instead of copied. */
  readonly link?: string;
};

/**
 * A question that a person must answer before an entry is sent. `candidates`: identifiers of
 * records, file names or numbers.
 */
export type HeldQuestion = {
  readonly basis: HeldBasis;
  readonly question: Message;
  readonly candidates: readonly string[];
};

export type HeldBasis =
  | 'equal-record'
  | 'attempted-elsewhere'
  | 'local-id-sent-elsewhere'
  | 'hidden-records'
  | 'equal-photograph'
  | 'number-changed'
  | 'local-id-in-use'
  | 'not-searched';

type EntryBase = {
  readonly id: EntryId;
  readonly uuid: string;
  readonly findId: FindId | null;
  readonly findUuid: string | null;
  readonly localId: string | null;
  readonly state: EntryState;
  /** Identifier of the record to change, or of the one that the import made. */
  readonly identCely: string | null;
  /** Wall clock of this machine. */
  readonly notBeforeAt: number;
  readonly recordKey: string;
  readonly held: HeldQuestion | null;
  /** Attempts that may have arrived, without proof. */
  readonly unknownAttempts: number;
  readonly attempts: number;
  readonly reason: Message | null;
  readonly issues: readonly Issue[];
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type ImportEntry = EntryBase & {
  readonly kind: 'import';
  readonly document: Buffer | null;
  readonly documentSha512: Buffer | null;
  /** Digest of the find as it was found; null without a document. */
  readonly digest: string | null;
  readonly project: string | null;
};
export type NumberEntry = EntryBase & {
  readonly kind: 'number';
  readonly value: string;
  /** Number of the record when this one was queued; null where it was unknown. */
  readonly expects: string | null;
};
export type PhotoEntry = EntryBase & { readonly kind: 'photo'; readonly photograph: Photograph };
export type Entry = ImportEntry | NumberEntry | PhotoEntry;

/**
 * Interval in which the service may have executed an attempt, by its clock; at `settledMs` it has
 * certainly ended.
 */
export type AttemptBounds = {
  readonly fromMs: ServerMs;
  readonly untilMs: ServerMs;
  readonly settledMs: ServerMs;
};

/** One request for an entry, from its events. */
export type Attempt = {
  readonly id: string;
  readonly entryId: EntryId;
  /** Wall clock of this machine: displayed, never used for a decision. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly method: string;
  readonly path: string;
  /** The service's identifier of the account that made it. */
  readonly account: string;
  /** Null where the server time was unknown before it. */
  readonly bounds: AttemptBounds | null;
  readonly serverDateAt: ServerMs | null;
  readonly status: number | null;
  /** Null while the request is under way. */
  readonly outcome: AttemptOutcome | null;
  readonly reason: Message | null;
};
