import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findStates, settledAfter, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('a push to a project that refuses all finds alike ends after five, and one command queues them again', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  const table = readFileSync(writeSeason(home, 12), 'utf8').replaceAll(
    'C-202400101',
    'C-202200058',
  );
  await home.do('import', home.file('closed.csv', table));
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
  const [, advised = ''] = /pas (resolve K-.* --resend)/.exec(run.stderr) ?? [];
  await home.do(...advised.split(' '));
  expect(new Set(Object.values(await findStates(home)))).toEqual(new Set(['queued']));
});
