import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { FINDS_EACH, measurePushes, warmUp } from '../support/measure-pushes.ts';
import { type MockProcess, startPromptMock } from '../support/mock-process.ts';
import { HAS_REDIS, type RedisProcess, startRedis } from '../support/redis-process.ts';
import { expectDone, type Home, signedIn } from '../support/run-pas.ts';

/** Homes that share neither files nor state: to each other they are different machines. */
async function machines(service: MockProcess, redis: RedisProcess, accounts: readonly string[]): Promise<Home[]> {
  return Promise.all(
    accounts.map(async (account) => {
      const home = await signedIn(service, account, ['--pacing', redis.url]);
      await expectDone(home.pas('import', writeSeason(home, FINDS_EACH)));
      return home;
    }),
  );
}

// Departures held in every round measured. Arrivals and the rate also depend on the machine giving everybody their turn, so a
// round in which it did not may be repeated.
test.skipIf(!HAS_REDIS)(
  'four machines with two accounts share the pace of one address by a Redis, and use it',
  {
    retry: 2,
  },
  async () => {
    await using service = await startPromptMock('--latency', '40');
    await using redis = await startRedis();
    await warmUp(service);
    const homes = await machines(service, redis, ['researcher', 'archaeologist', 'researcher', 'archaeologist']);

    const measured = await measurePushes(service, homes);

    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured).toMatchObject({ accepted: 4 * FINDS_EACH, requests: 4 * FINDS_EACH, throttled: 0 });
    expect(measured.notes).not.toContain('pacing store');
    expect(measured.smallestGapMs).toBeGreaterThanOrEqual(100);
    expect(measured.perSecond).toBeGreaterThanOrEqual(0.9 * 10);
  },
);
