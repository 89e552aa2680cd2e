import { groupBy } from '../../base/collections.ts';
import { createRowParser, isText } from '../../base/disk/database.ts';
import { msg } from '../../base/message.ts';
import type { FindElements } from '../../finds/fields.ts';
import { storeQuestionsAboutAlikeFinds } from '../alike-finds.ts';
import { appendFacts, getSlotState, listFactsOfSubject } from '../append-facts.ts';
import { makeDecisionFact } from '../attempts.ts';
import {
  type CurrentBody,
  type Fact,
  type FactOf,
  LAST_COMMANDS,
  listFactsOfKind,
  type NewFact,
  type Slot,
  selectFacts,
  unpackAttempt,
} from '../facts.ts';
import { foldSlot, mayBeAtService, type SlotState } from '../fold.ts';
import { findUnverifiedIntent, isImportSlot } from '../intents.ts';
import {
  getOrMakeCommandId,
  makeUndoWords,
  type Outbox,
  parseCommandId,
  splitIntoBatches,
  updateHeader,
} from '../open-outbox.ts';
import { getSubjectName, isRemoved } from '../stored-finds.ts';
import { resolveClashesAfterUndo } from '../unite.ts';

/** A command that changed something; `at` is in milliseconds since 1970 UTC. */
type LoggedCommand = {
  readonly id: string;
  /** As its facts have it: with its words. */
  readonly command: string;
  readonly words: string;
  readonly at: number;
  /** Id of the command that it took back. */
  readonly undoes?: string | undefined;
  readonly isUndone: boolean;
};

/** Returns the last 50 commands that changed something, newest first, also undos. */
export function listLastCommands({ listTexts }: Outbox): LoggedCommand[] {
  const commands = listTexts(LAST_COMMANDS).map((command) => ({
    id: command.split(' ').at(-1) ?? '',
    command,
    ...parseCommandId(command),
  }));
  const undone = new Set<string>();
  // An undo that was undone itself takes nothing back; newer ones come first.
  for (const { id, undoes } of commands)
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes);
  return commands.map((each) => ({ ...each, isUndone: undone.has(each.id) }));
}

/**
 * Returns the commands of {@link listLastCommands} as `--json` prints them, each with its finds:
 * their elements before and after it, null where there were none or their content was deleted.
 */
export function listCommandLog(outbox: Outbox) {
  return listLastCommands(outbox).map((command) => ({
    id: command.id,
    at: new Date(command.at).toISOString(),
    command: command.words,
    undone: command.isUndone,
    finds: listChanges(outbox, command),
  }));
}

/** Each find or record once; the elements where the command changed them. */
function listChanges(outbox: Outbox, { command }: LoggedCommand) {
  const facts = selectFacts(outbox, 'command = ? order by seq', command);
  return [...groupBy(facts, ({ subject }) => subject)].map(([subject, own]) => {
    const wish = listFactsOfKind(own, 'current').find(({ slot }) => isImportSlot(slot));
    const before = wish?.body.replaces.map((id) => findElementsOfFact(outbox, subject, id));
    return {
      local_id: wish?.body.find?.localId ?? getSubjectName(outbox, subject),
      before: before?.find((elements) => elements !== null) ?? null,
      after: findElements(outbox, subject, wish?.body.intent ?? null),
    };
  });
}

function findElementsOfFact(outbox: Outbox, subject: string, id: string): FindElements | null {
  const [fact] = selectFacts(outbox, 'subject = ? and id = ?', subject, id);
  return fact?.kind === 'current' || fact?.kind === 'attempted'
    ? findElements(outbox, subject, fact.body.intent)
    : null;
}

function findElements(outbox: Outbox, subject: string, intent: string | null): FindElements | null {
  const stored =
    intent === null ? undefined : findUnverifiedIntent(outbox, subject, intent)?.intent;
  return stored?.kind === 'import' ? stored.elements : null;
}

