import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { expectDone, settledAfter, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');

test('a push that queues refused finds again reports each, and counts none of them as refused', async () => {
  const home = await signedIn(mock.service, 'archaeologist', settledAfter(0));
  const table = readFileSync(writeSeason(home, 12), 'utf8').replaceAll(
    'C-202400101',
    'C-202200058',
  );
  await expectDone(home.pas('import', home.file('closed.csv', table)));
  const run = await home.pas('push');
  const named = (pattern: RegExp): string[] =>
    [...run.stderr.matchAll(pattern)].map(([, find = '']) => find).sort();
  const refused = named(/import of (K-\d+) refused:/g);
  expect(refused.length).toBeGreaterThan(0);
  expect(named(/import of (K-\d+) is queued again:/g)).toEqual(refused);
  expect(run.stdout).toContain('0 accepted, 0 refused, 0 uncertain, 12 still queued');
});
