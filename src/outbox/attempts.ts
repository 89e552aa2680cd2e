import { randomUUID } from 'node:crypto';
import { asServerMs, type ServerMs } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import {
  appendFacts,
  findLedgerOfAccount,
  getSlotState,
  listFactsOfSlot,
  listFactsOfSubject,
  rebuildEntries,
} from './append-facts.ts';
import { type Attempt, type Entry, type InconclusiveLookup, makeAttempts } from './entry.ts';
import { findEntryById, listEntriesInState, listEntriesOfRecord } from './entry-queries.ts';
import {
  type AnsweredBody,
  type AttemptedBody,
  type Candidate,
  type DecidedBody,
  type Fact,
  listNamedAttempts,
  makeDamagedError,
  makeFact,
  makeFactRow,
  makeStoredMessage,
  type NewFact,
  packAttemptContent,
  parseStoredMessage,
  type Slot,
  serializeIssues,
} from './facts.ts';
import { type AttemptVerdict, foldSlot, getAcceptedRecord } from './fold.ts';
import { findStoredIntent, parseRecordSubject } from './intents.ts';
import { getOrMakeCommandId, type Outbox, readHeader, requireLedger } from './open-outbox.ts';

/**
 * Returns all attempts of an entry, oldest first by this machine's clock; of an import, those of
 * all versions of its find.
 * @throws DatabaseError where a fact is damaged
 */
export function listAttempts(outbox: Outbox, entry: Entry): Attempt[] {
  return makeAttempts(entry, listFactsOfSlot(outbox, entry));
}

/**
 * Returns the ids of an entry's attempts that are open, or of unknown outcome; of an import, those
 * of all versions of its find.
 * @throws DatabaseError where a fact is damaged
 */
export function listUnsettledAttemptIds(outbox: Outbox, entry: Entry): string[] {
  const facts = listFactsOfSlot(outbox, entry);
  return selectAttempts(entry, facts, ['open', 'unknown']).map(({ id }) => id);
}

/**
 * Returns the accepted attempts of an entry, oldest first; where there is none, those whose outcome
 * is unknown, also after a person gave them up. One that was refused, is proven absent or was
 * resent explains no record and no file, so it is left out. Of an import all versions of its find
 * count.
 * @param facts all facts of the entry's subject; read from the outbox by default
 * @throws DatabaseError where a fact is damaged
 */
export function listEffectiveAttempts(
  outbox: Outbox,
  entry: Entry,
  facts = listFactsOfSubject(outbox, entry.subject),
): Attempt[] {
  const ofSlot = facts.filter(({ slot }) => slot === entry.slot);
  const accepted = selectAttempts(entry, ofSlot, ['accepted']);
  return accepted.length > 0
    ? accepted
    : selectAttempts(entry, ofSlot, ['open', 'unknown', 'given-up']);
}

/** @param facts those of the slot */
function selectAttempts(
  entry: Entry,
  facts: readonly Fact[],
  kinds: readonly AttemptVerdict['kind'][],
): Attempt[] {
  const { verdicts } = foldSlot(facts);
  return makeAttempts(entry, facts).filter(({ id }) => {
    const verdict = verdicts.get(id);
    return verdict !== undefined && kinds.includes(verdict.kind);
  });
}

/** `person`: a decision; `undecided`: a lookup that settled nothing. */
export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

/** A conclusion about an entry. */
export type Evidence = InconclusiveLookup & { readonly verdict: EvidenceVerdict };

/**
 * Returns the conclusions about an entry: matches and absences of its attempts and decisions of
 * persons, also undone ones, oldest first by this machine's clock; then its last inconclusive
 * lookup. That a record was detached is left out.
 * @throws DatabaseError where a fact is damaged
 */
export function listEvidence(outbox: Outbox, entry: Entry): Evidence[] {
  const facts = listFactsOfSlot(outbox, entry);
  const ids = new Set(makeAttempts(entry, facts).map(({ id }) => id));
  const settled = facts
    .flatMap((fact) => makeEvidence(entry, ids, fact) ?? [])
    .sort((a, b) => a.at - b.at);
  return entry.lookup === null ? settled : [...settled, { ...entry.lookup, verdict: 'undecided' }];
}

