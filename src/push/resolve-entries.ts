import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { type ElementName, FIELDS } from '../finds/fields.ts';
import {
  formatWithIdentifier,
  type HarvestedFind,
  listDifferingElements,
} from '../finds/harvested-find.ts';
import { fetchFindRecord, type RecordSource } from '../harvest/pull-finds.ts';
import { storeQuestionsAboutChangedFinds } from '../outbox/alike-finds.ts';
import { getSlotState } from '../outbox/append-facts.ts';
import { listEvidence, recordDecision, recordOrphanedAttempts } from '../outbox/attempts.ts';
import { requeueEntry } from '../outbox/changes/enqueue-change.ts';
import { assertNoRowQuestion } from '../outbox/changes/remove-finds.ts';
import { findSubject } from '../outbox/changes/resolve-finds.ts';
import {
  type Entry,
  type EntryState,
  type ImportEntry,
  isAboutRow,
  isAnswerable,
} from '../outbox/entry.ts';
import {
  findEntryById,
  findImportOfRecord,
  listEntriesOfSubject,
  storeQuestion,
} from '../outbox/entry-queries.ts';
import { isIntentWanted } from '../outbox/fold.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { KIND_WORDS } from '../outbox/views/entry-words.ts';
import { restoreWish, withdrawWish } from '../outbox/wishes.ts';
import { findCreationEvent, getAttemptWindow, getSentElements } from './judge-import.ts';

/** A person's word on an entry: its record, that it is to be sent, or that it is not. */
export type PersonDecision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

type DecisionKind = PersonDecision['kind'];

const DECISION_KINDS: readonly DecisionKind[] = ['created', 'resend', 'drop'];

/** `held`: a queued entry with an open question. */
type Decidable = EntryState | 'held';

/**
 * States to which each decision applies: the entries in the first of these states that the record
 * has.
 */
const DECIDES: Readonly<Record<DecisionKind, readonly Decidable[]>> = {
  created: ['uncertain', 'held'],
  resend: ['uncertain', 'held', 'refused', 'dropped'],
  drop: ['uncertain', 'held', 'refused', 'queued', 'draft'],
};

/**
 * Settles uncertain or held entries of a find or record by a person's decision, all of them or
 * none. Refused entries can be resent or dropped as well, queued ones and drafts dropped, and
 * dropped ones resent.
 * @param find as a person names it
 * @param entryId row of the only entry to settle; undefined for all to which the decision applies
 * @param isLocked the caller holds the push lock: attempts without an answer are recorded as
 * orphaned
 * @param asked entry about which the person was asked; undefined where nothing was asked
 * @returns the settled entries, as they were before
 * @throws UsageError for an unknown or ambiguous name, where there is nothing to decide, or the
 * decision no longer applies to `asked`, where it names a record that cannot be the entry's, and
 * where a find would be dropped about which a row of a table is asked
 */
export function resolveEntries(
  outbox: Outbox,
  find: string,
  decision: PersonDecision,
  entryId: number | undefined,
  isLocked: boolean,
  asked?: Entry,
): Entry[] {
  if (isLocked) recordOrphanedAttempts(outbox);
  const settled = outbox.change(() => settleAs(outbox, find, decision, entryId, asked));
  // It may be like a find that came while it was dropped.
  if (settled.some(({ kind, state }) => kind === 'import' && state === 'dropped'))
    storeQuestionsAboutChangedFinds(outbox);
  return settled;
}

function settleAs(
  outbox: Outbox,
  find: string,
  decision: PersonDecision,
  entryId: number | undefined,
  asked: Entry | undefined,
): Entry[] {
  const entries = listDecidable(outbox, findSubject(outbox, find), decision.kind, entryId);
  if (entries.length === 0) throw makeNothingToDecideError(find, entryId);
  if (asked !== undefined && !entries.some(({ id }) => id === asked.id))
    throw new UsageError(msg`The find changed while you were asked. Nothing was decided.`, {
      hint: STATUS_HINT,
    });
  if (decision.kind === 'created') {
    const [problem] = entries.flatMap(
      (entry) => findRecordProblem(outbox, entry, decision.identCely) ?? [],
    );
    if (problem !== undefined) throw problem;
  }
  for (const entry of entries) decideEntry(outbox, entry, decision);
  return entries;
}

const STATUS_HINT = msg`\`${cmd`pas status`}\` lists what needs your attention, with the command for it.`;

function makeNothingToDecideError(find: string, entryId: number | undefined): UsageError {
  const nothing = msg`Nothing of ${find} waits for a decision.`;
  const message =
    entryId === undefined ? nothing : msg`${nothing} Only the entry ${entryId} was requested.`;
  return new UsageError(message, { hint: STATUS_HINT });
}

