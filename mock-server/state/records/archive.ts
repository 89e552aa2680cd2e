import type { Database, Statement } from 'better-sqlite3';
import { integer, nullable, object, readOneOf } from '../../base/shape.ts';
import { makeStatementCache } from '../statements.ts';
import {
  type ArchiveRow,
  COLUMNS,
  HEADER_COLUMNS,
  type ListQuery,
  makeSelection,
  parseArchiveRow,
  parseHeaderRow,
  type RecordFilter,
  toHeader,
  toRecord,
  toRow,
} from './archive-table.ts';
import {
  type ArchiveRecord,
  type Body,
  ENTITIES,
  type Entity,
  getCreator,
  getId,
  getIdent,
  getSetSpec,
  getStav,
  type RecordHeader,
  type RecordInput,
} from './record.ts';

/** A step of so many rows takes a few milliseconds. */
const ROWS_IN_STEP = 200;

const parseStatistics = object({
  entity: readOneOf(ENTITIES),
  stav: nullable(integer({})),
  count: integer({}),
});

/** All records of the mock, live and deleted, in one table. */
export class Archive {
  readonly #revisions = new Map<Entity | 'all', number>();
  readonly #prepare: (sql: string) => Statement;
  readonly #now: () => number;

  readonly #noteWrite: (ident: string, before: () => ArchiveRow | undefined) => void;

  /**
   * @param now the mock's clock, in milliseconds since 1970
   * @param recordWrite called before every write, and can read the previous row
   */
  constructor(
    database: Database,
    now: () => number,
    recordWrite: (ident: string, before: () => ArchiveRow | undefined) => void,
  ) {
    this.#noteWrite = recordWrite;
    this.#prepare = makeStatementCache(database);
    this.#now = now;
  }

  /** Returns a number that grows with every write (to that entity), for caches. */
  getRevision(entity: Entity | 'all' = 'all'): number {
    return this.#revisions.get(entity) ?? 0;
  }

  /** Returns the record, including deleted ones. */
  get(ident: string): ArchiveRecord | undefined {
    const row = this.#findRow(ident);
    return row === undefined ? undefined : toRecord(row);
  }

