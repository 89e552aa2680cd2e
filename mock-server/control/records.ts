import { ControlRefusal } from '../base/http-message.ts';
import {
  check,
  flag,
  instant,
  object,
  optional,
  readOneOf,
  ShapeError,
  text,
} from '../base/shape.ts';
import { rewriteProject } from '../rules/project-record.ts';
import type { Mock } from '../state/mock.ts';
import { listChildNames } from '../state/records/child-order.ts';
import {
  type ArchiveRecord,
  type Body,
  type BodyValue,
  ENTITIES,
  getIdent,
  type RecordInput,
} from '../state/records/record.ts';
import { renderRecord } from '../state/records/render.ts';

/** Children to replace; null removes one. */
type Changes = Readonly<Record<string, BodyValue | null>>;

const readChange = check(
  object({
    ident: optional(text({ min: 1 })),
    entity: optional(readOneOf(ENTITIES)),
    body: optional(parseBody),
    changes: optional(parseChanges),
    datestamp: optional(instant),
  }),
  (change) => {
    const whole = change.entity !== undefined && change.body !== undefined;
    const part = change.ident !== undefined && change.changes !== undefined;
    return whole === part ? 'needs either entity and body, or ident and changes' : undefined;
  },
);
type Change = ReturnType<typeof readChange>;

const readDeletion = check(
  object({ datestamp: optional(instant), permanent: optional(flag) }),
  ({ datestamp, permanent }) =>
    datestamp !== undefined && permanent === true
      ? 'a record that leaves no trace has no datestamp'
      : undefined,
);
const readRestoration = object({ datestamp: optional(instant) });

/**
 * Creates, replaces or changes a record, valid by schema 2.2; its datestamp is now, or the given
 * one.
 */
export async function changeRecord(mock: Mock, body: unknown): Promise<unknown> {
  const change = readChange(body);
  const input =
    change.changes === undefined
      ? completeRecord(change)
      : applyChanges(mock, change.ident ?? '', change.changes);
  await assertValid(mock, input);
  const datestampMs = floorMs(change.datestamp);
  return saveChangedRecord(mock, change.ident ?? '', () =>
    mock.archive.put({ ...input, datestampMs }),
  );
}

/** Returns a record, including deleted ones, with its body in compact notation. */
export function showRecord(mock: Mock, ident: string): unknown {
  const record = mock.archive.get(ident);
  if (record === undefined) throw new ControlRefusal(404, `there is no record ${ident}`);
  return {
    ...viewRecord(record),
    creator: record.creator,
    organisation: record.organisation,
    body: record.body,
  };
}

/**
 * Deletes a record and removes a find from its project. The header stays listed as deleted, unless
 * it is erased.
 */
export function deleteRecord(mock: Mock, ident: string, body: unknown): unknown {
  const { datestamp, permanent } = readDeletion(body ?? {});
  return saveChangedRecord(mock, ident, () =>
    permanent === true ? mock.archive.erase(ident) : mock.archive.remove(ident, floorMs(datestamp)),
  );
}

/** Restores a deleted record with its content. */
export function restoreRecord(mock: Mock, ident: string, body: unknown): unknown {
  const datestampMs = floorMs(readRestoration(body ?? {}).datestamp);
  return saveChangedRecord(mock, ident, () => mock.archive.restore(ident, datestampMs));
}

function saveChangedRecord(
  mock: Mock,
  ident: string,
  save: () => ArchiveRecord | undefined,
): unknown {
  return mock.database.transaction(() => {
    const record = save();
    if (record === undefined) throw new ControlRefusal(404, `there is no such record ${ident}`);
    if (record.project !== null) rewriteProject(mock.archive, record.project);
    return viewRecord(record);
  })();
}

function floorMs(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.floor(ms);
}

/** Returns the facts of a record without its body, as the control interface answers them. */
export function viewRecord(record: ArchiveRecord) {
  const { ident, entity, setSpec, deleted, stav } = record;
  return {
    ident,
    entity,
    set: setSpec,
    deleted,
    stav,
    datestamp: new Date(record.datestampMs).toISOString(),
  };
}

function completeRecord({ entity, body }: Change): RecordInput {
  if (entity === undefined || body === undefined) throw new ShapeError('', 'needs entity and body');
  if (getIdent(entity, body) === undefined) throw new ShapeError('body', 'has no identifier');
  return { entity, body };
}

function applyChanges(mock: Mock, ident: string, changes: Changes): RecordInput {
  const record = mock.archive.get(ident);
  if (record === undefined || record.deleted)
    throw new ControlRefusal(404, `there is no record ${ident}`);
  const unchanged = Object.entries(record.body).filter(([name]) => !Object.hasOwn(changes, name));
  const changed = Object.entries(changes).filter(
    (change): change is [string, BodyValue] => change[1] !== null,
  );
  const merged: Body = Object.fromEntries([...unchanged, ...changed]);
  if (getIdent(record.entity, merged) !== ident)
    throw new ShapeError('changes', 'must leave the identifier as it is');
  const order = listChildNames(record.entity);
  const body = Object.fromEntries(
    Object.entries(merged).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
  return { entity: record.entity, body };
}

async function assertValid(mock: Mock, input: RecordInput): Promise<void> {
  const document = Buffer.from(
    renderRecord(input.body, input.entity, '2.2', mock.addresses, { pretty: true }),
  );
  const errors = await mock.schemas.withDocument(document, (parsed) =>
    mock.schemas.findErrors(parsed, '2.2'),
  );
  if (errors === undefined) throw new ControlRefusal(422, 'the record is no well-formed XML');
  if (errors.length > 0)
    throw new ControlRefusal(422, errors.map((error) => error.message).join(' '));
}

function parseChanges(value: unknown, place = ''): Changes {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ShapeError(place, 'must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      child === null ? null : parseBodyValue(child, `${place}.${name}`),
    ]),
  );
}

function parseBody(value: unknown, place = ''): Body {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ShapeError(place, 'must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [name, parseBodyValue(child, `${place}.${name}`)]),
  );
}

function parseBodyValue(value: unknown, place: string): BodyValue {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return parseBody(value, place);
  return value.map((item: unknown, index) =>
    typeof item === 'string' ? item : parseBody(item, `${place}[${index}]`),
  );
}
