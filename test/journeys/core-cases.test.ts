import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { outboxFolder } from '../support/outbox-files.ts';
import {
  accountFlags,
  atHost,
  expectEnded,
  findStates,
  type Home,
  initArgs,
  makeHome,
  settledAfter,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service);
});

const fail = (endpoint: string, fault: string, times = 1): Promise<unknown> =>
  mock.service.control('PUT', '/faults', [{ endpoint, when: { every: 1 }, times, fault }]);

/** A push whose first such request fails. */
async function pushInVain(endpoint: string, by: Home = home): Promise<void> {
  await fail(endpoint, '503');
  await expectEnded(by.pas('push'), 5);
  await mock.service.faults();
}

/** Numbers and photographs of a find, with their states. */
async function changesOf(find: string, of: Home = home): Promise<unknown[]> {
  const { entries } = await of.json('show', find);
  return entries.flatMap(({ kind, state, value, photo }) =>
    kind === 'import' ? [] : [[kind, value ?? photo, state]],
  );
}

/** Another data home of this user, with the same profile. */
function makeSecondHome(): Home {
  const folder = join(home.folder, 'second');
  for (const name of ['config.toml', 'secrets.json'])
    cpSync(join(home.folder, 'pas', name), join(folder, name));
  return home.with({ PAS_HOME: folder });
}

/** Sends a season, and loses the data home. @returns path of its table */
async function sendAndLose(count: number): Promise<string> {
  const table = await sendSeason(home, count);
  rmSync(outboxFolder(home), { recursive: true });
  return table;
}

/** The data home is as it was when it was copied, the state folder as it is. */
function keepCopy(): () => void {
  const from = outboxFolder(home);
  const to = join(home.folder, 'kept');
  cpSync(from, to, { recursive: true });
  return () => {
    rmSync(from, { recursive: true });
    cpSync(to, from, { recursive: true });
  };
}

/** The same data home without the ledger, as on a copy that was changed before the push. */
function withoutLedger(): Home {
  return home.with({ PAS_STATE: join(home.folder, 'elsewhere') });
}

test('of two edits in two copies none is sent until the find is edited once more', async () => {
  await importSeason(home, 1);
  const second = makeSecondHome();
  cpSync(join(home.folder, 'pas', 'outboxes'), join(home.folder, 'second', 'outboxes'), {
    recursive: true,
  });
  await home.do('edit', 'K-1', '--set', 'poznamka=here');
  await second.do('edit', 'K-1', '--set', 'poznamka=there');
  await pushInVain('import', second);
  await expectEnded(home.pas('push'), 6);
  const { needs_person: asked } = await home.json('status');
  expect(asked.map(({ held }) => held?.answers)).toEqual([[]]);
  expect((await home.pas('status')).stdout).toContain('pas edit K-1');
  for (const answer of [['--answer', 'new'], ['--resend']])
    await expectEnded(home.pas('resolve', 'K-1', ...answer), 2);
  await home.do('edit', 'K-1', '--set', 'poznamka=both');
  await home.do('push');
  await mock.expectMade({ finds: 1 });
});

test('of two edits in two copies both are shown, and the shown one can be chosen', async () => {
  await importSeason(home, 1);
  const putBack = keepCopy();
  await home.do('edit', 'K-1', '--set', 'hloubka=11');
  await pushInVain('import');
  putBack();
  const elsewhere = withoutLedger();
  await elsewhere.do('edit', 'K-1', '--set', 'hloubka=22');
  await expectEnded(home.pas('push'), 6);
  expect((await home.pas('status')).stdout).toContain('hloubka 22 / 11');
  await home.do('edit', 'K-1', '--set', 'hloubka=22');
  await home.do('push');
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
});

test('undo of a removal after a failed attempt sends the find', async () => {
  await importSeason(home, 2);
  await pushInVain('import');
  await home.do('remove', 'K-1', '--yes');
  await home.do('undo');
  await home.do('push');
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  await mock.expectMade({ finds: 2 });
});

describe('undo of a removal after the find was entered again', () => {
  const undoRemoval = async (): Promise<void> => {
    const log = await home.json<{ id: string; command: string }[]>('undo', '--list');
    const removal = log.find(({ command }) => command === 'remove');
    await home.do('undo', removal?.id ?? '');
  };

  test('leaves one find where both are equal', async () => {
    await importSeason(home, 1);
    await home.do('remove', 'K-1', '--yes');
    await importSeason(home, 1);
    await undoRemoval();
    await home.do('push');
    expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
    await mock.expectMade({ finds: 1 });
  });

  test('asks about the local id where they differ, and again if a change makes them equal', async () => {
    await importSeason(home, 1);
    await home.do('edit', 'K-1', '--set', 'poznamka=as it was');
    await home.do('remove', 'K-1', '--yes');
    await importSeason(home, 1);
    await undoRemoval();
    await expectEnded(home.pas('push'), 6);
    expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted', 'K-1-2': 'queued' });
    await home.do('resolve', 'K-1-2', '--resend');
    await home.do('edit', 'K-1-2', '--set', 'poznamka=nález 1');
    await expectEnded(home.pas('push'), 6);
    expect((await home.pas('status')).stdout).toContain('it is the same as K-1');
    await mock.expectMade({ finds: 1 });
  });
});

