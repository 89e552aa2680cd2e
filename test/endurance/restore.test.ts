import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/store/database.ts';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { eventually } from '../support/eventually.ts';
import { findStates } from '../support/find-states.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { modeOf } from '../support/hostile-disk.ts';
import { expectDone, type Home, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

hostRuns();

const mock = useMock('--min-interval', '10');
let home: Home;
let copy: string;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', settledAfter(0));
  copy = join(home.folder, 'copy.sqlite');
});

const outboxFile = (): string => join(home.folder, 'pas', 'outbox.sqlite');

function loseOutbox(...more: readonly string[]): void {
  for (const name of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.sqlite-shm', ...more])
    rmSync(join(home.folder, 'pas', name), { recursive: true, force: true });
}

type Restored = {
  finds: number;
  uncertain: number;
  put_aside: string | null;
  photos_copied: number;
  photos_missing: { name: string }[];
};

const states = (): Promise<Record<string, string>> => findStates(home);

test('what was sent after the backup is found again and nothing is sent twice, whatever order things were in', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2, { photos: true })));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('import', writeSeason(home, 5, { photos: true })));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
  await expectDone(home.pas('number', 'set', 'K-3', 'A 3'));
  await expectDone(home.pas('backup', copy, '--photos'));
  await expectDone(home.pas('push', 'K-1', 'K-3', 'K-4'));
  await expectDone(home.pas('number', 'set', 'K-3', 'A 3/b'));
  await expectDone(home.pas('push', 'K-3'));
  expect(await mock.made()).toEqual({ finds: 4, photos: 4 });

  loseOutbox('photos');
  const restored = await home.json<Restored>('restore', copy);
  // Three imports, three photographs and two numbers were not sent when the copy was made.
  expect(restored).toMatchObject({ finds: 5, uncertain: 8, put_aside: null, photos_copied: 3, photos_missing: [] });
  expect(await states()).toMatchObject({ 'K-1': 'accepted', 'K-3': 'uncertain', 'K-5': 'uncertain' });

  const first = await home.pas('push');
  expect(first.code).toBe(6);
  expect((await states())['K-1']).toBe('accepted');
  await mock.service.control('POST', '/clock', { advance_ms: 2100 });
  await home.pas('push');
  // K-5 alone was not sent before.
  expect(await states()).toMatchObject({ 'K-3': 'accepted', 'K-4': 'accepted', 'K-5': 'accepted' });
  expect(await mock.made()).toEqual({ finds: 5, photos: 5 });
  // The older number of K-3 is not sent over the newer one: that is for a person.
  const status = await home.json<{ needs_person: { find: string; kind: string; reason: string; command: string }[] }>('status');
  expect(status.needs_person).toMatchObject([{ find: 'K-3', kind: 'number', reason: expect.stringMatching(/sent after/) }]);
});

test('a person who knows that nothing was sent has the queue back as it was', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  await expectDone(home.pas('backup', copy, '--photos'));
  loseOutbox('photos');
  await expectDone(home.pas('restore', copy, '--nothing-sent'));
  await expectDone(home.pas('push'));
  expect(await mock.made()).toEqual({ finds: 3, photos: 3 });
});

test('an outbox with finds is replaced only when asked for, and is kept aside', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('import', writeSeason(home, 4)));
  const refused = await home.pas('restore', copy);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/--replace/);
  expect(Object.keys(await states())).toHaveLength(4);
  const { put_aside: aside } = await home.json<Restored>('restore', copy, '--replace');
  expect(Object.keys(await states())).toHaveLength(1);
  expect(modeOf(aside ?? '')).toBe('600');
  const old = openSqlite(aside ?? '', { readonly: true });
  expect(old.prepare('select count(*) as n from finds').get()).toEqual({ n: 4 });
  old.close();
  await expectDone(home.pas('restore', aside ?? '', '--replace'));
  expect(Object.keys(await states())).toHaveLength(4);
  expect(readdirSync(join(home.folder, 'pas')).filter((name) => name.includes('tmp'))).toEqual([]);
});

test('a damaged outbox is replaced, and kept aside as it is', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await expectDone(home.pas('backup', copy));
  writeFileSync(outboxFile(), 'no database any more');
  expect((await home.pas('restore', copy)).stderr).toMatch(/damaged.*--replace/s);
  const { put_aside: aside } = await home.json<Restored>('restore', copy, '--replace');
  expect(readFileSync(aside ?? '', 'utf8')).toBe('no database any more');
  expect(await states()).toMatchObject({ 'K-3': 'uncertain' });
});

