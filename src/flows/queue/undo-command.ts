import { groupBy } from '../../base/group-by.ts';
import {
  findLastCommand,
  type Kept,
  type KeptCause,
  type LoggedCommand,
  listCommands,
  listFactsOfCommand,
  undoCommand,
} from '../../outbox/command-log.ts';
import { type FactOf, parseFact } from '../../outbox/facts.ts';
import { findIntent } from '../../outbox/intent-rows.ts';
import { isImportSlot, parseRecordSubject } from '../../outbox/intents.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByUuid, type StoredElements } from '../../outbox/stored-finds.ts';
import { checkEnteredFinds } from './check-entered.ts';

export type KeptFind = { readonly localId: string; readonly because: KeptCause };

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

/** Returns the commands that changed something, newest first, with each find before and after. */
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
  const bySubject = groupBy(listFactsOfCommand(outbox, command), ({ subject }) => subject);
  return [...bySubject].map(([subject, facts]) => {
    const wish = facts.find((fact) => fact.kind === 'current' && isImportSlot(fact.slot)) as
      | FactOf<'current'>
      | undefined;
    const before = wish?.body.replaces.map((id) => findElementsOfFact(outbox, subject, id));
    return {
      local_id: wish?.body.find?.localId ?? nameSubject(outbox, subject),
      before: before?.find((elements) => elements !== null) ?? null,
      after: findElements(outbox, subject, wish?.body.intent ?? null),
    };
  });
}

/** Returns the local id of a find, or the identifier of a record that has no find here. */
export function nameSubject(outbox: Outbox, subject: string): string {
  return parseRecordSubject(subject) ?? findByUuid(outbox, subject)?.localId ?? subject;
}

function findElementsOfFact(outbox: Outbox, subject: string, id: string): StoredElements | null {
  const row = outbox.sql('select * from facts where subject = ? and id = ?').get(subject, id);
  const fact = row === undefined ? undefined : parseFact(outbox.path, row);
  return fact?.kind === 'current' || fact?.kind === 'attempted'
    ? findElements(outbox, fact.subject, fact.body.intent)
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

export type UndoneCommand = {
  readonly command: LoggedCommand;
  readonly finds: number;
  readonly kept: readonly KeptFind[];
};

/**
 * Undoes a command.
 * @param id of the command; undefined for the last one
 * @returns undefined where there is none
 */
export function undoLogged(
  outbox: Outbox,
  id: string | undefined,
  onProgress: (doneCount: number, total: number) => void,
): UndoneCommand | undefined {
  const command =
    id === undefined
      ? findLastCommand(outbox)
      : listCommands(outbox).find((each) => each.id === id);
  if (command === undefined) return undefined;
  const { subjects, kept } = undoCommand(outbox, command, onProgress);
  // A find that is wanted again, or an answer that is taken back, may leave a question open.
  checkEnteredFinds(outbox, { only: subjects });
  return { command, finds: subjects.size, kept: nameKept(outbox, kept) };
}

/** Names what an undo left, by local id or by record; each find once. */
function nameKept(outbox: Outbox, kept: readonly Kept[]): KeptFind[] {
  const named = new Map<string, KeptFind>();
  for (const { subject, because } of kept) {
    if (!named.has(subject)) named.set(subject, { localId: nameSubject(outbox, subject), because });
  }
  return [...named.values()];
}