function decideEntry(outbox: Outbox, entry: Entry, decision: PersonDecision): void {
  switch (decision.kind) {
    case 'created': {
      const { identCely } = decision;
      const reason = msg`a person decided: created as ${identCely}`;
      recordDecision(outbox, entry, { kind: 'created', identCely }, reason);
      restoreWish(outbox, entry);
      return;
    }
    case 'resend': {
      requeueEntry(outbox, entry, msg`a person decided: send`, entry.held?.candidates);
      const now = findEntryById(outbox, entry.id);
      if (now !== undefined && maySend(now)) storeQuestion(outbox, entry.id, null);
      return;
    }
    case 'drop':
      if (entry.kind === 'import') assertNoRowQuestion(outbox, entry.subject);
      recordDecision(outbox, entry, { kind: 'abandon' }, msg`dropped by a person`);
      // Another number may be wanted since.
      if (isIntentWanted(getSlotState(outbox, entry).wanted, entry, entry.intent))
        withdrawWish(outbox, entry, 'dropped');
  }
}

/** Tells if the entry has a question that sending it answers: one about a row stays. */
function maySend({ held }: Entry): boolean {
  return held !== null && isAnswerable({ held }) && !isAboutRow(held);
}

/**
 * Answers the questions of held entries with `resend`, as a person said for all of them. A question
 * about a row or about two versions stays, and so does one that has changed since it was read.
 * @param held the entries as they were read
 */
export function answerHeldEntriesWithSend(outbox: Outbox, held: readonly Entry[]): void {
  outbox.change(() => {
    for (const { id, held: asked } of held) {
      const entry = findEntryById(outbox, id);
      if (entry?.state !== 'queued' || !maySend(entry)) continue;
      if (isDeepStrictEqual(entry.held, asked)) decideEntry(outbox, entry, { kind: 'resend' });
    }
  });
}

/** Possible decisions about a record, and the records from the last lookup or the open question. */
export type OpenDecision = {
  readonly entry: Entry;
  readonly kinds: readonly DecisionKind[];
  readonly candidates: readonly string[];
};

/**
 * Returns the decisions that a person can make about the first entry of a find or record that needs
 * one, with the records to choose from.
 * @param entryId row of the only entry that counts; undefined for any
 * @throws UsageError for an unknown or ambiguous name, or where there is nothing to decide
 */
export function getOpenDecision(
  outbox: Outbox,
  find: string,
  entryId: number | undefined,
): OpenDecision {
  const subject = findSubject(outbox, find);
  const open = DECISION_KINDS.flatMap((kind) =>
    listDecidable(outbox, subject, kind, entryId)
      .slice(0, 1)
      .map((entry) => ({ kind, entry })),
  );
  const [first] = open;
  if (first === undefined) throw makeNothingToDecideError(find, entryId);
  const { entry } = first;
  const asked = entry.held?.candidates.map(({ name }) => name);
  const names = asked ?? listEvidence(outbox, entry).at(-1)?.candidates ?? [];
  return {
    entry,
    kinds: open.filter((each) => each.entry.id === entry.id).map(({ kind }) => kind),
    candidates:
      entry.kind === 'import'
        ? names.filter((ident) => findRecordProblem(outbox, entry, ident) === undefined)
        : [entry.identCely].filter((ident) => ident !== null),
  };
}

/**
 * Returns the entries to which a decision applies: those in the first of its states in which there
 * is any; empty where it applies to none.
 */
function listDecidable(
  outbox: Outbox,
  subject: string,
  kind: DecisionKind,
  entryId: number | undefined,
): Entry[] {
  const all = listEntriesOfSubject(outbox, subject).filter(
    (entry) =>
      (entryId === undefined || entry.id === entryId) &&
      (kind === 'drop' || isAnswerable(entry)) &&
      (kind !== 'created' || mayBeInRecord(entry)),
  );
  const groups = DECIDES[kind].map((state) => all.filter((entry) => isInState(entry, state)));
  const group = groups.find((each) => each.length > 0) ?? [];
  // Photographs and numbers of an uncertain find have no record yet, so there is nothing to decide
  // about them.
  const decided = group.filter(
    (entry) => entry.kind === 'import' || entry.identCely !== null || entry.state !== 'uncertain',
  );
  const [importEntry] = group.filter((entry) => entry.kind === 'import');
  // Dependents of a dropped find stay, in case it is restored.
  if (kind === 'drop' && importEntry?.state === 'queued') return [importEntry];
  return decided.length > 0 ? decided : group;
}

/**
 * Tells if a person may find the entry in the service: not a number or photograph that waits for an
 * answer, unless the record has a file that may be it.
 */
function mayBeInRecord({ kind, state, held }: Entry): boolean {
  return kind === 'import' || state === 'uncertain' || held?.basis === 'equal-photograph';
}

