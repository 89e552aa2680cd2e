import type { ServerMs } from '../base/clock.ts';
import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';

export const ENTRY_KINDS = ['import', 'number', 'photo'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export const ENTRY_STATES = ['draft', 'queued', 'sending', 'accepted', 'refused', 'uncertain', 'dropped'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** Row numbers of one outbox file, which never uses one twice. */
export type FindId = number & { readonly __brand?: 'find' };
export type EntryId = number & { readonly __brand?: 'entry' };

export type Photograph = {
  readonly name: string;
  /** Media type found in the bytes, such as `image/jpeg`. */
  readonly mediaType: string;
  readonly sha512: Buffer;
  readonly sizeBytes: number;
  /** Digest of the file before its place was removed from it. */
  readonly originalSha512?: Buffer;
  /** The file that it was read from. */
  readonly source?: string;
  /** Where the original lies, when it is linked instead of copied. */
  readonly link?: string;
};

/** A question that a person must answer before an entry is sent. `candidates`: identifiers of records, file names or numbers. */
export type Held = {
  readonly basis: HeldBasis;
  readonly question: Message;
  readonly candidates: readonly string[];
};

/** Stable codes of the questions. */
export type HeldBasis =
  | 'equal-record'
  | 'attempted-elsewhere'
  | 'local-id-sent-elsewhere'
  | 'hidden-records'
  | 'equal-photograph'
  | 'number-changed'
  | 'local-id-in-use'
  | 'not-looked';

type EntryBase = {
  readonly id: EntryId;
  readonly uuid: string;
  readonly findId: FindId | null;
  readonly findUuid: string | null;
  readonly localId: string | null;
  readonly state: EntryState;
  /** Of the record to change, or the one that the import was given. */
  readonly identCely: string | null;
  /** By the wall clock of this machine. */
  readonly notBeforeAt: number;
  readonly recordKey: string;
  readonly held: Held | null;
  /** How many attempts may have arrived without that being known. */
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
  /** The number that the record showed when this one was queued; null where it was not known. */
  readonly expects: string | null;
};
export type PhotoEntry = EntryBase & { readonly kind: 'photo'; readonly photograph: Photograph };
export type Entry = ImportEntry | NumberEntry | PhotoEntry;

/** The time in which the service may have carried an attempt out, by the server's clock; from `settledMs` on it is certainly done. */
export type AttemptBounds = { readonly fromMs: ServerMs; readonly untilMs: ServerMs; readonly settledMs: ServerMs };

/** One request for an entry, from its events. */
export type Attempt = {
  readonly id: string;
  readonly entryId: EntryId;
  /** By the wall clock of this machine: shown, never used for a decision. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly method: string;
  readonly path: string;
  /** The service's identifier of the account that made it. */
  readonly account: string;
  /** Null where the service had not said the time before it. */
  readonly bounds: AttemptBounds | null;
  readonly serverDateAt: ServerMs | null;
  readonly status: number | null;
  /** Null while the request is under way. */
  readonly outcome: AttemptOutcome | null;
  readonly reason: Message | null;
};