test('undo takes back a number that was tried once and did not arrive', async () => {
  await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'WRONG');
  await pushInVain('number');
  await home.do('undo');
  await home.do('number', 'set', 'K-1', '12/2024');
  await home.do('push');
  expect(await changesOf('K-1')).toStrictEqual([
    ['number', 'WRONG', 'dropped'],
    ['number', '12/2024', 'accepted'],
  ]);
});

test('undo takes back a photograph that was tried once and did not arrive', async () => {
  await sendSeason(home, 1);
  await home.do('photo', 'add', 'K-1', home.file('wrong.png', tinyPng(7)));
  await pushInVain('photo');
  await home.do('undo');
  await home.do('push');
  await mock.expectMade({ photos: 0 });
});

describe('a number that was given to the record by its identifier, without the find', () => {
  /** Sets the number in a data home that does not know the find yet. */
  async function setByRecord(of: Home, value: string): Promise<void> {
    const [find] = await home.json('list');
    await of.do('number', 'set', find?.ident_cely ?? '', value);
  }

  const numberAtService = async (): Promise<unknown> => {
    const { finds } = await mock.service.control<{ finds: { registration_number: unknown }[] }>(
      'GET',
      '/finds?limit=1',
    );
    return finds[0]?.registration_number;
  };

  beforeEach(async () => {
    await sendSeason(home, 1);
  });

  test('is shown as what a number of the find would replace', async () => {
    await home.do('number', 'set', 'K-1', 'FIRST');
    await home.do('push');
    const second = makeSecondHome();
    await setByRecord(second, 'SECOND');
    await second.pas('push', '--on-question', 'send');
    await second.do('push');
    expect(await numberAtService()).toBe('SECOND');
    await expectEnded(second.pas('number', 'set', 'K-1', 'FIRST'), 2);
    await second.do('number', 'set', 'K-1', 'FIRST', '--replace');
    await second.do('push');
    expect(await numberAtService()).toBe('FIRST');
  });

  test('is not sent behind a later one of the find, and is reached by either name', async () => {
    const second = makeSecondHome();
    await setByRecord(second, 'EARLIER');
    await fail('number', '500-before-save');
    await expectEnded(second.pas('push'), 6);
    await mock.service.faults();
    await second.do('number', 'set', 'K-1', 'LATER', '--replace');
    const [find] = await home.json('list');
    const ident = find?.ident_cely ?? '';
    for (const name of ['K-1', ident])
      expect((await second.do('show', name)).stdout).toContain('number EARLIER: uncertain');
    await second.do('resolve', ident, '--drop');
    await second.do('push');
    expect(await numberAtService()).toBe('LATER');
  });

  test('does not replace a later one of the find without a question', async () => {
    const second = makeSecondHome();
    await setByRecord(second, 'EARLIER');
    await home.do('number', 'set', 'K-1', 'LATER');
    await home.do('push');
    await expectEnded(second.pas('push'), 6);
    expect(await numberAtService()).toBe('LATER');
  });
});

test('a number is not given to a hidden record that has the identifier of a deleted one', async () => {
  await sendSeason(home, 1);
  const [find] = await home.json('list');
  await mock.service.control('POST', `/records/${find?.ident_cely}/delete`, { permanent: true });
  await home.init(mock.service, '--name', 'colleague', ...accountFlags('researcher'));
  const colleague = home.with({ PAS_PASSWORD: 'researcher', PAS_PROFILE: 'colleague' });
  await colleague.do('import', writeSeason(home, 2), '--id-prefix', 'C-');
  await expectEnded(colleague.pas('push', 'C-K-2'), 6);
  await home.do('number', 'set', 'K-1', 'OURS');
  await expectEnded(home.pas('push'), 6);
  expect((await home.pas('status')).stdout).toContain('may have given it to another find');
});

test('a number and a photograph are held for a record that was deleted meanwhile', async () => {
  await sendSeason(home, 1);
  const [find] = await home.json('list');
  await home.do('number', 'set', 'K-1', 'OURS');
  await home.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(1)));
  await mock.service.control('POST', `/records/${find?.ident_cely}/delete`);
  const requests = (await mock.service.journal()).length;
  await expectEnded(home.pas('push'), 6);
  const sent = (await mock.service.journal()).slice(requests).map(({ path }) => path);
  expect(sent.filter((path) => path.includes('/nalez/'))).toEqual([]);
  expect((await home.pas('status')).stdout).toContain('was deleted');
});