function isInState(entry: Entry, state: Decidable): boolean {
  if (state === 'held') return entry.state === 'queued' && entry.held !== null;
  return entry.state === state;
}

/** An element as sent and as in the record; null where it is absent. */
type Compared = {
  readonly element: ElementName;
  readonly sent: string | null;
  readonly now: string | null;
  readonly differs: boolean;
};

/**
 * Returns the error that tells why a record cannot be an entry's; undefined where it can. The
 * record of a find here is no other find's: one of the two would never be sent.
 */
export function findRecordProblem(
  outbox: Outbox,
  entry: Entry,
  identCely: string,
): UsageError | undefined {
  if (entry.kind !== 'import') {
    if (entry.identCely === identCely) return undefined;
    const kind = KIND_WORDS[entry.kind];
    const ownIdent = entry.identCely ?? '';
    return new UsageError(msg`The ${kind} was sent to ${ownIdent}, not to ${identCely}.`, {
      hint: msg`If ${ownIdent} has it, specify that identifier.`,
    });
  }
  const owner = findImportOfRecord(outbox, identCely);
  if (owner === undefined) return findFormProblem(entry, identCely);
  const { find } = entry;
  const other = owner.find;
  return new UsageError(msg`${identCely} is already the record of ${other}.`, {
    hint: msg`\`${cmd`pas show ${other}`}\` shows the find of that record. If ${find} has its own record, specify that identifier; if both are one find, drop this one: ${cmd`pas resolve ${find} --drop`}`,
  });
}

/**
 * The service derives identifiers of finds from the project; a find of a temporary project (`X-`)
 * may be renamed later.
 */
function findFormProblem({ project }: ImportEntry, identCely: string): UsageError | undefined {
  const [, ofProject] = /^(.+)-N\d{5,}$/.exec(identCely) ?? [];
  if (
    ofProject !== undefined &&
    (project === null || project.startsWith('X-') || ofProject === project)
  )
    return undefined;
  const form = `${project ?? 'C-202400101'}-N00042`;
  return new UsageError(
    ofProject === undefined || project === null
      ? msg`${identCely} is not an identifier of a find.`
      : msg`${identCely} is a find of another project: this one was sent to ${project}.`,
    { hint: msg`The service shows it with the record, in the form ${form}.` },
  );
}

type RecordComparison = {
  /** Empty where the service does not show the record to this account. */
  readonly compared: readonly Compared[];
  /** Reasons against the record; empty where everything fits. */
  readonly doubts: readonly Message[];
};

/**
 * Requests a record that a person assigns to an import, and compares it with what was sent.
 * @returns undefined where the service has no such record, or it was deleted
 * @throws as {@link fetchFindRecord}
 */
export async function fetchRecordComparison(
  outbox: Outbox,
  source: RecordSource,
  entry: ImportEntry,
  identCely: string,
): Promise<RecordComparison | undefined> {
  const listed = await fetchFindRecord(source, identCely);
  if (listed.kind === 'missing' || listed.kind === 'deleted') return undefined;
  if (listed.kind !== 'shown')
    return {
      compared: [],
      doubts: [msg`The service has ${identCely}, but does not show it to this account.`],
    };
  const compared = compare(outbox, entry, listed.record);
  return { compared, doubts: listDoubts(outbox, entry, listed.record, compared) };
}

function listDoubts(
  outbox: Outbox,
  entry: ImportEntry,
  find: HarvestedFind,
  compared: readonly Compared[],
): Message[] {
  const doubts: Message[] = [];
  const maker = findOtherMaker(outbox, entry, find);
  if (maker !== undefined)
    doubts.push(msg`It was created by the account ${maker}, which did not send this find.`);
  const differing = compared
    .filter(({ differs }) => differs)
    .map(({ element }) => element)
    .join(', ');
  if (differing !== '') doubts.push(msg`It differs in ${differing}.`);
  return doubts;
}

function compare(outbox: Outbox, entry: ImportEntry, find: HarvestedFind): Compared[] {
  const sent = getSentElements(outbox, entry) ?? {};
  const differing = new Set<string>(listDifferingElements(sent, find));
  return FIELDS.map(({ name }) => ({
    element: name,
    sent: formatWithIdentifier(sent[name]),
    now: formatWithIdentifier(find.elements[name]),
    differs: differing.has(name),
  })).filter((each) => each.sent !== null || each.now !== null);
}

/** Returns the account that made the record, where only other accounts sent this find. */
function findOtherMaker(
  outbox: Outbox,
  entry: ImportEntry,
  find: HarvestedFind,
): string | undefined {
  const { accounts } = getAttemptWindow(outbox, entry);
  const maker = findCreationEvent(find)?.user ?? '';
  return maker === '' || accounts.size === 0 || accounts.has(maker) ? undefined : maker;
}