/** @param ids those of the attempts of the entry */
function makeEvidence(entry: Entry, ids: ReadonlySet<string>, fact: Fact): Evidence | undefined {
  switch (fact.kind) {
    case 'matched':
    case 'absent': {
      if (!fact.body.attempts.some((id) => ids.has(id))) return undefined;
      const { at, serverMs: serverAt, basis, candidates } = fact.body;
      const verdict = fact.kind === 'matched' ? 'found' : 'absent';
      const reason = parseStoredMessage(fact.body.reason);
      return { at, serverAt, verdict, basis, candidates, reason };
    }
    case 'decided': {
      const { at, answer, identCely, rejects, intent } = fact.body;
      if (answer === 'detach' || (entry.kind !== 'import' && intent !== entry.intent))
        return undefined;
      const candidates = identCely === null ? rejects.map(({ name }) => name) : [identCely];
      const reason = parseStoredMessage(fact.body.reason);
      return { at, serverAt: null, verdict: 'person', basis: answer, candidates, reason };
    }
    default:
      return undefined;
  }
}

type Answer =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend'; readonly rejects: readonly Candidate[] }
  | { readonly kind: 'abandon' };

/**
 * Records a person's decision about an entry, without a wish. The decision settles the attempts
 * that are open or of unknown outcome, except those of a dropped entry, and replaces each `abandon`
 * of this entry. `resend` also overrules the refusals of what the entry sends now.
 * @throws DatabaseError where a fact is damaged, or the disk fails
 */
export function recordDecision(
  outbox: Outbox,
  entry: Entry,
  answer: Answer,
  reason: Message,
): void {
  const { decisions, intents, verdicts } = getSlotState(outbox, entry);
  const { attempts = [] } = intents.get(entry.intent) ?? {};
  const refused = attempts.filter(({ id }) => verdicts.get(id)?.kind === 'refused');
  // An entry that was given up with an unknown outcome is uncertain again.
  const open = entry.state === 'dropped' ? [] : listUnsettledAttemptIds(outbox, entry);
  // An import has all versions of its find.
  const abandonments = decisions.filter(
    ({ body }) =>
      body.answer === 'abandon' && (entry.kind === 'import' || body.intent === entry.intent),
  );
  appendFacts(outbox, [
    makeDecisionFact(outbox, entry, {
      answer: answer.kind,
      attempts: answer.kind === 'resend' ? [...open, ...refused.map(({ id }) => id)] : open,
      identCely: answer.kind === 'created' ? answer.identCely : null,
      rejects: answer.kind === 'resend' ? answer.rejects : [],
      // A later answer takes back that the entry was given up.
      replaces: abandonments.map(({ id }) => id),
      reason,
    }),
  ]);
}

/**
 * Records that the service gave an entry's record to another find, so that it does not count here:
 * the attempts that got it are unknown again. Later evidence may name the record again.
 */
export function detachRecord(
  outbox: Outbox,
  entry: Entry,
  identCely: string,
  reason: Message,
): void {
  const facts = listFactsOfSlot(outbox, entry).filter(
    (fact) => getAcceptedRecord(fact) === identCely,
  );
  appendFacts(outbox, [
    makeDecisionFact(outbox, entry, {
      answer: 'detach',
      attempts: [...new Set(facts.flatMap(listNamedAttempts))],
      identCely,
      rejects: [],
      replaces: facts.map(({ id }) => id),
      reason,
    }),
  ]);
}

/**
 * Detaches a record, as {@link detachRecord} does, from all finds whose import is accepted with it,
 * where they are two or more, and from their accepted numbers and photographs: a person or later
 * evidence tells whose it is.
 * @returns the imports that lost the record, as they were before; empty where fewer than two had it
 */
export function detachSharedRecord(outbox: Outbox, identCely: string): Entry[] {
  const accepted = listEntriesOfRecord(outbox, identCely).filter(
    ({ subject, state }) => parseRecordSubject(subject) === undefined && state === 'accepted',
  );
  const claims = accepted.filter(({ kind }) => kind === 'import');
  if (claims.length < 2) return [];
  const names = claims.map(({ find }) => find).join(', ');
  const reason = msg`the service gave the record ${identCely} to several finds (${names}): one may have been deleted, or lost when the service was restored from a backup`;
  for (const entry of accepted) detachRecord(outbox, entry, identCely, reason);
  return claims;
}

type NewDecision = Omit<DecidedBody, 'intent' | 'command' | 'at' | 'reason'> & {
  readonly reason: Message;
};

/**
 * Makes the fact of a decision about an intent, with the present time, and with the id of the
 * running command, which may be made here; with none for `detach`, which pas decides. Nothing is
 * stored.
 */
