import type { ServerMs } from '../base/clock.ts';
import { isNumber, isText, makeMemberGuard, orNull } from '../base/disk/database.ts';
import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../base/outcomes.ts';
import { type AttemptBounds, computeAttemptBounds } from './attempt-bounds.ts';
import {
  type AnsweredBody,
  type Candidate,
  type Fact,
  HELD_BASES,
  type HeldBasis,
  listFactsOfKind,
  type Photograph,
  parseStoredMessage,
  type RowBasis,
} from './facts.ts';

/** A find, the registration number of a record, or a photograph of it. */
export const ENTRY_KINDS = ['import', 'number', 'photo'] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/**
 * States of an entry; docs/architecture.md says how they follow from its facts. A `draft` is
 * incomplete, an `uncertain` one may have arrived; a `dropped` one is no longer wanted, though an
 * attempt of it may have arrived.
 */
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

/** Columns that queries of entries read. */
export const ENTRY_COLUMNS = {
  key: isText,
  subject: isText,
  slot: isText,
  kind: makeMemberGuard(ENTRY_KINDS),
  state: makeMemberGuard(ENTRY_STATES),
  changed: isNumber,
  identCely: orNull(isText),
  project: orNull(isText),
  value: orNull(isText),
  expects: orNull(isText),
  photograph: orNull(isText),
  attempts: isNumber,
  unknownAttempts: isNumber,
  notBeforeAt: isNumber,
  reason: orNull(isText),
  createdAt: isNumber,
  updatedAt: isNumber,
};

/**
 * A question that a person must answer before an entry is sent; one about a row may also stand at
 * an entry that was sent. `candidates`: local ids, identifiers of records, file names or numbers;
 * an answer about them holds until they match more strongly.
 */
export type HeldQuestion = {
  readonly basis: HeldBasis;
  readonly question: Message;
  readonly candidates: readonly Candidate[];
};

/** Tells if a question is about a row that was left out of an import. */
export function isAboutRow(
  held: HeldQuestion,
): held is HeldQuestion & { readonly basis: RowBasis } {
  return HELD_BASES[held.basis] === 'row';
}

/** Answers that `pas resolve --answer` takes about a row. */
export const ROW_ANSWERS = ['same', 'new', 'table', 'mine'] as const;
/** Answer of a person about a row: it is this find, another one, or whose values win. */
export type RowAnswer = (typeof ROW_ANSWERS)[number];

/** Possible answers by the question about a row. */
export const ANSWERS_OF_ROWS: Readonly<Record<RowBasis, readonly RowAnswer[]>> = {
  'row-near': ['same', 'new'],
  'row-another': ['same', 'new'],
  'row-changed': ['table', 'mine'],
};

/**
 * Tells if a person's decision can answer the question about an entry; true where it has none.
 * False where two copies of the outbox want different versions: only an edit makes one of them.
 */
export function isAnswerable({ held }: Pick<Entry, 'held'>): boolean {
  return held === null || HELD_BASES[held.basis] !== 'copies';
}

/** The last inconclusive lookup of an entry. */
export type InconclusiveLookup = {
  /** Wall clock; only displayed. */
  readonly at: number;
  readonly serverAt: ServerMs | null;
  /** Stable code. */
  readonly basis: string;
  readonly reason: Message;
  readonly candidates: readonly string[];
};

type EntryBase = {
  /** Row number of one outbox file, which never reuses one. */
  readonly id: number;
  /** `import`, or the id of the intent of a number or a photograph. */
  readonly key: string;
  /**
   * The UUID of the find, or the record without a find here. Its entries share it, so that no two
   * requests write to it at once.
   */
  readonly subject: string;
  /** As in a fact: at most one of its intents is wanted. */
  readonly slot: string;
  /** The id of the intent. */
  readonly intent: string;
  /** Null for a record of the service without a find here. */
  readonly localId: string | null;
  /** Its name for people: the local id, else the identifier of the record. */
  readonly find: string;
  readonly state: EntryState;
  /** Another version is wanted than the one that the service accepted. */
  readonly differsFromAccepted: boolean;
  /** Identifier of the record to change, or of the one that the import made; null while unknown. */
  readonly identCely: string | null;
  /** Null where neither the find nor a record says it. */
  readonly project: string | null;
  /** Wall clock of this machine, in milliseconds; 0: at once. */
  readonly notBeforeAt: number;
  readonly held: HeldQuestion | null;
  readonly lookup: InconclusiveLookup | null;
  /** Attempts that may have arrived, without proof. */
  readonly unknownAttempts: number;
  readonly attempts: number;
  readonly reason: Message | null;
  /** Those of validation for a draft or a queued entry, those of the service for a refused one. */
  readonly issues: readonly Issue[];
  readonly updatedAt: number;
};

