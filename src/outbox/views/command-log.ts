import { groupBy } from '../../base/collections.ts';
import { createRowParser, isText } from '../../base/disk/database.ts';
import type { FindElements } from '../../finds/fields.ts';
import { LAST_COMMANDS, listFactsOfKind, parseCommand, parseFact, type Slot } from '../facts.ts';
import { findIntent, isImportSlot } from '../intents.ts';
import type { Outbox } from '../open-outbox.ts';
import { getSubjectName } from '../stored-finds.ts';
import { getSlotState } from '../wishes.ts';

/** A command that changed something; `at` is in milliseconds since 1970 UTC. */
export type LoggedCommand = {
  readonly id: string;
  /** As its facts have it: with its words. */
  readonly command: string;
  readonly words: string;
  readonly at: number;
  /** Id of the command that it took back. */
  readonly undoes?: string | undefined;
  readonly isUndone: boolean;
};

/** Returns the last 50 commands that changed something, newest first. */
export function listCommands({ listTexts }: Outbox): LoggedCommand[] {
  const commands = listTexts(LAST_COMMANDS).map((command) => ({
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
    readonly before: FindElements | null;
    readonly after: FindElements | null;
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
  const row = outbox.sql('select * from facts where subject = ? and id = ?').get(subject, id);
  const fact = row === undefined ? undefined : parseFact(outbox.path, row);
  return fact?.kind === 'current' || fact?.kind === 'attempted'
    ? findElements(outbox, subject, fact.body.intent)
    : null;
}

function findElements(outbox: Outbox, subject: string, intent: string | null): FindElements | null {
  const stored = intent === null ? undefined : findIntent(outbox, subject, intent);
  return stored?.kind === 'import' ? stored.elements : null;
}

const parseSlot = createRowParser({ subject: isText, slot: isText });

/** Returns what a command changed: numbers and photographs come after their find. */
export function listSlotsOfCommand({ sql }: Outbox, command: string): Slot[] {
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
  return JSON.stringify([wanted.kind, wanted.intents, decided]);
}

function listCommandNames({ listTexts }: Outbox): string[] {
  return listTexts('select distinct command from facts where command is not null');
}