test('a photograph of a find with two records is sent to the one that a person names', async () => {
  await importSeason(home, 1);
  const second = makeSecondHome().with({ PAS_STATE: join(home.folder, 'elsewhere') });
  cpSync(join(home.folder, 'pas', 'outboxes'), join(home.folder, 'second', 'outboxes'), {
    recursive: true,
  });
  await mock.service.settings({ index_delay_ms: 600_000 });
  await home.do('push');
  await second.do('push');
  await mock.service.settings({ index_delay_ms: 0 });
  const united = second.with({ PAS_STATE: undefined });
  const [find] = await second.json('list');
  await united.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(1)));
  await expectEnded(united.pas('push', '--take-over', '--yes'), 6);
  expect((await united.do('show', 'K-1')).stdout).toMatch(
    /records of it: .*N00009.*N00010|N00010.*N00009/,
  );
  await expectEnded(united.pas('resolve', 'K-1', '--created', find?.ident_cely ?? ''), 2);
  await united.do('resolve', 'K-1', '--resend');
  await united.do('push');
  await mock.expectMade({ finds: 2, photos: 1 });
});

test('what a colleague sent to a record from this machine is known before the index shows it', async () => {
  await sendSeason(home, 2);
  const [first, second] = await home.json('list');
  const picture = home.file('p.png', tinyPng(1));
  await mock.service.settings({ index_delay_ms: 600_000 });
  await home.do('number', 'set', 'K-1', 'OLD');
  await home.do('photo', 'add', 'K-2', picture);
  await home.init(mock.service, '--name', 'colleague', ...accountFlags('colleague'));
  const colleague = home.with({ PAS_PASSWORD: 'colleague', PAS_PROFILE: 'colleague' });
  await colleague.do('number', 'set', first?.ident_cely ?? '', 'NEW');
  await colleague.do('photo', 'add', second?.ident_cely ?? '', picture);
  await colleague.do('push');
  await expectEnded(home.pas('push'), 6);
  const { stdout } = await home.pas('status');
  expect(stdout).toContain('the record has the number NEW; OLD is to replace it');
  expect(stdout).toContain('the record has a file that may be this photograph');
  await mock.expectMade({ finds: 2, photos: 1 });
});

describe('a table whose rows got other numbers', () => {
  const DAYS = ['2024-06-01', '2024-06-02', '2024-06-03'];

  /** Writes the season, with the numbers of these days. */
  function writeDays(...numbers: readonly (readonly [day: number, id: string])[]): string {
    const [head = '', row = ''] = readFileSync(writeSeason(home, 1), 'utf8').split('\n');
    const rows = numbers.map(([day, id]) =>
      row
        .replace('K-1', id)
        .replace('2024-06-01', DAYS[day] ?? '')
        .replace('14.40000', `14.4${day}`)
        .replace('pole 1', `place ${day}`),
    );
    return home.file('season.csv', [head, ...rows].join('\n'));
  }

  test('asks where each find is now, and sends none twice', async () => {
    await home.do('import', writeDays([0, 'K-1'], [1, 'K-2']));
    await home.do('push');
    const shifted = writeDays([2, 'K-1'], [0, 'K-2'], [1, 'K-3']);
    const { code, stdout } = await home.pas('import', shifted);
    expect(code).toBe(3);
    for (const find of ['K-1', 'K-2']) expect(stdout).toContain(`is equal to ${find}`);
    await expectEnded(home.pas('push'), 6);
    await mock.expectMade({ finds: 2 });
    // The question about the number of K-1 is the first of two.
    await home.do('resolve', 'K-1', '--answer', 'new');
    await home.do('resolve', 'K-1', '--answer', 'same');
    await home.do('resolve', 'K-2', '--answer', 'same');
    await home.do('push');
    await mock.expectMade({ finds: 3 });
    expect((await home.do('import', shifted)).stdout).toContain('3 unchanged');
  });

  test.each(['K-1', '2'])(
    'gives no number or photograph by the number %s to the find that had it before',
    async (name) => {
      await home.do('import', writeDays([0, name]));
      await expectEnded(home.pas('import', writeDays([1, name])), 3);
      await home.do('resolve', name, '--answer', 'new');
      const numbers = home.file('numbers.csv', `local_id;evidencni_cislo\n${name};N 1\n`);
      const run = await home.pas('number', 'import', numbers);
      await expectEnded(run, 3);
      expect(run.stdout).toContain(
        `may be any of ${name}, ${name}-2. Queue its number alone: pas number set`,
      );
      home.file(join('camera', `${name}.png`), tinyPng(1));
      const { stdout } = await home.pas('photo', 'match', join(home.folder, 'camera'));
      expect(stdout).toContain(`named after several: ${name}, ${name}-2`);
      expect(await changesOf(name)).toStrictEqual([]);
    },
  );

  test.each([
    ['that looks like another find', [[1, 'K-1']] as const],
    [
      'that another find had',
      [
        [1, 'K-1'],
        [0, 'K-2'],
      ] as const,
    ],
  ])('gives none by a number %s, until a person has said which', async (_name, rows) => {
    await home.do('import', writeDays([0, 'K-1'], [1, 'K-2']));
    await home.do('push');
    await expectEnded(home.pas('import', writeDays(...rows)), 3);
    const numbers = home.file('numbers.csv', 'local_id;evidencni_cislo\nK-1;N 1\n');
    const run = await home.pas('number', 'import', numbers);
    await expectEnded(run, 3);
    expect(run.stdout).toContain(
      'say first which find K-1 is. Answer the question: pas resolve K-',
    );
    home.file(join('camera', 'K-1.png'), tinyPng(1));
    await home.pas('photo', 'match', join(home.folder, 'camera'), '--yes');
    expect(await changesOf('K-1')).toStrictEqual([]);
  });

  test('adds a row that is another find, and keeps the find of its number', async () => {
    await home.do('import', writeDays([0, 'K-1']));
    await expectEnded(home.pas('import', writeDays([1, 'K-1'])), 3);
    const { stdout } = await home.do('resolve', 'K-1', '--answer', 'new');
    expect(stdout).toContain('K-1-2 is another find and was added');
    await home.do('push');
    await mock.expectMade({ finds: 2 });
    expect((await home.do('import', writeDays([1, 'K-1']))).stdout).toContain('1 unchanged');
  });
});