const parseSlot = createRowParser({ subject: isText, slot: isText });

/** Returns what a command changed: numbers and photographs come after their find. */
function listSlotsOfCommand({ sql }: Outbox, command: string): Slot[] {
  return sql(
    'select subject, slot from facts where command = ? group by subject, slot order by min(seq)',
  )
    .all(command)
    .map(parseSlot);
}

/**
 * Returns the subjects that were changed by commands which `other` lacks, where something else is
 * wanted or decided than in `other`.
 */
export function listSubjectsWithUnknownChanges(outbox: Outbox, other: Outbox): string[] {
  const known = new Set(listCommandNames(other));
  const slots = listCommandNames(outbox)
    .filter((command) => !known.has(command))
    .flatMap((command) => listSlotsOfCommand(outbox, command));
  const ahead = slots.filter((slot) => getWill(outbox, slot) !== getWill(other, slot));
  return [...new Set(ahead.map(({ subject }) => subject))];
}

/** Returns what is wanted and decided for a slot as a text that two copies can compare. */
function getWill(outbox: Outbox, slot: Slot): string {
  const { wanted, decisions } = getSlotState(outbox, slot);
  const decided = decisions.filter(({ body }) => body.answer !== 'undo').map(({ id }) => id);
  return JSON.stringify([wanted.kind, wanted.intents, decided]);
}

function listCommandNames({ listTexts }: Outbox): string[] {
  return listTexts('select distinct command from facts where command is not null');
}

type UndoResult = {
  readonly command: LoggedCommand;
  /** Number of the finds and records of which something was taken back. */
  readonly finds: number;
  /** Names of finds and records of which something stays, each once. */
  readonly kept: ReadonlySet<string>;
};

/**
 * Takes back what a command wanted and decided, by appending what was wanted before; the running
 * command becomes this undo. The undo of an undo is a redo. What was attempted since, or changed by
 * a later command, stays. Finds that are wanted again and are like others get questions. After an
 * error or an interruption, the next plain undo goes on.
 * @param id of the command; undefined for that of {@link findCommandToUndo}
 * @param onProgress called after each transaction
 * @returns undefined where there is no such command
 * @throws DatabaseError where a fact is damaged, or the disk fails
 */
export function undoCommand(
  outbox: Outbox,
  id?: string,
  onProgress: (doneCount: number, total: number) => void = () => {},
): UndoResult | undefined {
  const command =
    id === undefined
      ? findCommandToUndo(outbox)
      : listLastCommands(outbox).find((each) => each.id === id);
  if (command === undefined) return undefined;
  outbox.command.words = makeUndoWords(command.id);
  const parts = listParts(outbox, command);
  const tally: UndoTally = { returned: new Set(), undone: new Set(), kept: new Set() };
  let doneCount = 0;
  for (const batch of splitIntoBatches(parts)) {
    doneCount += batch.length;
    outbox.change(() => {
      for (const part of batch) undoPart(outbox, command, part, tally);
      // With the last of them: an undo that is interrupted before is continued, and settles all.
      if (doneCount === parts.length) resolveClashesAfterUndo(outbox, tally.returned);
    });
    onProgress(doneCount, parts.length);
  }
  // A find that is wanted again, or an answer that is taken back, may leave a question open.
  storeQuestionsAboutAlikeFinds(outbox, ({ uuid }) => tally.returned.has(uuid));
  return { command, finds: tally.undone.size, kept: tally.kept };
}

type UndoTally = {
  /** Subjects of what was taken back, also by an interrupted undo before, which settled nothing. */
  readonly returned: Set<string>;
  /** Names of finds and records of which something was taken back now. */
  readonly undone: Set<string>;
  /** Names of those of which something stays. */
  readonly kept: Set<string>;
};

