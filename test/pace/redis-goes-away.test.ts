import { expect, test } from 'vitest';
import { startMockProcess } from '../support/mock-process.ts';
import { signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { arrived, listWrites, measurePushes, warmUp } from './measure-pushes.ts';
import { HAS_REDIS, startRedis } from './redis-process.ts';

test.skipIf(!HAS_REDIS)(
  'a Redis that dies during a push slows it down and loses nothing; when it returns, so does the pace',
  async () => {
    await using service = await startMockProcess('--latency', '20');
    await using redis = await startRedis();
    await warmUp(service);
    const before = await service.state();
    const home = await signedIn(service, [
      '--set',
      `pacing=${redis.url}`,
      '--set',
      'pacing_fallback_interval_ms=600',
    ]);
    await importSeason(home, 40);

    let firstAlone = 0;
    const measured = await measurePushes(service, [home], async () => {
      await arrived(service, 10);
      await redis.kill();
      // The next one may have had its turn from Redis.
      firstAlone = (await listWrites(service)).length + 1;
      await arrived(service, firstAlone + 4);
      await redis.restart();
    });

    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured.accepted).toBe(40);
    expect((await service.state()).finds - before.finds).toBe(40);
    const arrivals = (await listWrites(service)).map(({ at_ms }) => at_ms);
    const slowMs = (arrivals[firstAlone + 3] ?? 0) - (arrivals[firstAlone] ?? 0);
    expect(slowMs).toBeGreaterThan(1500);
    const place = `127.0.0.1:${redis.port}/0`;
    expect(measured.notes.match(/cannot be used/g)).toHaveLength(1);
    expect(measured.notes).toContain(`The pacing store at ${place} cannot be used: `);
    expect(measured.notes).toContain(
      'Until it answers again, this machine paces itself: one request every 0.6 s.',
    );
    expect(measured.notes).toContain(
      `The pacing store at ${place} answers again: back to the shared rate.`,
    );
  },
);

test.skipIf(!HAS_REDIS)(
  'a Redis that is emptied during two pushes lets no request depart too early',
  async () => {
    await using service = await startMockProcess('--latency', '20');
    await using redis = await startRedis();
    await warmUp(service);
    const homes = await Promise.all(
      ['archaeologist', 'researcher'].map(async (account) => {
        const home = await signedIn(service, ['--set', `pacing=${redis.url}`], account);
        await importSeason(home, 20);
        return home;
      }),
    );

    const measured = await measurePushes(service, homes, async () => {
      await arrived(service, 10);
      redis.command('flushall');
      await arrived(service, 20);
      redis.command('flushall');
    });

    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured).toMatchObject({ accepted: 40 });
    expect(measured.notes).not.toContain('pacing store');
  },
);
