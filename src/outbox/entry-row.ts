import { msg } from '../base/message.ts';
import {
  ENTRY_STATES,
  type Entry,
  type EntryId,
  type EntryKind,
  type EntryState,
  type FindId,
  type Held,
  type Photograph,
} from './entry.ts';
import { checksum, damagedRow } from './events.ts';
import { deserializeIssues, deserializeMessage, serializeMessage } from './message-codec.ts';
import { assertOneRowChanged, type Outbox } from './open-outbox.ts';

/** Columns of an entry that its checksum covers: all except those derived from events, and its head. */
export type Content = {
  readonly document: Buffer | null;
  readonly documentSha512: Buffer | null;
  readonly digest: string | null;
  readonly project: string | null;
  readonly value: string | null;
  readonly expects: string | null;
  readonly photoName: string | null;
  readonly photoType: string | null;
  readonly photoSha512: Buffer | null;
  readonly photoOriginalSha512: Buffer | null;
  readonly photoBytes: number | null;
  readonly photoLink: string | null;
  readonly photoSource: string | null;
  readonly retryOf: string | null;
  readonly identCely: string | null;
  readonly notBeforeAt: number;
  readonly held: string | null;
  readonly reason: string | null;
  readonly issues: string | null;
};

type Head = {
  readonly uuid: string;
  readonly findId: FindId | null;
  readonly kind: EntryKind;
  readonly recordKey: string;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type EntryRow = Head &
  Content & {
    readonly id: EntryId;
    readonly findUuid: string | null;
    readonly localId: string | null;
    readonly crc: number;
    readonly state: EntryState;
    readonly unknownAttempts: number;
    readonly attempts: number;
  };

/** Columns of the content. The checksum covers a new one automatically. */
const CONTENT_COLUMN_OF = {
  document: 'document',
  documentSha512: 'document_sha512',
  digest: 'digest',
  project: 'project',
  value: 'value',
  expects: 'expects',
  photoName: 'photo_name',
  photoType: 'photo_type',
  photoSha512: 'photo_sha512',
  photoOriginalSha512: 'photo_original_sha512',
  photoBytes: 'photo_bytes',
  photoLink: 'photo_link',
  photoSource: 'photo_source',
  retryOf: 'retry_of',
  identCely: 'ident_cely',
  notBeforeAt: 'not_before_at',
  held: 'held',
  reason: 'reason',
  issues: 'issues',
} as const satisfies Record<keyof Content, string>;

export const COLUMN_OF = {
  ...CONTENT_COLUMN_OF,
  state: 'state',
  unknownAttempts: 'unknown_attempts',
  attempts: 'attempts',
  crc: 'crc',
} as const;

export const COLUMNS = `entries.id, entries.uuid, entries.find_id as findId, finds.uuid as findUuid, finds.local_id as localId, entries.kind,
  entries.record_key as recordKey, entries.created_at as createdAt, entries.updated_at as updatedAt,
  ${Object.entries(COLUMN_OF)
    .map(([name, column]) => `entries.${column} as ${name}`)
    .join(', ')}`;

export const FROM = 'from entries left join finds on finds.id = entries.find_id';

export type Changes = Partial<Record<keyof typeof COLUMN_OF, string | number | Buffer | null>>;

const CONTENT_NAMES = Object.keys(CONTENT_COLUMN_OF) as (keyof Content)[];

/** Content of a row that is inserted without any. */
export const NO_CONTENT = { ...Object.fromEntries(CONTENT_NAMES.map((name) => [name, null])), notBeforeAt: 0 } as {
  readonly [Name in keyof Content]: Name extends 'notBeforeAt' ? number : null;
};

export function checksumOf({ uuid, findId, kind, recordKey, createdAt, updatedAt }: Head, content: Content): number {
  const values: (string | number | null | Buffer)[] = [uuid, findId, kind, recordKey, createdAt, updatedAt];
  for (const name of CONTENT_NAMES) values.push(content[name]);
  return checksum(values);
}

export function serializeHeld(held: Held | null): string | null {
  return held === null ? null : JSON.stringify({ ...held, question: serializeMessage(held.question) });
}

function deserializeHeld(text: string | null): Held | null {
  if (text === null) return null;
  const { basis, question, candidates } = JSON.parse(text) as Omit<Held, 'question'> & { readonly question: string };
  return { basis, candidates, question: deserializeMessage(question) };
}

export function rowById(outbox: Outbox, id: EntryId): EntryRow | undefined {
  const row = outbox.sql(`select ${COLUMNS} ${FROM} where entries.id = ?`).get(id) as EntryRow | undefined;
  if (row !== undefined) assertAsWritten(outbox, row);
  return row;
}

export function rowOf(outbox: Outbox, id: EntryId): EntryRow {
  const row = rowById(outbox, id);
  assertOneRowChanged(outbox, row === undefined ? 0 : 1, msg`changing entry ${id}`);
  return row as EntryRow;
}

function assertAsWritten(outbox: Outbox, row: EntryRow): void {
  const hasFind = row.findId === null || row.findUuid !== null;
  const hasState = ENTRY_STATES.includes(row.state) && [row.attempts, row.unknownAttempts].every(Number.isSafeInteger);
  if (!hasFind || !hasState || checksumOf(row, row) !== row.crc) throw damagedRow(outbox.path, msg`entry ${row.id}`);
}

/** Entries that were not sent, or whose outcome is open, by the index `entries_by_state`. */
export const UNSENT_SQL = `entries.kind in ('import', 'number', 'photo') and state in ('draft', 'queued', 'sending', 'refused', 'uncertain')`;

/**
 * Checks every entry by its checksum, or at most so many, and as many of the unsent ones. It uses no index, since that may be
 * damaged.
 * @throws DatabaseError where one differs from what was written
 */
export function assertSoundEntries(outbox: Outbox, most = Number.MAX_SAFE_INTEGER): void {
  const all = `select ${COLUMNS} from entries not indexed left join finds on finds.id = entries.find_id limit ?`;
  const unsent = `select ${COLUMNS} ${FROM} where ${UNSENT_SQL} limit ?`;
  for (const query of most === Number.MAX_SAFE_INTEGER ? [all] : [all, unsent])
    for (const row of outbox.sql(query).iterate(most)) assertAsWritten(outbox, row as EntryRow);
}

/** @throws DatabaseError where the row differs from what was written */
export function parseEntry(outbox: Outbox, row: EntryRow): Entry {
  assertAsWritten(outbox, row);
  const { id, uuid, findId, findUuid, localId, state, identCely, notBeforeAt, unknownAttempts, attempts, createdAt, updatedAt } =
    row;
  const base = {
    ...{ id, uuid, findId, findUuid, localId, state, identCely, notBeforeAt, recordKey: row.recordKey },
    ...{ unknownAttempts, attempts, createdAt, updatedAt },
    ...parseTexts(outbox, row),
  };
  switch (row.kind) {
    case 'import': {
      const { document, documentSha512, digest, project } = row;
      return { ...base, kind: 'import', document, documentSha512, digest, project };
    }
    case 'number':
      return { ...base, kind: 'number', value: row.value ?? '', expects: row.expects };
    case 'photo':
      return { ...base, kind: 'photo', photograph: photographOf(outbox, row) };
  }
}

function parseTexts({ path }: Outbox, { id, held, reason, issues }: EntryRow): Pick<Entry, 'held' | 'reason' | 'issues'> {
  try {
    return { held: deserializeHeld(held), reason: deserializeMessage(reason), issues: deserializeIssues(issues) };
  } catch {
    throw damagedRow(path, msg`entry ${id}`);
  }
}

function photographOf({ path }: Outbox, row: EntryRow): Photograph {
  const { photoName, photoType, photoSha512, photoOriginalSha512, photoBytes, photoLink, photoSource } = row;
  if (photoName === null || photoSha512 === null || photoBytes === null) throw damagedRow(path, msg`entry ${row.id}`);
  return {
    ...{ name: photoName, mediaType: photoType ?? '', sha512: photoSha512, sizeBytes: photoBytes },
    ...(photoOriginalSha512 === null ? {} : { originalSha512: photoOriginalSha512 }),
    ...(photoSource === null ? {} : { source: photoSource }),
    ...(photoLink === null ? {} : { link: photoLink }),
  };
}
