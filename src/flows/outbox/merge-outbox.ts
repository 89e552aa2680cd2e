import { randomUUID } from 'node:crypto';
import { msg } from '../../base/message.ts';
import { recordNew } from '../../outbox/change-log.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  listEventsOfEntry,
  schedule,
} from '../../outbox/entries.ts';
import type { Entry, EntryId, FindId, ImportEntry } from '../../outbox/entry.ts';
import {
  findEntryById,
  findImportOfFind,
  listAllEntries,
  listEntriesOfFind,
  listEntriesOfRecord,
  listPhotoEntries,
  type Target,
} from '../../outbox/entry-queries.ts';
import { foldEvents } from '../../outbox/fold-events.ts';
import { makeLocalIdQuestion } from '../../outbox/merge.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { makeDecision, recordEvents } from '../../outbox/record-events.ts';
import {
  findByLocalId,
  freeLocalId,
  getImportedRow,
  insertFind,
  iterateFinds,
  type StoredFind,
} from '../../outbox/stored-finds.ts';
import { copyContent, openContentStore } from '../../store/content-store.ts';
import { assertUnattempted } from './fence.ts';

type PhotosFolders = { readonly from: string; readonly to: string };

/** Result of moving finds and entries into another outbox. */
export type MergedOutbox = {
  readonly added: number;
  /** The other outbox has equal ones. */
  readonly same: number;
  /**
   * The local id is taken in the other outbox: they got another one, and are held with a question.
   */
  readonly renamed: readonly { readonly localId: string; readonly now: string }[];
  readonly changes: number;
  /** Photographs whose copies are missing. */
  readonly lost: readonly string[];
};

/**
 * Copies all finds of an unattempted outbox into another one of the same service and account, with
 * their numbers and photographs, open questions and decisions. Existing ones are skipped, so that
 * it can be repeated.
 * @throws UsageError where something was sent from it since the command began
 */
export async function mergeOutbox(
  from: Outbox,
  to: Outbox,
  folders: PhotosFolders,
): Promise<MergedOutbox> {
  const [photographs, lost] = await copyFiles(from, folders);
  return to.change(() => {
    assertUnattempted(from, msg`Run the command again.`);
    const counts = { added: 0, same: 0, changes: 0 };
    const renamed: { localId: string; now: string }[] = [];
    for (const find of iterateFinds(from)) {
      const poured = mergeFindFrom(from, to, find);
      if (poured.kind === 'renamed') renamed.push({ localId: find.localId, now: poured.localId });
      else counts[poured.kind] += 1;
      for (const entry of listEntriesOfFind(from, find.id))
        if (mergeChange(from, to, entry, poured.target, photographs)) counts.changes += 1;
    }
    for (const entry of listAllEntries(from)) {
      if (entry.findId !== null) continue;
      if (mergeChange(from, to, entry, { findId: null, identCely: entry.identCely }, photographs))
        counts.changes += 1;
    }
    return { ...counts, renamed, lost };
  });
}

type PouredFind = {
  readonly kind: 'added' | 'same' | 'renamed';
  readonly localId: string;
  readonly target: Target;
};

function mergeFindFrom(from: Outbox, to: Outbox, find: StoredFind): PouredFind {
  const { localId, elements, createdAt } = find;
  const imported = findImportOfFind(from, find.id);
  const there = findByLocalId(to, localId);
  const importThere = there === undefined ? undefined : findImportOfFind(to, there.id);
  if (there !== undefined && isSame(find, imported, there, importThere))
    return {
      kind: 'same',
      localId,
      target: { findId: there.id, identCely: importThere?.identCely ?? null },
    };
  const now = there === undefined ? localId : freeLocalId(to, localId);
  const source =
    find.sourceFile === null ? {} : { source: { file: find.sourceFile, row: find.sourceRow } };
  const row = { base: getImportedRow(find) ?? null, sourcePath: find.sourcePath };
  const findId = insertFind(to, { localId: now, elements, createdAt, ...source, ...row });
  recordNew(to, findId, now);
  if (imported !== undefined) {
    const { document, documentSha512, digest, project, issues } = imported;
    const entryId = addImport(to, findId, { document, documentSha512, digest, project, issues });
    copyDecisions(from, to, imported, entryId);
    if (there !== undefined && document !== null)
      schedule(to, entryId, { held: makeLocalIdQuestion(localId) });
  }
  return {
    kind: there === undefined ? 'added' : 'renamed',
    localId: now,
    target: { findId, identCely: imported?.identCely ?? null },
  };
}

