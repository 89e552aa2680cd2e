import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { expectEnded, findStates } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);
let copy: string;

beforeEach(async () => {
  copy = join(home.folder, 'backup.sqlite');
  await importSeason(home, 3);
  await home.do('number', 'set', 'K-1', 'A 1');
  await home.do('push', 'K-2');
  await home.do('backup', copy);
});

/** Changes rows past pas, as a drive that is wearing out does. */
function damage(sql: string, file = outboxFile(home)): void {
  const database = openSqlite(file);
  database.pragma('ignore_check_constraints = on');
  database.exec(sql);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
}

/** Overwrites the first page of each index of the entries. */
function destroyIndexes(): void {
  const file = outboxFile(home);
  const database = openSqlite(file, { readonly: true });
  const size = Number(database.pragma('page_size', { simple: true }));
  const pages = database
    .prepare(`select rootpage from sqlite_schema where type = 'index' and tbl_name = 'entries'`)
    .pluck()
    .all();
  database.close();
  const fd = openSync(file, 'r+');
  for (const page of pages)
    writeSync(fd, Buffer.alloc(size, 255), 0, size, (Number(page) - 1) * size);
  closeSync(fd);
}

/** Changes of what a push would send or read. */
const CHANGES: Readonly<Record<string, string>> = {
  'what is wanted': `update facts set body = replace(body, '"localId":"K-1"', '"localId":"K-0"') where kind = 'current'`,
  'an element of a find': `update intents set content = replace(content, 'pole 1', 'qole 1')`,
  'a byte of a document': `update intents set document = cast(replace(cast(document as text), 'pole 1', 'qole 1') as blob)`,
  'the kind of an entry': `update entries set kind = 'numbes' where kind = 'import'`,
  'the state of an entry': `update entries set state = 'qteued' where kind = 'import'`,
  'what was attempted': `update facts set body = replace(body, '"method":"POST"', '"method":"PUT"') where kind = 'attempted'`,
  'an answer': `update facts set body = replace(body, '-N', '-M') where kind = 'answered'`,
};

async function expectNoticed(...words: readonly string[]): Promise<void> {
  const run = await home.pas(...words);
  expect([words, run.code, run.stdout + run.stderr]).toEqual([
    words,
    12,
    expect.stringContaining('damaged'),
  ]);
  expect(run.stderr).not.toMatch(/bug in pas/);
}

async function pushAll(): Promise<void> {
  await home.do('push');
  await mock.expectMade({ finds: 3 });
  expect(await findStates(home)).toEqual({
    'K-1': 'accepted',
    'K-2': 'accepted',
    'K-3': 'accepted',
  });
}

test('If the drive changed anything that counts, nothing is sent or backed up, and restoring a backup helps.', async () => {
  const sound = readFileSync(copy);
  for (const sql of Object.values(CHANGES)) {
    damage(sql);
    await expectNoticed('push');
    await expectNoticed('backup', copy, '--yes');
    await expectNoticed('doctor', '--offline');
    expect(readFileSync(copy).equals(sound)).toBe(true);
    await home.do('restore', copy, '--replace');
  }
  await pushAll();
});

test.each(Object.entries(CHANGES))(
  'If the drive changed %s and there is no backup, the advised repair helps, and nothing is sent twice.',
  async (_what, sql) => {
    damage(sql);
    const { stderr } = await home.pas('push');
    expect(stderr).toContain('pas doctor --repair');
    await home.do('doctor', '--offline', '--repair');
    // The table has everything that only the damaged row had.
    await importSeason(home, 3);
    await pushAll();
  },
);

test('If the drive changed a document, the push after the repair makes it again.', async () => {
  damage(CHANGES['a byte of a document'] ?? '');
  const { stderr } = await home.do('doctor', '--offline', '--repair');
  expect(stderr).not.toContain('Check these finds');
  await pushAll();
});

test('If the drive lost a find and all indexes of the entries, the repair names that find.', async () => {
  damage(`pragma foreign_keys = off; delete from facts where body like '%"localId":"K-1"%'`);
  destroyIndexes();
  const { stderr } = await home.do('doctor', '--offline', '--repair');
  expect(stderr).toMatch(/Check these finds.*: K-1$/m);
  await importSeason(home, 3);
  await pushAll();
});

test.each([
  ['address', `update header set address = replace(address, '127', '137')`],
  ['place in the ledger', `update header set united_seq = united_seq + 64`],
  ['last fact of the ledger', `update header set united_fact = 'x'`],
  ['whole row', `delete from header`],
])('If the drive changed the %s in the header, the next push knows it.', async (_what, sql) => {
  damage(sql);
  await pushAll();
});

test('If the drive changed the account in the header, nothing is sent, and the repair finds it.', async () => {
  damage(`update header set account = 'U-9'`);
  await expectEnded(home.pas('push'), 12);
  await home.do('doctor', '--offline', '--repair');
  await pushAll();
});

test('If the drive changed the service of an address in the ledger, nothing is sent, and the repair helps.', async () => {
  damage(
    `pragma foreign_keys = off; update addresses set service = 'x' || service`,
    join(home.folder, 'state', 'pas', 'ledger.sqlite'),
  );
  await expectEnded(home.pas('push'), 12, /ledger is damaged[\s\S]*pas doctor --repair/);
  await home.pas('doctor', '--offline', '--repair');
  // A machine without an identifier cannot tell that the new ledger is its own.
  await home.do('push', '--take-over');
  await mock.expectMade({ finds: 3 });
});

test('A repair asks again about a find that is alike, and an answer to that stays.', async () => {
  const values = { projekt: 'C-202400101', hloubka: '0', okolnosti: 'HES-000560' };
  const more = { obdobi: 'HES-000253', druh_nalezu: 'HES-000691', specifikace: 'HES-000988' };
  const last = {
    nalezce: 'OS-001507',
    datum_nalezu: '2024-06-01',
    stav: '1',
    lokalizace: 'pole 1',
  };
  const sets = Object.entries({ ...values, ...more, ...last, pristupnost: 'HES-000867' }).flatMap(
    ([name, value]) => ['--set', `${name}=${value}`],
  );
  await home.do('add', ...sets, '--set', 'local_id=Z-1', '--point', '50.08 N 14.4 E');
  const isHeld = async () => /^Z-1 +held/m.test((await home.pas('list')).stdout);
  expect(await isHeld()).toBe(true);
  await home.do('doctor', '--offline', '--repair');
  expect(await isHeld()).toBe(true);
  await home.do('resolve', 'Z-1', '--resend');
  await home.do('doctor', '--offline', '--repair');
  expect(await isHeld()).toBe(false);
});
