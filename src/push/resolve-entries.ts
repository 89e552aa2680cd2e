import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import {
  decide,
  foldEntry,
  getSlotOf,
  listEvidence,
  recoverOpenAttempts,
} from '../outbox/attempts.ts';
import { findSubject } from '../outbox/changes/resolve-finds.ts';
import { type Entry, type EntryState, isAboutRow, isAnswerable } from '../outbox/entry.ts';
import {
  findEntryById,
  getProject,
  isDropped,
  listEntriesOfSubject,
  listHeldEntries,
  storeQuestion,
} from '../outbox/entry-queries.ts';
import type { Rejected } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { rewant, unwant } from '../outbox/wishes.ts';
import { findRecordProblem } from './unexplained-records.ts';

export type Decision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

type DecisionKind = Decision['kind'];

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

const NOTHING_TO_DECIDE: Readonly<Record<DecisionKind, Message>> = {
  created: msg`Nothing here is uncertain or held.`,
  resend: msg`Nothing here is uncertain, held, refused or dropped.`,
  drop: msg`Nothing here is open: uncertain, held, refused, queued or a draft.`,
};

/**
 * Settles a record's uncertain or held entries by a person's decision. Refused entries can be
 * resent or dropped as well, and a dropped find can be restored.
 * @param find as a user names it
 * @param entryId only this entry; otherwise all to which the decision applies
 * @param isLocked the push lock is held, so no attempt without an answer is under way
 * @param asked entry that a person was asked about: it may have been settled meanwhile, and the
 * answer applies to no other one
 * @returns the settled entries; where the find is dropped, also the number of numbers and
 * photographs that wait for it
 * @throws UsageError when there is nothing to decide, or the identifier is another find's
 */
export function resolveEntries(
  outbox: Outbox,
  find: string,
  decision: Decision,
  entryId: number | undefined,
  isLocked: boolean,
  asked?: Entry,
) {
  if (isLocked) recoverOpenAttempts(outbox);
  const subject = findSubject(outbox, find);
  const settled = outbox.change(() => settleAs(outbox, subject, decision, entryId, asked));
  const waiting = decision.kind === 'drop' ? countDependents(outbox, subject) : undefined;
  return { settled, waiting };
}

function settleAs(
  outbox: Outbox,
  subject: string,
  decision: Decision,
  entryId: number | undefined,
  asked: Entry | undefined,
): Entry[] {
  const entries = listDecidable(outbox, subject, decision.kind, entryId);
  if (entries.length === 0)
    throw makeNothingToDecideError(NOTHING_TO_DECIDE[decision.kind], entryId);
  if (asked !== undefined && !entries.some(({ id }) => id === asked.id))
    throw makeNothingToDecideError(
      msg`The find changed while you were asked. Nothing was decided.`,
      undefined,
    );
  if (decision.kind === 'created') {
    const [problem] = entries.flatMap(
      (entry) => findRecordProblem(outbox, entry, decision.identCely) ?? [],
    );
    if (problem !== undefined) throw problem;
  }
  for (const entry of entries) decideEntry(outbox, entry, decision);
  return entries;
}

function makeNothingToDecideError(nothing: Message, entryId: number | undefined): UsageError {
  const message =
    entryId === undefined ? nothing : msg`${nothing} Only the entry ${entryId} was requested.`;
  return new UsageError(message, {
    hint: msg`\`${cmd`pas status`}\` lists what needs your attention, with the command for it.`,
  });
}

function decideEntry(outbox: Outbox, entry: Entry, decision: Decision): void {
  const slot = getSlotOf(outbox, entry);
  switch (decision.kind) {
    case 'created': {
      const { identCely } = decision;
      const reason = msg`a person decided: created as ${identCely}`;
      decide(outbox, entry, { kind: 'created', identCely }, reason);
      if (entry.state === 'dropped') rewant(outbox, entry.subject, slot);
      return;
    }
    case 'resend': {
      const { candidates = [], near = [], basis } = entry.held ?? {};
      const project = basis === 'hidden-records' && entry.kind === 'import' ? entry.project : null;
      const excluded = project === null ? candidates : [...candidates, project];
      const rejects = excluded.map((candidate): Rejected => {
        const matched = near.includes(candidate) ? 'near' : 'same';
        return { candidate, matched };
      });
      decide(outbox, entry, { kind: 'resend', rejects }, msg`a person decided: send`);
      if (entry.state === 'dropped') rewant(outbox, entry.subject, slot);
      const now = findEntryById(outbox, entry.id);
      if (now?.held != null && isAnswerable(now) && !isAboutRow(now.held))
        storeQuestion(outbox, entry.id, null);
      if (project !== null) releaseProject(outbox, project);
      return;
    }
    case 'drop':
      decide(outbox, entry, { kind: 'abandon' }, msg`dropped by a person`);
      // Another number may be wanted since.
      if (isWanted(outbox, entry)) unwant(outbox, entry.subject, slot, false);
  }
}

function isWanted(outbox: Outbox, entry: Entry): boolean {
  const { wanted } = foldEntry(outbox, entry);
  return wanted.kind === 'disputed' || (wanted.kind === 'one' && wanted.intent === entry.intent);
}

/** The answer about a project's hidden records applies to all of its finds. */
function releaseProject(outbox: Outbox, project: string): void {
  for (const entry of listHeldEntries(outbox))
    if (entry.held?.basis === 'hidden-records' && getProject(entry) === project)
      storeQuestion(outbox, entry.id, null);
}

/** Releases the entries of these that are still held for the same question, as the user said. */
export function sendHeld(outbox: Outbox, held: readonly Entry[]): void {
  outbox.change(() => {
    for (const { id, held: asked } of held) {
      const entry = findEntryById(outbox, id);
      if (entry?.state === 'queued' && isDeepStrictEqual(entry.held, asked))
        decideEntry(outbox, entry, { kind: 'resend' });
    }
  });
}

/** Possible decisions about a record, and the records from the last lookup or the open question. */
export type OpenDecision = {
  readonly entry: Entry;
  readonly kinds: readonly DecisionKind[];
  readonly candidates: readonly string[];
};

/** @throws UsageError where there is nothing to decide */
export function openDecision(
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
  if (first === undefined)
    throw makeNothingToDecideError(msg`Nothing here waits for a decision.`, entryId);
  const { entry } = first;
  const names = entry.held?.candidates ?? listEvidence(outbox, entry).at(-1)?.candidates ?? [];
  return {
    entry,
    kinds: open.filter((each) => each.entry.id === entry.id).map(({ kind }) => kind),
    candidates:
      entry.kind === 'import'
        ? names.filter((ident) => findRecordProblem(outbox, entry, ident) === undefined)
        : [entry.identCely].filter((ident) => ident !== null),
  };
}

function listDecidable(
  outbox: Outbox,
  subject: string,
  kind: Decision['kind'],
  entryId: number | undefined,
): Entry[] {
  const all = listEntriesOfSubject(outbox, subject).filter(
    (entry) =>
      (entryId === undefined || entry.id === entryId) && (kind === 'drop' || isAnswerable(entry)),
  );
  const groups = DECIDES[kind].map((state) => all.filter((entry) => isIn(entry, state)));
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

function isIn(entry: Entry, state: Decidable): boolean {
  if (state === 'held') return entry.state === 'queued' && entry.held !== null;
  return entry.state === state;
}

function countDependents(outbox: Outbox, subject: string): number | undefined {
  if (!isDropped(outbox, subject)) return undefined;
  return listEntriesOfSubject(outbox, subject).filter(
    ({ kind, state }) => kind !== 'import' && state === 'queued',
  ).length;
}
