import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { findStates } from '../support/find-states.ts';
import { keepJournalInState, outboxFolder } from '../support/outbox-files.ts';
import { placedPhotograph } from '../support/placed-photograph.ts';
import { expectDone, type Home, settledAfter, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';
import { wrongClock } from '../support/wrong-clock.ts';

const mock = useMock('--min-interval', '0');
const DAY_MS = 24 * 3600 * 1000;
/** Each home of its own flags is made anew and has an outbox of its own; copies of one home share it. */
const A_LAPTOP = [...WITHOUT_PAUSES, '--index-allowance-ms', '0'];
const ANOTHER_LAPTOP = [...A_LAPTOP, '--max-in-flight', '3'];

async function laptop(flags: readonly string[] = A_LAPTOP): Promise<Home> {
  const home = await signedIn(mock.service, 'archaeologist', flags);
  keepJournalInState(home);
  return home;
}

/** Quick notes of the field: state 1, and nothing but a day and a place. */
function writeNotes(home: Home, places: Readonly<Record<string, string>>): string {
  const header = 'local_id;projekt;stav;geom_system;pristupnost;nalezce;datum_nalezu;lokalizace';
  const rows = Object.entries(places).map(([id, place]) => `${id};C-202400101;1;4326;HES-000867;OS-001507;2024-03-09;${place}`);
  return home.file('notes.csv', [header, ...rows].join('\n'));
}

type Person = {
  readonly find: string;
  readonly kind: string;
  readonly state: string;
  readonly held?: { readonly basis: string; readonly candidates: string[] };
};

async function identOf(home: Home, find: string): Promise<string | null | undefined> {
  const listed = await home.json<{ local_id: string; ident_cely: string | null }[]>('list');
  return listed.find(({ local_id }) => local_id === find)?.ident_cely;
}

/** What waits for a person, by find. */
async function questions(home: Home): Promise<readonly Person[]> {
  return (await home.json<{ needs_person: Person[] }>('status')).needs_person;
}

const heldAs = (basis: string, find: string, kind = 'import') => ({ find, kind, state: 'queued', held: { basis } });

test('An equal record of another computer is shown to a person and never taken by itself.', async () => {
  const [a, b] = [await laptop(), await laptop(ANOTHER_LAPTOP)];
  await expectDone(a.pas('import', writeNotes(a, { 'A-1': 'pole', 'A-2': 'les' })));
  await expectDone(a.pas('photo', 'add', 'A-2', a.file('A2.png', tinyPng(2))));
  await expectDone(b.pas('import', writeNotes(b, { 'B-7': 'les' })));
  // The first find gets no clear answer, and is looked up; then the connection is bad.
  await mock.service.faults(
    { endpoint: 'import', fault: '500-after-save', times: 1 },
    { endpoint: 'import', fault: '503', when: { nth: 2 } },
  );
  await a.pas('push', 'A-1');
  await mock.service.faults();
  await expectDone(b.pas('push'));
  const ofB = await identOf(b, 'B-7');

  const run = await a.pas('push', '--json');
  expect(run.code, run.stderr).toBe(6);
  expect(await questions(a)).toMatchObject([{ ...heldAs('equal-record', 'A-2'), held: { candidates: [ofB] } }]);
  expect(await identOf(a, 'A-2')).toBe(null);
  expect(await mock.made()).toMatchObject({ finds: 2, photos: 0 });
  const ways = await a.pas('status');
  expect(ways.stdout).toContain(`pas resolve A-2 --created ${ofB}`);
  // It is another find.
  await expectDone(a.pas('resolve', 'A-2', '--resend'));
  await expectDone(a.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3, photos: 1 });
  expect(await identOf(a, 'A-2')).not.toBe(ofB);
});

test('A second laptop that imports the same table asks about each find before it sends one a second time.', async () => {
  const [a, b] = [await laptop(), await laptop(ANOTHER_LAPTOP)];
  for (const home of [a, b]) await expectDone(home.pas('import', writeSeason(home, 4)));
  await expectDone(a.pas('push'));
  const run = await b.pas('push');
  expect(run.code, run.stderr).toBe(6);
  expect(await questions(b)).toMatchObject([1, 2, 3, 4].map((number) => heldAs('equal-record', `K-${number}`)));
  expect(await mock.made()).toMatchObject({ finds: 4 });
  // Asked again, it says so again; and a person may say beforehand that all are to be sent.
  expect((await b.pas('push')).code).toBe(6);
  expect(await mock.made()).toMatchObject({ finds: 4 });
  await expectDone(b.pas('push', '--on-match', 'send'));
  expect(await mock.made()).toMatchObject({ finds: 8 });
});