  #findRow(ident: string): ArchiveRow | undefined {
    const row = this.#prepare(`select ${COLUMNS} from records where ident = ?`).get(ident);
    return row === undefined ? undefined : parseArchiveRow(row);
  }

  /** Returns the record, unless it is deleted or of another entity. */
  findLive(entity: Entity, ident: string): ArchiveRecord | undefined {
    const record = this.get(ident);
    return record === undefined || record.deleted || record.entity !== entity ? undefined : record;
  }

  /** Writes a record; its datestamp changes. */
  put(input: RecordInput): ArchiveRecord {
    const ident = getIdent(input.entity, input.body);
    if (ident === undefined || ident === '')
      throw new Error(`a ${input.entity} record needs an identifier`);
    const before = this.get(ident);
    if (before !== undefined && before.entity !== input.entity) this.#touch(before.entity);
    // A new record with a deleted one's identifier inherits only the order of its datestamp.
    const living = before?.deleted === false ? before : undefined;
    const creator = input.creator ?? living?.creator ?? getCreator(input.entity, input.body);
    const record: ArchiveRecord = {
      ident,
      entity: input.entity,
      setSpec: input.setSpec ?? getSetSpec(input.entity, input.body),
      datestampMs: input.datestampMs ?? this.#makeNextDatestamp(before),
      deleted: false,
      stav: getStav(input.body),
      pristupnost: getId(input.body['pristupnost'] ?? input.body['pristupnost_pom']) ?? null,
      creator,
      organisation:
        input.organisation ?? living?.organisation ?? this.#findOrganisation(creator, input.body),
      project: input.entity === 'samostatny_nalez' ? (getId(input.body['projekt']) ?? null) : null,
      body: input.body,
    };
    return this.#write(record);
  }

  /** Writes a record of a seed; a deleted one has only its header. */
  seed(input: RecordInput & { readonly deleted?: boolean }): void {
    const record = this.put(input);
    if (input.deleted === true) this.#write({ ...record, deleted: true });
  }

  /** Inserts rows for large synthetic stocks, step by step. */
  *insertRows(rows: Iterable<ArchiveRow>): Generator<void> {
    const statement = this.#prepare(
      `insert into records (${COLUMNS}) values (${COLUMNS.replace(/\w+/g, '@$&')})`,
    );
    let written = 0;
    for (const row of rows) {
      statement.run(row);
      written += 1;
      if (written % ROWS_IN_STEP === 0) yield;
    }
    this.touchAll();
  }

  /** Deletes a record: its header stays, with the time of deletion as its datestamp. */
  remove(ident: string, datestampMs?: number): ArchiveRecord | undefined {
    const record = this.get(ident);
    if (record === undefined || record.deleted) return undefined;
    return this.#write({
      ...record,
      deleted: true,
      datestampMs: datestampMs ?? this.#makeNextDatestamp(record),
    });
  }

  /** Restores a deleted record with its content. */
  restore(ident: string, datestampMs?: number): ArchiveRecord | undefined {
    const record = this.get(ident);
    if (record?.deleted !== true) return undefined;
    return this.#write({
      ...record,
      deleted: false,
      datestampMs: datestampMs ?? this.#makeNextDatestamp(record),
    });
  }

  /**
   * Deletes a record without a trace.
   * @returns the record before
   */
  erase(ident: string): ArchiveRecord | undefined {
    const record = this.get(ident);
    if (record === undefined) return undefined;
    this.#noteWrite(ident, () => this.#findRow(ident));
    this.#prepare('delete from records where ident = ?').run(ident);
    this.#touch(record.entity);
    return { ...record, deleted: true };
  }

  /** Restores an earlier row; undefined removes the record. */
  restoreRow(ident: string, row: ArchiveRow | undefined): void {
    if (row === undefined) this.erase(ident);
    else this.#write(toRecord(row));
  }

  /** Lists records, newest first, then by identifier, including deleted ones. */
  list(query: ListQuery): ArchiveRecord[] {
    return this.listRows(query).map(toRecord);
  }

  /** Lists records with unparsed bodies. */
  listRows(query: ListQuery): ArchiveRow[] {
    return this.#select(COLUMNS, query).map((row) => parseArchiveRow(row));
  }

  /** Lists records without parsing bodies. */
  listHeaders(query: ListQuery): RecordHeader[] {
    return this.#select(HEADER_COLUMNS, query).map((row) => toHeader(parseHeaderRow(row)));
  }

  #select(columns: string, query: ListQuery): unknown[] {
    const { sql, parameters } = makeSelection(query);
    return this.#prepare(
      `select ${columns} ${sql} order by datestamp_ms desc, ident limit @limit offset @offset`,
    ).all({
      ...parameters,
      limit: query.limit,
      offset: query.offset ?? 0,
    });
  }

  /** Counts the records of a whole list. */
  count(query: RecordFilter): number {
    const { sql, parameters } = makeSelection(query);
    return Number(this.#prepare(`select count(*) ${sql}`).pluck().get(parameters));
  }

  /** Returns the oldest datestamp, if any. */
  getEarliestDatestampMs(): number | undefined {
    const earliest = this.#prepare('select min(datestamp_ms) from records').pluck().get();
    return typeof earliest === 'number' ? earliest : undefined;
  }

  /** Returns the lexically highest identifier among the project's live finds. */
  findHighestFindOfProject(project: string): string | undefined {
    return this.#selectTexts(
      'select max(ident) from records where project = ? and deleted = 0',
      project,
    ).at(0);
  }

  /** Lists the distinct accessibility entries of the project's live finds. */
  listAccessibilitiesOfProject(project: string): string[] {
    return this.#selectTexts(
      'select distinct pristupnost from records where project = ? and deleted = 0',
      project,
    );
  }

  /** Lists the identifiers of the project's live finds, sorted. */
  findIdentsOfProject(project: string): string[] {
    return this.#selectTexts(
      'select ident from records where project = ? and deleted = 0 order by ident',
      project,
    );
  }

  listAll(entity: Entity): ArchiveRecord[] {
    const rows = this.#prepare(
      `select ${COLUMNS} from records where entity = ? and deleted = 0 order by ident`,
    ).all(entity);
    return rows.map((row) => toRecord(parseArchiveRow(row)));
  }

  /** Returns live records of an entity whose children have exactly these texts, by identifier. */
  withTexts(entity: Entity, texts: Readonly<Record<string, string>>): ArchiveRecord[] {
    const names = Object.keys(texts);
    const conditions = names.map((name) => `json_extract(body, '$.${name}') = ?`);
    const rows = this.#prepare(
      `select ${COLUMNS} from records where entity = ? and deleted = 0 and ${conditions.join(' and ')} order by ident`,
    ).all(entity, ...names.map((name) => texts[name]));
    return rows.map((row) => toRecord(parseArchiveRow(row)));
  }

  /** Counts live records of an entity that have a child with this name. */
  countWith(entity: Entity, child: string): number {
    const sql = `select count(*) from records where entity = ? and deleted = 0 and json_extract(body, '$.${child}') is not null`;
    return Number(this.#prepare(sql).pluck().get(entity));
  }

  /** Returns the lexically highest identifier of an entity, including deleted records. */
  findHighestIdent(entity: Entity): string | undefined {
    return this.#selectTexts('select max(ident) from records where entity = ?', entity).at(0);
  }

  /** Counts live records by entity and state. */
  countByState(): ReadonlyArray<ReturnType<typeof parseStatistics>> {
    const rows = this.#prepare(
      'select entity, stav, count(*) as count from records where deleted = 0 group by entity, stav order by entity, stav',
    ).all();
    return rows.map((row) => parseStatistics(row));
  }

  /** Returns the texts of a query with one column, without nulls. */
  #selectTexts(sql: string, parameter: string): string[] {
    const values = this.#prepare(sql).pluck().all(parameter);
    return values.filter((value) => typeof value === 'string');
  }

  clear(): void {
    this.#prepare('delete from records').run();
    this.touchAll();
  }

  /** Invalidates everything cached from the archive. */
  touchAll(): void {
    for (const entity of ENTITIES) this.#touch(entity);
  }

  /** Returns the next datestamp: every change increases it, even within one millisecond. */
  #makeNextDatestamp(before: ArchiveRecord | undefined): number {
    const now = Math.floor(this.#now());
    return before === undefined ? now : Math.max(now, before.datestampMs + 1);
  }

  #findOrganisation(creator: string | null, body: Body): string | null {
    const user = creator === null ? undefined : this.get(creator);
    return getId(user?.body['organizace']) ?? getId(body['organizace']) ?? null;
  }

  #write(record: ArchiveRecord): ArchiveRecord {
    this.#noteWrite(record.ident, () => this.#findRow(record.ident));
    this.#prepare(
      `insert or replace into records (${COLUMNS}) values (${COLUMNS.replace(/\w+/g, '@$&')})`,
    ).run(toRow(record));
    this.#touch(record.entity);
    return record;
  }

  #touch(entity: Entity): void {
    this.#revisions.set(entity, this.getRevision(entity) + 1);
    this.#revisions.set('all', this.getRevision() + 1);
  }
}
