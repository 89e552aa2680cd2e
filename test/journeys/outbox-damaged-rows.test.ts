import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/store/database.ts';
import { findStates } from '../support/find-states.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { expectDone, type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');
let home: Home;
let copy: string;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES);
  copy = join(home.folder, 'backup.sqlite');
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
  await expectDone(home.pas('push', 'K-2'));
  await expectDone(home.pas('backup', copy));
});

/** Changes rows past what pas writes beside them, as a drive that is wearing out does. */
function damage(sql: string): void {
  const database = openSqlite(outboxFile(home));
  database.pragma('ignore_check_constraints = on');
  database.exec(sql);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
}

const COMMANDS = [
  'status',
  'list',
  'show K-1',
  'export',
  'validate',
  'report page.html',
  'outbox check',
  'doctor',
  'push',
  'edit K-1 --set hloubka=3',
  'backup later.sqlite',
  'outbox show',
];

async function expectNoticed(...commands: readonly string[]): Promise<void> {
  for (const words of commands) {
    const run = await home.pas(...words.split(' '));
    expect([words, run.code, run.stdout + run.stderr]).toEqual([
      words,
      12,
      expect.stringContaining('damaged'),
    ]);
    expect(run.stderr).not.toMatch(/bug in pas/);
  }
}

test('If the drive changed a row, the commands that read it say so, and restoring a backup helps.', async () => {
  const changes = {
    'an element of a find': `update finds set elements = replace(elements, 'pole 1', 'qole 1')`,
    'the local id of a find': `update finds set local_id = 'K-0' where local_id = 'K-1'`,
    'why an entry was sent back': `update entries set reason = '"b"' where kind = 'import'`,
    'the findings of an entry': `update entries set issues = '{' where kind = 'import'`,
    'when an entry was queued': `update entries set created_at = created_at + 1 where kind = 'import'`,
    'the kind of an entry': `update entries set kind = 'numbes' where kind = 'import'`,
    'the state of an entry': `update entries set state = 'qteued' where kind = 'import'`,
    'a byte of a document': `update entries set document = cast(replace(cast(document as text), 'pole', 'qole') as blob)`,
  };
  const sound = readFileSync(copy);
  for (const [what, sql] of Object.entries(changes)) {
    damage(sql);
    await expectNoticed(
      ...(/^an element|^a byte/.test(what) ? COMMANDS.slice(0, -1) : ['status', 'push']),
    );
    await expectDone(home.pas('restore', copy, '--replace'));
  }
  damage(changes['an element of a find']);
  expect((await home.pas('backup', copy, '--force')).code).toBe(12);
  expect(readFileSync(copy).equals(sound)).toBe(true);
  for (const words of [
    'reconcile',
    'pull',
    'number set K-1 A1',
    'resolve K-1 --drop',
    'show K-1 --xml',
    'remove K-1 --yes',
  ])
    expect((await home.pas(...words.split(' '))).code, words).not.toBe(1);
  const [, advised = ''] =
    /pas (restore FILE --replace)/.exec((await home.pas('push')).stderr) ?? [];
  await expectDone(home.pas(...advised.replace('FILE', copy).split(' ')));
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

const HEADERS = [
  ['address', `update header set address = replace(address, '127', '137')`],
  ['account', `update header set account = 'U-9'`],
  ['schema', `update header set prefix = 'swc'`],
  ['mark of the journal', `update header set journal = 'x'`],
  ['place in the journal', `update header set merged_seq = merged_seq + 64`],
  ['whole row', `delete from header`],
] as const;

test('If the drive changed the header, each command says so, and restoring a backup helps.', async () => {
  for (const [what, sql] of HEADERS) {
    damage(sql);
    await expectNoticed(
      ...(what === 'whole row'
        ? [...COMMANDS, `import ${writeSeason(home, 3)}`]
        : ['list', 'push']),
    );
    expect((await home.pas('restore', copy)).code).toBe(12);
    await expectDone(home.pas('restore', copy, '--replace'));
  }
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

test.each(HEADERS)(
  'If the drive changed the %s in the header and there is no backup, it is rebuilt, and nothing is sent twice.',
  async (_what, sql) => {
    damage(sql);
    const { stderr } = await home.pas('push');
    expect(stderr).toContain('pas outbox check --repair');
    await expectDone(home.pas('outbox', 'check', '--repair'));
    await expectDone(home.pas('outbox', 'check', '--repair'));
    const push = await home.pas('push');
    if (push.code !== 0) {
      expect(push.stderr).toContain('pas outbox adopt --yes');
      await expectDone(home.pas('outbox', 'adopt', '--yes'));
      await expectDone(home.pas('push'));
    }
    expect(new Set(Object.values(await findStates(home)))).toEqual(new Set(['accepted']));
    expect(await mock.made()).toMatchObject({ finds: 3 });
  },
);