describe('Where the whole computer is put back to an earlier state, with the outbox and its journal,', () => {
  test('nothing is sent a second time before a person has looked at it.', async () => {
    const home = await laptop();
    await expectDone(home.pas('import', writeSeason(home, 3)));
    const snapshot = home.copy();
    await expectDone(home.pas('push'));
    const run = await snapshot.pas('push');
    expect(run.code, run.stderr).toBe(6);
    expect(await questions(snapshot)).toMatchObject([1, 2, 3].map((number) => heldAs('equal-record', `K-${number}`)));
    expect(await mock.made()).toMatchObject({ finds: 3 });
  });

  test('the photographs of a find that is recognised are not sent a second time either.', async () => {
    const home = await laptop();
    await expectDone(home.pas('import', writeSeason(home, 2, { photos: true })));
    const snapshot = home.copy();
    await expectDone(home.pas('push'));
    expect(await mock.made()).toMatchObject({ finds: 2, photos: 2 });
    expect((await snapshot.pas('push')).code).toBe(6);
    for (const { find, held } of await questions(snapshot))
      await expectDone(snapshot.pas('resolve', find, '--created', held?.candidates[0] ?? '', '--yes'));
    const run = await snapshot.pas('push');
    expect(run.code, run.stderr).toBe(6);
    expect(await questions(snapshot)).toMatchObject([
      heldAs('equal-photograph', 'K-1', 'photo'),
      heldAs('equal-photograph', 'K-2', 'photo'),
    ]);
    expect(await mock.made()).toMatchObject({ finds: 2, photos: 2 });
  });

  test('a photograph is recognised also beside an earlier one of the same file name.', async () => {
    const home = await laptop();
    const photographs = await Promise.all(
      [1, 2].map(async (card) =>
        home.file(`card-${card}/IMG_0001.jpg`, await placedPhotograph('jpeg', { shade: card, place: [14.4, 50.08] })),
      ),
    );
    const [first = '', second = ''] = photographs;
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('photo', 'add', 'K-1', first));
    await expectDone(home.pas('push'));
    await expectDone(home.pas('photo', 'add', 'K-1', second));
    const snapshot = home.copy();
    await expectDone(home.pas('push'));
    const run = await snapshot.pas('push');
    expect(run.code, run.stderr).toBe(6);
    expect(await questions(snapshot)).toMatchObject([heldAs('equal-photograph', 'K-1', 'photo')]);
    expect(await mock.made()).toMatchObject({ finds: 1, photos: 2 });
  });
});

describe('A backup that is put back by a laptop whose clock is two days behind sends no find twice,', () => {
  const BEHIND = wrongClock({ aheadMs: -2 * DAY_MS });

  async function restored(): Promise<{
    readonly home: Home;
    readonly behind: Home;
    readonly table: string;
    readonly copy: string;
  }> {
    const home = await laptop();
    await expectDone(home.pas('import', writeNotes(home, { 'A-1': 'pole' })));
    await expectDone(home.pas('push'));
    const copy = join(home.folder, 'backup.sqlite');
    await expectDone(home.pas('backup', copy));
    const table = writeNotes(home, { 'N-1': 'les' });
    await expectDone(home.pas('import', table));
    await expectDone(home.pas('push'));
    rmSync(join(outboxFolder(home), 'outbox.sqlite'));
    for (const end of ['-wal', '-shm']) rmSync(join(outboxFolder(home), `outbox.sqlite${end}`), { force: true });
    return { home, behind: home.with(BEHIND), table, copy };
  }

  test('since the journal knows what was sent.', async () => {
    const { home, behind, table, copy } = await restored();
    await expectDone(behind.pas('restore', copy, '--replace'));
    await expectDone(home.pas('import', table));
    await expectDone(home.pas('push'));
    expect(await findStates(home)).toEqual({ 'A-1': 'accepted', 'N-1': 'accepted' });
    expect(await mock.made()).toMatchObject({ finds: 2 });
  });

  test.each([
    ['put right afterwards', false],
    ['still wrong', true],
  ])('also where the journal is lost: the record is shown first, with the clock %s.', async (_, isStillWrong) => {
    const { home, behind, table, copy } = await restored();
    rmSync(join(home.folder, 'state'), { recursive: true });
    await expectDone(behind.pas('restore', copy, '--replace'));
    const later = isStillWrong ? behind : home;
    await expectDone(later.pas('import', table));
    // Where the machine has no identity, the outbox might be pushed from elsewhere, and a person says that it is not.
    await expectDone(later.pas('outbox', 'adopt', '--yes'));
    const run = await later.pas('push');
    expect(run.code, run.stderr).toBe(6);
    expect(await questions(home)).toMatchObject([heldAs('equal-record', 'N-1')]);
    expect(await mock.made()).toMatchObject({ finds: 2 });
  });
});

