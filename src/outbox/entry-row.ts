import { msg } from '../base/message.ts';
import {
  createRowGuard,
  type GuardedType,
  isBytes,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
  type RowOf,
} from '../store/database.ts';
import {
  ENTRY_KINDS,
  ENTRY_STATES,
  type Entry,
  type HeldQuestion,
  type Photograph,
} from './entry.ts';
import {
  computeChecksum,
  deserializeIssues,
  deserializeMessage,
  makeDamagedRowError,
  serializeMessage,
} from './events.ts';
import type { Outbox } from './open-outbox.ts';

/**
 * Columns of an entry that its checksum covers: all except those derived from events, and its head.
 */
const CONTENT = {
  document: orNull(isBytes),
  documentSha512: orNull(isBytes),
  digest: orNull(isText),
  project: orNull(isText),
  value: orNull(isText),
  expects: orNull(isText),
  photoName: orNull(isText),
  photoType: orNull(isText),
  photoSha512: orNull(isBytes),
  photoOriginalSha512: orNull(isBytes),
  photoBytes: orNull(isNumber),
  photoLink: orNull(isText),
  photoSource: orNull(isText),
  retryOf: orNull(isText),
  identCely: orNull(isText),
  notBeforeAt: isNumber,
  held: orNull(isText),
  reason: orNull(isText),
  issues: orNull(isText),
};
export type Content = RowOf<typeof CONTENT>;

const HEAD = {
  uuid: isText,
  findId: orNull(isNumber),
  kind: makeMemberGuard(ENTRY_KINDS),
  recordKey: isText,
  createdAt: isNumber,
  updatedAt: isNumber,
};
type Head = RowOf<typeof HEAD>;

const DERIVED = {
  state: makeMemberGuard(ENTRY_STATES),
  unknownAttempts: isNumber,
  attempts: isNumber,
  crc: isNumber,
};

const isEntryRow = createRowGuard({
  ...HEAD,
  ...CONTENT,
  ...DERIVED,
  id: isNumber,
  findUuid: orNull(isText),
  localId: orNull(isText),
});
export type EntryRow = GuardedType<typeof isEntryRow>;

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
} as const satisfies Record<keyof typeof CONTENT, string>;

export const COLUMN_OF = {
  ...CONTENT_COLUMN_OF,
  state: 'state',
  unknownAttempts: 'unknown_attempts',
  attempts: 'attempts',
  crc: 'crc',
} as const;

export type Changes = Partial<Content & RowOf<typeof DERIVED>>;

const CONTENT_NAMES = Object.keys(CONTENT_COLUMN_OF) as (keyof Content)[];

/** @param content missing columns have their default */
export function computeEntryChecksum(
  { uuid, findId, kind, recordKey, createdAt, updatedAt }: Head,
  content: Partial<Content>,
): number {
  const values: (string | number | null | Buffer)[] = [
    uuid,
    findId,
    kind,
    recordKey,
    createdAt,
    updatedAt,
  ];
  for (const name of CONTENT_NAMES)
    values.push(content[name] ?? (name === 'notBeforeAt' ? 0 : null));
  return computeChecksum(values);
}

type StoredHeld = {
  readonly [Name in keyof HeldQuestion]: Name extends 'question' ? string : HeldQuestion[Name];
};

export function serializeHeld(held: HeldQuestion | null): string | null {
  return held === null
    ? null
    : JSON.stringify({ ...held, question: serializeMessage(held.question) });
}

export function deserializeHeld(text: string | null): HeldQuestion | null {
  if (text === null) return null;
  const { basis, question, candidates }: StoredHeld = JSON.parse(text);
  return { basis, candidates, question: deserializeMessage(question) };
}

/** @throws DatabaseError where the row differs from what was written */
export function parseEntryRow({ path }: Outbox, row: unknown): EntryRow {
  if (!isEntryRow(row)) throw makeDamagedRowError(path, msg`an entry`);
  const hasFind = row.findId === null || row.findUuid !== null;
  const isCounted = [row.attempts, row.unknownAttempts].every(Number.isSafeInteger);
  if (!hasFind || !isCounted || computeEntryChecksum(row, row) !== row.crc)
    throw makeDamagedRowError(path, msg`entry ${row.id}`);
  return row;
}

/** @throws DatabaseError where the row differs from what was written */
export function parseEntry(outbox: Outbox, stored: unknown): Entry {
  const row = parseEntryRow(outbox, stored);
  const {
    id,
    uuid,
    findId,
    findUuid,
    localId,
    state,
    identCely,
    notBeforeAt,
    unknownAttempts,
    attempts,
    createdAt,
    updatedAt,
  } = row;
  const base = {
    id,
    uuid,
    findId,
    findUuid,
    localId,
    state,
    identCely,
    notBeforeAt,
    recordKey: row.recordKey,
    unknownAttempts,
    attempts,
    createdAt,
    updatedAt,
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
      return { ...base, kind: 'photo', photograph: toPhotograph(outbox, row) };
  }
}

function parseTexts({ path }: Outbox, { id, held, reason, issues }: EntryRow) {
  try {
    return {
      held: deserializeHeld(held),
      reason: deserializeMessage(reason),
      issues: deserializeIssues(issues),
    };
  } catch {
    throw makeDamagedRowError(path, msg`entry ${id}`);
  }
}

function toPhotograph({ path }: Outbox, row: EntryRow): Photograph {
  const {
    photoName,
    photoType,
    photoSha512,
    photoOriginalSha512,
    photoBytes,
    photoLink,
    photoSource,
  } = row;
  if (photoName === null || photoSha512 === null || photoBytes === null)
    throw makeDamagedRowError(path, msg`entry ${row.id}`);
  return {
    name: photoName,
    mediaType: photoType ?? '',
    sha512: photoSha512,
    sizeBytes: photoBytes,
    ...(photoOriginalSha512 === null ? {} : { originalSha512: photoOriginalSha512 }),
    ...(photoSource === null ? {} : { source: photoSource }),
    ...(photoLink === null ? {} : { link: photoLink }),
  };
}
