import type { Find } from '../../find/find.ts';
import type { ValidatedFind } from '../../find/rules.ts';
import {
  finishUndo,
  type LoggedCommand,
  listChangesOfCommand,
  listFindsToUndo,
  listLoggedCommands,
  type UndoResult,
  undoChange,
} from '../../outbox/change-log.ts';
import { addImport, replaceImport, schedule } from '../../outbox/entries.ts';
import type { FindId, HeldQuestion } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findById, type StoredElements } from '../../outbox/stored-finds.ts';
import { asFind, makeImportContent } from './enqueue-finds.ts';

/** Finds per transaction: few enough that a parallel push waits only briefly. */
const BATCH = 100;

type KeptFind = { readonly localId: string; readonly because: Exclude<UndoResult, 'undone'> };

type UndoReport = {
  readonly command: LoggedCommand;
  readonly finds: number;
  readonly keptFinds: readonly KeptFind[];
};

type LogLine = {
  readonly id: string;
  readonly at: string;
  readonly command: string;
  readonly finds: readonly {
    readonly local_id: string;
    readonly before: StoredElements | null;
    readonly after: StoredElements | null;
  }[];
};

/** Returns commands that changed finds, newest first, with each find before and after. */
export function listCommandLog(outbox: Outbox): LogLine[] {
  return listLoggedCommands(outbox).map(({ seq, id, command, at }) => ({
    id,
    at: new Date(at).toISOString(),
    command: command.replaceAll('-', ' '),
    finds: [...listChangesOfCommand(outbox, seq)].map(({ localId, before, after }) => ({
      local_id: localId,
      before,
      after,
    })),
  }));
}

/**
 * Returns the last command that changed finds and was not undone.
 * @param words only commands of this name
 */
export function findLastCommand(outbox: Outbox, words?: string): LoggedCommand | undefined {
  return listLoggedCommands(outbox).find(({ command }) => words === undefined || command === words);
}

/**
 * Restores the finds of a command, and removes those that it created. What was attempted since, and
 * what another command changed since, stays. An interrupted run is continued by the next one.
 * @param validate makes the documents that are queued again
 */
export function undoCommand(
  outbox: Outbox,
  command: LoggedCommand,
  validate: (find: Find) => ValidatedFind,
  onProgress: (doneCount: number, total: number) => void,
): UndoReport {
  const changes = listFindsToUndo(outbox, command.seq);
  const keptFinds: KeptFind[] = [];
  for (let at = 0; at < changes.length; at += BATCH) {
    outbox.change(() => {
      for (const { findId, localId } of changes.slice(at, at + BATCH)) {
        const { how, rebuild } = undoChange(outbox, command.seq, findId);
        if (how !== 'undone') keptFinds.push({ localId, because: how });
        if (rebuild !== undefined) rebuildImport(outbox, findId, rebuild.held, validate);
      }
    });
    onProgress(at, changes.length);
  }
  // The command can be undone again once the changes of later ones are undone.
  if (keptFinds.every(({ because }) => because !== 'changed')) finishUndo(outbox, command.seq);
  return { command, finds: changes.length - keptFinds.length, keptFinds };
}

function rebuildImport(
  outbox: Outbox,
  findId: FindId,
  held: HeldQuestion | null,
  validate: (find: Find) => ValidatedFind,
): void {
  const stored = findById(outbox, findId);
  if (stored === undefined) return;
  const find = asFind(stored);
  const content = makeImportContent(find, validate(find));
  const entry = findImportOfFind(outbox, findId);
  if (entry === undefined) schedule(outbox, addImport(outbox, findId, content), { held });
  else if (['draft', 'queued', 'refused'].includes(entry.state))
    replaceImport(outbox, entry, content);
}