export function makeDecisionFact(
  outbox: Outbox,
  { subject, slot, intent }: Slot & Pick<DecidedBody, 'intent'>,
  { reason, ...decision }: NewDecision,
): NewFact {
  return {
    kind: 'decided',
    subject,
    slot,
    body: {
      ...decision,
      intent,
      command: decision.answer === 'detach' ? null : getOrMakeCommandId(outbox),
      at: outbox.clock.now(),
      reason: makeStoredMessage(reason),
    },
  };
}

/** Data of a request that are stored before its first byte is sent. */
export type AttemptRequest = Pick<
  AttemptedBody,
  'method' | 'path' | 'account' | 'fromMs' | 'sentByMs' | 'settleMs'
>;

/** An entry that is being sent, and its attempt. */
export type Claim = { readonly entry: Entry; readonly attempt: string };

/**
 * Records an attempt of a queued entry, first in the ledger and then in the outbox; both are on
 * disk when this returns. After an error the ledger gets the answer that nothing was sent.
 * @param id row of the entry
 * @param makeRequest called with the entry as it is now; undefined if it must not be sent now
 * @returns the attempt, and the entry to send, which may have changed since the caller read it;
 * undefined where `makeRequest` returned that, or the entry is gone or no longer ready, since
 * another process changed it
 * @throws DatabaseError where ledger or outbox cannot be written, or a fact is damaged; ConfigError
 * where another place has taken the outbox over: then nothing is sent
 */
export function claimQueuedEntry(
  outbox: Outbox,
  id: number,
  makeRequest: (entry: Entry) => AttemptRequest | undefined,
): Claim | undefined {
  const ledger = requireLedger(outbox);
  let made: Fact | undefined;
  try {
    return outbox.change(() => {
      assertOwnPlace(outbox, ledger.id);
      const entry = findClaimable(outbox, id);
      const departure = entry && makeRequest(entry);
      if (entry === undefined || departure === undefined) return undefined;
      const { subject, slot } = entry;
      const body = makeAttemptedBody(outbox, entry, departure);
      made = makeFact({ kind: 'attempted', subject, slot, body });
      appendToLedgerFirst(outbox, made);
      const claimed = findEntryById(outbox, id);
      if (claimed === undefined) throw makeDamagedError(outbox.path, `entry ${id}`);
      return { entry: claimed, attempt: made.id };
    });
  } catch (thrown) {
    // The ledger may have the attempt and the outbox not: nothing was sent.
    if (made !== undefined) recordNotSent(outbox, made);
    throw thrown;
  }
}

/**
 * Appends an attempt or an answer: it is on disk in the ledger first, where it stays true even if
 * the outbox's transaction is rolled back.
 */
function appendToLedgerFirst(outbox: Outbox, fact: NewFact): void {
  const own = findLedgerOfAccount(outbox);
  own?.ledger.append(own.scope, [makeFactRow(fact)]);
  appendFacts(outbox, [fact], own !== undefined);
}

/**
 * Makes an entry again from its facts, of which its row is only a copy.
 * @returns undefined where it must wait, or there is none
 * @throws DatabaseError where facts are hidden by a damaged index: it may have been sent
 */
function findClaimable(outbox: Outbox, id: number): Entry | undefined {
  const cached = findEntryById(outbox, id);
  if (cached === undefined) return undefined;
  rebuildEntries(outbox, cached.subject);
  const entry = findEntryById(outbox, id);
  if (entry === undefined || entry.attempts < cached.attempts)
    throw makeDamagedError(outbox.path, `entry ${id}`);
  const isReady =
    entry.state === 'queued' &&
    entry.held === null &&
    (entry.kind === 'import' || entry.identCely !== null) &&
    getSlotState(outbox, entry).wanted.kind === 'one';
  return isReady ? entry : undefined;
}

/** Records in the ledger alone that an attempt was not sent; the outbox does not have it. */
function recordNotSent(outbox: Outbox, { id, subject, slot }: Fact): void {
  const own = findLedgerOfAccount(outbox);
  if (own === undefined) return;
  const answer = makeAnswer(
    outbox,
    id,
    { state: 'queued', reason: msg`it was not sent`, notBeforeAt: 0 },
    { outcome: 'not-sent' },
  );
  try {
    own.ledger.append(own.scope, [makeFactRow({ kind: 'answered', subject, slot, body: answer })]);
  } catch {
    // Safe to ignore: the next push looks the attempt up.
  }
}

