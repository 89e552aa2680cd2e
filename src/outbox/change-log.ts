import { randomUUID } from 'node:crypto';
import { createRowParser, isNumber, isText, orNull, parseTexts } from '../store/database.ts';
import {
  addNumber,
  addPhoto,
  removeEntry,
  replaceNumber,
  replacePhoto,
  schedule,
} from './entries.ts';
import type { Entry, EntryId, FindId, HeldQuestion, NumberEntry, PhotoEntry } from './entry.ts';
import { listEntriesOfFind } from './entry-queries.ts';
import { deserializeHeld, serializeHeld } from './entry-row.ts';
import { parsePhotograph, type SentPhotograph, serializePhotograph } from './events.ts';
import type { Outbox } from './open-outbox.ts';
import {
  findStoredRowById,
  type LoggedFindRow,
  restoreFind,
  type StoredElements,
} from './stored-finds.ts';

/** Commands that can be undone; older ones are deleted. */
const MAX_COMMANDS = 50;

/** A find before a command changed it, with its numbers and photographs that were not sent yet. */
type FindBefore = {
  readonly find: LoggedFindRow;
  readonly imported: boolean;
  /** Question that was open for the import, as JSON. */
  readonly held: string | null;
  readonly changes: readonly ChangeBefore[];
};

type ChangeBefore = { readonly uuid: string; readonly held: string | null } & (
  | { readonly kind: 'number'; readonly value: string; readonly expects: string | null }
  | { readonly kind: 'photo'; readonly photograph: LoggedPhotograph }
);

type LoggedPhotograph = SentPhotograph & { readonly source: string | null };

/** Logs a find that the running command created; nothing without a named command. */
export function recordNew(outbox: Outbox, findId: FindId, localId: string): void {
  const seq = getCommandSeq(outbox);
  if (seq !== undefined) insertChange(outbox, { seq, findId, localId, before: null, attempts: 0 });
}

/**
 * Logs a find before the running command changes it, once per command. Without a named command
 * nothing is logged: a merge or a restored backup is no change by a person.
 */
export function recordBefore(outbox: Outbox, findId: FindId): void {
  const seq = getCommandSeq(outbox);
  if (seq === undefined) return;
  if (
    outbox.sql('select 1 from find_changes where find_id = ? and command = ?').get(findId, seq) !==
    undefined
  )
    return;
  const row = findStoredRowById(outbox, findId);
  if (row === undefined) return;
  const entries = listEntriesOfFind(outbox, findId);
  const importEntry = entries.find(({ kind }) => kind === 'import');
  const imported = importEntry !== undefined;
  const held = serializeHeld(importEntry?.held ?? null);
  const before: FindBefore = {
    find: row,
    imported,
    held,
    changes: entries.flatMap(makeChangeBefore),
  };
  insertChange(outbox, {
    seq,
    findId,
    localId: row.localId,
    before: JSON.stringify(before),
    attempts: sumAttempts(entries),
  });
}

type Change = {
  readonly seq: number;
  readonly findId: FindId;
  readonly localId: string;
  readonly before: string | null;
  readonly attempts: number;
};

function insertChange(outbox: Outbox, { seq, findId, localId, before, attempts }: Change): void {
  outbox
    .sql(
      'insert into find_changes (command, find_id, local_id, before, attempts) values (?, ?, ?, ?, ?)',
    )
    .run(seq, findId, localId, before, attempts);
}

/**
 * Returns the row of the running command; undefined where no command was named. It is inserted with
 * the first change, and again where it is gone, since that transaction failed, later commands have
 * displaced it or a backup was restored, or where it was undone.
 */
function getCommandSeq(outbox: Outbox): number | undefined {
  const { command } = outbox;
  if (command.words === undefined) return undefined;
  const seq = outbox
    .sql('select seq from commands where id = ? and undone_at is null')
    .pluck()
    .get(command.id ?? null);
  return typeof seq === 'number' ? seq : insertCommand(outbox, command.words);
}