/** A find that is to become a record. */
export type ImportEntry = EntryBase & {
  readonly kind: 'import';
  /** The wanted document; null for a draft, and where none was made or kept. */
  readonly document: Buffer | null;
};
/** A registration number for a record. */
export type NumberEntry = EntryBase & {
  readonly kind: 'number';
  readonly value: string;
  /** Number of the record when this one was queued; '' for none, null where it was unknown. */
  readonly expects: string | null;
};
/** A photograph for a record. */
export type PhotoEntry = EntryBase & { readonly kind: 'photo'; readonly photograph: Photograph };
/** One write that the service is to see once, as the table `entries` has it. */
export type Entry = ImportEntry | NumberEntry | PhotoEntry;

/** One request for an entry, from its facts. */
export type Attempt = {
  readonly id: string;
  /** Wall clock of this machine: displayed, and the order of what happened to one entry. */
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

/**
 * Makes the attempts of an entry from facts, oldest first by this machine's clock; of an import,
 * those of all versions of its find. The first answer to an attempt counts; `orphaned`, the note
 * that none came, only without an answer.
 * @param facts all of the slot, in the order in which they came
 */
export function makeAttempts(
  { kind, intent }: Pick<Entry, 'kind' | 'intent'>,
  facts: readonly Fact[],
): Attempt[] {
  const answers = new Map<string, AnsweredBody>();
  for (const fact of facts) {
    if (fact.kind !== 'answered') continue;
    const before = answers.get(fact.body.attempt);
    // An answer outranks the note of a later push that there was none.
    if (before === undefined || before.outcome === 'orphaned')
      answers.set(fact.body.attempt, fact.body);
  }
  return listFactsOfKind(facts, 'attempted')
    .filter(({ body }) => kind === 'import' || body.intent === intent)
    .map(({ id, body }): Attempt => {
      const answer = answers.get(id);
      return {
        id,
        startedAt: body.at,
        method: body.method,
        path: body.path,
        account: body.account,
        bounds: computeAttemptBounds(body, answer),
        endedAt: answer?.at ?? null,
        serverDateAt: answer?.serverDateMs ?? null,
        status: answer?.status ?? null,
        outcome: answer?.outcome ?? null,
        reason: answer?.reason == null ? null : parseStoredMessage(answer.reason),
      };
    })
    .sort((a, b) => a.startedAt - b.startedAt);
}

/**
 * Counts the attempts with this outcome since the last one with another outcome. Attempts without
 * an end do not count.
 * @param attempts of one entry, oldest first
 */
export function countAttemptsInARow(attempts: readonly Attempt[], outcome: AttemptOutcome): number {
  const ended = attempts.filter(({ endedAt }) => endedAt !== null);
  const other = ended.findLastIndex((attempt) => attempt.outcome !== outcome);
  return ended.length - other - 1;
}

/**
 * Returns the failed attempts since the last one whose outcome resets the backoff, such as an
 * acceptance or a refusal. Left out are those whose outcome leaves the backoff as it is, such as
 * `closed`.
 * @param attempts of one entry, oldest first
 */
export function listFailuresInARow(attempts: readonly Attempt[]): Attempt[] {
  const judged = attempts.filter(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure !== 'neutral',
  );
  const clear = judged.findLastIndex(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure === false,
  );
  return judged.slice(clear + 1);
}

/**
 * Form of find identifiers; the contract leaves it open (A-ASSIGN-1), so it only helps to detect a
 * typing error.
 */
const LOOKS_LIKE_IDENT = /^(X-)?[A-Z]-[A-Za-z0-9-]+-N\d+$/;

/** Tells if a text is spelled like the identifier of a find: `C-202400101-N00042`. */
export function hasIdentForm(text: string): boolean {
  return LOOKS_LIKE_IDENT.test(text);
}
