import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { placedPhotograph, placedXmp } from '../support/placed-photograph.ts';
import { findAt } from '../support/records-at-service.ts';
import { expectEnded, settledAfter } from '../support/run-pas.ts';
import { importSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock, settledAfter(1000));

const stripPlaces = (isOn: boolean) => home.do('profile', 'set', `strip_gps=${isOn}`);

type MatchedFile = {
  file: string;
  action: string;
  find: string | null;
  confidence: string | null;
  known: { find: string; state: string }[];
};
type Matched = {
  queued: number;
  gps_stripped: number;
  files: MatchedFile[];
  issues: { rule: string; severity: string }[];
};

/** Finds K-1 to K-4 lie 36 m apart, and are of this day. */
const TAKEN = '2024:06:01 10:00:00';
const NEAR_K3 = [14.40102, 50.08001] as const;

/** A card as it comes out of a camera that writes places. */
async function writeCard(): Promise<string> {
  home.file('card/k_01.jpg', await placedPhotograph('jpeg', { shade: 1, taken: TAKEN }));
  home.file(
    'card/K-02 detail (2).jpg',
    await placedPhotograph('jpeg', {
      shade: 2,
      place: [14.4005, 50.08],
      xmp: placedXmp(),
      taken: TAKEN,
    }),
  );
  home.file(
    'card/trench/IMG_0003.tif',
    await placedPhotograph('tiff', { shade: 3, place: NEAR_K3, taken: TAKEN }),
  );
  home.file(
    'card/IMG_0004.png',
    await placedPhotograph('png', { shade: 4, place: [15, 50], taken: '2024:06:09 10:00:00' }),
  );
  home.file('card/IMG_0005.jpg', await placedPhotograph('jpeg', { shade: 1, taken: TAKEN }));
  home.file('card/notes.txt', 'mud');
  return join(home.folder, 'card');
}

function decision({ files }: Matched): Record<string, string> {
  return Object.fromEntries(
    files.map(({ file, action, find, confidence }) => [file, [action, find, confidence].join(' ')]),
  );
}

/** Files of each find's record at the service: their names and digests. */
async function atService(): Promise<
  Record<string, { readonly name: string; readonly sha512: string }[]>
> {
  const records: Record<string, { name: string; sha512: string }[]> = {};
  for (const { local_id: localId, ident_cely: ident } of await home.json('list')) {
    const { soubor = [] } = await findAt(mock.service, ident);
    records[localId] = soubor.map(({ historie, sha_512: sha512 }) => ({
      name: historie[0]?.poznamka ?? '',
      sha512,
    }));
  }
  return records;
}

function digest(bytes: Buffer): string {
  return createHash('sha512').update(bytes).digest('hex');
}

test('a card is matched and pushed, and its photographs are attached to the right records without their places', async () => {
  await importSeason(home, 4);
  const card = await writeCard();
  const original = readFileSync(join(card, 'K-02 detail (2).jpg'));

  const planned = await home.json<Matched>('photo', 'match', card, '--dry-run');
  expect(decision(planned)).toEqual({
    'k_01.jpg': 'queued K-1 sure',
    'K-02 detail (2).jpg': 'queued K-2 sure',
    'trench/IMG_0003.tif': 'left K-3 likely',
    'IMG_0004.png': 'left  none',
    'IMG_0005.jpg': 'copy  ',
    'notes.txt': 'refused  ',
  });
  expect(planned.issues.map(({ rule, severity }) => `${severity} ${rule}`).sort()).toEqual([
    'warning photo-gps',
    'warning photo-gps',
    'warning photo-gps',
    'warning photo-type',
  ]);

  await stripPlaces(true);
  const done = await home.json<Matched>('photo', 'match', card);
  expect(done).toMatchObject({ queued: 2, gps_stripped: 1 });
  const listed = await home.pas('photo', 'match', card);
  expect(listed.stdout).toContain('To queue another match: pas photo add FIND FILE');
  await home.do('photo', 'add', 'K-3', join(card, 'trench', 'IMG_0003.tif'));
  await home.do('push');
  const records = await atService();
  expect(
    Object.fromEntries(
      Object.entries(records).map(([find, files]) => [find, files.map(({ name }) => name)]),
    ),
  ).toEqual({
    'K-1': ['k_01.jpg'],
    'K-2': ['K-02 detail (2).jpg'],
    'K-3': ['IMG_0003.tif'],
    'K-4': [],
  });
  expect(readFileSync(join(card, 'K-02 detail (2).jpg')).equals(original)).toBe(true);
  expect(records['K-1']?.[0]?.sha512).toBe(digest(readFileSync(join(card, 'k_01.jpg'))));
  expect(records['K-2']?.[0]?.sha512).not.toBe(digest(original));

  const again = await home.json<Matched>('photo', 'match', card);
  expect(again.queued).toBe(0);
  expect(again.files.find(({ file }) => file === 'K-02 detail (2).jpg')).toMatchObject({
    action: 'known',
    known: [{ find: 'K-2', state: 'accepted' }],
  });
});

