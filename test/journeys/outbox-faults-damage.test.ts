import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { canMountDisks, withMounts } from '../support/hostile-disk.ts';
import { configFile, findPhotographCopies, outboxFile } from '../support/outbox-files.ts';
import { expectEnded, findStates, type Home, type Run } from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const other = useMock();
const home = useHome(mock);
let copy: string;

beforeEach(async () => {
  copy = join(home.folder, 'backup.sqlite');
});

const ledgerFile = (of: Home): string => join(of.folder, 'state', 'pas', 'ledger.sqlite');

function changeDatabase(path: string, sql: string): void {
  const database = openSqlite(path);
  database.exec(sql);
  database.close();
}

describe('A profile', () => {
  beforeEach(async () => {
    await importSeason(home, 1);
  });

  const setAddress = (from: string, to: string): void =>
    writeFileSync(configFile(home), readFileSync(configFile(home), 'utf8').replaceAll(from, to));

  test('whose address was changed in config.toml sends none of its finds there, and says where they are.', async () => {
    const old = mock.service.base_url;
    const now = other.service.base_url;
    setAddress(`"${old}"`, `"${now}"`);
    for (const words of [['push'], ['list'], ['status'], ['backup', copy]])
      expect((await home.pas(...words)).stderr).toContain('no profile uses');
    await other.expectMade({ finds: 0 });
    setAddress(`"${now}"`, `"${old}"`);
    expect(await home.json('list')).not.toEqual([]);
    await home.init(other.service, '--name', 'elsewhere');
    expect(await home.json('list', '--profile', 'elsewhere')).toEqual([]);
  });
});

/** Another layout, by its number and a table. */
const NEWER = 'create table later (only integer); pragma user_version = 99';

describe('Data of a newer pas are left as they are:', () => {
  beforeEach(async () => {
    await importSeason(home, 2);
    await home.do('push', 'K-1');
  });

  test('an outbox is read by no command.', async () => {
    changeDatabase(outboxFile(home), NEWER);
    for (const words of [
      ['push'],
      ['list'],
      ['status'],
      ['backup', copy],
      ['import', writeSeason(home, 3)],
      ['doctor'],
    ]) {
      const run = await home.pas(...words);
      expect([words, run.code]).toEqual([words, 13]);
    }
    changeDatabase(outboxFile(home), 'drop table later; pragma user_version = 1');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
  });

  test('a newer journal stops sending, and other commands work.', async () => {
    changeDatabase(ledgerFile(home), NEWER);
    await expectEnded(home.pas('push'), 13);
    for (const words of [
      ['list'],
      ['status'],
      ['import', writeSeason(home, 3)],
      ['edit', 'K-2', '--set', 'hloubka=3'],
      ['backup', copy],
    ])
      await home.do(...words);
    await mock.expectMade({ finds: 1 });
  });

  test('a damaged number of their layout alone stops nothing.', async () => {
    for (const number of [0, 2, 100]) {
      for (const file of [outboxFile(home), ledgerFile(home)])
        changeDatabase(file, `pragma user_version = ${number}`);
      await home.do('push');
    }
    await mock.expectMade({ finds: 2 });
  });
});

/** Runs commands to their ends where `mounting` was done first. */
async function mounted(of: Home, mounting: string, ...commands: readonly string[]): Promise<Run[]> {
  const typed = commands.map((command, index) => `pas ${index} ${command}`);
  const run = await withMounts(of, [mounting, ...typed].join('\n'));
  return commands.map((_, index) => run(index));
}

describe.skipIf(!canMountDisks)('If the journal', () => {
  const state = (): string => join(home.folder, 'state');

  beforeEach(async () => {
    await importSeason(home, 3);
    await home.do('push', 'K-1');
  });

  test('cannot be written, nothing is sent, and the list is shown.', async () => {
    const readOnly = `mount --bind "${state()}" "${state()}" && mount -o remount,ro,bind "${state()}"`;
    const [push, list] = await mounted(home, readOnly, 'push', 'list');
    expect([push?.code, list?.code], push?.stderr).toEqual([12, 0]);
    await mock.expectMade({ finds: 1 });
    await home.do('push');
    await mock.expectMade({ finds: 3 });
  });

  test.each([
    [
      'alone',
      `mkdir elsewhere && mv state/pas/pace.sqlite* elsewhere && ln -s "$PWD/elsewhere/pace.sqlite" state/pas/pace.sqlite`,
    ],
    ['with the pace that all pas share', ''],
  ])(
    'is on a full disk, %s, nothing is sent, and everything is once there is space.',
    async (_, except) => {
      const full = `mkdir kept && cp -a state/. kept && mount -t tmpfs -o size=4m none state && cp -a kept/. state
      ${except}
      dd if=/dev/zero of=state/filling bs=4k 2>/dev/null`;
      const [push, list, doctor] = await mounted(home, full, 'push', 'list', 'doctor --offline');
      expect([push?.code, list?.code, doctor?.code], push?.stderr).toEqual([5, 0, 5]);
      expect(push?.stderr).toContain('the disk is full');
      expect(doctor?.stdout).not.toContain('--repair');
      await mock.expectMade({ finds: 1 });
      await home.do('push');
      await mock.expectMade({ finds: 3 });
    },
  );
});

test('An outbox that is no database can be restored or repaired, and that is said.', async () => {
  await importSeason(home, 1);
  writeFileSync(outboxFile(home), 'no database'.repeat(1000));
  await expectEnded(home.pas('list'), 12, /doctor --repair[\s\S]*pas restore FILE --replace/);
});

describe('Two homes with one outbox', () => {
  /** Another home, whose outboxes are those of the first. */
  function makeSecond(): Home {
    const second = home.copy();
    const outboxes = join('pas', 'outboxes');
    rmSync(join(second.folder, outboxes), { recursive: true });
    symlinkSync(join(home.folder, outboxes), join(second.folder, outboxes));
    rmSync(join(second.folder, 'state'), { recursive: true, force: true });
    return second;
  }

  beforeEach(async () => {
    await importSeason(home, 6);
    await mock.service.settings({ latency_ms: 100 });
  });

  test('and a ledger each: only the home that pushed first may push, until the other takes over.', async () => {
    const second = makeSecond();
    await home.do('push', 'K-1');
    await expectEnded(second.pas('push'), 2, 'pas push --take-over');
    await mock.expectMade({ finds: 1 });
    await second.do('push', '--take-over');
    await mock.expectMade({ finds: 6 });
    await expectEnded(home.pas('push'), 2);
  });

  test('and a ledger each, both pushed for the first time at once: nothing is sent twice.', async () => {
    const second = makeSecond();
    const runs = await Promise.all([home, second].map((each) => each.start('push').ended));
    expect(await mock.made(), runs.map(({ stderr }) => stderr).join()).toMatchObject({ finds: 6 });
  });
});

test('Photographs whose copies are missing are refused, and the rest of the push is sent.', async () => {
  await sendSeason(home, 4);
  for (const [index, find] of ['K-1', 'K-2', 'K-3', 'K-4'].entries())
    await home.do('photo', 'add', find, home.file(`${find}.png`, tinyPng(index)));
  for (const file of findPhotographCopies(home).slice(0, 3)) rmSync(file);
  await expectEnded(home.pas('push'), 3, 'photograph has been removed or changed');
  expect((await home.json('status')).entries.photo).toMatchObject({ accepted: 1, refused: 3 });
});
