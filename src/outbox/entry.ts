import type { ServerMs } from '../base/clock.ts';
import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';
import { type AskedRow, ROW_BASES } from './facts.ts';
import type { EntryState } from './fold.ts';
import { INTENT_KINDS, type IntentKind } from './intents.ts';

export const ENTRY_KINDS = INTENT_KINDS;
export type EntryKind = IntentKind;
export type { EntryState } from './fold.ts';

export const ENTRY_STATES = [
  'draft',
  'queued',
  'sending',
  'accepted',
  'refused',
  'uncertain',
  'dropped',
] as const satisfies readonly EntryState[];

/** Row number of one outbox file, which never reuses one. */
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

/** Returns the SHA-512 of the file as it was added, before its position was removed. */
export function getOriginalDigest({ originalSha512, sha512 }: Photograph): Buffer {
  return originalSha512 ?? sha512;
}

/**
 * A question that a person must answer before an entry is sent. `candidates`: local ids, identifiers
 * of records, file names or numbers.
 */
export type HeldQuestion = {
  readonly basis: HeldBasis;
  readonly question: Message;
  readonly candidates: readonly string[];
  /** Those that differ a little: an answer about them holds until they are the same. */
  readonly near: readonly string[];
};

/** Tells if the question is about a row that was left out of an import, whatever was sent. */
export function isAboutRow(
  held: HeldQuestion,
): held is HeldQuestion & { readonly basis: AskedRow['basis'] } {
  return ROW_BASES.some((each) => each === held.basis);
}

/** Tells if an answer can end its question: of two versions only an edit makes one. */
export function isAnswerable({ held }: Pick<Entry, 'held'>): boolean {
  return held?.basis !== 'edited-twice';
}

export type HeldBasis =
  | 'edited-twice'
  | AskedRow['basis']
  | 'two-records'
  | 'alike-here'
  | 'local-id-in-use'
  | 'attempted-elsewhere'
  | 'equal-record'
  | 'hidden-records'
  | 'not-searched'
  | 'record-not-ours'
  | 'equal-photograph'
  | 'number-changed';

/** The last inconclusive lookup of an entry. */
export type Lookup = {
  /** Wall clock; only displayed. */
  readonly at: number;
  readonly serverAt: ServerMs | null;
  /** Stable code. */
  readonly basis: string;
  readonly reason: Message;
  readonly candidates: readonly string[];
};

type EntryBase = {
  readonly id: EntryId;
  /** `import`, or the id of the intent of a number or a photograph. */
  readonly key: string;
  /**
   * The UUID of the find, or the record without a find here. Its entries share it, so that no two
   * requests write to it at once.
   */
  readonly subject: string;
  /** The id of the intent. */
  readonly intent: string;
  /** Null for a record of the service without a find here. */
  readonly localId: string | null;
  readonly state: EntryState;
  /** Another version is wanted than the one that the service accepted. */
  readonly isChanged: boolean;
  /** Identifier of the record to change, or of the one that the import made. */
  readonly identCely: string | null;
  /** Wall clock of this machine. */
  readonly notBeforeAt: number;
  readonly held: HeldQuestion | null;
  readonly lookup: Lookup | null;
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
  /** The wanted document; null for a draft. */
  readonly document: Buffer | null;
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

/** One request for an entry, from its facts. */
export type Attempt = {
  readonly id: string;
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