test('a restored backup shows the number that was sent, not the one that was queued', async () => {
  await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'X');
  const copy = join(home.folder, 'evening.sqlite');
  await home.do('backup', copy);
  await home.do('number', 'set', 'K-1', 'Y');
  await home.do('push');
  await home.do('restore', copy, '--replace');
  expect(await changesOf('K-1')).toStrictEqual([['number', 'Y', 'accepted']]);
});

test('a restored backup does not bring back the photograph that was replaced by the one that was sent', async () => {
  await sendSeason(home, 1);
  const photo = home.file('a.png', tinyPng(1));
  await home.do('photo', 'add', 'K-1', photo);
  const copy = join(home.folder, 'evening.sqlite');
  await home.do('backup', copy, '--photos');
  home.file('a.png', tinyPng(2));
  await home.do('photo', 'add', 'K-1', photo);
  await home.do('push');
  await home.do('restore', copy, '--replace');
  expect(await changesOf('K-1')).toStrictEqual([['photo', 'a.png', 'accepted']]);
  await home.do('photo', 'add', 'K-1', photo);
  await home.do('push');
  await mock.expectMade({ photos: 1 });
});

test('a lost data home brings back what was queued for a find that was sent', async () => {
  const table = await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'X');
  await home.do('photo', 'add', 'K-1', home.file('a.png', tinyPng(1)));
  rmSync(outboxFolder(home), { recursive: true });
  await home.pas('import', table);
  await expectEnded(home.pas('push'), 3);
  expect(await changesOf('K-1')).toStrictEqual([
    ['number', 'X', 'accepted'],
    ['photo', 'a.png', 'refused'],
  ]);
});

describe('an older copy of before the first sign-in', () => {
  beforeEach(async () => {
    home = makeHome({ PAS_PASSWORD: 'archaeologist' });
    await home.do(...initArgs(mock.service), ...accountFlags(), ...WITHOUT_PAUSES);
    await importSeason(home, 1);
  });

  test('is completed at once where it is a backup that is restored', async () => {
    const backup = join(home.folder, 'backup.sqlite');
    await home.do('backup', backup);
    await home.do('push');
    const { stdout, stderr } = await home.do('restore', backup, '--replace');
    expect(stdout + stderr).not.toContain('K-1');
    expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
  });

  test('is not sent a second time where it is restored for a colleague', async () => {
    const backup = join(home.folder, 'backup.sqlite');
    await home.do('backup', backup);
    await home.init(mock.service, '--name', 'colleague', ...accountFlags('colleague'));
    const colleague = home.with({ PAS_PASSWORD: 'colleague', PAS_PROFILE: 'colleague' });
    await colleague.do('restore', backup);
    await colleague.do('push');
    await expectEnded(home.pas('push'), 6);
    expect((await home.pas('status')).stdout).toContain('was sent from this machine before');
  });

  test('sends the number that replaces in it the one that was sent', async () => {
    await home.do('number', 'set', 'K-1', 'X');
    const putBack = keepCopy();
    await home.do('push');
    putBack();
    await home.do('number', 'set', 'K-1', 'Y');
    await home.do('push');
    expect(await changesOf('K-1')).toContainEqual(['number', 'Y', 'accepted']);
  });

  test('asks about a number beside one that it never had', async () => {
    const putBack = keepCopy();
    await home.do('number', 'set', 'K-1', 'X');
    await home.do('push');
    putBack();
    await home.do('number', 'set', 'K-1', 'Y');
    await expectEnded(home.pas('push'), 6);
    const [, entry = ''] = /pas resolve K-1 --entry (\d+)/.exec(
      (await home.pas('status')).stdout,
    ) ?? [''];
    await expectEnded(home.pas('resolve', 'K-1', '--entry', entry), 2, 'pas number set K-1');
    await home.do('number', 'set', 'K-1', 'Z', '--replace');
    await home.do('push');
    expect(await changesOf('K-1')).toContainEqual(['number', 'Z', 'accepted']);
  });

  test('sends the one of two numbers that is left when the other one is dropped', async () => {
    await home.do('push');
    const putBack = keepCopy();
    const elsewhere = withoutLedger();
    await home.do('number', 'set', 'K-1', 'RIGHT');
    putBack();
    await elsewhere.do('number', 'set', 'K-1', 'WRONG');
    const { entries } = await home.json('show', 'K-1');
    const wrong = entries.find(({ value }) => value === 'WRONG')?.entry;
    await home.do('resolve', 'K-1', '--entry', String(wrong), '--drop');
    await home.do('push');
    expect(await changesOf('K-1')).toEqual([['number', 'RIGHT', 'accepted']]);
  });
});

