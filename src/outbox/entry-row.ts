import { msg } from '../base/message.ts';
import type { Entry, EntryId, EntryKind, EntryState, FindId, Held, Photograph } from './entry.ts';
import { checksum, damagedRow } from './events.ts';
import { deserializeIssues, deserializeMessage, serializeMessage } from './message-codec.ts';
import { assertOneRowChanged, type Outbox } from './open-outbox.ts';

/** Content of an entry: the columns that its checksum covers, since a changed bit would change the request or its address. */
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
};

export type EntryRow = Content & {
  readonly id: EntryId;
  readonly uuid: string;
  readonly findId: FindId | null;
  readonly findUuid: string | null;
  readonly localId: string | null;
  readonly kind: EntryKind;
  readonly recordKey: string;
  readonly notBeforeAt: number;
  readonly held: string | null;
  readonly crc: number;
  readonly state: EntryState;
  readonly unknownAttempts: number;
  readonly attempts: number;
  readonly reason: string | null;
  readonly issues: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** The columns of the content. A new one is covered by the checksum. */
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
} as const satisfies Record<keyof Content, string>;

export const COLUMN_OF = {
  ...CONTENT_COLUMN_OF,
  notBeforeAt: 'not_before_at',
  held: 'held',
  state: 'state',
  unknownAttempts: 'unknown_attempts',
  attempts: 'attempts',
  reason: 'reason',
  issues: 'issues',
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

export const NO_CONTENT = Object.fromEntries(CONTENT_NAMES.map((name) => [name, null])) as {
  readonly [Name in keyof Content]: null;
};

export function checksumOf(row: Pick<EntryRow, 'uuid' | 'findId' | 'kind' | 'recordKey'> & Content): number {
  const { uuid, findId, kind, recordKey } = row;
  return checksum([uuid, findId, kind, recordKey, ...CONTENT_NAMES.map((name) => row[name])]);
}

/** With a checksum of its own, so that the question can be taken away without the row's. */
export function serializeHeld(held: Held | null): string | null {
  if (held === null) return null;
  const { basis, candidates } = held;
  const question = serializeMessage(held.question);
  return JSON.stringify({ basis, question, candidates, crc: checksum([basis, question, ...candidates]) });
}

function deserializeHeld(text: string | null): Held | null {
  if (text === null) return null;
  const { basis, question, candidates, crc } = JSON.parse(text) as Omit<Held, 'question'> & {
    readonly question: string;
    readonly crc: number;
  };
  if (checksum([basis, question, ...candidates]) !== crc) throw new SyntaxError('held');
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
  if (!hasFind || checksumOf(row) !== row.crc) throw damagedRow(outbox.path, msg`entry ${row.id}`);
}

/** @throws DatabaseError where the row is not as it was written */
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