function undoPart(
  outbox: Outbox,
  { command }: LoggedCommand,
  part: readonly Slot[],
  { returned, undone, kept }: UndoTally,
): void {
  const plans = part.map((slot) => planUndo(outbox, command, slot));
  const isKept = plans.some((plan) => plan.isKept);
  if (!isKept) applyUndo(outbox, plans);
  for (const { subject } of part) {
    const name = getSubjectName(outbox, subject);
    if (isKept) kept.add(name);
    else returned.add(subject);
    if (!isKept && plans.some(takesBack)) undone.add(name);
  }
}

/**
 * Returns the command that a plain undo takes back: the one whose undo was interrupted, else the
 * last one that is neither undone nor an undo. Undefined where there is none.
 */
export function findCommandToUndo(outbox: Outbox): LoggedCommand | undefined {
  const commands = listLastCommands(outbox);
  const [last] = commands;
  const begun = commands.find(({ id }) => id === last?.undoes);
  return last !== undefined && begun !== undefined && hasMoreToUndo(outbox, begun, last)
    ? begun
    : commands.find(({ undoes, isUndone }) => undoes === undefined && !isUndone);
}

/** Tells if something can be taken back behind the last slot to which an undo came. */
function hasMoreToUndo(outbox: Outbox, command: LoggedCommand, undo: LoggedCommand): boolean {
  const done = new Set(listSlotsOfCommand(outbox, undo.command).map(({ slot }) => slot));
  const parts = listParts(outbox, command);
  const last = parts.findLastIndex((part) => part.some(({ slot }) => done.has(slot)));
  return parts.slice(last + 1).some((part) => {
    const plans = part.map((slot) => planUndo(outbox, command.command, slot));
    return !plans.some(({ isKept }) => isKept) && plans.some(takesBack);
  });
}

/**
 * Returns the slots that a command changed, in parts that are taken back as a whole or not at all:
 * an answer is all that the command did to the finds that it is about. Any other slot is a part of
 * its own.
 */
function listParts(outbox: Outbox, { command }: LoggedCommand): Slot[][] {
  const slots = listSlotsOfCommand(outbox, command);
  const answers = selectFacts(outbox, `command = ? and kind = 'decided'`, command);
  if (answers.length === 0) return slots.map((slot) => [slot]);
  const changed = new Set(slots.map(({ subject }) => subject));
  const groups = new Map<string, ReadonlySet<string>>();
  for (const { subject, body } of listFactsOfKind(answers, 'decided')) {
    const named = body.rejects.flatMap(({ uuid = '' }) => (changed.has(uuid) ? [uuid] : []));
    const group = new Set([subject, ...named].flatMap((each) => [...(groups.get(each) ?? [each])]));
    for (const each of group) groups.set(each, group);
  }
  return [...groupBy(slots, ({ subject, slot }) => groups.get(subject) ?? slot).values()];
}

/** Tells if the undo takes anything back; false where that was done before. */
function takesBack({ wishes, decisions }: SlotUndo): boolean {
  return wishes.length > 0 || decisions.length > 0;
}

/** An undo of a command in one slot. */
type SlotUndo = Slot & {
  /** They replace those of the command: one, or those of two copies. */
  readonly wishes: readonly CurrentBody[];
  /** Facts that say what is wanted now. */
  readonly heads: readonly string[];
  /** Decisions that are taken back. */
  readonly decisions: readonly FactOf<'decided'>[];
  /** An attempt relied on something of it, or a later command changed it. */
  readonly isKept: boolean;
};

