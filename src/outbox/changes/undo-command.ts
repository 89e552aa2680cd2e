import { groupBy } from '../../base/collections.ts';
import { UsageError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import {
  deleteUnneededContents,
  findLastUndoableCommand,
  type KeptCause,
  type KeptSlot,
  type LoggedCommand,
  listCommands,
  listFactsOfCommand,
  planSubjectRemoval,
  type Removal,
  removeSubject,
  undoCommand,
} from '../command-log.ts';
import type { Entry } from '../entry.ts';
import { type FactOf, parseFact } from '../facts.ts';
import { findIntent, isImportSlot, parseRecordSubject } from '../intents.ts';
import type { Outbox } from '../open-outbox.ts';
import { findByUuid, isRemoved, type StoredElements } from '../stored-finds.ts';
import { askAboutAlikeFinds, settleReturnedFinds } from '../unite.ts';
import { deleteUnusedPhotographs } from './kept-photographs.ts';
import { findSubjectWithEntries } from './resolve-finds.ts';

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

/**
 * Returns the last 50 commands that changed something, newest first, with each find before and
 * after.
 */
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
      local_id: wish?.body.find?.localId ?? getSubjectName(outbox, subject),
      before: before?.find((elements) => elements !== null) ?? null,
      after: findElements(outbox, subject, wish?.body.intent ?? null),
    };
  });
}

/**
 * Returns the local id of a find, or the identifier of a record that has no find here; the UUID
 * itself of an unknown find.
 */
export function getSubjectName(outbox: Outbox, subject: string): string {
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
 * Undoes a command, and asks about finds that are wanted again and are like others.
 * @param id of the command; undefined for the last one that is neither undone nor an undo
 * @param onProgress called after each transaction
 * @returns undefined where there is no such command
 */
export function undoCommandById(
  outbox: Outbox,
  id: string | undefined,
  onProgress: (doneCount: number, total: number) => void,
): UndoneCommand | undefined {
  const command =
    id === undefined
      ? findLastUndoableCommand(outbox)
      : listCommands(outbox).find((each) => each.id === id);
  if (command === undefined) return undefined;
  const { subjects, kept } = undoCommand(outbox, command, onProgress);
  settleReturnedFinds(outbox, subjects);
  // A find that is wanted again, or an answer that is taken back, may leave a question open.
  askAboutAlikeFinds(outbox, ({ uuid }) => subjects.has(uuid));
  return { command, finds: subjects.size, kept: nameKept(outbox, kept) };
}

/** Names what an undo left, by local id or by record; each find once. */
function nameKept(outbox: Outbox, kept: readonly KeptSlot[]): KeptFind[] {
  const named = new Map<string, KeptFind>();
  for (const { subject, because } of kept) {
    if (!named.has(subject))
      named.set(subject, { localId: getSubjectName(outbox, subject), because });
  }
  return [...named.values()];
}

export type PlannedRemoval = {
  readonly name: string;
  readonly subject: string;
  readonly entries: readonly Entry[];
  /** Entry that the service has, or may have, which prevents the removal. */
  readonly because: Entry | undefined;
};

/**
 * Plans a removal without changes.
 * @throws UsageError for an unknown name, or a find that was removed before
 */
export function planRemoval(outbox: Outbox, names: readonly string[]): PlannedRemoval[] {
  const named = new Map<string, string>();
  for (const name of names) {
    const subject = findSubjectWithEntries(outbox, name);
    named.set(subject, named.get(subject) ?? name);
  }
  return [...named].map(([subject, name]) => {
    if (isRemoved(outbox, subject)) throw new UsageError(msg`${name} was removed before.`);
    return { name, subject, ...planSubjectRemoval(outbox, subject) };
  });
}

/** Removes finds, each completely or not at all, and unused copies of photographs. */
export function removeFinds(
  outbox: Outbox,
  planned: readonly PlannedRemoval[],
  photosFolder: string,
): Removal[] {
  const removals = planned.map(({ subject }) => removeSubject(outbox, subject));
  if (removals.some(({ kind }) => kind === 'removed')) {
    deleteUnneededContents(outbox);
    deleteUnusedPhotographs(outbox, photosFolder);
  }
  return removals;
}