function insertCommand(outbox: Outbox, words: string): number {
  outbox
    .sql(
      'delete from commands where seq not in (select seq from commands order by seq desc limit ?)',
    )
    .run(MAX_COMMANDS - 1);
  const id = randomUUID();
  outbox.command.id = id;
  const { lastInsertRowid } = outbox
    .sql('insert into commands (id, command, at) values (?, ?, ?)')
    .run(id, words, Math.floor(outbox.clock.now()));
  return Number(lastInsertRowid);
}

function makeChangeBefore(entry: Entry): ChangeBefore[] {
  if (!isUntried(entry)) return [];
  const { kind, uuid } = entry;
  const held = serializeHeld(entry.held);
  if (kind === 'number') return [{ kind, uuid, held, value: entry.value, expects: entry.expects }];
  const { photograph } = entry;
  return [
    {
      kind,
      uuid,
      held,
      photograph: { ...serializePhotograph(photograph), source: photograph.source ?? null },
    },
  ];
}

function isUntried(entry: Entry): entry is NumberEntry | PhotoEntry {
  return entry.kind !== 'import' && entry.attempts === 0 && entry.state === 'queued';
}

function sumAttempts(entries: readonly Entry[]): number {
  return entries.reduce((sum, { attempts }) => sum + attempts, 0);
}

const parseCommand = createRowParser({ seq: isNumber, id: isText, command: isText, at: isNumber });
export type LoggedCommand = ReturnType<typeof parseCommand>;

/** Returns the commands that changed finds and were not undone, newest first. */
export function listLoggedCommands(outbox: Outbox): LoggedCommand[] {
  return outbox
    .sql('select seq, id, command, at from commands where undone_at is null order by seq desc')
    .all()
    .map(parseCommand);
}

type LoggedChange = {
  readonly localId: string;
  /** Null for a find that did not exist. */
  readonly before: StoredElements | null;
  readonly after: StoredElements | null;
};

/** `later`: the next command that changed the find. */
const parseChange = createRowParser({
  findId: isNumber,
  localId: isText,
  before: orNull(isText),
  later: orNull(isNumber),
  now: orNull(isText),
});

/** Yields the finds that a command changed, before and after it. */
export function* listChangesOfCommand(outbox: Outbox, command: number): Generator<LoggedChange> {
  const rows = outbox
    .sql(
      `select changes.local_id as localId, before ->> '$.find.elements' as before, (
         select later.command from find_changes as later
         where later.find_id = changes.find_id and later.command > changes.command order by later.command limit 1) as later,
         find_id as findId,
         (select elements from finds where id = changes.find_id and hidden_at is null) as now
       from find_changes as changes where command = ? order by find_id`,
    )
    .iterate(command);
  for (const row of rows) {
    const { findId, localId, before, later, now } = parseChange(row);
    const after = later === null ? now : findElementsBefore(outbox, later, findId);
    yield { localId, before: parseElements(before), after: parseElements(after) };
  }
}

function findElementsBefore(outbox: Outbox, command: number, findId: FindId): string | null {
  const row = outbox
    .sql(`select before ->> '$.find.elements' from find_changes where command = ? and find_id = ?`)
    .pluck()
    .get(command, findId);
  return typeof row === 'string' ? row : null;
}

function parseElements(text: string | null): StoredElements | null {
  return text === null ? null : JSON.parse(text);
}

const parseFindToUndo = createRowParser({ findId: isNumber, localId: isText });

/** Returns the finds that a command changed and that are not restored yet, last first. */
export function listFindsToUndo(
  outbox: Outbox,
  command: number,
): { readonly findId: FindId; readonly localId: string }[] {
  const rows = outbox
    .sql(
      'select find_id as findId, local_id as localId from find_changes where command = ? order by find_id desc',
    )
    .all(command);
  return rows.map(parseFindToUndo);
}