/**
 * Copies the open question about an entry, and a person's decisions, so that nothing is sent
 * against them.
 */
function copyDecisions(from: Outbox, to: Outbox, entry: Entry, id: EntryId): void {
  const copy = findEntryById(to, id);
  if (copy === undefined) return;
  const { rejected, accepted, abandoned } = foldEvents(listEventsOfEntry(from, entry.uuid));
  const by = { by: 'person', group: randomUUID() } as const;
  const decisions = [
    ...(rejected.size > 0 ? [{ ...by, answer: 'send', candidates: [...rejected] } as const] : []),
    ...(accepted === undefined
      ? []
      : [{ ...by, answer: 'created', identCely: accepted.identCely } as const]),
    ...(abandoned === undefined ? [] : [{ ...by, answer: 'abandon' } as const]),
  ];
  recordEvents(
    to,
    decisions.map((decision) => makeDecision(to, copy, decision, entry.reason ?? '')),
  );
  if (entry.held !== null) schedule(to, id, { held: entry.held });
}

/** Compares finds by digest; drafts, which have no digest, by all elements. */
function isSame(
  one: StoredFind,
  its: ImportEntry | undefined,
  other: StoredFind,
  otherEntry: ImportEntry | undefined,
): boolean {
  if (its?.digest != null || otherEntry?.digest != null) return its?.digest === otherEntry?.digest;
  return JSON.stringify(one.elements) === JSON.stringify(other.elements);
}

/** @returns true if a number or a photograph was added */
function mergeChange(
  from: Outbox,
  to: Outbox,
  entry: Entry,
  target: Target,
  photographs: ReadonlySet<number>,
): boolean {
  if (entry.kind === 'import' || entry.state === 'dropped') return false;
  const there =
    target.findId === null
      ? listEntriesOfRecord(to, target.identCely ?? '')
      : listEntriesOfFind(to, target.findId as FindId);
  if (there.some((other) => isSameChange(entry, other))) return false;
  if (entry.kind === 'number')
    copyDecisions(from, to, entry, addNumber(to, target, entry.value, entry.expects));
  else if (photographs.has(entry.id))
    copyDecisions(from, to, entry, addPhoto(to, target, entry.photograph));
  else return false;
  return true;
}

function isSameChange(one: Entry, other: Entry): boolean {
  if (one.kind === 'number') return other.kind === 'number' && other.value === one.value;
  return (
    one.kind === 'photo' &&
    other.kind === 'photo' &&
    other.photograph.sha512.equals(one.photograph.sha512)
  );
}

/** @returns the entries whose copies, or linked files, exist; and the names of missing ones */
async function copyFiles(from: Outbox, folders: PhotosFolders): Promise<[Set<number>, string[]]> {
  const source = openContentStore(folders.from);
  const target = openContentStore(folders.to);
  const inPlace = new Set<number>();
  const lost: string[] = [];
  for (const { id, photograph } of listPhotoEntries(from).filter(
    ({ state }) => state !== 'dropped',
  )) {
    const isThere =
      photograph.link !== undefined || (await copyContent(photograph.sha512, source, target));
    if (isThere) inPlace.add(id);
    else lost.push(photograph.name);
  }
  return [inPlace, lost];
}