/** Plans the changes that take a command back in one slot; none where it was taken back before. */
function planUndo(outbox: Outbox, command: string, { subject, slot }: Slot): SlotUndo {
  const ofSubject = listFactsOfSubject(outbox, subject);
  const facts = ofSubject.filter((fact) => fact.slot === slot);
  const isOfCommand = (fact: Fact): boolean =>
    'command' in fact.body && fact.body.command === command;
  const state = foldSlot(facts);
  // What came with a find goes with it, and comes back with it.
  const isGone =
    !isImportSlot(slot) &&
    isRemoved(outbox, subject) &&
    ofSubject.some((fact) => isImportSlot(fact.slot) && isOfCommand(fact));
  const own = isGone ? [] : listFactsOfKind(facts, 'current').filter(isOfCommand);
  const wishes = planWishUndo(facts, state, own);
  // The command made the find, or brought it back.
  const isGoing =
    isImportSlot(slot) && wishes?.some(({ intent, hides }) => intent === null && hides) === true;
  const inForce = state.decisions.filter(isOfCommand);
  // Records to which something was sent.
  const targets = listFactsOfKind(ofSubject, 'attempted').flatMap(({ body }) => body.target ?? []);
  const decisions = listRevocable(facts, inForce, new Set(targets));
  return {
    subject,
    slot,
    wishes: wishes ?? [],
    heads: state.heads,
    decisions,
    isKept:
      wishes === undefined ||
      decisions.length < inForce.length ||
      (isGoing && hasLaterChanges(ofSubject, slot, isOfCommand)),
  };
}

/**
 * Tells if another command has wanted a number or photograph of a find since the command did, which
 * would go with it. One that was wanted before is part of what an undo returns to.
 * @param ofSubject in the order in which they came
 */
function hasLaterChanges(
  ofSubject: readonly Fact[],
  slot: string,
  isOfCommand: (fact: Fact) => boolean,
): boolean {
  const first = ofSubject.findIndex((fact) => fact.slot === slot && isOfCommand(fact));
  const later = new Set(ofSubject.slice(first).map(({ id }) => id));
  const others = ofSubject.filter((fact) => fact.slot !== slot);
  return [...groupBy(others, (fact) => fact.slot).values()].some((facts) => {
    const own = new Set(facts.filter(isOfCommand).map(({ id }) => id));
    return foldSlot(facts).wanted.wishes.some(
      ({ id, body }) => body.intent !== null && later.has(id) && !isWishOf(own, facts, id),
    );
  });
}

function applyUndo(outbox: Outbox, plans: readonly SlotUndo[]): void {
  const facts = plans.flatMap((plan) => [
    ...plan.wishes.map((body) => makeReturningWish(outbox, plan, body)),
    ...plan.decisions.map((fact) => makeDecisionUndo(outbox, fact)),
  ]);
  appendFacts(outbox, facts);
  // Without a search it is unknown again if the entry was sent from another place.
  const revoked = plans.flatMap(({ decisions }) => decisions);
  if (revoked.some(({ body }) => body.rejects.some(({ name }) => name === '')))
    updateHeader(outbox, { mustLook: true });
}

/**
 * Plans the undo of a command's wishes in one slot. Of a command C, where A was wanted before, and
 * each wish replaces the one at its left:
 *
 *     A ← C                 replaced by A
 *         C                 replaced by a wish for nothing: the find goes
 *     A ← C ← attempt       kept, if the service has or may have it; else replaced by A
 *     A ← C ← D             kept: a later command or another copy wants D
 *     A ← C ← undo          done
 *     A ← C ← undo ← redo   replaced by A: the redo has brought C back as a fact of its own
 *
 * @param wishes those of the command
 * @returns the wishes that replace them, one for nothing where nothing was before; empty where that
 * was done; undefined where they stay, since an attempt or a later command relies on them, or what
 * was before is unknown
 */
function planWishUndo(
  facts: readonly Fact[],
  { heads, verdicts, decisions }: SlotState,
  wishes: readonly FactOf<'current'>[],
): readonly CurrentBody[] | undefined {
  const last = wishes.at(-1);
  if (last === undefined) return [];
  const own = new Set(wishes.map(({ id }) => id));
  const isOwn = (id: string): boolean => isWishOf(own, facts, id);
  if (!heads.every(isOwn)) return isTakenBack(facts, own) ? [] : undefined;
  const isAttempted = listFactsOfKind(facts, 'attempted').some(({ id, body }) => {
    const verdict = verdicts.get(id);
    const isOpen = verdict !== undefined && mayBeAtService(verdict);
    return isOpen && [body.current, ...body.basis].some(isOwn);
  });
  if (isAttempted) return undefined;
  const by = listWishesBefore(facts, own, last.body);
  // A find that a person called a record has no attempt.
  const isCreated = decisions.some(
    ({ body }) => body.answer === 'created' && by.every(({ intent }) => intent !== body.intent),
  );
  return isCreated || by.length === 0 ? undefined : by;
}