test('a stripped photograph whose answer was lost is found by its checksum, since the service stores exactly these bytes', async () => {
  await importSeason(home, 1);
  const photograph = home.file('a.jpg', await placedPhotograph('jpeg', { place: NEAR_K3 }));
  await stripPlaces(true);
  await home.do('photo', 'add', 'K-1', photograph);
  await mock.service.faults({
    endpoint: 'photo',
    when: { nth: 1 },
    times: 1,
    fault: 'reset-after-save',
  });
  await home.pas('push');
  const { entries } = await home.json('show', 'K-1');
  expect(entries.find(({ kind }) => kind === 'photo')).toMatchObject({
    state: 'accepted',
    evidence: [{ basis: 'same-digest' }],
  });
  expect((await atService())['K-1']).toHaveLength(1);
});

describe('one photograph with and without its place', () => {
  const add = () => home.pas('photo', 'add', 'K-1', join(home.folder, 'a.jpg'));
  beforeEach(async () => {
    await importSeason(home, 1);
    home.file('a.jpg', await placedPhotograph('jpeg', { place: NEAR_K3 }));
  });

  test('is queued once: the stripped one replaces the waiting one, and is not replaced by it', async () => {
    const withPlace = await add();
    expect(withPlace.stdout).toContain('contains the place where it was taken (GPS)');
    await stripPlaces(true);
    const without = await add();
    expect(without.stdout).toContain('The place was removed from 1 photograph.');
    expect(without.stdout).not.toContain('tells where');
    await stripPlaces(false);
    expect((await add()).stdout).toContain('0 of 1 photograph queued');
    await home.do('push');
    const files = (await atService())['K-1'];
    expect(files).toHaveLength(1);
    expect(files?.[0]?.sha512).not.toBe(digest(readFileSync(join(home.folder, 'a.jpg'))));
  });

  test('is not sent again after it was sent', async () => {
    await add();
    await home.do('push');
    await stripPlaces(true);
    expect((await add()).stdout).toContain('0 of 1 photograph queued');
  });

  test('is stripped by a second match while it waits', async () => {
    home.file('card/K-1.jpg', readFileSync(join(home.folder, 'a.jpg')));
    const card = join(home.folder, 'card', 'K-1.jpg');
    expect(await home.json('photo', 'add', 'K-1', card)).toMatchObject({
      queued: 1,
      gps_stripped: 0,
    });
    await stripPlaces(true);
    expect(await home.json<Matched>('photo', 'match', 'card')).toMatchObject({
      queued: 0,
      gps_stripped: 1,
    });
    expect(await home.json<Matched>('photo', 'match', 'card')).toMatchObject({
      queued: 0,
      gps_stripped: 0,
    });
  });

  test('is one photograph for tables too', async () => {
    const table = home.file('more.csv', 'local_id;photos\nK-1;a.jpg\n');
    const photos = async () => (await home.json('import', table)).photos;
    await stripPlaces(true);
    expect(await photos()).toBe(1);
    await stripPlaces(false);
    expect(await photos()).toBe(0);
  });
});

test('a photograph that was changed in its folder replaces the one that waits', async () => {
  await importSeason(home, 1);
  home.file('card/K-1.png', tinyPng(1));
  home.file('card/K-1 b.png', tinyPng(2));
  const card = join(home.folder, 'card');
  await home.do('photo', 'match', card);
  home.file('card/K-1.png', tinyPng(3));
  await home.do('photo', 'match', card);
  await home.do('push');
  await mock.expectMade({ photos: 2 });
});

test('all subfolders are searched, and links to files, but not links to folders', async () => {
  await importSeason(home, 3);
  home.file('card/K-1.jpg', await placedPhotograph('jpeg', { shade: 1, taken: TAKEN }));
  home.file(
    'card/DCIM/100CANON/K-2.jpg',
    await placedPhotograph('jpeg', { shade: 2, taken: TAKEN }),
  );
  const apart = home.file(
    'apart/DSC_1.jpg',
    await placedPhotograph('jpeg', { shade: 3, taken: TAKEN }),
  );
  symlinkSync(apart, join(home.folder, 'card', 'K-3.jpg'));
  symlinkSync(join(home.folder, 'nowhere.jpg'), join(home.folder, 'card', 'K-4.jpg'));
  symlinkSync(join(home.folder, 'card'), join(home.folder, 'card', 'DCIM', '102_0624'));
  const { stdout } = await home.pas('photo', 'match', 'card');
  expect(stdout).toContain('Queued 3 of 5 files, for 3 finds.');
});

