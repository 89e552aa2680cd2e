import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { rememberAccount } from '../../src/outbox/accounts.ts';
import { claim, settle } from '../../src/outbox/claims.ts';
import { type Memory, openMemory } from '../../src/outbox/history.ts';
import { type Outbox, openOutbox, type ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { openService } from '../../src/outbox/services.ts';
import { copyDatabase } from '../../src/store/database-file.ts';
import { PROJECT, queueFind } from '../support/find-service.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { ACCOUNT_ID, ADDRESS, USERNAME } from '../support/temp-outbox.ts';

export const MAKER = 'U-000001';
export const FINDS = ['F-1', 'F-2', 'F-3'];
export const CANARY = `${PROJECT}-N09999`;

/** An outbox with three queued finds and one that was sent before, in a file that all traces of a process are gone in, one after another. */
export type Prepared = {
  /** What the machine knows of its outboxes: of each trace's, since each is another one. */
  readonly memory: Memory;
  /** As it was at the beginning, and never pushed. */
  begin(clock: ManualClock): ServiceOutbox;
  /** As `pas backup` copies it, as a person copies the files, or what is in it, which spares opening it again. */
  copy(how: CopiedAs): void;
  /** The copy in the place of the outbox. */
  putBack(clock: ManualClock): ServiceOutbox;
  close(): void;
};

export type CopiedAs = 'backup' | 'files' | 'content';
/** The path of a copy, or what it held. */
type Kept = string | Rows;

export function prepareOutbox(folder: string): Prepared {
  const path = join(folder, 'outbox.sqlite');
  const memory = openMemory(join(folder, 'machine.sqlite'));
  let file = openOutbox(path, manualClock());
  fill(file);
  // Without the room that its older schemas took: each beginning of a push reads the whole file.
  file.sql('vacuum').run();
  const rows = rowsOf(file);
  let begun = 0;
  let kept: Kept = rows;
  const seenWith = (clock: ManualClock): ServiceOutbox =>
    openService({ ...file, clock }, { address: ADDRESS, username: USERNAME });
  return {
    memory,
    begin: (clock) => {
      begun += 1;
      // A log that grows from trace to trace would be copied with each outbox.
      file.sql('pragma wal_checkpoint(truncate)').all();
      fillAgain(file, rows);
      file.sql('update history set id = ?').run(`trace ${begun}`);
      return seenWith(clock);
    },
    copy: (how) => {
      kept = how === 'content' ? rowsOf(file) : copyFiles(path, how);
    },
    putBack: (clock) => {
      if (typeof kept !== 'string') fillAgain(file, kept);
      else {
        file.close();
        for (const suffix of ['', '-wal', '-shm']) {
          rmSync(path + suffix, { force: true });
          if (existsSync(kept + suffix)) copyFileSync(kept + suffix, path + suffix);
        }
        file = openOutbox(path, clock);
      }
      return seenWith(clock);
    },
    close: () => {
      file.close();
      memory.close();
    },
  };
}

export const requestLine = () => ({ method: 'POST', path: '/import-xml', accountId: ACCOUNT_ID });
export const answered = (nowMs: number) => ({ outcome: 'accepted', status: 201, serverDateAt: nowMs });

function fill(file: Outbox): void {
  const outbox = openService(file, { address: ADDRESS, username: USERNAME });
  rememberAccount(outbox, { identCely: MAKER, name: 'Eva', email: USERNAME, organisation: 'Museum', role: 'archaeologist' });
  const canary = queueFind(outbox, 'CANARY');
  const claimed = claim(outbox, canary.entryId, requestLine);
  if (claimed !== undefined) settle(outbox, claimed, { state: 'accepted', identCely: CANARY }, answered(file.clock.now()));
  for (const name of FINDS) queueFind(outbox, name);
}

function copyFiles(path: string, how: 'backup' | 'files'): string {
  const copy = `${path}.kept`;
  const suffixes = ['', '-wal'];
  for (const suffix of suffixes) rmSync(copy + suffix, { force: true });
  if (how === 'backup') copyDatabase(path, copy);
  else for (const suffix of suffixes) copyFileSync(path + suffix, copy + suffix);
  return copy;
}

type Row = Readonly<Record<string, unknown>>;
/** What each table holds, by its name: none before those that it refers to, and last those that triggers count in. */
type Rows = ReadonlyMap<string, readonly Row[]>;

const FIRST = ['finds', 'services', 'accounts', 'entries'];
const LAST = ['entry_counts', 'find_counts', 'history'];

function rowsOf({ sql }: Outbox): Rows {
  const all = sql(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[];
  const tables = [...FIRST, ...all.filter((table) => !FIRST.includes(table) && !LAST.includes(table)), ...LAST];
  return new Map(tables.map((table) => [table, sql(`select * from ${table}`).all() as Row[]]));
}

/** Gives the outbox what it held before, where it holds something else now. */
function fillAgain(file: Outbox, rows: Rows): void {
  const { sql, change } = file;
  change(() => {
    const tables = [...rows];
    // What comes after may refer to it.
    const first = tables.findIndex(([table, held]) => !isDeepStrictEqual(sql(`select * from ${table}`).all(), held));
    const others = first === -1 ? [] : tables.slice(first);
    for (const [table] of others.toReversed()) sql(`delete from ${table}`).run();
    for (const [table, held] of others) {
      // What triggers have counted meanwhile.
      sql(`delete from ${table}`).run();
      const names = Object.keys(held[0] ?? {});
      const insert = `insert into ${table} (${names.join()}) values (${names.map((name) => `@${name}`).join()})`;
      for (const row of held) sql(insert).run(row);
    }
  });
}
