import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { outboxFolder } from '../support/outbox-files.ts';
import { expectDone, type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES);
});

const fail = (endpoint: string, fault: string, times = 1): Promise<unknown> =>
  mock.service.control('PUT', '/faults', [{ endpoint, when: { every: 1 }, times, fault }]);

async function statesOf(of: Home = home): Promise<unknown> {
  const finds = (await of.json('list')) as { local_id: string; state: string }[];
  return Object.fromEntries(finds.map(({ local_id, state }) => [local_id, state]));
}

/** Numbers and photographs of a find, with their states. */
async function changesOf(find: string, of: Home = home): Promise<unknown[]> {
  const { entries } = (await of.json('show', find)) as {
    entries: { kind: string; state: string; value?: string; photo?: string }[];
  };
  return entries.flatMap(({ kind, state, value, photo }) =>
    kind === 'import' ? [] : [[kind, value ?? photo, state]],
  );
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

test('undo of a removal after a failed attempt sends the find', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await fail('import', '503');
  expect((await home.pas('push')).code).toBe(5);
  await mock.service.control('PUT', '/faults', []);
  await expectDone(home.pas('remove', 'K-1', '--yes'));
  await expectDone(home.pas('undo'));
  await expectDone(home.pas('push'));
  expect(await statesOf()).toStrictEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  expect(await mock.made()).toMatchObject({ finds: 2 });
});

test('undo takes back a number that was tried once and did not arrive', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('number', 'set', 'K-1', 'WRONG'));
  await fail('number', '503');
  expect((await home.pas('push')).code).toBe(5);
  await mock.service.control('PUT', '/faults', []);
  await expectDone(home.pas('undo'));
  await expectDone(home.pas('number', 'set', 'K-1', '12/2024'));
  await expectDone(home.pas('push'));
  expect(await changesOf('K-1')).toStrictEqual([
    ['number', 'WRONG', 'dropped'],
    ['number', '12/2024', 'accepted'],
  ]);
});

test('a restored backup shows the number that was sent, not the one that was queued', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('number', 'set', 'K-1', 'X'));
  const copy = join(home.folder, 'evening.sqlite');
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('number', 'set', 'K-1', 'Y'));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('restore', copy, '--replace'));
  expect(await changesOf('K-1')).toStrictEqual([['number', 'Y', 'accepted']]);
});

test('an older copy with an edited find shows the sent version, and sends nothing again', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  const putBack = keepCopy();
  await expectDone(home.pas('push'));
  putBack();
  await home.pas('edit', 'K-1', '--set', 'hloubka=77');
  await home.pas('push');
  expect(await mock.made()).toMatchObject({ finds: 1 });
  expect(await statesOf()).toStrictEqual({ 'K-1': 'accepted' });
});

test('a second copy that removed a find and undid it knows what the first one sent', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  const putBack = keepCopy();
  await expectDone(home.pas('push'));
  putBack();
  await home.pas('remove', 'K-1', '--yes');
  await home.pas('undo');
  await home.pas('push');
  expect(await mock.made()).toMatchObject({ finds: 1 });
});

test('a lost data home comes back with what was sent, and its table is not sent again', async () => {
  const table = writeSeason(home, 3);
  await expectDone(home.pas('import', table));
  await expectDone(home.pas('push'));
  rmSync(outboxFolder(home), { recursive: true });
  await home.pas('import', table);
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
  expect(await statesOf()).toMatchObject({ 'K-1': 'accepted', 'K-3': 'accepted' });
});

test('a table under other local ids after a lost data home is asked about, not sent again', async () => {
  const table = writeSeason(home, 3);
  await expectDone(home.pas('import', table));
  await expectDone(home.pas('push'));
  rmSync(outboxFolder(home), { recursive: true });
  const renamed = home.file('other.csv', readFileSync(table, 'utf8').replaceAll('K-', 'T-'));
  await home.pas('import', renamed);
  await home.pas('push');
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

test('at most twelve imports leave where the service refuses all of them alike', async () => {
  await expectDone(home.pas('import', writeSeason(home, 60)));
  const table = readFileSync(writeSeason(home, 60), 'utf8').replaceAll(
    'C-202400101',
    'C-209999999',
  );
  const other = await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES);
  await other.pas('import', other.file('season.csv', table));
  const run = await other.pas('push', '--json');
  const attempts = run.stdout.split('\n').filter((line) => line.includes('"type":"attempt"'));
  expect(attempts.length).toBeLessThanOrEqual(12);
  expect(run.code).toBe(3);
});