test('a photograph with another extension or letter case is found if one file alone fits, with a message', async () => {
  await importFinds(['K-1', 'K-2']);
  home.file('IMG_0001.JPG', await placedPhotograph('jpeg', { shade: 1 }));
  home.file('IMG_0002.jpeg', await placedPhotograph('jpeg', { shade: 2 }));
  home.file('IMG_0003.png', await placedPhotograph('png', { shade: 3 }));
  home.file('IMG_0003.tif', await placedPhotograph('tiff', { shade: 4 }));
  const added = await home.pas('photo', 'add', 'K-1', join(home.folder, 'IMG_0001.jpg'));
  expect(added).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 of 1 photograph queued for K-1.'),
  });
  expect(added.stdout).toContain(
    'There is no photograph "IMG_0001.jpg"; pas uses IMG_0001.JPG, the only file that matches',
  );
  await expectEnded(home.pas('photo', 'add', 'K-1', join(home.folder, 'img_0003.jpg')), 3);
  const table = home.file('more.csv', 'local_id;photos\nK-2;img_0002.JPG\n');
  const imported = await home.json('import', table);
  expect(imported.photos).toBe(1);
  expect(imported.issues.map(({ rule }) => rule)).toContain('photo-spelling');
});

/** Finds with these numbers, of which the first has these photographs. */
async function importFinds(ids: readonly string[], photos = ''): Promise<void> {
  const lines = readFileSync(writeSeason(home, ids.length), 'utf8').trimEnd().split(/\r?\n/);
  const named = lines.map(
    (line, row) => line.replace(/^K-\d+/, ids[row - 1] ?? '') + (row === 1 ? photos : ''),
  );
  await home.do('import', home.file('named.csv', `${named.join('\n')}\n`));
}

test('a folder without photographs, and a path that is not a folder, are reported', async () => {
  mkdirSync(join(home.folder, 'empty'));
  const empty = await home.pas('photo', 'match', 'empty');
  expect(empty).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('There are no files in this folder.'),
  });
  await expectEnded(home.pas('photo', 'match', 'nowhere'), 2);
});

test('truncated, empty and too large photographs are named, and the others are queued', async () => {
  await importSeason(home, 2);
  const whole = await placedPhotograph('jpeg', { place: NEAR_K3, taken: TAKEN });
  home.file('card/K-1.jpg', whole.subarray(0, 300));
  home.file('card/K-2.jpg', '');
  home.file('card/K-2 b.png', tinyPng(7));
  writeFileSync(join(home.folder, 'card', 'K-2 c.png'), tinyPng(8));
  truncateSync(join(home.folder, 'card', 'K-2 c.png'), 262_144_001);
  await stripPlaces(true);
  const { code, stdout } = await home.pas('photo', 'match', 'card');
  expect(code).toBe(3);
  expect(stdout).toContain('card/K-1.jpg is cut off: its end is missing');
  expect(stdout).toMatch(/card\/K-2 c\.png has 262144001 bytes/);
  expect(stdout).toContain('card/K-2.jpg is empty');
  expect(stdout).toContain('Queued 2 of 4 files, for 2 finds.');
  rmSync(join(home.folder, 'card', 'K-1.jpg'));
  rmSync(join(home.folder, 'card', 'K-2 c.png'));
  const again = await home.pas('photo', 'match', 'card');
  expect(again.stdout).toContain('Queued 0 of 2 files, for 0 finds.');
});

test('a picture of several finds is not called known', async () => {
  await importSeason(home, 2);
  const picture = await placedPhotograph('jpeg', { shade: 1, taken: TAKEN });
  home.file('card/both.jpg', picture);
  for (const find of ['K-1', 'K-2'])
    await home.do('photo', 'add', find, join(home.folder, 'card/both.jpg'));
  const { stdout } = await home.pas('photo', 'match', 'card', '--dry-run');
  expect(stdout).toMatch(/both\.jpg +K-1, K-2 +several +already here for 2 finds: queued/);
});

test.skipIf(process.platform === 'win32')(
  'a line break in the name of a photograph breaks no line',
  async () => {
    await importSeason(home, 1);
    const path = home.file('card/two\nlines.png', tinyPng(1));
    await home.do('photo', 'add', 'K-1', path);
    expect((await home.pas('show', 'K-1')).stdout).toContain('photograph two lines.png (');
  },
);