test('an older copy with an edited find shows the sent version, and sends nothing again', async () => {
  await importSeason(home, 1);
  const putBack = keepCopy();
  await home.do('push');
  putBack();
  await expectEnded(home.pas('edit', 'K-1', '--set', 'hloubka=77'), 2, 'was sent as');
  await home.do('push');
  await mock.expectMade({ finds: 1 });
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
});

test('a second copy that removed a find and undid it knows what the first one sent', async () => {
  await importSeason(home, 1);
  const putBack = keepCopy();
  await home.do('push');
  putBack();
  await expectEnded(home.pas('remove', 'K-1', '--yes'), 3);
  await expectEnded(home.pas('undo'), 3, 'K-1 was not undone');
  await home.do('push');
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
  await mock.expectMade({ finds: 1 });
});

test('a lost data home comes back with what was sent, and its table is not sent again', async () => {
  const table = await sendAndLose(3);
  await home.pas('import', table);
  await home.do('push');
  await mock.expectMade({ finds: 3 });
  expect(await findStates(home)).toMatchObject({ 'K-1': 'accepted', 'K-3': 'accepted' });
});

describe('after a lost data home', () => {
  test('a push sends what was queued for a find that was sent, and needs no table', async () => {
    await sendSeason(home, 1);
    await home.do('number', 'set', 'K-1', 'X');
    rmSync(outboxFolder(home), { recursive: true });
    await home.do('push', 'K-1');
    expect(await changesOf('K-1')).toStrictEqual([['number', 'X', 'accepted']]);
  });

  test('a push that cannot sign in does not say that nothing is left', async () => {
    await sendAndLose(1);
    await home.do('logout');
    await expectEnded(home.with({ PAS_PASSWORD: undefined }).pas('push'), 4, 'pas login');
  });

  test('pull shows the finds that were sent', async () => {
    await sendAndLose(2);
    expect((await home.do('pull')).stdout).toContain('2 sent finds');
  });

  test('reconcile looks up what was uncertain', async () => {
    await sendSeason(home, 1);
    await home.do('import', writeSeason(home, 2));
    await mock.service.settings({ index_delay_ms: 600_000 });
    await fail('import', '500-after-save');
    await expectEnded(home.pas('push'), 6);
    rmSync(outboxFolder(home), { recursive: true });
    const { code, stdout } = await home.pas('reconcile', 'K-2');
    expect([code, stdout]).toEqual([6, expect.stringContaining('K-2: still uncertain')]);
  });
});

test('a table under other local ids after a lost data home is asked about, not sent again', async () => {
  const table = await sendAndLose(3);
  const renamed = home.file('other.csv', readFileSync(table, 'utf8').replaceAll('K-', 'T-'));
  await home.do('import', renamed);
  await expectEnded(home.pas('push'), 6);
  await mock.expectMade({ finds: 3 });
  expect((await home.pas('status')).stdout).toContain('T-1: it is the same as K-1');
});

test('a table with one corrected value after a lost data home: only that row is asked about', async () => {
  const table = await sendAndLose(3);
  home.file('season.csv', readFileSync(table, 'utf8').replace('nález 3', 'nález 3, stříbro'));
  await home.do('import', table);
  await expectEnded(home.pas('push'), 6);
  await mock.expectMade({ finds: 3 });
  const { stdout } = await home.pas('status');
  expect(stdout).toContain('K-3: it differs little from K-3-2 in this outbox');
  expect(stdout).not.toContain('import of K-1');
});

test('of two equal finds of two data homes, one lost on its way, neither takes the record of the other', async () => {
  home = await signedIn(mock.service, settledAfter(300));
  const second = makeSecondHome();
  const table = writeSeason(home, 1);
  await home.do('import', table);
  const renamed = home.file('b.csv', readFileSync(table, 'utf8').replaceAll('K-', 'B-'));
  await second.do('import', renamed);
  await fail('import', 'reset-before-save');
  await expectEnded(second.pas('push'), 6);
  await expectEnded(home.pas('push'), 6);
  expect((await home.pas('status')).stdout).toContain('K-1: it is the same as B-1');
  await home.do('resolve', 'K-1', '--resend');
  await fail('import', '500-after-save');
  await home.pas('push');
  await mock.service.faults();
  await mock.service.clock({ advance_ms: 60_000 });
  await expectEnded(second.pas('push'), 6);
  const states = (await findStates(second)) as Record<string, string>;
  expect(Object.values(states).filter((state) => state === 'accepted').length).toBeLessThan(2);
  expect(states['B-1']).toBe('uncertain');
});