/** @throws ConfigError where another place has taken this outbox over since the push began */
function assertOwnPlace(outbox: Outbox, ledger: string): void {
  if (readHeader(outbox).ledger === ledger) return;
  throw new ConfigError(
    msg`${outbox.path} has been taken over by another place. Nothing more is sent from here.`,
    { hint: msg`\`${cmd`pas doctor`}\` says where it belongs.` },
  );
}

function makeAttemptedBody(outbox: Outbox, entry: Entry, departure: AttemptRequest): AttemptedBody {
  const { wanted, heads, decisions } = getSlotState(outbox, entry);
  const [wish] = wanted.wishes;
  if (wish === undefined) throw makeDamagedError(outbox.path, `entry ${entry.id}`);
  const { fromMs, sentByMs } = departure;
  const stored = findStoredIntent(outbox, entry.subject, entry.intent);
  if (stored === undefined) throw makeDamagedError(outbox.path, entry.intent);
  return {
    ...departure,
    intent: entry.intent,
    current: wish.id,
    basis: [...heads, ...decisions.map(({ id }) => id)],
    at: outbox.clock.now(),
    fromMs: fromMs === null ? null : asServerMs(Math.floor(fromMs)),
    sentByMs: sentByMs === null ? null : asServerMs(Math.ceil(sentByMs)),
    target: entry.kind === 'import' ? null : entry.identCely,
    localId: entry.localId,
    content: packAttemptContent({
      intent: stored.content,
      current: JSON.stringify(wish.body),
      document: stored.document?.toString('utf8') ?? null,
    }),
    nonce: randomUUID(),
  };
}

/**
 * Consequence of an attempt for its entry. `notBeforeAt` is by this machine's clock, in
 * milliseconds.
 */
export type AttemptSettlement =
  | { readonly state: 'accepted'; readonly identCely: string; readonly reason?: Message }
  | { readonly state: 'refused'; readonly reason: Message; readonly issues: readonly Issue[] }
  | { readonly state: 'queued'; readonly reason: Message; readonly notBeforeAt: number }
  | { readonly state: 'uncertain'; readonly reason: Message };

/** The end of a request as it is known, with or without an answer. */
export type AnswerDetails = Pick<AnsweredBody, 'outcome'> & {
  readonly status?: number | undefined;
  /** Date header of the answer. */
  readonly serverDateAt?: ServerMs | undefined;
  /** Server time at the end of the attempt, where it is known. */
  readonly endedAt?: ServerMs | undefined;
};

/**
 * Records the end of an attempt, with or without an answer: first in the ledger, where it is on
 * disk at once, then in the outbox, where it is with the end of the caller's transaction, if one is
 * open.
 * @throws DatabaseError where one of them cannot be written
 */
export function recordAnswer(
  outbox: Outbox,
  { entry, attempt }: Claim,
  settlement: AttemptSettlement,
  answer: AnswerDetails,
): void {
  const { subject, slot } = entry;
  const body = makeAnswer(outbox, attempt, settlement, answer);
  appendToLedgerFirst(outbox, { kind: 'answered', subject, slot, body });
}

function makeAnswer(
  { clock }: Outbox,
  attempt: string,
  settlement: AttemptSettlement,
  { outcome, status, serverDateAt, endedAt }: AnswerDetails,
): AnsweredBody {
  return {
    attempt,
    outcome,
    settles: settlement.state,
    at: clock.now(),
    status: status ?? null,
    identCely: settlement.state === 'accepted' ? settlement.identCely : null,
    serverDateMs: serverDateAt ?? null,
    endedMs: endedAt ?? serverDateAt ?? null,
    notBeforeAt: settlement.state === 'queued' ? settlement.notBeforeAt : 0,
    reason: settlement.reason === undefined ? null : makeStoredMessage(settlement.reason),
    issues: settlement.state === 'refused' ? serializeIssues(settlement.issues) : null,
  };
}

/**
 * Records an unknown outcome for each open attempt of the entries that are `sending`. The caller
 * holds the push lock, so no process can be waiting for an answer.
 * @returns those entries as they are after it
 */
export function recordOrphanedAttempts(outbox: Outbox): Entry[] {
  const reason = msg`pas stopped while the request was in progress, so it is unknown whether the service received it`;
  return outbox.change(() =>
    listEntriesInState(outbox, 'sending').flatMap((entry) => {
      for (const [attempt, { kind }] of getSlotState(outbox, entry).verdicts)
        if (kind === 'open')
          recordAnswer(
            outbox,
            { entry, attempt },
            { state: 'uncertain', reason },
            { outcome: 'orphaned' },
          );
      return findEntryById(outbox, entry.id) ?? [];
    }),
  );
}
