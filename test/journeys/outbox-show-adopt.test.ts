import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/store/database.ts';
import {
  configFile,
  getOutboxId,
  keepJournalInState,
  outboxFile,
  outboxFolder,
} from '../support/outbox-files.ts';
import {
  addressFlags,
  expectDone,
  type Home,
  makeHome,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES);
  keepJournalInState(home);
});

type Shown = {
  readonly outbox: string;
  readonly belongs_to: string;
  readonly finds: number;
  readonly unsent: number;
};

test('an outbox shows its service and account, and is assigned to this machine by the first push', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  const before = await home.json<Shown>('outbox', 'show');
  expect(before).toMatchObject({
    outbox: getOutboxId(home),
    service: mock.service.base_url,
    profiles: ['mock'],
    belongs_to: 'new',
    unsent: 2,
  });
  await expectDone(home.pas('push'));
  expect(await home.json<Shown>('outbox', 'show')).toMatchObject({
    belongs_to: 'own',
    finds: 2,
    unsent: 0,
  });
  expect(await home.json<Shown[]>('outbox', 'show', '--all')).toMatchObject([
    { outbox: getOutboxId(home) },
  ]);
  expect((await expectDone(home.pas('outbox', 'show'))).stdout).toContain(outboxFile(home));
});

test('shown entries are corrected by their events, and damage is exit 12', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await expectDone(home.pas('push'));
  const change = (sql: string): void => {
    const database = openSqlite(outboxFile(home));
    database.exec(sql);
    database.close();
  };
  change(`update entries set state = 'queued' where id = 1`);
  expect(await home.json('outbox', 'check')).toMatchObject({ sound: true, corrected: ['K-1'] });
  expect(await home.json('outbox', 'check')).toMatchObject({ corrected: [] });
  change(`update finds set elements = replace(elements, '1', '2')`);
  expect((await home.pas('outbox', 'check')).code).toBe(12);
});

/** The data home as it is carried to another machine, which has a journal of its own. */
function elsewhere(from: Home): Home {
  const other = makeHome({ PAS_PASSWORD: 'archaeologist' });
  cpSync(join(from.folder, 'pas'), join(other.folder, 'pas'), { recursive: true });
  return other;
}

test('an outbox from another machine is not pushed before it is adopted, and sends nothing twice', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await expectDone(home.pas('push', 'K-1'));
  const other = elsewhere(home);
  // Two journals of one machine: a container has no identity.
  const database = openSqlite(outboxFile(other));
  database.exec(`update header set machine = ''`);
  database.close();
  expect(await other.json<Shown>('outbox', 'show')).toMatchObject({ belongs_to: 'foreign' });
  const refused = await other.pas('push');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('pas outbox adopt --yes'),
  ]);
  expect(await mock.made()).toMatchObject({ finds: 1 });
  expect((await other.pas('outbox', 'adopt')).code).toBe(2);
  await expectDone(other.pas('outbox', 'adopt', '--yes'));
  await expectDone(other.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

test('a lost data home is filled from the journal, and new finds of the account continue the earlier outbox', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await expectDone(home.pas('push', 'K-1', 'K-2'));
  const earlier = getOutboxId(home);
  rmSync(outboxFolder(home), { recursive: true });
  const listed = await home.pas('list', '--json');
  expect(listed.stderr).toMatch(/recreated. 2 finds that were sent are restored from the journal/);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { local_id: 'K-1', state: 'accepted' },
    { local_id: 'K-2' },
  ]);
  // The whole home, with the name of the outbox.
  rmSync(join(home.folder, 'pas'), { recursive: true });
  await expectDone(
    home.pas(
      'init',
      '--name',
      'mock',
      '--kind',
      'training',
      '--username',
      'archaeologist',
      '--oai-auth',
      'basic',
      ...addressFlags(mock.service),
      ...WITHOUT_PAUSES,
    ),
  );
  keepJournalInState(home);
  await expectDone(home.pas('login'));
  await expectDone(home.pas('import', writeSeason(home, 3)));
  const refused = await home.pas('push');
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`pas outbox adopt --continue ${earlier}`),
  ]);
  expect(await home.json('outbox', 'adopt', '--continue', earlier, '--yes')).toMatchObject({
    added: 1,
    same: 2,
  });
  expect(getOutboxId(home)).toBe(earlier);
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

