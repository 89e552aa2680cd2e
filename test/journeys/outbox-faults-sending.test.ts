import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Listed } from '../support/json-output.ts';
import { findAt } from '../support/records-at-service.ts';
import {
  accountFlags,
  expectEnded,
  findStates,
  type Home,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const production = useMock();
const training = useMock();
const MUSEUM = ['--profile', 'museum'];

/** Signed in at the training instance, and as the profile `museum` at the real one. */
async function homeOfTwo(): Promise<Home> {
  const home = await signedIn(training.service, WITHOUT_PAUSES);
  await home.init(
    production.service,
    '--name',
    'museum',
    '--kind',
    'production',
    ...accountFlags(),
    ...WITHOUT_PAUSES,
  );
  return home;
}

const homeOfOne = (...flags: string[]): Promise<Home> =>
  signedIn(production.service, [...WITHOUT_PAUSES, ...flags]);

async function photosByState(home: Home): Promise<Record<string, number>> {
  return (await home.json('status')).entries.photo;
}

async function listed(home: Home, find: string, ...flags: string[]): Promise<Listed> {
  const found = (await home.json('list', ...flags)).find(({ local_id }) => local_id === find);
  if (found === undefined) throw new Error(`there is no find ${find}`);
  return found;
}

describe('While a push runs,', () => {
  test('or watches for new finds, restored entries are sent to their own service, and only once.', async () => {
    const home = await homeOfTwo();
    const office = await homeOfTwo();
    const own = join(home.folder, 'own.sqlite');
    const ofMuseum = join(office.folder, 'museum.sqlite');
    await importSeason(home, 1);
    await home.do('backup', own);
    await office.do('import', writeSeason(office, 2), ...MUSEUM);
    await office.do('backup', ofMuseum, ...MUSEUM);
    const watching = home.start('push', '--watch');
    const rests = (count: number) =>
      watching.until(
        ({ stderr }) => (stderr.match(/Waiting for (more|new entries)/g) ?? []).length >= count,
      );
    await rests(1);
    await home.do('restore', own, '--replace');
    await expectEnded(home.pas('restore', ofMuseum, '--replace'), 12);
    await home.do('restore', ofMuseum, '--replace', ...MUSEUM);
    await home.do('import', writeSeason(home, 3), ...MUSEUM);
    await importSeason(home, 2);
    await eventually(async () => (await training.made()).finds).toBe(2);
    watching.child.kill('SIGINT');
    await watching.ended;
    expect([await training.made(), await production.made()]).toMatchObject([
      { finds: 2 },
      { finds: 0 },
    ]);
    expect(await home.json('list', ...MUSEUM)).toMatchObject(Array(3).fill({ state: 'queued' }));
  });
});

test('A find corrected under one profile is sent corrected under another profile of the same outbox.', async () => {
  const home = await homeOfOne();
  await home.init(production.service, '--name', 'twin', '--username', 'archaeologist');
  await importSeason(home, 1);
  await production.service.faults({ endpoint: 'import', fault: '503', times: 1 });
  await expectEnded(home.pas('push'), 5);
  await home.do('edit', 'K-1', '--set', 'hloubka=35', '--profile', 'twin');
  await home.do('push', 'K-1');
  const { ident_cely, elements } = await listed(home, 'K-1');
  expect(elements).toMatchObject({ hloubka: 35 });
  expect(await findAt(production.service, ident_cely)).toMatchObject({ hloubka: '35' });
});

test('A correction after a rehearsal is sent.', async () => {
  const home = await homeOfTwo();
  await home.do('import', writeSeason(home, 1), ...MUSEUM);
  expect(await home.json('rehearse', '--to', 'mock', '--yes', ...MUSEUM)).toMatchObject({
    sent: 1,
    accepted: 1,
  });
  await home.do('edit', 'K-1', '--set', 'hloubka=35', ...MUSEUM);
  await home.do('push', '--yes', ...MUSEUM);
  const { ident_cely } = await listed(home, 'K-1', ...MUSEUM);
  expect(await findAt(production.service, ident_cely)).toMatchObject({ hloubka: '35' });
});

test('A photograph is added only to the outbox that has the find, and is sent there once.', async () => {
  const home = await homeOfTwo();
  const photo = home.file('K-1.png', tinyPng(1));
  await sendSeason(home, 1);
  await expectEnded(home.pas('photo', 'add', 'K-1', photo, ...MUSEUM), 2, 'K-1');
  await home.do('import', writeSeason(home, 1), ...MUSEUM);
  await home.do('photo', 'add', 'K-1', photo, ...MUSEUM);
  for (const _again of [1, 2]) await home.do('push', 'K-1', '--yes', ...MUSEUM);
  await production.expectMade({ finds: 1, photos: 1 });
});

test('A find that is corrected during validation keeps the correction, and is sent with it.', async () => {
  const home = await homeOfOne();
  await importSeason(home, 150);
  const checking = home.start('validate');
  const edited: string[] = [];
  // The last finds, one after the other until the check is over: it has read some of them before,
  // and comes to the others later.
  for (let number = 150; checking.child.exitCode === null && number > 145; number -= 1) {
    await home.do('edit', `K-${number}`, '--set', 'hloubka=77');
    edited.push(`K-${number}`);
  }
  await expectEnded(checking.ended, 0);
  expect(edited.length).toBeGreaterThan(1);
  for (const find of edited)
    expect((await home.do('show', find, '--xml')).stdout).toContain('<svc:hloubka>77<');
  await home.do('push', ...edited);
  const sentFinds = (await home.json('list')).filter(({ ident_cely }) => ident_cely !== null);
  expect(sentFinds).toMatchObject(edited.map(() => ({ elements: { hloubka: 77 } })));
  for (const { ident_cely } of sentFinds)
    expect(await findAt(production.service, ident_cely)).toMatchObject({ hloubka: '77' });
});

test('A photograph that was dropped and added again is still one photograph when the drop is undone.', async () => {
  const home = await homeOfOne();
  const photo = home.file('p.png', tinyPng(1));
  await sendSeason(home, 1);
  await home.do('photo', 'add', 'K-1', photo);
  const added = await photosByState(home);
  await home.do('resolve', 'K-1', '--drop');
  const dropped = await photosByState(home);
  expect(dropped).not.toEqual(added);
  await home.do('photo', 'add', 'K-1', photo);
  // The last command added it again, the one before dropped it.
  for (const before of [dropped, added]) {
    await home.do('undo');
    expect(await photosByState(home)).toEqual(before);
  }
  await home.do('push');
  await production.expectMade({ finds: 1, photos: 1 });
});

describe('A draft with a photograph and a number', () => {
  test.each([[['K-1']], [[]]])(
    'is reported by pas push %s, which sends nothing and ends with 3.',
    async (names) => {
      const home = await homeOfOne();
      const table = readFileSync(writeSeason(home, 1, { state: 2 }), 'utf8').replaceAll(
        '2024-06-01',
        '',
      );
      const imported = await home.pas('import', home.file('draft.csv', table), '--json');
      expect(JSON.parse(imported.stdout), imported.stderr).toMatchObject({ added: 1, drafts: 1 });
      await home.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(1)));
      await home.do('number', 'set', 'K-1', 'X 1');
      await expectEnded(home.pas('push', ...names), 3, 'K-1');
      await production.expectMade({ finds: 0, photos: 0 });
      expect(await findStates(home)).toEqual({ 'K-1': 'draft' });
    },
  );
});
