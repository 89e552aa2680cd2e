import { createRowParser, isNumber, isText } from '../base/disk/database.ts';
import { msg } from '../base/message.ts';
import { decide } from './attempts.ts';
import type { Entry } from './entry.ts';
import { listEntriesOfSubject } from './entry-queries.ts';
import {
  type CurrentBody,
  type DecidedBody,
  type Fact,
  type FactOf,
  makeStoredMessage,
  makeUndoWords,
  type NewFact,
  parseCommandId,
  parseFact,
  type Slot,
  unpackAttempt,
} from './facts.ts';
import { foldSlot, type SlotWish } from './fold.ts';
import { type Outbox, updateHeader } from './open-outbox.ts';
import {
  appendFacts,
  getCommandId,
  getSlotState,
  listFactsOfSubject,
  withdrawWish,
} from './wishes.ts';

/**
 * A command that changed something; `at` is in milliseconds since 1970 UTC, `subjects` the number
 * of its finds and records.
 */
export type LoggedCommand = {
  readonly id: string;
  /** As its facts have it: with its words. */
  readonly command: string;
  readonly words: string;
  readonly at: number;
  /** Id of the command that it took back. */
  readonly undoes: string | undefined;
  readonly isUndone: boolean;
  readonly subjects: number;
};

const parseCommand = createRowParser({ command: isText, subjects: isNumber });

/** Commands that are listed, and whose content is kept. */
const MAX_COMMANDS = 50;

/** Returns the last 50 commands that changed something, newest first. */
export function listCommands(outbox: Outbox): LoggedCommand[] {
  const rows = outbox
    .sql(
      `select command, count(distinct subject) as subjects from facts where command is not null
       group by command order by max(seq) desc limit ?`,
    )
    .all(MAX_COMMANDS)
    .map(parseCommand);
  const commands = rows.map(({ command, subjects }) => {
    const { words, at, undoes } = parseCommandId(command);
    return { id: getUuid(command), command, words, at, undoes, subjects };
  });
  const undone = new Set<string>();
  // An undo that was undone itself takes nothing back; newer ones come first.
  for (const { id, undoes } of commands)
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes);
  return commands.map((each) => ({ ...each, isUndone: undone.has(each.id) }));
}

function getUuid(command: string): string {
  return command.split(' ').at(-1) ?? '';
}

/** Returns the last command that is neither undone nor an undo. */
export function findLastUndoableCommand(outbox: Outbox): LoggedCommand | undefined {
  return listCommands(outbox).find(({ undoes, isUndone }) => undoes === undefined && !isUndone);
}

/** `attempted`: an attempt relied on it; `changed`: a later command changed it. */
export type KeptSlot = {
  readonly subject: string;
  readonly slot: string;
  readonly because: KeptCause;
};
export type KeptCause = 'attempted' | 'changed';

export type UndoResult = {
  readonly subjects: ReadonlySet<string>;
  readonly kept: readonly KeptSlot[];
};

/** Slots per transaction: few enough that a parallel push waits only briefly. */
const BATCH = 100;

/**
 * Takes back what a command wanted and decided, by appending what was wanted before; the running
 * command becomes this undo. What was attempted since, or changed by a later command, stays
 * (`kept`). Of an undo it is a redo. An interrupted one is continued by the next.
 * @param onProgress called after each transaction
 */
export function undoCommand(
  outbox: Outbox,
  { id, command }: LoggedCommand,
  onProgress: (doneCount: number, total: number) => void = () => {},
): UndoResult {
  outbox.command.words = makeUndoWords(id);
  const slots = listSlotsOfCommand(outbox, command);
  const subjects = new Set<string>();
  const kept: KeptSlot[] = [];
  for (let at = 0; at < slots.length; at += BATCH) {
    outbox.change(() => {
      for (const { subject, slot } of slots.slice(at, at + BATCH)) {
        const because = undoSlot(outbox, command, subject, slot);
        if (because === undefined) subjects.add(subject);
        else if (because !== 'nothing') kept.push({ subject, slot, because });
      }
    });
    onProgress(Math.min(at + BATCH, slots.length), slots.length);
  }
  const [first] = kept;
  if (first !== undefined && subjects.size === 0) recordVainUndo(outbox, first);
  return { subjects, kept };
}

