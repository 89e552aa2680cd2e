import { expect, test } from 'vitest';
import { startMockProcess } from '../support/mock-process.ts';
import { signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { measurePushes } from './measure-pushes.ts';

const LATENCY_MS = 400;

test('60 finds with 60 photographs keep the pace to a service that takes 400 ms for each, several under way at once', async () => {
  await using service = await startMockProcess('--latency', String(LATENCY_MS));
  const home = await signedIn(service, []);
  await importSeason(home, 60, { photos: true, state: 2 });
  const before = await service.state();

  const measured = await measurePushes(service, [home]);

  expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
  expect(measured).toMatchObject({ accepted: 120, requests: 120 + measured.throttled });
  const arrivals = (await service.journal()).map(({ at_ms }) => at_ms);
  const underWay = arrivals.map(
    (atMs) => arrivals.filter((other) => other <= atMs && atMs < other + LATENCY_MS).length,
  );
  expect(Math.max(...underWay)).toBeGreaterThanOrEqual(3);
  const after = await service.state();
  expect([after.finds - before.finds, after.photos - before.photos]).toEqual([60, 60]);
});