test('a backup that cannot be used leaves everything as it is and says why', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await expectDone(home.pas('backup', copy));
  const half = home.file('half.sqlite', readFileSync(copy).subarray(0, 40_960));
  const newer = home.file('newer.sqlite', readFileSync(copy));
  const database = openSqlite(newer);
  database.pragma('user_version = 99');
  database.close();
  const cases: readonly (readonly [string, number, RegExp])[] = [
    [join(home.folder, 'nowhere'), 2, /There is no file/],
    [home.folder, 2, /is not a file/],
    [home.file('notes.txt', 'my notes of the season'), 2, /is no backup/],
    [home.file('empty.sqlite', ''), 2, /is no backup/],
    [join(home.folder, 'pas', 'vocabulary.sqlite'), 2, /no outbox of pas/],
    [half, 12, /damaged|malformed/],
    [newer, 13, /newer pas/],
    [outboxFile(), 2, /is the outbox itself/],
  ];
  for (const [file, code, why] of cases) {
    const run = await home.pas('restore', file, '--replace');
    expect([file, run.code, run.stderr]).toEqual([file, code, expect.stringMatching(why)]);
  }
  expect(await states()).toEqual({ 'K-1': 'queued', 'K-2': 'queued' });
  expect(readdirSync(join(home.folder, 'pas')).filter((name) => /tmp|replaced/.test(name))).toEqual([]);
});

test('during a push nothing is put back', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await expectDone(home.pas('backup', copy));
  await mock.service.faults({ endpoint: 'import', when: { nth: 1 }, times: 1, fault: 'hang-before-save' });
  const push = home.start('push');
  const imports = async () => (await mock.service.journal()).filter(({ path }) => path.includes('import'));
  await eventually(imports).toHaveLength(1);
  expect((await home.pas('restore', copy, '--replace')).code).toBe(11);
  push.child.kill('SIGKILL');
  await push.ended;
  await mock.service.faults();
});

test('photographs that are nowhere are named with what to do, and giving them again mends it', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2, { photos: true })));
  await expectDone(home.pas('photo', 'add', 'K-1', home.file('linked.png', tinyPng(9)), '--link'));
  await expectDone(home.pas('backup', copy));
  loseOutbox('photos');
  rmSync(join(home.folder, 'linked.png'));
  const run = await expectDone(home.pas('restore', copy, '--nothing-sent'));
  expect(run.stderr).toMatch(/3 photographs that were not sent yet are not here/);
  expect(run.stderr).toMatch(/photo-2\.png of K-2 \(SHA-512 [0-9a-f]{16}…\)\. Give it again: pas photo add K-2 FILE/);
  expect(run.stderr).toMatch(/linked\.png of K-1 .*Put it there again/);
  home.file('linked.png', tinyPng(9));
  for (const n of [1, 2]) await expectDone(home.pas('photo', 'add', `K-${n}`, join(home.folder, `photo-${n}.png`)));
  await expectDone(home.pas('push'));
  expect(await mock.made()).toEqual({ finds: 2, photos: 3 });
});

test('a draft that was mended and sent after the backup is not sent again when it is mended again', async () => {
  const table = (place: string): string =>
    home.file(
      'one.csv',
      `local_id;projekt;stav;geom_system;pristupnost;poznamka;lon;lat\nD-1;C-202400101;1;4326;${place};draft;14.41;50.08\nD-2;C-202400101;1;4326;HES-000867;other;14.42;50.08\n`,
    );
  await home.pas('import', table(''));
  await expectDone(home.pas('push'));
  expect(await states()).toEqual({ 'D-1': 'draft', 'D-2': 'accepted' });
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('import', table('HES-000867')));
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 2 });
  await expectDone(home.pas('restore', copy, '--replace'));
  expect(await states()).toEqual({ 'D-1': 'draft', 'D-2': 'accepted' });
  await home.pas('import', table('HES-000867'));
  expect(await states()).toMatchObject({ 'D-1': 'uncertain' });
  await home.pas('push');
  expect(await states()).toMatchObject({ 'D-1': 'accepted' });
  expect(await mock.made()).toMatchObject({ finds: 2 });
});

/** Rows of a table that differ in place, depth and note. */
function tableOf(...names: readonly string[]): string {
  const rows = names.map((name, index) => {
    const photo = `photo-of-${name}.png`;
    home.file(photo, tinyPng(name.charCodeAt(0) * 7 + index));
    return `${name};C-202400101;1;4326;HES-000867;nález ${name};${name.charCodeAt(0) % 40};pole ${name};14.${name.charCodeAt(0)};50.08;${photo}`;
  });
  const header = 'local_id;projekt;stav;geom_system;pristupnost;poznamka;hloubka;lokalizace;lon;lat;photos';
  return home.file(`${names.join('-')}.csv`, [header, ...rows].join('\n'));
}

