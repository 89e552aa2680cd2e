import {
  findLastCommand,
  type Kept,
  type KeptCause,
  type LoggedCommand,
  listCommands,
  listWishesOfCommand,
  undoCommand,
} from '../../outbox/command-log.ts';
import { parseFact } from '../../outbox/facts.ts';
import { findIntent } from '../../outbox/intent-rows.ts';
import { parseRecordSubject } from '../../outbox/intents.ts';
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

function listChanges(outbox: Outbox, { command }: LoggedCommand): LogLine['finds'] {
  return listWishesOfCommand(outbox, command).flatMap(({ body, slot }) => {
    if (body.find === undefined || !slot.startsWith('import ')) return [];
    const before = body.replaces
      .flatMap((id): StoredElements[] => {
        const elements = findElementsOfFact(outbox, id);
        return elements === null ? [] : [elements];
      })
      .at(0);
    return [
      {
        local_id: body.find.localId,
        before: before ?? null,
        after: findElements(outbox, body.intent),
      },
    ];
  });
}

function findElementsOfFact(outbox: Outbox, id: string): StoredElements | null {
  const row = outbox.sql('select * from facts where id = ?').get(id);
  const fact = row === undefined ? undefined : parseFact(outbox.path, row);
  return fact?.kind === 'current' || fact?.kind === 'attempted'
    ? findElements(outbox, fact.body.intent)
    : null;
}

function findElements(outbox: Outbox, intent: string | null): StoredElements | null {
  const stored = intent === null ? undefined : findIntent(outbox, intent);
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
  checkEnteredFinds(outbox, { arrived: new Set() });
  return { command, finds: subjects, kept: nameKept(outbox, kept) };
}

/** Names what an undo left, by local id or by record; each find once. */
function nameKept(outbox: Outbox, kept: readonly Kept[]): KeptFind[] {
  const named = new Map<string, KeptFind>();
  for (const { subject, because } of kept) {
    const localId = parseRecordSubject(subject) ?? findByUuid(outbox, subject)?.localId ?? subject;
    if (!named.has(subject)) named.set(subject, { localId, because });
  }
  return [...named.values()];
}
