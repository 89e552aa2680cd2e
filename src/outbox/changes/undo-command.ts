import { msg } from '../../base/message.ts';
import { makeDecisionFact } from '../attempts.ts';
import {
  type CurrentBody,
  type DecidedBody,
  type Fact,
  type FactOf,
  listFactsOfKind,
  makeUndoWords,
  type NewFact,
  parseCommand,
  type Slot,
  unpackAttempt,
} from '../facts.ts';
import { foldSlot, type SlotState } from '../fold.ts';
import { type Outbox, updateHeader } from '../open-outbox.ts';
import { getSubjectName } from '../stored-finds.ts';
import { askAboutAlikeFinds, settleReturnedFinds } from '../unite.ts';
import {
  findCommandToUndo,
  type LoggedCommand,
  listCommands,
  listSlotsOfCommand,
} from '../views/command-log.ts';
import { appendFacts, getCommandId, listFactsOfSubject } from '../wishes.ts';

type UndoneCommand = {
  readonly command: LoggedCommand;
  /** Number of the finds and records of which something was taken back. */
  readonly finds: number;
  /** Names of finds and records of which something stays, each once. */
  readonly kept: ReadonlySet<string>;
};

/** Slots per transaction: few enough that a parallel push waits only briefly. */
const BATCH = 100;

/**
 * Takes back what a command wanted and decided, by appending what was wanted before; the running
 * command becomes this undo. What was attempted since, or changed by a later command, stays. Of an
 * undo it is a redo. One that was interrupted is continued by the id of the command. Asks about finds that are wanted
 * again and are like others.
 * @param id of the command; undefined for the last one that is neither undone nor an undo
 * @param onProgress called after each transaction
 * @returns undefined where there is no such command
 */
export function undoCommand(
  outbox: Outbox,
  id?: string,
  onProgress: (doneCount: number, total: number) => void = () => {},
): UndoneCommand | undefined {
  const command =
    id === undefined
      ? findCommandToUndo(outbox)
      : listCommands(outbox).find((each) => each.id === id);
  if (command === undefined) return undefined;
  outbox.command.words = makeUndoWords(command.id);
  const slots = listSlotsOfCommand(outbox, command.command);
  const subjects = new Set<string>();
  const kept = new Set<string>();
  for (let at = 0; at < slots.length; at += BATCH) {
    outbox.change(() => {
      for (const slot of slots.slice(at, at + BATCH)) {
        const result = undoSlot(outbox, command.command, slot);
        if (result === 'undone') subjects.add(slot.subject);
        if (result === 'kept') kept.add(getSubjectName(outbox, slot.subject));
      }
    });
    onProgress(Math.min(at + BATCH, slots.length), slots.length);
  }
  settleReturnedFinds(outbox, subjects);
  // A find that is wanted again, or an answer that is taken back, may leave a question open.
  askAboutAlikeFinds(outbox, ({ uuid }) => subjects.has(uuid));
  return { command, finds: subjects.size, kept };
}

/**
 * @returns `kept` where an attempt relied on it, or a later command changed it; `nothing` where it
 * was taken back before
 */
function undoSlot(
  outbox: Outbox,
  command: string,
  { subject, slot }: Slot,
): 'undone' | 'kept' | 'nothing' {
  const ofSubject = listFactsOfSubject(outbox, subject);
  const facts = ofSubject.filter((fact) => fact.slot === slot);
  const isOfCommand = (fact: Fact): boolean =>
    'command' in fact.body && fact.body.command === command;
  const wishes = listFactsOfKind(facts, 'current').filter(isOfCommand);
  const decided = listFactsOfKind(facts, 'decided').filter(isOfCommand);
  const state = foldSlot(facts);
  const wish = undoWishes(outbox, facts, state, wishes);
  const decision = undoDecisions(outbox, facts, state, decided, listTargets(ofSubject));
  const drafts = [...wish.drafts, ...decision.drafts];
  appendFacts(outbox, drafts);
  // Without a search it is unknown again if the entry was sent from another place.
  if (decision.drafts.length > 0 && decided.some(isAboutUnsearched))
    updateHeader(outbox, { mustLook: true });
  if (wish.isKept || decision.isKept) return 'kept';
  return drafts.length === 0 ? 'nothing' : 'undone';
}

/** Returns the records to which something was sent. */
function listTargets(facts: readonly Fact[]): Set<string> {
  return new Set(listFactsOfKind(facts, 'attempted').flatMap(({ body }) => body.target ?? []));
}

function isAboutUnsearched({ body }: FactOf<'decided'>): boolean {
  return body.rejects.some(({ name }) => name === '');
}

type Earlier = CurrentBody & { readonly restores: string };

type Step = { readonly drafts: readonly NewFact[]; readonly isKept: boolean };

const NOTHING: Step = { drafts: [], isKept: false };
const KEPT: Step = { drafts: [], isKept: true };