/**
 * Tells if a wish, or that of an attempt, is one of these. A redo brings a wish back as a fact of
 * its own, and what is part of no command repeats one.
 */
function isWishOf(wishes: ReadonlySet<string>, facts: readonly Fact[], id: string): boolean {
  const before = findRepeatedWish(facts, id);
  return wishes.has(id) || (before !== undefined && isWishOf(wishes, facts, before));
}

/** Returns the wish of an attempt, or the one that a wish repeats or an undo brought back. */
function findRepeatedWish(facts: readonly Fact[], id: string): string | undefined {
  const fact = facts.find((each) => each.id === id);
  if (fact?.kind === 'attempted') return fact.body.current;
  return fact?.kind === 'current' ? fact.body.restores : undefined;
}

/** Tells if an undo has taken the wishes back already. */
function isTakenBack(facts: readonly Fact[], own: ReadonlySet<string>): boolean {
  return facts.some(
    (fact) =>
      fact.kind === 'current' &&
      fact.body.replaces.some((id) => own.has(id)) &&
      fact.body.command !== null &&
      parseCommandId(fact.body.command).undoes !== undefined,
  );
}

/**
 * Returns what the wishes of a command replaced, or a wish for nothing; empty where it is not known
 * here what they replaced.
 * @param own ids of the wishes
 */
function listWishesBefore(
  facts: readonly Fact[],
  own: ReadonlySet<string>,
  last: CurrentBody,
): CurrentBody[] {
  const replaced = new Set(
    listFactsOfKind(facts, 'current')
      .filter(({ id }) => own.has(id))
      .flatMap(({ body }) => body.replaces.filter((id) => !isWishOf(own, facts, id))),
  );
  if (replaced.size === 0)
    return [{ ...last, intent: null, hides: true, was: last.intent ?? last.was ?? null }];
  return facts.flatMap((fact): CurrentBody[] => {
    if (!replaced.has(fact.id)) return [];
    const restores = fact.id;
    if (fact.kind === 'current') return [{ ...fact.body, restores }];
    return fact.kind === 'attempted' ? [{ ...unpackAttempt(fact).current.body, restores }] : [];
  });
}

function makeReturningWish(
  outbox: Outbox,
  { subject, slot, heads }: SlotUndo,
  body: CurrentBody,
): NewFact {
  return {
    kind: 'current',
    subject,
    slot,
    body: {
      ...body,
      replaces: heads,
      command: getOrMakeCommandId(outbox),
      at: outbox.clock.now(),
    },
  };
}

/** Returns the decisions that can be taken back: those on which no attempt relied. */
function listRevocable(
  facts: readonly Fact[],
  decided: readonly FactOf<'decided'>[],
  targets: ReadonlySet<string>,
): FactOf<'decided'>[] {
  const reliedOn = new Set(listFactsOfKind(facts, 'attempted').flatMap(({ body }) => body.basis));
  return decided.filter(({ id, body }) => !reliedOn.has(id) && !targets.has(body.identCely ?? ''));
}

function makeDecisionUndo(outbox: Outbox, { id, subject, slot, body }: FactOf<'decided'>): NewFact {
  return makeDecisionFact(
    outbox,
    { subject, slot, intent: body.intent },
    {
      answer: 'undo',
      attempts: body.attempts,
      identCely: null,
      rejects: [],
      replaces: [id],
      reason: msg`a person undid the decision`,
    },
  );
}
