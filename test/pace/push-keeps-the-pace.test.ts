import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { startPromptMock } from '../support/mock-process.ts';
import { expectDone, jsonLines, signedIn } from '../support/run-pas.ts';

// Again, where the machine itself held the server up for a moment: the gaps are taken when it notices a request.
test('60 finds with 60 photographs go at the permitted rate to a service that takes 400 ms for each', {
  retry: 2,
}, async () => {
  await using service = await startPromptMock('--latency', '400');
  const home = await signedIn(service);
  await expectDone(home.pas('import', writeSeason(home, 60, { photos: true, state: 2 })));
  const before = await service.state();
  await service.control('DELETE', '/journal');

  const run = await expectDone(home.pas('push', '--json'));

  const summary = jsonLines(run.stdout).at(-1);
  expect(summary).toMatchObject({
    type: 'summary',
    accepted: 120,
    refused: 0,
    queued: 0,
    uncertain: 0,
    requests: 120,
    throttled: 0,
    locked: 0,
  });
  const gaps = (await service.journal()).flatMap(({ gap_ms }) => (typeof gap_ms === 'number' ? [gap_ms] : []));
  expect(gaps).toHaveLength(119);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
  expect(Number(summary?.['elapsed_ms'])).toBeLessThan(120 * 100 * 1.15);
  const after = await service.state();
  expect([after.finds - before.finds, after.photos - before.photos]).toEqual([60, 60]);
});
