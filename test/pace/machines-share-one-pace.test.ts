import { expect, test } from 'vitest';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { HAS_REDIS, type RedisProcess, startRedis } from '../support/redis-process.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { FINDS_EACH, measurePushes, warmUp } from './measure-pushes.ts';

/** Homes that share neither files nor state: to each other they are different machines. */
async function machines(
  service: MockProcess,
  redis: RedisProcess,
  accounts: readonly string[],
): Promise<Home[]> {
  return Promise.all(
    accounts.map(async (account) => {
      const home = await signedIn(service, ['--set', `pacing=${redis.url}`], account);
      await importSeason(home, FINDS_EACH);
      return home;
    }),
  );
}

test.skipIf(!HAS_REDIS)(
  'four machines with two accounts share the pace of one address through Redis',
  async () => {
    await using service = await startMockProcess('--latency', '40');
    await using redis = await startRedis();
    await warmUp(service);
    const homes = await machines(service, redis, [
      'researcher',
      'archaeologist',
      'researcher',
      'archaeologist',
    ]);

    const measured = await measurePushes(service, homes);

    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured).toMatchObject({
      accepted: 4 * FINDS_EACH,
      requests: 4 * FINDS_EACH + measured.throttled,
    });
    expect(measured.notes).not.toContain('pacing store');
  },
);