async function restoreWhatDoesNotKnow(...sent: readonly string[]): Promise<void> {
  await expectDone(home.pas('import', tableOf('A')));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('import', tableOf('A', ...sent)));
  await expectDone(home.pas('push'));
  loseOutbox();
  await expectDone(home.pas('restore', copy));
}

test('finds and photographs that were added and sent after the backup are not sent again when they are added again', async () => {
  await restoreWhatDoesNotKnow('B', 'C');
  expect(await mock.made()).toEqual({ finds: 3, photos: 3 });
  // Under another name, too: the service does not know what a find is called here.
  const again = await home.pas('import', tableOf('A', 'C', 'D'));
  expect(again.stderr).toMatch(/What is added now may have been sent before, so it is uncertain until pas reconcile has looked/);
  await expectDone(
    home.pas('import', home.file('renamed.csv', readFileSync(tableOf('B'), 'utf8').replace('\nB;', '\nB-again;'))),
  );
  expect(await states()).toEqual({ A: 'accepted', C: 'uncertain', D: 'uncertain', 'B-again': 'uncertain' });
  await expectDone(home.pas('push'));
  // D alone was not sent before.
  expect(await states()).toEqual({ A: 'accepted', C: 'accepted', D: 'accepted', 'B-again': 'accepted' });
  expect(await mock.made()).toEqual({ finds: 4, photos: 4 });
  // All that is at the service is known here now: what is added from now on is simply queued.
  await expectDone(home.pas('import', tableOf('E')));
  expect(await states()).toMatchObject({ E: 'queued' });
});

test('a harvest before anything is added leaves only the projects held that have records which nobody here knows', async () => {
  await restoreWhatDoesNotKnow('B');
  const looked = await expectDone(home.pas('reconcile'));
  expect(looked.stderr).toMatch(/records that were made after the copy .*C-202400101/);
  const other = readFileSync(tableOf('F'), 'utf8').replace('C-202400101', 'C-202400102');
  await expectDone(home.pas('import', home.file('other.csv', other)));
  const wanted = [
    'projekt=C-202400101',
    'stav=1',
    'geom_system=4326',
    'pristupnost=HES-000867',
    'poznamka=nový',
    'lokalizace=jinde',
  ];
  const added = await home.pas('add', ...wanted.flatMap((value) => ['--set', value]));
  expect(added.stdout).toMatch(/is saved and held.*pas reconcile/);
  expect(Object.values(await states()).sort()).toEqual(['accepted', 'queued', 'uncertain']);
  // It differs from the unknown record in too much to be it.
  await home.pas('reconcile');
  expect(Object.values(await states()).sort()).toEqual(['accepted', 'queued', 'queued']);
});

test('where nothing was sent after the backup, the first look ends the matter', async () => {
  await restoreWhatDoesNotKnow();
  await expectDone(home.pas('push'));
  await expectDone(home.pas('import', tableOf('B')));
  expect(await states()).toEqual({ A: 'accepted', B: 'queued' });
});

test('a person who knows that nothing was sent before has what is held queued', async () => {
  await restoreWhatDoesNotKnow('B');
  await expectDone(home.pas('import', tableOf('C')));
  expect(await states()).toMatchObject({ C: 'uncertain' });
  const released = await expectDone(home.pas('reconcile', '--release-new'));
  expect(released.stdout).toMatch(/2 entries are queued/);
  await expectDone(home.pas('import', tableOf('D')));
  expect(await states()).toEqual({ A: 'accepted', C: 'queued', D: 'queued' });
});

test('killed at any moment there is the old outbox or the new one, whole', async () => {
  await expectDone(home.pas('import', writeSeason(home, 40)));
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('import', writeSeason(home, 60)));
  // Later and later, from before it has read the copy until it has ended.
  for (let turn = 0; turn < 16; turn += 1) {
    const running = home.start('restore', copy, '--replace');
    await Promise.race([running.ended, new Promise((resolve) => setTimeout(resolve, 100 + turn * 25))]);
    running.child.kill('SIGKILL');
    await running.ended;
    const finds = Object.values(await states());
    const isOld = finds.length === 60 && finds.every((state) => state === 'queued');
    const isNew = finds.length === 40 && finds.every((state) => state === 'uncertain');
    expect(isOld || isNew).toBe(true);
    if (isNew) break;
  }
  await expectDone(home.pas('restore', copy, '--replace'));
  expect(Object.keys(await states())).toHaveLength(40);
  expect(readdirSync(join(home.folder, 'pas')).filter((name) => name.includes('tmp'))).toEqual([]);
  expect(existsSync(copy)).toBe(true);
});