test('an outbox that is to be separate causes one question', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('push'));
  await expectDone(
    home.pas(
      'init',
      '--name',
      'second',
      '--kind',
      'training',
      '--username',
      'archaeologist',
      '--set',
      'schema_version=2.1',
      '--oai-auth',
      'basic',
      ...addressFlags(mock.service),
      ...WITHOUT_PAUSES,
    ),
  );
  const flags = ['--profile', 'second'];
  await expectDone(
    home
      .pas('import', home.file('other.csv', 'local_id,note\nN-1,x\n'), ...flags)
      .then((run) => ({ ...run, code: 0 })),
  );
  await expectDone(home.pas('login', ...flags));
  expect(await home.json('outbox', 'adopt', '--separate', ...flags)).toMatchObject({
    separate_from: [getOutboxId(home)],
  });
});

describe('a profile', () => {
  test('whose service was changed is refused with both ways out, and nothing changes', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const other = 'http://127.0.0.1:9';
    const args = [
      'init',
      '--name',
      'mock',
      '--kind',
      'training',
      '--base-url',
      other,
      '--schema-base',
      `${other}/schema`,
    ];
    const refused = await home.pas(...args);
    expect([refused.code, refused.stderr]).toEqual([
      12,
      expect.stringMatching(/pas service moved http.* http:\/\/127.0.0.1:9.*pas init/s),
    ]);
    await expectDone(home.pas('list'));
    await expectDone(home.pas('service', 'moved', mock.service.base_url, other, '--yes'));
    expect(await home.json('outbox', 'show')).toMatchObject({ service: other });
    expect(await home.json('list')).toMatchObject([{ local_id: 'K-1' }]);
  });

  test('whose outbox is empty gets another one', async () => {
    await expectDone(home.pas('list'));
    const before = getOutboxId(home);
    const other = 'http://127.0.0.1:9';
    await expectDone(
      home.pas(
        'init',
        '--name',
        'mock',
        '--kind',
        'training',
        '--base-url',
        other,
        '--schema-base',
        `${other}/schema`,
      ),
    );
    await expectDone(home.pas('list'));
    expect(getOutboxId(home)).not.toBe(before);
  });

  test('that names the service and account of another profile shares its outbox', async () => {
    const run = await expectDone(
      home.pas(
        'init',
        '--name',
        'twin',
        '--kind',
        'training',
        '--username',
        'archaeologist',
        ...addressFlags(mock.service),
      ),
    );
    expect(run.stderr).toMatch(/shares the outbox of mock/);
    await expectDone(home.pas('import', writeSeason(home, 1)));
    expect(await home.json('list', '--profile', 'twin')).toMatchObject([{ local_id: 'K-1' }]);
    expect(getOutboxId(home, 'twin')).toBe(getOutboxId(home));
  });

  test('that is removed leaves its outbox', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const folder = outboxFolder(home);
    const removed = await expectDone(home.pas('profile', 'remove', 'mock', '--yes'));
    expect(removed.stderr).toContain(folder);
    expect([existsSync(folder), existsSync(configFile(home))]).toEqual([true, true]);
    expect(await home.json('outbox', 'show', '--all')).toMatchObject([{ profiles: [], finds: 1 }]);
  });
});

test('two parallel commands give the profile one outbox', async () => {
  await Promise.all([1, 2, 3, 4].map(() => expectDone(home.start('list').ended)));
  const all = await home.json<Shown[]>('outbox', 'show', '--all');
  expect(all.map(({ outbox }) => outbox)).toEqual([getOutboxId(home)]);
});