test('a machine that was set back asks about a find that was edited and sent since', async () => {
  await importSeason(home, 1);
  const putBack = keepCopy();
  const state = join(home.folder, 'state');
  cpSync(state, join(home.folder, 'kept-state'), { recursive: true });
  await home.do('edit', 'K-1', '--set', 'hloubka=77');
  await home.do('push');
  putBack();
  rmSync(state, { recursive: true });
  cpSync(join(home.folder, 'kept-state'), state, { recursive: true });
  await expectEnded(home.pas('push'), 6);
  expect((await home.pas('status')).stdout).toContain('differs little');
  await mock.expectMade({ finds: 1 });
});

test('another laptop takes over only if told so, and asks about a find edited and sent elsewhere', async () => {
  await importSeason(home, 2);
  await home.do('push', 'K-2');
  const laptop = home.copy();
  rmSync(join(laptop.folder, 'state'), { recursive: true });
  await home.do('edit', 'K-1', '--set', 'hloubka=77');
  await home.do('push');
  await expectEnded(laptop.pas('push'), 2);
  await expectEnded(laptop.pas('push', '--take-over'), 6);
  await mock.expectMade({ finds: 2 });
  await laptop.do('resolve', 'K-1', '--created', 'C-202400101-N00010', '--yes');
  await laptop.do('push');
  expect(await findStates(laptop)).toStrictEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
});

test('finds that were sent under a prefix are not sent again from another table', async () => {
  const table = writeSeason(home, 2);
  await home.do('import', table, '--id-prefix', 'KH-');
  await home.do('push');
  const again = await home.pas('import', home.file('copy.csv', readFileSync(table)));
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('0 added')]);
  await home.do('push');
  await mock.expectMade({ finds: 2 });
});

test('a service with a new address and a lost data home: asked, not sent again', async () => {
  const table = await sendSeason(home, 1);
  rmSync(join(home.folder, 'pas'), { recursive: true });
  const user = ['--username', 'archaeologist', '--oai-auth', 'none', ...WITHOUT_PAUSES];
  await home.init(atHost('localhost', mock.service), '--name', 'mock', ...user);
  await home.do('import', table);
  await expectEnded(home.pas('push'), 2, 'is the same service');
  await mock.expectMade({ finds: 1 });
});

test('a backup of another outbox does not hide finds, and names the unsent ones that it lacks', async () => {
  await sendSeason(home, 1);
  const backup = join(home.folder, 'backup.sqlite');
  await home.do('backup', backup);
  const filled = await signedIn(mock.service);
  const table = readFileSync(writeSeason(filled, 1), 'utf8').replaceAll('K-', 'N-');
  await filled.do('import', filled.file('n.csv', table));
  await expectEnded(filled.pas('restore', backup), 2);
  expect(await findStates(filled)).toStrictEqual({ 'N-1': 'queued' });
  const replaced = await filled.pas('restore', backup, '--replace');
  expect([replaced.code, replaced.stdout + replaced.stderr]).toEqual([
    0,
    expect.stringContaining('not sent: N-1'),
  ]);
});

test('a photograph behind a dropped find: the push says what waits for what', async () => {
  await importSeason(home, 1, { photos: true });
  await home.do('resolve', 'K-1', '--drop');
  await expectEnded(home.pas('push'), 3, 'wait for finds that were dropped (K-1)');
});

test('undo takes back an answer, and a number of a record without a find', async () => {
  await importSeason(home, 1);
  await mock.service.settings({ index_delay_ms: 600_000 });
  await fail('import', '500-after-save');
  await expectEnded(home.pas('push'), 6);
  await home.do('resolve', 'K-1', '--resend');
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'queued' });
  await home.do('undo');
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'uncertain' });
  await home.do('number', 'set', 'C-202400101-N00001', 'X 1', '--replace');
  const undo = await home.pas('undo');
  expect([undo.code, undo.stdout + undo.stderr]).toEqual([
    0,
    expect.stringContaining('pas number set'),
  ]);
  expect(await findStates(home)).toStrictEqual({ 'K-1': 'uncertain' });
});

test('undo of a photograph that was added again after a refusal does not send it', async () => {
  await sendSeason(home, 1);
  const photo = home.file('a.png', tinyPng(7));
  await home.do('photo', 'add', 'K-1', photo);
  await fail('photo', 'virus');
  await expectEnded(home.pas('push'), 3);
  await mock.service.faults();
  await home.do('photo', 'add', 'K-1', photo);
  await home.do('undo');
  await expectEnded(home.pas('push'), 3);
  await mock.expectMade({ photos: 0 });
  expect(await changesOf('K-1')).toStrictEqual([['photo', 'a.png', 'refused']]);
});