/**
 * `attempted`: a part of it was sent since; `changed`: another command changed it since. Both stay
 * unchanged.
 */
export type UndoResult = 'undone' | 'attempted' | 'changed';

const parseLogged = createRowParser({ before: orNull(isText), attempts: isNumber });

/**
 * Restores a find as it was before a command, or removes it where the command created it. The
 * caller rebuilds its document.
 * @returns with `undone`, the open question of the import that is to be rebuilt, or null; undefined
 * where the find is removed or has none
 */
export function undoChange(
  outbox: Outbox,
  command: number,
  findId: FindId,
): { readonly how: UndoResult; readonly rebuild?: { readonly held: HeldQuestion | null } } {
  const row = outbox
    .sql('select before, attempts from find_changes where command = ? and find_id = ?')
    .get(command, findId);
  if (row === undefined) return { how: 'undone' };
  const change = parseLogged(row);
  const later = outbox
    .sql(
      'select 1 from find_changes as changes join commands on seq = changes.command where find_id = ? and seq > ? and undone_at is null',
    )
    .get(findId, command);
  if (later !== undefined) return { how: 'changed' };
  const entries = listEntriesOfFind(outbox, findId);
  if (sumAttempts(entries) !== change.attempts) return { how: 'attempted' };
  outbox.sql('delete from find_changes where command = ? and find_id = ?').run(command, findId);
  if (change.before === null) {
    outbox.sql('delete from entries where find_id = ?').run(findId);
    outbox.sql('delete from finds where id = ?').run(findId);
    return { how: 'undone' };
  }
  const before: FindBefore = JSON.parse(change.before);
  restoreFind(outbox, before.find);
  restoreChanges(outbox, findId, entries, before.changes);
  return {
    how: 'undone',
    ...(before.imported ? { rebuild: { held: deserializeHeld(before.held) } } : {}),
  };
}

/** Restores numbers and photographs that were never sent. */
function restoreChanges(
  outbox: Outbox,
  findId: FindId,
  entries: readonly Entry[],
  before: readonly ChangeBefore[],
): void {
  const identCely = entries.find(({ kind }) => kind === 'import')?.identCely ?? null;
  const target = { findId, identCely };
  const hold = (id: EntryId, { held }: ChangeBefore): void =>
    schedule(outbox, id, { held: deserializeHeld(held) });
  const now = new Map(entries.filter(isUntried).map((entry) => [entry.uuid, entry]));
  for (const change of before) {
    const entry = now.get(change.uuid);
    now.delete(change.uuid);
    if (change.kind === 'number') {
      if (entry === undefined)
        hold(addNumber(outbox, target, change.value, change.expects, change.uuid), change);
      else if (entry.kind === 'number') replaceNumber(outbox, entry, change.value, change.expects);
    } else {
      const { source } = change.photograph;
      const photograph = {
        ...parsePhotograph(change.photograph),
        ...(source === null ? {} : { source }),
      };
      if (entry === undefined) hold(addPhoto(outbox, target, photograph, change.uuid), change);
      else if (entry.kind === 'photo') replacePhoto(outbox, entry, photograph);
    }
  }
  for (const { id } of now.values()) removeEntry(outbox, id);
}

export function finishUndo(outbox: Outbox, command: number): void {
  outbox
    .sql('update commands set undone_at = ? where seq = ?')
    .run(Math.floor(outbox.clock.now()), command);
}

/** Returns digests of photographs that an undo would queue again, so that their copies are kept. */
export function listPhotographsToUndo(outbox: Outbox): string[] {
  const digests = outbox
    .sql(
      `select distinct changed.value ->> '$.photograph.sha512' from find_changes, json_each(before, '$.changes') as changed
       where before is not null and changed.value ->> '$.kind' = 'photo' and changed.value ->> '$.photograph.link' is null`,
    )
    .pluck()
    .all();
  return parseTexts(digests);
}
