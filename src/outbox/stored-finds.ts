import { normalizeId } from '../base/characters.ts';
import { createRowParser, isNumber, isText, orNull, parseValue } from '../base/disk/database.ts';
import type { FindElements } from '../finds/fields.ts';
import {
  type CurrentBody,
  convertReadErrors,
  type FindWish,
  makeDamagedError,
  type TableRow,
} from './facts.ts';
import { parseRecordSubject } from './intents.ts';
import type { Outbox } from './open-outbox.ts';

/** A find as it is wanted now, with what belongs to it here. */
export type StoredFind = {
  readonly uuid: string;
  readonly localId: string;
  /** Empty where the content was deleted. */
  readonly elements: FindElements;
  /** Changes with each change of the find. */
  readonly version: string;
  /** A person removed it after an attempt. */
  readonly isHidden: boolean;
  /** Command of a person that last changed it. */
  readonly command: string | null;
  readonly wish: FindWish;
};

/**
 * Returns a find's row in a table; undefined where it has none.
 * @param path full path of the table, with the sheet; null for standard input
 */
export function findRowOfTable(
  { wish }: Pick<StoredFind, 'wish'>,
  path: string | null,
): TableRow | undefined {
  return wish.rows.find((row) => row.path === path);
}

const FROM = `finds join intents on intents.row = finds.intent join facts on facts.subject = finds.uuid and facts.id = finds.fact`;
const COLUMNS = `finds.uuid, finds.local_id as localId, intents.content as elements, finds.fact as version, hidden, facts.command, facts.body`;

const parseRow = createRowParser({
  uuid: isText,
  localId: isText,
  elements: orNull(isText),
  version: isText,
  hidden: isNumber,
  command: orNull(isText),
  body: isText,
});

/** @throws DatabaseError where the row differs from what was written */
function parseFind({ path }: Outbox, stored: unknown): StoredFind {
  const { elements: text, hidden, body, ...row } = parseRow(stored);
  const [elements, { find: wish }] = convertReadErrors(path, row.localId, () => [
    text === null ? {} : (JSON.parse(text) as FindElements),
    JSON.parse(body) as CurrentBody,
  ]);
  if (wish === undefined) throw makeDamagedError(path, row.localId);
  return { ...row, elements, isHidden: hidden === 1, wish };
}

/**
 * Returns the find with a local id, also a hidden one; undefined where there is none.
 * @param localId as stored, or as typed; then it is normalised
 * @throws DatabaseError where its row is damaged
 */
export function findByLocalId(outbox: Outbox, localId: string): StoredFind | undefined {
  const [find] = selectFinds(outbox, 'finds.local_id = ?', localId);
  const normal = find === undefined ? normalizeId(localId) : localId;
  return normal === localId ? find : selectFinds(outbox, 'finds.local_id = ?', normal).at(0);
}

/**
 * Returns the find with a UUID, also a hidden one; undefined for an unknown UUID, and for the
 * subject of a record.
 * @throws DatabaseError where its row is damaged
 */
export function findByUuid(outbox: Outbox, uuid: string): StoredFind | undefined {
  return selectFinds(outbox, 'finds.uuid = ?', uuid).at(0);
}

/**
 * Returns the name of a subject for people: a find's local id, the last one of a removed find; a
 * record's identifier; of an unknown find its UUID.
 */
export function getSubjectName(outbox: Outbox, subject: string): string {
  const known = parseRecordSubject(subject) ?? findByUuid(outbox, subject)?.localId;
  if (known !== undefined) return known;
  const [last = subject] = outbox.listTexts(
    `select body ->> '$.find.localId' as name from facts
     where subject = ? and kind = 'current' and name is not null order by seq desc limit 1`,
    subject,
  );
  return last;
}

/**
 * Returns the find whose accepted import has this record, also a hidden one; undefined for none.
 */
export function findByIdentCely(outbox: Outbox, identCely: string): StoredFind | undefined {
  return selectFinds(outbox, `finds.ident_cely = ? and finds.state = 'accepted'`, identCely).at(0);
}

/** Returns the finds that match a condition over {@link FROM}. */
function selectFinds(
  outbox: Outbox,
  condition: string,
  ...values: readonly (string | number)[]
): StoredFind[] {
  const rows = outbox.sql(`select ${COLUMNS} from ${FROM} where ${condition}`).all(...values);
  return rows.map((row) => parseFind(outbox, row));
}

/**
 * Yields finds in the order of entry. The outbox must not be changed between two finds.
 * @param withHidden also finds that were removed after an attempt
 */
export function* iterateFinds(outbox: Outbox, withHidden = false): Generator<StoredFind> {
  const rows = outbox
    .sql(`select ${COLUMNS} from ${FROM} where hidden <= ? order by finds.id`)
    .iterate(withHidden ? 1 : 0);
  for (const row of rows) yield parseFind(outbox, row);
}

/** Returns finds that are drafts or queued, also held ones, in the order of entry. */
export function listWaitingFinds(outbox: Outbox): StoredFind[] {
  return selectFinds(outbox, `finds.state in ('draft', 'queued') order by finds.id`);
}

/** Tells if a subject is a find that is hidden or not here at all; a record never is removed. */
export function isRemoved({ sql }: Outbox, subject: string): boolean {
  if (parseRecordSubject(subject) !== undefined) return false;
  return sql('select 1 from finds where uuid = ? and hidden = 0').get(subject) === undefined;
}

/** Returns the finds that were entered last, without removed ones, the newest first. */
export function listLatestFinds(outbox: Outbox, limit: number): StoredFind[] {
  return selectFinds(outbox, 'hidden = 0 order by finds.id desc limit ?', limit);
}

/** Returns the command that entered a find; undefined where its content was changed since. */
export function findEntryCommand({ sql }: Outbox, uuid: string): string | undefined {
  const command = sql(
    `select command from finds join intents on intents.row = finds.intent
       join facts on facts.seq = finds.id and body ->> '$.intent' = intents.id where uuid = ?`,
  )
    .pluck()
    .get(uuid);
  return typeof command === 'string' ? command : undefined;
}

/** Counts the finds that are not hidden. */
export function countVisibleFinds(outbox: Outbox): number {
  const count = outbox
    .sql('select (select count(*) from finds) - (select count(*) from finds where hidden = 1)')
    .pluck()
    .get();
  return parseValue(isNumber, count);
}

/** Returns the UUIDs of all finds, also hidden ones. */
export function listFindUuids({ listTexts }: Outbox): Set<string> {
  return new Set(listTexts('select uuid from finds'));
}

const parseName = createRowParser({ name: isText, localId: isText });

/**
 * Returns the identifiers of all finds, also of hidden ones, as `name` with the find's local id:
 * the local id itself, its numbers in tables, and of an accepted find the identifier of its
 * record.
 */
export function listFindIdentifiers(outbox: Outbox): ReturnType<typeof parseName>[] {
  const rows = outbox
    .sql(
      `select local_id as name, local_id as localId from finds
       union all select value ->> '$.key', local_id from finds join facts on facts.subject = finds.uuid and facts.id = finds.fact
         join json_each(body, '$.find.rows')
       union all select ident_cely, local_id from finds where state = 'accepted'`,
    )
    .all();
  return rows.map(parseName);
}
