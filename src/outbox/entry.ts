import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';

export const ENTRY_KINDS = ['import', 'number', 'photo'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export const ENTRY_STATES = ['draft', 'queued', 'sending', 'accepted', 'refused', 'uncertain', 'dropped'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/**
 * Every move that an entry may make. What is not listed is a bug and is refused by the outbox. Only evidence or a
 * person leads out of `uncertain` for an import or a photograph; a number may simply be sent again. What was not sent
 * becomes `uncertain` only where an older copy of the outbox was put back, and what was accepted only where the service gave
 * its record to another find, or a person took back what they had decided.
 */
export const TRANSITIONS: Readonly<Record<EntryState, readonly EntryState[]>> = {
  draft: ['queued', 'draft', 'uncertain', 'dropped'],
  queued: ['sending', 'draft', 'queued', 'refused', 'uncertain', 'dropped'],
  sending: ['accepted', 'refused', 'queued', 'uncertain'],
  refused: ['queued', 'draft', 'uncertain', 'dropped'],
  uncertain: ['accepted', 'queued', 'dropped'],
  accepted: ['uncertain'],
  dropped: ['queued', 'draft', 'refused', 'uncertain'],
};

export type Photograph = {
  readonly name: string;
  /** Media type found in the bytes, such as `image/jpeg`. */
  readonly mediaType: string;
  readonly sha512: Buffer;
  readonly sizeBytes: number;
  /** Where the original lies, when it is linked instead of copied. */
  readonly link?: string;
};

type EntryBase = {
  readonly id: number;
  readonly findId: number | null;
  readonly localId: string | null;
  readonly serviceId: number;
  /** Of the account that is to send it; empty: whoever pushes. */
  readonly username: string;
  readonly state: EntryState;
  /** Of the record to change, or the one that the import was given. */
  readonly identCely: string | null;
  readonly notBeforeAt: number;
  readonly recordKey: string;
  /** Digest of what it is to do, made when it was queued; null for an import, and for what an earlier pas queued. */
  readonly seal: Buffer | null;
  readonly reason: Message | null;
  readonly issues: readonly Issue[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When it may have been sent without this outbox knowing: since the copy was made that was put back. */
  readonly doubt: Doubt | null;
};

/** Milliseconds since 1970 UTC, by this machine's clock; {@link OPEN_END_MS} where it may be sent at any time to come. */
export type Doubt = { readonly fromMs: number; readonly untilMs: number };

/** Until nobody knows when: a copy of the outbox has it queued as well. No clock comes to it, and every date can. */
export const OPEN_END_MS = 8e15;

export type ImportEntry = EntryBase & {
  readonly kind: 'import';
  readonly document: Buffer | null;
  readonly documentSha512: Buffer | null;
  readonly project: string | null;
  /** How often it was refused as if another import had been given its identifier. */
  readonly collisions: number;
};
export type NumberEntry = EntryBase & { readonly kind: 'number'; readonly value: string };
export type PhotoEntry = EntryBase & { readonly kind: 'photo'; readonly photograph: Photograph };
export type Entry = ImportEntry | NumberEntry | PhotoEntry;

export type Attempt = {
  readonly id: number;
  readonly entryId: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly method: string;
  readonly path: string;
  /** The service's identifier of the account that it was made with; null in those of an earlier pas that did not ask. */
  readonly account: string | null;
  readonly serverDateAt: number | null;
  readonly status: number | null;
  readonly outcome: string | null;
  readonly reason: Message | null;
};