test('a photograph that an undo leaves refused still says why', async () => {
  await importSeason(home, 1);
  const photo = home.file('a.png', tinyPng(7));
  await home.do('photo', 'add', 'K-1', photo);
  await fail('photo', 'virus');
  await home.pas('push');
  await home.do('photo', 'add', 'K-1', photo);
  await home.do('undo');
  const [refused] = (await home.json('status')).needs_person;
  expect(refused?.reason).toContain('malicious code');
});

test('a find that was being sent at a kill is advised on, kept, settled in JSON, and counted', async () => {
  home = await signedIn(mock.service, settledAfter(300));
  await importSeason(home, 2);
  await fail('import', 'hang-after-save');
  const killed = home.start('push');
  await eventually(async () => (await mock.made()).finds).toBe(1);
  killed.child.kill('SIGKILL');
  await killed.ended;
  await mock.service.faults();
  expect((await home.pas('status')).stdout).toContain('If no push is running any more');
  await expectEnded(home.pas('edit', 'K-1', '--set', 'hloubka=5'), 2, 'pas reconcile K-1');
  await expectEnded(home.pas('remove', 'K-1', '--yes'), 3, 'pas reconcile');
  expect(await home.json('push', '--dry-run')).toMatchObject({ queued: { import: 1 } });
  await mock.service.clock({ advance_ms: 60_000 });
  const lines = (await home.pas('push', '--json')).stdout.trim().split('\n');
  const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(said).toContainEqual(
    expect.objectContaining({ type: 'settled', find: 'K-1', state: 'accepted' }),
  );
  expect(said.at(-1)).toMatchObject({ type: 'summary', accepted: 2, uncertain: 0 });
  await mock.expectMade({ finds: 2 });
});

test('two outboxes of one account do not push at once', async () => {
  const second = makeSecondHome();
  const table = writeSeason(home, 4);
  await home.do('import', table);
  const others = readFileSync(table, 'utf8').replaceAll('K-', 'M-').replaceAll('pole', 'les');
  const dated = others.replaceAll('2024-06-01', '2023-01-01');
  await second.do('import', home.file('m.csv', dated));
  await fail('import', 'hang-before-save');
  const first = home.start('push');
  await eventually(async () => (await mock.service.journal()).at(-1)?.path).toMatch('import-xml');
  await expectEnded(second.pas('push'), 11);
  await mock.expectMade({ finds: 0 });
  first.child.kill('SIGKILL');
  await first.ended;
  // It knows of the find that hung.
  await expectEnded(second.pas('push'), 6);
  await mock.expectMade({ finds: 4 });
});

test('a table of a lost data home under a prefix is asked about, also after the sign-in', async () => {
  const table = await sendAndLose(2);
  await home.do('login');
  home.file('season.csv', readFileSync(table, 'utf8').replaceAll('nález', 'malý nález'));
  await expectEnded(home.pas('import', table, '--id-prefix', 'KH-'), 3);
  await home.pas('push');
  await mock.expectMade({ finds: 2 });
  expect((await home.pas('status')).stdout).toContain('differs little from K-1');
});

test('a find that was removed, lost with its data home and entered again is sent', async () => {
  const table = writeSeason(home, 1);
  await home.do('import', table);
  await fail('import', '503');
  await home.pas('push');
  await home.do('remove', 'K-1', '--yes');
  rmSync(outboxFolder(home), { recursive: true });
  await home.do('import', table);
  await home.do('push');
  await mock.expectMade({ finds: 1 });
});

test('an edit and an undone answer leave the question about a find that is alike', async () => {
  await importSeason(home, 1);
  const season = readFileSync(join(home.folder, 'season.csv'), 'utf8');
  const other = season.replaceAll('K-', 'T-').replaceAll('nález', 'malý nález');
  await home.pas('import', home.file('other.csv', other));
  const isHeld = async () => /^K-1 +held/m.test((await home.pas('list')).stdout);
  expect(await isHeld()).toBe(true);
  await home.do('edit', 'K-1', '--set', 'hloubka=41');
  expect(await isHeld()).toBe(true);
  await home.do('resolve', 'K-1', '--answer', 'new');
  expect(await isHeld()).toBe(false);
  await home.do('undo');
  expect(await isHeld()).toBe(true);
});

test('an edit in an older copy of a find that was sent is shown, not forgotten', async () => {
  await importSeason(home, 1);
  const putBack = keepCopy();
  await home.do('push');
  putBack();
  const elsewhere = withoutLedger();
  await elsewhere.do('edit', 'K-1', '--set', 'hloubka=41');
  await home.do('push');
  expect((await home.pas('list')).stdout).toMatch(/^K-1 +accepted, changed here/m);
  expect((await home.pas('status')).stdout).toMatch(/another version was sent.*\n {2}pas show K-1/);
  expect((await home.pas('show', 'K-1')).stdout).toMatch(/41 cm/);
  await mock.expectMade({ finds: 1 });
});