test('A find that was given up, taken back, sent, and is given up again in an older backup is not sent a second time.', async () => {
  const home = await laptop();
  const copy = join(home.folder, 'backup.sqlite');
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('resolve', 'K-1', '--drop'));
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('resolve', 'K-1', '--undo'));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('restore', copy, '--replace'));
  for (const decision of ['--undo', '--resend']) {
    const run = await home.pas('resolve', 'K-1', decision);
    expect([0, 2]).toContain(run.code);
    expect((await home.pas('push')).code).not.toBe(1);
    expect(await mock.made()).toMatchObject({ finds: 1 });
  }
  expect(await findStates(home)).toEqual({ 'K-1': 'accepted' });
});

test('A find of unknown end that was given up and removed is asked about when its table is imported again.', async () => {
  const home = await laptop(settledAfter(60_000, 0));
  // A harvest shows late, so that nobody can tell what became of it.
  await mock.service.control('PUT', '/settings', { index_delay_ms: 600_000 });
  await mock.service.faults({ endpoint: 'import', fault: '500-after-save', times: 1 });
  const table = writeSeason(home, 1);
  await expectDone(home.pas('import', table));
  expect((await home.pas('push')).code).toBe(6);
  expect((await home.pas('remove', 'K-1', '--yes')).code).toBe(3);
  await expectDone(home.pas('resolve', 'K-1', '--drop'));
  await expectDone(home.pas('remove', 'K-1', '--yes'));
  // Next day.
  await home.pas('import', table);
  await mock.service.control('PUT', '/settings', { index_delay_ms: 0 });
  const run = await home.pas('push');
  expect(run.code, run.stderr).not.toBe(1);
  expect(await mock.made()).toMatchObject({ finds: 1 });
});

test('A decision stands once something was sent on its account, also where other finds were removed since.', async () => {
  const home = await signedIn(mock.service, 'archivist', settledAfter(3_600_000));
  const table = writeSeason(home, 2);
  await expectDone(home.pas('import', table));
  await mock.service.faults({ endpoint: 'import', fault: '500-before-save', times: 1 });
  expect((await home.pas('push', 'K-1')).code).toBe(6);
  writeFileSync(table, readFileSync(table, 'utf8').replace(/^(K-2;)C-202400101/m, '$1C-209900101'));
  await home.pas('import', table);
  expect((await home.pas('push', 'K-2')).code).toBe(6);
  expect(await findStates(home)).toEqual({ 'K-1': 'uncertain', 'K-2': 'refused' });
  await expectDone(home.pas('resolve', 'K-1', '--created', 'C-202400101-N00008', '--yes'));
  await expectDone(home.pas('remove', 'K-2', '--yes'));
  await expectDone(home.pas('number', 'set', 'K-1', 'MMK 1/2026'));
  await home.pas('push');
  const patched = (await mock.service.journal()).filter(({ method }) => method === 'PATCH');
  expect(patched.length).toBe(1);
  const undo = await home.pas('resolve', 'K-1', '--undo');
  expect([undo.code, undo.stderr]).toEqual([2, expect.stringContaining('so it can no longer be taken back')]);
  expect(await identOf(home, 'K-1')).toBe('C-202400101-N00008');
});