/** Undoes nothing, so that the next plain undo takes an earlier command. */
function recordVainUndo(outbox: Outbox, { subject, slot }: KeptSlot): void {
  appendFacts(outbox, [
    { kind: 'decided', subject, slot, body: makeUndo(outbox, { intent: null, attempts: [] }, []) },
  ]);
}

const parseSlot = createRowParser({ subject: isText, slot: isText });

/** Numbers and photographs come after their find. */
function listSlotsOfCommand(outbox: Outbox, command: string): ReturnType<typeof parseSlot>[] {
  return outbox
    .sql(
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

function listCommandNames(outbox: Outbox): string[] {
  return outbox
    .sql('select distinct command from facts where command is not null')
    .all()
    .map((row) => parseCommandName(row).command);
}

const parseCommandName = createRowParser({ command: isText });

/** @returns why it stays; `nothing` where it was taken back before */
function undoSlot(
  outbox: Outbox,
  command: string,
  subject: string,
  slot: string,
): KeptCause | 'nothing' | undefined {
  const ofSubject = listFactsOfSubject(outbox, subject);
  const facts = ofSubject.filter((fact) => fact.slot === slot);
  const isOfCommand = (fact: Fact): boolean =>
    'command' in fact.body && fact.body.command === command;
  const wishes = facts.filter(
    (fact): fact is FactOf<'current'> => fact.kind === 'current' && isOfCommand(fact),
  );
  const decided = facts.filter(
    (fact): fact is FactOf<'decided'> => fact.kind === 'decided' && isOfCommand(fact),
  );
  const wish = undoWishes(outbox, facts, wishes);
  const decision = undoDecisions(outbox, facts, decided, listTargets(ofSubject));
  const drafts = [...wish.drafts, ...decision.drafts];
  appendFacts(outbox, drafts);
  // Without a search it is unknown again if the entry was sent from another place.
  if (decision.drafts.length > 0 && decided.some(isAboutUnsearched))
    updateHeader(outbox, { mustLook: true });
  return wish.because ?? decision.because ?? (drafts.length === 0 ? 'nothing' : undefined);
}

/** Returns the records to which something was sent. */
function listTargets(facts: readonly Fact[]): Set<string> {
  return new Set(
    facts.flatMap((fact) => (fact.kind === 'attempted' ? (fact.body.target ?? []) : [])),
  );
}

function isAboutUnsearched({ body }: FactOf<'decided'>): boolean {
  return body.rejects.some(({ name }) => name === '');
}

type Earlier = CurrentBody & { readonly restores: string };

type Step = { readonly drafts: readonly NewFact[]; readonly because?: KeptCause };

const NO_STEP: Step = { drafts: [] };

function undoWishes(
  outbox: Outbox,
  facts: readonly Fact[],
  wishes: readonly FactOf<'current'>[],
): Step {
  const own = new Set(wishes.map(({ id }) => id));
  if (own.size === 0) return NO_STEP;
  const { heads, intents, decisions } = foldSlot(facts);
  // A redo brings a wish back as a fact of its own.
  const isOwn = (id: string): boolean => own.has(id) || own.has(findOrigin(facts, id));
  if (!heads.every(isOwn))
    return isTakenBack(facts, own) ? NO_STEP : { drafts: [], because: 'changed' };
  const isAttempted = [...intents.values()].some(({ attempts, verdicts }) =>
    attempts.some(({ id, body }) => {
      const kind = verdicts.get(id)?.kind;
      const isOpen = kind === 'open' || kind === 'unknown' || kind === 'accepted';
      return isOpen && [body.current, ...body.basis].some(isOwn);
    }),
  );
  if (isAttempted) return { drafts: [], because: 'attempted' };
  const earlier = listEarlier(facts, own);
  if (earlier === undefined) return { drafts: [], because: 'changed' };
  // A find that a person called a record has no attempt.
  const isCreated = decisions.some(
    ({ body }) =>
      body.answer === 'created' && earlier.every((each) => each?.intent !== body.intent),
  );
  if (isCreated) return { drafts: [], because: 'attempted' };
  return { drafts: earlier.map((body) => makeWish(outbox, wishes, heads, body)) };
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
      parseCommandId(fact.body.command).undoes !== undefined,
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
    facts.flatMap((fact) =>
      fact.kind === 'current' && own.has(fact.id)
        ? fact.body.replaces.filter((id) => !own.has(findOrigin(facts, id)))
        : [],
    ),
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
  decided: readonly FactOf<'decided'>[],
  targets: ReadonlySet<string>,
): Step {
  if (decided.length === 0) return NO_STEP;
  const { decisions } = foldSlot(facts);
  const inForce = new Set(decisions.map(({ id }) => id));
  const effective = decided.filter(({ id }) => inForce.has(id));
  const reliedOn = new Set(
    facts.flatMap((fact) => (fact.kind === 'attempted' ? fact.body.basis : [])),
  );
  const drafts = effective
    .filter(({ id, body }) => !reliedOn.has(id) && !targets.has(body.identCely ?? ''))
    .map((fact): NewFact => {
      const { subject, slot, body, id } = fact;
      return {
        kind: 'decided',
        subject,
        slot,
        body: makeUndo(outbox, body, [id]),
      };
    });
  return { drafts, because: drafts.length < effective.length ? 'attempted' : undefined };
}

function makeUndo(
  outbox: Outbox,
  { intent, attempts }: Pick<DecidedBody, 'intent' | 'attempts'>,
  replaces: readonly string[],
): DecidedBody {
  return {
    answer: 'undo',
    intent,
    by: 'person',
    attempts,
    identCely: null,
    rejects: [],
    replaces,
    command: getCommandId(outbox),
    at: Math.floor(outbox.clock.now()),
    reason: makeStoredMessage(msg`a person undid the decision`),
  };
}

/** Returns the wishes and answers of a command, for the list of what it changed. */
export function listFactsOfCommand(outbox: Outbox, command: string): Fact[] {
  return outbox
    .sql('select * from facts where command = ? order by seq')
    .all(command)
    .map((row) => parseFact(outbox.path, row));
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

export type Removal =
  | {
      readonly kind: 'removed';
      readonly entries: readonly Entry[];
      /** An attempt was made for it, so it is hidden, and its local id stays taken. */
      readonly isHidden: boolean;
    }
  /** Nothing was removed, since the service has this entry, or may have it. */
  | { readonly kind: 'kept'; readonly because: Entry };

/** Returns the entries of a removal, and the entry that prevents it; changes nothing. */
export function planSubjectRemoval(
  outbox: Outbox,
  subject: string,
): { readonly entries: readonly Entry[]; readonly because: Entry | undefined } {
  const entries = listEntriesOfSubject(outbox, subject);
  return { entries, because: entries.find(isOrMayBeAtService) };
}

/** An entry that a person dropped while its outcome was unknown does not prevent a removal. */
function isOrMayBeAtService({ state, unknownAttempts }: Entry): boolean {
  return (
    state === 'accepted' || state === 'sending' || (unknownAttempts > 0 && state !== 'dropped')
  );
}

/**
 * Removes a find or record with all its entries, or nothing. Without an attempt its local id is
 * free again; else it is hidden, since its facts may still explain a record of the service.
 */
export function removeSubject(outbox: Outbox, subject: string): Removal {
  return outbox.change(() => {
    const { entries, because } = planSubjectRemoval(outbox, subject);
    if (because !== undefined) return { kind: 'kept', because };
    const isHidden = entries.some(({ attempts }) => attempts > 0);
    // Changes first: without its find they have no row.
    for (const entry of entries.toSorted((a, b) => Number(isImport(a)) - Number(isImport(b)))) {
      if (entry.unknownAttempts > 0)
        decide(outbox, entry, { kind: 'abandon' }, msg`removed by a person`);
      withdrawWish(outbox, entry, true);
    }
    return { kind: 'removed', entries, isHidden };
  });
}

function isImport({ kind }: Entry): boolean {
  return kind === 'import';
}

const parseUsed = createRowParser({ digest: isText });

/**
 * Returns digests of copied photographs that are wanted, or would be after an undo. Other copies are
 * unused.
 */
export function getUsedDigests(outbox: Outbox): Set<string> {
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