describe('a find that an older copy removed before it knew of the attempt', () => {
  /** Sends a find, and removes it in a copy from before that. @returns path of its table */
  const removeUnknowing = async (endOfPush: number): Promise<string> => {
    await importSeason(home, 1);
    const putBack = keepCopy();
    await expectEnded(home.pas('push'), endOfPush);
    putBack();
    const elsewhere = withoutLedger();
    await elsewhere.do('remove', 'K-1', '--yes');
    return join(home.folder, 'season.csv');
  };

  test('is shown, compared with and changed like any other that was sent', async () => {
    const table = await removeUnknowing(0);
    await home.do('push');
    expect(await findStates(home)).toStrictEqual({ 'K-1': 'accepted' });
    await home.do('number', 'set', 'K-1', 'N 1');
    await home.do('push');
    expect(await changesOf('K-1')).toEqual([['number', 'N 1', 'accepted']]);
    await home.pas('import', table, '--id-prefix', 'X-');
    expect((await home.pas('status')).stdout).toContain('is equal to K-1: is it the same find?');
  });

  test('is uncertain if that is unknown', async () => {
    await fail('import', '500-before-save');
    await removeUnknowing(6);
    expect(await findStates(home)).toStrictEqual({ 'K-1': 'uncertain' });
  });
});

test('a photograph that one copy took back and another one wants is sent as advised', async () => {
  await importSeason(home, 1);
  await home.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(3)));
  const second = makeSecondHome();
  cpSync(join(home.folder, 'pas', 'outboxes'), join(home.folder, 'second', 'outboxes'), {
    recursive: true,
  });
  await second.do('undo');
  await home.do('undo');
  const [undo] = (await home.json('undo', '--list')) as { id: string }[];
  await home.do('undo', undo?.id ?? '');
  await pushInVain('import', second);
  await mock.service.faults();
  await expectEnded(home.pas('push'), 6);
  const { stderr } = await home.pas('resolve', 'K-1');
  const [, file = ''] = /pas photo add K-1 (\S+)/.exec(stderr) ?? [];
  await home.do('photo', 'add', 'K-1', file);
  await home.do('push');
  await mock.expectMade({ finds: 1, photos: 1 });
});

describe('a row of another table that is like a find here', () => {
  /** Writes a table with the row of K-1 as B-1, with this note. @returns its path */
  function writeLike(note: string): string {
    const season = readFileSync(writeSeason(home, 1), 'utf8');
    return home.file('other.csv', season.replace('K-1;', 'B-1;').replace('nález 1', note));
  }

  /** Imports K-1 and asks about the row, in two copies. @returns the second one */
  async function askInTwoCopies(): Promise<Home> {
    await importSeason(home, 1);
    await expectEnded(home.pas('import', writeLike('jinak')), 3);
    const second = makeSecondHome();
    const from = join(home.folder, 'pas', 'outboxes');
    cpSync(from, join(home.folder, 'second', 'outboxes'), { recursive: true });
    return second;
  }

  test('is not sent by one copy as another find where the other took it for this one', async () => {
    const second = await askInTwoCopies();
    await home.do('resolve', '--all', 'same');
    await second.do('resolve', '--all', 'new');
    await home.do('push');
    await expectEnded(second.pas('push'), 6);
    await mock.expectMade({ finds: 1 });
  });

  test('is asked about until it is answered, and is no change of what the other copy sent', async () => {
    const second = await askInTwoCopies();
    await second.pas('import', writeLike('zase jinak'), '--id-prefix', 'C-');
    await home.do('resolve', '--all', 'new');
    await home.do('edit', 'K-1', '--set', 'hloubka=7');
    await home.do('push');
    const { elements } = await second.json('show', 'K-1');
    expect(elements.hloubka).toBe(7);
    expect((await second.pas('status')).stdout).not.toContain('another version was sent');
    await second.do('resolve', '--all', 'new');
    expect((await second.pas('status')).stdout).not.toContain('is it the same find?');
  });

  test('is asked about a find with the local id of a removed one that it was told from', async () => {
    await importSeason(home, 1);
    await home.pas('import', writeLike('jinak'));
    await home.do('resolve', '--all', 'new');
    await home.do('remove', 'K-1', '--yes');
    const season = readFileSync(writeSeason(home, 1), 'utf8');
    const another = season.replace('nález 1', 'jiný nález').replace('2024-06-01', '2023-05-02');
    await home.do('import', home.file('later.csv', another));
    await home.do('edit', 'K-1', '--set', 'datum_nalezu=2024-06-01');
    expect((await home.pas('status')).stdout).toContain('K-1: it differs little from B-1');
  });

  test('is no question while the find is dropped, and one when it is sent after all', async () => {
    await importSeason(home, 1);
    await home.do('resolve', 'K-1', '--drop');
    await home.do('import', writeLike('jinak'));
    await home.do('edit', 'B-1', '--set', 'poznamka=nález 1');
    expect((await home.pas('status')).stdout).not.toContain('in this outbox');
    await home.do('resolve', 'K-1', '--resend');
    await expectEnded(home.pas('push'), 6);
    await mock.expectMade({ finds: 1 });
  });
});
