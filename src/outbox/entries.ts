import type { Issue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { type Entry, type EntryKind, type EntryState, type ImportEntry, type Photograph, TRANSITIONS } from './entry.ts';
import { issuesText, readIssues, readReason, reasonText } from './kept-messages.ts';
import { expectOneChange, type Outbox, type ServiceOutbox } from './open-outbox.ts';
import { sealOf } from './seal.ts';

export type Target = {
  /** The find's row, or null for a record of the service that is not kept here. */
  readonly findId: number | null;
  /** The record's identifier, once there is one. */
  readonly identCely: string | null;
};

/** What an import entry sends; without a document it is a draft. */
export type ImportContent = {
  readonly document: Buffer | null;
  readonly documentSha512: Buffer | null;
  readonly project: string | null;
  readonly issues: readonly Issue[];
};

const COLUMNS = `entries.id, find_id as findId, (select local_id from finds where finds.id = find_id) as localId, service_id as serviceId, username, kind, state,
  ident_cely as identCely, not_before_at as notBeforeAt, record_key as recordKey, seal, document, document_sha512 as documentSha512,
  project, collided as collisions, value, photo_name as photoName, photo_type as photoType, photo_sha512 as photoSha512,
  photo_bytes as photoBytes, photo_link as photoLink, reason, issues, created_at as createdAt, updated_at as updatedAt,
  doubt_from_at as doubtFromAt, doubt_until_at as doubtUntilAt`;

/** Queues an import, or keeps it as a draft when it has no document yet. What may have been sent in a gap is held. */
export function addImport(outbox: ServiceOutbox, findId: number, content: ImportContent): number {
  const held = heldByGap(outbox, content.project);
  const state = content.document === null ? 'draft' : (held.state ?? 'queued');
  return insert(outbox, { findId, identCely: null }, 'import', state, {
    ...held.changes,
    document: content.document,
    documentSha512: content.documentSha512,
    project: content.project,
    issues: issuesText(content.issues),
  });
}

/** Gives an import that was not sent, or was refused, what it should send instead. */
export function replaceImport(outbox: Outbox, entry: ImportEntry, content: ImportContent): void {
  move(outbox, entry, content.document === null ? 'draft' : readyState(entry), {
    document: content.document,
    documentSha512: content.documentSha512,
    project: content.project,
    issues: issuesText(content.issues),
    collided: 0,
    notBeforeAt: 0,
    reason: null,
  });
}

/** What was mended is queued, unless it may have been mended and sent once before: an older copy was put back. */
function readyState({ doubt }: Entry): EntryState {
  return doubt === null ? 'queued' : 'uncertain';
}

export function addNumber(outbox: ServiceOutbox, target: Target, value: string): number {
  return insert(outbox, target, 'number', 'queued', {
    value,
    seal: sealOf({ kind: 'number', recordKey: recordKey(target), value }),
  });
}

export function replaceNumber(outbox: Outbox, entry: Entry, value: string): void {
  const seal = sealOf({ kind: 'number', recordKey: entry.recordKey, value });
  move(outbox, entry, 'queued', { value, seal, notBeforeAt: 0, reason: null, issues: null });
}

export function addPhoto(outbox: ServiceOutbox, target: Target, photograph: Photograph): number {
  const { state = 'queued', changes } = heldByGap(outbox, projectOfTarget(outbox, target));
  return insert(outbox, target, 'photo', state, { ...changes, ...photoChanges(recordKey(target), photograph) });
}

function projectOfTarget(outbox: ServiceOutbox, { findId, identCely }: Target): string | null {
  const made = findId === null ? undefined : importOfFind(outbox, findId);
  return made?.project ?? projectOfRecord(identCely);
}

/** The identifier of a find begins with that of its project. */
function projectOfRecord(identCely: string | null): string | null {
  return identCely?.match(/^(.+)-N\d+$/)?.[1] ?? null;
}

/** What the entry is, or changes, a find of; null where that cannot be told. */
export function projectOf(entry: Entry): string | null {
  return entry.kind === 'import' ? entry.project : projectOfRecord(entry.identCely);
}

/** What one account has looked at is open for the others: each sees its own records, and not all of theirs. */
export const GAP_OF_ACCOUNT = `service_id = :serviceId and (username = :username
  or (username is null and :username not in (select value from json_each(looked))))`;

/** How an entry begins that may be of what was added and sent before an older copy was put back. */
function heldByGap(outbox: ServiceOutbox, project: string | null): { state?: EntryState; changes?: Changes } {
  const gap = outbox
    .sql(
      `select min(from_at) as doubtFromAt, max(until_at) as doubtUntilAt from gaps
       where ${GAP_OF_ACCOUNT} and (project is null or project is :project)`,
    )
    .get({ serviceId: outbox.serviceId, username: outbox.username, project }) as {
    doubtFromAt: number | null;
    doubtUntilAt: number | null;
  };
  if (gap.doubtFromAt === null) return {};
  const reason = msg`its like may have been sent before the copy of the outbox was put back`;
  return { state: 'uncertain', changes: { ...gap, reason } };
}

export function replacePhoto(outbox: Outbox, entry: Entry, photograph: Photograph): void {
  move(outbox, entry, readyState(entry), {
    ...photoChanges(entry.recordKey, photograph),
    notBeforeAt: 0,
    reason: null,
    issues: null,
  });
}

function photoChanges(key: string, photograph: Photograph): Changes {
  return {
    seal: sealOf({ kind: 'photo', recordKey: key, photograph }),
    photoName: photograph.name,
    photoType: photograph.mediaType,
    photoSha512: photograph.sha512,
    photoBytes: photograph.sizeBytes,
    photoLink: photograph.link ?? null,
  };
}

type Changes = Partial<Record<Exclude<keyof typeof COLUMN_OF, 'reason'>, unknown>> & { readonly reason?: Message | null };

const COLUMN_OF = {
  document: 'document',
  documentSha512: 'document_sha512',
  project: 'project',
  collided: 'collided',
  value: 'value',
  identCely: 'ident_cely',
  notBeforeAt: 'not_before_at',
  photoName: 'photo_name',
  photoType: 'photo_type',
  photoSha512: 'photo_sha512',
  photoBytes: 'photo_bytes',
  photoLink: 'photo_link',
  seal: 'seal',
  reason: 'reason',
  issues: 'issues',
  doubtFromAt: 'doubt_from_at',
  doubtUntilAt: 'doubt_until_at',
} as const;

function insert(outbox: ServiceOutbox, target: Target, kind: EntryKind, state: EntryState, changes: Changes): number {
  const names = Object.keys(changes) as (keyof typeof COLUMN_OF)[];
  const { serviceId, username } = outbox;
  const now = Math.floor(outbox.clock.now());
  const { lastInsertRowid } = outbox
    .sql(
      `insert into entries (service_id, username, find_id, ident_cely, record_key, kind, state, created_at, updated_at
         ${names.map((name) => `, ${COLUMN_OF[name]}`).join('')})
       values (:serviceId, :username, :findId, :identCely, :recordKey, :kind, :state, :now, :now ${names.map((name) => `, :${name}`).join('')})`,
    )
    .run({ ...target, serviceId, username, recordKey: recordKey(target), kind, state, now, ...kept(changes) });
  return Number(lastInsertRowid);
}

/** Entries of one record share it, so that the record is never written to by two requests at once. */
export function recordKey(target: Pick<Target, 'findId' | 'identCely'>): string {
  return target.findId === null ? `record:${target.identCely}` : `find:${target.findId}`;
}

/**
 * The only way in which an entry changes its state.
 * @throws DatabaseError when the entry is no longer in the state it was read in
 */
export function move(outbox: Outbox, entry: Pick<Entry, 'id' | 'state'>, to: EntryState, given: Changes = {}): void {
  if (!TRANSITIONS[entry.state].includes(to)) throw new Error(`an entry may not go from ${entry.state} to ${to}`);
  const changes = to === 'queued' || to === 'accepted' ? { ...given, doubtFromAt: null, doubtUntilAt: null } : given;
  const names = Object.keys(changes) as (keyof typeof COLUMN_OF)[];
  const { changes: changed } = outbox
    .sql(
      `update entries set state = :to, updated_at = :now ${names.map((name) => `, ${COLUMN_OF[name]} = :${name}`).join('')}
       where id = :id and state = :from`,
    )
    .run({ id: entry.id, from: entry.state, to, now: Math.floor(outbox.clock.now()), ...kept(changes) });
  expectOneChange(outbox, changed, msg`moving entry ${entry.id} to ${to}`);
}

const kept = ({ reason, ...others }: Changes): Record<string, unknown> =>
  reason === undefined ? others : { ...others, reason: reasonText(reason) };

export function entryById(outbox: Outbox, id: number): Entry | undefined {
  return selectEntries(outbox, 'entries.id = :id', { id }).at(0);
}

export function entriesOfFind(outbox: ServiceOutbox, findId: number): Entry[] {
  return entriesOfService(outbox, 'find_id = :findId', { findId });
}

export function entriesOfRecord(outbox: ServiceOutbox, identCely: string): Entry[] {
  return entriesOfService(outbox, 'ident_cely = :identCely', { identCely });
}

export function entriesOfTarget(outbox: ServiceOutbox, { findId, identCely }: Target): Entry[] {
  return findId === null ? entriesOfRecord(outbox, identCely ?? '') : entriesOfFind(outbox, findId);
}

/** The import that stands for a find at this service: the one that was not dropped. */
export function importOfFind(outbox: ServiceOutbox, findId: number): ImportEntry | undefined {
  const [entry] = entriesOfService(outbox, `find_id = :findId and kind = 'import' and state <> 'dropped'`, { findId });
  return entry?.kind === 'import' ? entry : undefined;
}

export function allEntries(outbox: ServiceOutbox): Entry[] {
  return entriesOfService(outbox, 'true', {});
}

/** A person gave the find's import up, and nobody has taken that back. */
export function wasGivenUp(outbox: ServiceOutbox, findId: number): boolean {
  const imports = entriesOfFind(outbox, findId).filter((entry) => entry.kind === 'import');
  return imports.length > 0 && imports.every((entry) => entry.state === 'dropped');
}

/** What the find's imports have come to at other services. */
export function importsElsewhere(outbox: ServiceOutbox, findId: number): Entry[] {
  return selectEntries(outbox, `find_id = :findId and service_id <> :serviceId and kind = 'import' and state <> 'dropped'`, {
    findId,
    serviceId: outbox.serviceId,
  });
}

type UnsettledState = 'draft' | 'refused' | 'sending' | 'uncertain';
/** In the very words of the index `entries_unsettled`: SQLite takes it for no others, and would read every entry of the service. */
export const UNSETTLED = `state in ('draft', 'refused', 'sending', 'uncertain')`;

export function entriesInState(outbox: ServiceOutbox, state: UnsettledState): Entry[] {
  // With a plus, no index depends on the value: SQLite would plan the whole anew each time that one is given.
  return entriesOfService(outbox, `${UNSETTLED} and +state = :state`, { state });
}

/** Those of this service's entries that match a condition. */
export function entriesOfService(outbox: ServiceOutbox, condition: string, values: Record<string, unknown>, tail = ''): Entry[] {
  return selectEntries(outbox, `service_id = :serviceId and ${condition}`, { serviceId: outbox.serviceId, ...values }, tail);
}

/** Entries that match a condition over the table's columns, in the order in which they were queued. */
export function selectEntries(outbox: Outbox, condition: string, values: Record<string, unknown>, tail = ''): Entry[] {
  return (
    outbox
      .sql(`select ${COLUMNS} from entries where ${condition} ${tail === '' ? 'order by entries.id' : tail}`)
      .all(values) as EntryRow[]
  ).map(toEntry);
}

type EntryRow = Omit<ImportEntry, 'kind' | 'reason' | 'issues' | 'doubt'> & {
  readonly kind: EntryKind;
  readonly doubtFromAt: number | null;
  readonly doubtUntilAt: number | null;
  readonly reason: string | null;
  readonly issues: string | null;
  readonly value: string;
  readonly photoName: string;
  readonly photoType: string;
  readonly photoSha512: Buffer;
  readonly photoBytes: number;
  readonly photoLink: string | null;
};

function toEntry(row: EntryRow): Entry {
  const {
    document,
    documentSha512,
    project,
    collisions,
    value,
    photoName,
    photoType,
    photoSha512,
    photoBytes,
    photoLink,
    doubtFromAt,
    doubtUntilAt,
    ...rest
  } = row;
  const [issues, reason] = [readIssues(row.issues), readReason(row.reason)];
  const doubt = doubtFromAt === null || doubtUntilAt === null ? null : { fromMs: doubtFromAt, untilMs: doubtUntilAt };
  const base = { ...rest, reason, issues, doubt };
  switch (row.kind) {
    case 'import':
      return { ...base, kind: 'import', document, documentSha512, project, collisions };
    case 'number':
      return { ...base, kind: 'number', value };
    case 'photo': {
      const photograph = { name: photoName, mediaType: photoType, sha512: photoSha512, sizeBytes: photoBytes };
      return { ...base, kind: 'photo', photograph: photoLink === null ? photograph : { ...photograph, link: photoLink } };
    }
  }
}