function undoWishes(
  outbox: Outbox,
  facts: readonly Fact[],
  { heads, intents, decisions }: SlotState,
  wishes: readonly FactOf<'current'>[],
): Step {
  const own = new Set(wishes.map(({ id }) => id));
  if (own.size === 0) return NOTHING;
  // A redo brings a wish back as a fact of its own.
  const isOwn = (id: string): boolean => own.has(id) || own.has(findOrigin(facts, id));
  if (!heads.every(isOwn)) return isTakenBack(facts, own) ? NOTHING : KEPT;
  const isAttempted = [...intents.values()].some(({ attempts, verdicts }) =>
    attempts.some(({ id, body }) => {
      const kind = verdicts.get(id)?.kind;
      const isOpen = kind === 'open' || kind === 'unknown' || kind === 'accepted';
      return isOpen && [body.current, ...body.basis].some(isOwn);
    }),
  );
  if (isAttempted) return KEPT;
  const earlier = listEarlier(facts, own);
  if (earlier === undefined) return KEPT;
  // A find that a person called a record has no attempt.
  const isCreated = decisions.some(
    ({ body }) =>
      body.answer === 'created' && earlier.every((each) => each?.intent !== body.intent),
  );
  if (isCreated) return KEPT;
  return { drafts: earlier.map((body) => makeWish(outbox, wishes, heads, body)), isKept: false };
}

/** Returns the wish behind a fact: that of an attempt, and that which an undo brought back. */
function findOrigin(facts: readonly Fact[], id: string): string {
  const fact = facts.find((each) => each.id === id);
  if (fact?.kind === 'attempted') return findOrigin(facts, fact.body.current);
  return fact?.kind === 'current' && fact.body.restores !== undefined
    ? findOrigin(facts, fact.body.restores)
    : id;
}

/** Tells if an undo has taken the wishes back already. */
function isTakenBack(facts: readonly Fact[], own: ReadonlySet<string>): boolean {
  return facts.some(
    (fact) =>
      fact.kind === 'current' &&
      fact.body.replaces.some((id) => own.has(id)) &&
      fact.body.command !== null &&
      parseCommand(fact.body.command).undoes !== undefined,
  );
}

/**
 * Returns what the wishes of a command replaced, with undefined for nothing; undefined where that
 * is not known here.
 */
function listEarlier(
  facts: readonly Fact[],
  own: ReadonlySet<string>,
): (Earlier | undefined)[] | undefined {
  const replaced = new Set(
    listFactsOfKind(facts, 'current')
      .filter(({ id }) => own.has(id))
      .flatMap(({ body }) => body.replaces.filter((id) => !own.has(findOrigin(facts, id)))),
  );
  const earlier = facts.flatMap((fact): Earlier[] => {
    if (!replaced.has(fact.id)) return [];
    const restores = findOrigin(facts, fact.id);
    if (fact.kind === 'current') return [{ ...fact.body, restores }];
    return fact.kind === 'attempted' ? [{ ...unpackAttempt(fact).current.body, restores }] : [];
  });
  if (replaced.size === 0) return [undefined];
  return earlier.length === 0 ? undefined : earlier;
}

function makeWish(
  outbox: Outbox,
  wishes: readonly FactOf<'current'>[],
  heads: readonly string[],
  earlier: Earlier | undefined,
): NewFact {
  const last = wishes.at(-1);
  const nothing = {
    ...last?.body,
    intent: null,
    hides: true,
    was: last?.body.intent ?? last?.body.was ?? null,
  };
  return {
    kind: 'current',
    subject: last?.subject ?? '',
    slot: last?.slot ?? '',
    body: {
      ...(earlier ?? nothing),
      replaces: heads,
      command: getCommandId(outbox),
      at: Math.floor(outbox.clock.now()),
    },
  };
}

function undoDecisions(
  outbox: Outbox,
  facts: readonly Fact[],
  { decisions }: SlotState,
  decided: readonly FactOf<'decided'>[],
  targets: ReadonlySet<string>,
): Step {
  const inForce = new Set(decisions.map(({ id }) => id));
  const effective = decided.filter(({ id }) => inForce.has(id));
  const reliedOn = new Set(listFactsOfKind(facts, 'attempted').flatMap(({ body }) => body.basis));
  const drafts = effective
    .filter(({ id, body }) => !reliedOn.has(id) && !targets.has(body.identCely ?? ''))
    .map((fact) => makeUndo(outbox, fact, fact.body, [fact.id]));
  return { drafts, isKept: drafts.length < effective.length };
}

function makeUndo(
  outbox: Outbox,
  { subject, slot }: Slot,
  { intent, attempts }: Pick<DecidedBody, 'intent' | 'attempts'>,
  replaces: readonly string[],
): NewFact {
  return makeDecisionFact(
    outbox,
    { subject, slot, intent },
    {
      answer: 'undo',
      by: 'person',
      attempts,
      identCely: null,
      rejects: [],
      replaces,
      reason: msg`a person undid the decision`,
    },
  );
}
