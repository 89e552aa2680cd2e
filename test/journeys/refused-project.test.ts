import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectEnded, findStates, type Home, settledAfter, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

const importClosed = async (home: Home, count = 12): Promise<void> => {
  const table = readFileSync(writeSeason(home, count), 'utf8').replaceAll(
    'C-202400101',
    'C-202200058',
  );
  await home.do('import', home.file('closed.csv', table));
};

test('a push to a project that refuses all finds alike ends after five, and one command queues them again', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  await importClosed(home);
  const run = await home.pas('push');
  expect([run.code, run.stdout]).toEqual([
    3,
    expect.stringContaining('0 accepted, 5 refused, 0 uncertain, 7 still queued'),
  ]);
  const refused = [...run.stderr.matchAll(/import of (K-\d+) refused:/g)].map(
    ([, find = '']) => find,
  );
  expect(refused).toHaveLength(5);
  expect(run.stderr).toMatch(/C-202200058, 7 in total/);
  expect((await home.pas('status')).stdout).toMatch(
    /Correct these.* unchanged with pas resolve FIND --resend:/,
  );
  const [, advised = ''] = /pas (resolve K-.* --resend)/.exec(run.stderr) ?? [];
  await home.do(...advised.split(' '));
  expect(new Set(Object.values(await findStates(home)))).toEqual(new Set(['queued']));
  const [first = ''] = refused;
  await expectEnded(home.pas('resolve', first, '--resend'), 2, `Nothing of ${first} waits`);
});

test('where the five refused are all, none is said to be queued', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  await importClosed(home, 5);
  const { stderr } = await home.pas('push');
  expect(stderr).toMatch(/The service refused 5 in a row: .* --resend/);
  expect(stderr).not.toMatch(/still queued: import/);
});

test('a watch sends five of them, too, however many rounds follow', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  await importClosed(home);
  const watch = home.start('push', '--watch', '--json');
  await watch.until(({ stdout }) => stdout.includes('"left_out"'));
  await watch.until(({ stdout }) => stdout.includes('"for":"entries"'));
  await home.do('import', writeSeason(home, 1), '--id-prefix', 'X-');
  await watch.until(({ stdout }) => stdout.includes('"state":"accepted"'));
  watch.child.kill('SIGINT');
  await watch.ended;
  const statuses = (await mock.service.journal())
    .filter(({ path }) => path.endsWith('import-xml'))
    .map(({ status }) => status);
  // 405: whether the account may write at all.
  expect(statuses).toEqual([403, 405, 403, 403, 403, 403, 201]);
});

test('a project that was closed since is no error of finds that were sent', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  const season = writeSeason(home, 1);
  await home.do('import', season);
  await home.do('push');
  const changes = { stav: '5' };
  await mock.service.control('POST', '/records', { ident: 'C-202400101', changes });
  await home.do('harvest-vocab', 'projekt');
  for (const command of [['import', season], ['validate']]) await home.do(...command);
});
