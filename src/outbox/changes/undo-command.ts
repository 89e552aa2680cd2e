import { groupBy } from '../../base/collections.ts';
import { createRowParser, isText, parseTexts } from '../../base/disk/database.ts';
import { msg } from '../../base/message.ts';
import { makeDecisionFact } from '../attempts.ts';
import {
  type CurrentBody,
  type DecidedBody,
  type Fact,
  type FactOf,
  listOfKind,
  makeUndoWords,
  type NewFact,
  parseCommand,
  parseFact,
  type Slot,
  unpackAttempt,
} from '../facts.ts';
import { foldSlot, type SlotState, type SlotWish } from '../fold.ts';
import { findIntent, isImportSlot } from '../intents.ts';
import { type Outbox, updateHeader } from '../open-outbox.ts';
import { getSubjectName, type StoredElements } from '../stored-finds.ts';
import { askAboutAlikeFinds, settleReturnedFinds } from '../unite.ts';
import { appendFacts, getCommandId, getSlotState, listFactsOfSubject } from '../wishes.ts';

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

/** Commands that are listed, and whose content is kept. */
const MAX_COMMANDS = 50;

/** Returns the last 50 commands that changed something, newest first. */
export function listCommands({ sql }: Outbox): LoggedCommand[] {
  const names = sql(
    'select command from facts where command is not null group by command order by max(seq) desc limit ?',
  ).pluck();
  const commands = parseTexts(names.all(MAX_COMMANDS)).map((command) => ({
    id: command.split(' ').at(-1) ?? '',
    command,
    ...parseCommand(command),
  }));
  const undone = new Set<string>();
  // An undo that was undone itself takes nothing back; newer ones come first.
  for (const { id, undoes } of commands)
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes);
  return commands.map((each) => ({ ...each, isUndone: undone.has(each.id) }));
}

type LogLine = {
  readonly id: string;
  readonly at: string;
  readonly command: string;
  readonly undone: boolean;
  readonly finds: readonly {
    readonly local_id: string;
    readonly before: StoredElements | null;
    readonly after: StoredElements | null;
  }[];
};

/** Returns the commands of {@link listCommands} with each find before and after. */
export function listCommandLog(outbox: Outbox): LogLine[] {
  return listCommands(outbox).map((command) => ({
    id: command.id,
    at: new Date(command.at).toISOString(),
    command: command.words,
    undone: command.isUndone,
    finds: listChanges(outbox, command),
  }));
}

/** Each find or record once; the elements where the command changed them. */
function listChanges(outbox: Outbox, { command }: LoggedCommand): LogLine['finds'] {
  const facts = outbox
    .sql('select * from facts where command = ? order by seq')
    .all(command)
    .map((row) => parseFact(outbox.path, row));
  return [...groupBy(facts, ({ subject }) => subject)].map(([subject, own]) => {
    const wish = listOfKind(own, 'current').find(({ slot }) => isImportSlot(slot));
    const before = wish?.body.replaces.map((id) => findElementsOfFact(outbox, subject, id));
    return {
      local_id: wish?.body.find?.localId ?? getSubjectName(outbox, subject),
      before: before?.find((elements) => elements !== null) ?? null,
      after: findElements(outbox, subject, wish?.body.intent ?? null),
    };
  });
}

function findElementsOfFact(outbox: Outbox, subject: string, id: string): StoredElements | null {
  const row = outbox.sql('select * from facts where subject = ? and id = ?').get(subject, id);
  const fact = row === undefined ? undefined : parseFact(outbox.path, row);
  return fact?.kind === 'current' || fact?.kind === 'attempted'
    ? findElements(outbox, subject, fact.body.intent)
    : null;
}

function findElements(
  outbox: Outbox,
  subject: string,
  intent: string | null,
): StoredElements | null {
  const stored = intent === null ? undefined : findIntent(outbox, subject, intent);
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

/** Returns the subjects of which a command that `other` does not know left something else. */
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
  return JSON.stringify([listIntents(wanted), decided]);
}

function listIntents(wanted: SlotWish): readonly (string | null)[] {
  switch (wanted.kind) {
    case 'nothing':
      return [];
    case 'one':
      return [wanted.intent];
    case 'disputed':
      return wanted.facts.map(({ body }) => body.intent);
  }
}

function listCommandNames({ sql }: Outbox): string[] {
  const names = sql('select distinct command from facts where command is not null').pluck();
  return parseTexts(names.all());
}

/**
 * Empties the content of intents that are neither wanted nor attempted, and that none of the last
 * commands wanted. Ids and facts stay.
 * @returns the number of emptied intents
 */
export function deleteUnneededContents(outbox: Outbox): number {
  return outbox.change(
    () =>
      outbox
        .sql(
          `update intents set content = null, document = null, issues = null, prepared_id = null
           where content is not null and row not in (select intent from entries)
             and id not in (select body ->> 'intent' from facts where kind = 'attempted')
             and id not in (
               select coalesce(body ->> 'intent', body ->> 'was', '') from facts where kind = 'current' and command in (
                 select command from facts where command is not null group by command order by max(seq) desc limit ?))`,
        )
        .run(MAX_COMMANDS).changes,
  );
}

const parseUsed = createRowParser({ digest: isText });

/**
 * Returns the SHA-512, in hexadecimal, of copied photographs that are wanted, or would be after an
 * undo. Other copies are unused. The slots lie between the prefix and its upper bound, `photo!`.
 */
export function listUsedPhotographDigests(outbox: Outbox): Set<string> {
  const rows = outbox
    .sql(
      `select distinct body ->> '$.photograph.sha512' as digest
       from facts join intents on intents.id = body ->> '$.intent'
       where facts.kind = 'current' and slot >= 'photo ' and slot < 'photo!' and content is not null
         and body ->> '$.photograph.sha512' is not null and body ->> '$.photograph.link' is null`,
    )
    .all();
  return new Set(rows.map((row) => parseUsed(row).digest));
}

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
 * undo it is a redo. An interrupted one is continued by the next. Asks about finds that are wanted
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
  const command = listCommands(outbox).find((each) =>
    id === undefined ? each.undoes === undefined && !each.isUndone : each.id === id,
  );
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
  const [first] = slots;
  if (first !== undefined && kept.size > 0 && subjects.size === 0) recordVainUndo(outbox, first);
  settleReturnedFinds(outbox, subjects);
  // A find that is wanted again, or an answer that is taken back, may leave a question open.
  askAboutAlikeFinds(outbox, ({ uuid }) => subjects.has(uuid));
  return { command, finds: subjects.size, kept };
}

/** Undoes nothing, so that the next plain undo takes an earlier command. */
function recordVainUndo(outbox: Outbox, slot: Slot): void {
  appendFacts(outbox, [makeUndo(outbox, slot, { intent: null, attempts: [] }, [])]);
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
  const wishes = listOfKind(facts, 'current').filter(isOfCommand);
  const decided = listOfKind(facts, 'decided').filter(isOfCommand);
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
  return new Set(listOfKind(facts, 'attempted').flatMap(({ body }) => body.target ?? []));
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
    listOfKind(facts, 'current')
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
  const reliedOn = new Set(listOfKind(facts, 'attempted').flatMap(({ body }) => body.basis));
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
