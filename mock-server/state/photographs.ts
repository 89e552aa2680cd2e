import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { integer, object, text } from '../base/shape.ts';
import type { SeedPhotograph } from './seed-content.ts';
import { makeStatementCache } from './statements.ts';

/** The table of {@link Photographs}, by SQL that may run again. */
export const PHOTOGRAPH_TABLES = `
create table if not exists photographs (
  uuid text primary key,
  find text not null,
  mimetype text not null,
  size_bytes integer not null
) strict;
create index if not exists photographs_by_find on photographs (find);
`;

const INCOMING = 'incoming';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const parsePhotographRow = object({
  uuid: text(),
  find: text(),
  mimetype: text(),
  size_bytes: integer({}),
});
type StoredPhotograph = Readonly<ReturnType<typeof parsePhotographRow>>;

/**
 * Bytes of photographs, in a folder beside the data file, or in a temporary one. Their names are in
 * the find.
 */
export class Photographs {
  readonly #database: Database;
  readonly #prepare: (sql: string) => Statement;
  readonly #givenFolder: string | undefined;
  #folder: string | undefined;

  /** @param folder undefined for a temporary folder, removed by {@link close} */
  constructor(database: Database, folder: string | undefined) {
    this.#database = database;
    this.#prepare = makeStatementCache(database);
    this.#givenFolder = folder;
  }

  /** Creates a folder for incoming uploads, on the same disk as the stored ones. */
  makeIncomingFolder(): string {
    const folder = join(this.#getRoot(), INCOMING);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /**
   * Stores an upload permanently.
   * @param save commits it; where it throws, the file is removed
   */
  async keep<T>(incomingPath: string, uuid: string, save: () => T): Promise<T> {
    const file = await open(incomingPath, 'r+');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    const path = this.#getPath(uuid);
    await rename(incomingPath, path);
    try {
      return save();
    } catch (thrown) {
      await this.discard(path);
      throw thrown;
    }
  }

  record(photograph: StoredPhotograph): void {
    this.#prepare(
      'insert into photographs (uuid, find, mimetype, size_bytes) values (@uuid, @find, @mimetype, @size_bytes)',
    ).run(photograph);
  }

  add({ uuid, find, mimetype, bytes }: SeedPhotograph): void {
    writeFileSync(this.#getPath(uuid), bytes);
    this.record({ uuid, find, mimetype, size_bytes: bytes.length });
  }

  get(uuid: string): StoredPhotograph | undefined {
    const row = this.#prepare('select * from photographs where uuid = ?').get(uuid);
    return row === undefined ? undefined : parsePhotographRow(row);
  }

  readBytes(uuid: string): Promise<Buffer> {
    return readFile(this.#getPath(uuid));
  }

  async discard(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  /** Removes uncommitted files of a killed server. */
  sweep(): void {
    if (this.#givenFolder === undefined || !existsSync(this.#givenFolder)) return;
    rmSync(join(this.#givenFolder, INCOMING), { recursive: true, force: true });
    for (const name of readdirSync(this.#givenFolder))
      if (UUID.test(name) && this.get(name) === undefined) rmSync(join(this.#givenFolder, name));
  }

  count(): number {
    return Number(this.#prepare('select count(*) from photographs').pluck().get());
  }

  clear(): void {
    this.#database.exec('delete from photographs');
    const folder = this.#folder ?? this.#givenFolder;
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    this.#folder = undefined;
  }

  /** Removes uploads that were still arriving; without a given folder, everything. */
  close(): void {
    if (this.#folder === undefined) return;
    const unneeded = this.#givenFolder === undefined ? this.#folder : join(this.#folder, INCOMING);
    rmSync(unneeded, { recursive: true, force: true });
  }

  #getPath(uuid: string): string {
    return join(this.#getRoot(), uuid);
  }

  /** Creates the folder on first use: most test servers never store a photograph. */
  #getRoot(): string {
    if (this.#folder === undefined) {
      this.#folder = this.#givenFolder ?? mkdtempSync(join(tmpdir(), 'pas-mock-photographs-'));
      mkdirSync(this.#folder, { recursive: true });
    }
    return this.#folder;
  }
}
