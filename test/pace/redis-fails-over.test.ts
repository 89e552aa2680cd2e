import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { arrived, measurePushes, warmUp } from './measure-pushes.ts';
import { HAS_REDIS, startRedis } from './redis-process.ts';
import { startRedisSwitch } from './redis-switch.ts';

const FINDS = 10;

test.skipIf(!HAS_REDIS)(
  'after failover to a replica with an older state and another clock, and after a clock jump, no request departs too early',
  async () => {
    await using service = await startMockProcess('--latency', '20');
    await using first = await startRedis();
    await using replica = await startRedis('--replicaof', '127.0.0.1', String(first.port));
    await using place = await startRedisSwitch(first);
    await warmUp(service);
    const before = await service.state();
    const homes = await Promise.all(
      ['archaeologist', 'researcher'].map(async (account) => {
        const home = await signedIn(
          service,
          ['--set', `pacing=${place.url}`, '--set', 'pacing_fallback_interval_ms=600'],
          account,
        );
        await importSeason(home, FINDS);
        return home;
      }),
    );

    const measured = await measurePushes(service, homes, async () => {
      await arrived(service, 3);
      await eventually(() => replica.command('dbsize')).toBe('1');
      replica.command('replicaof', 'no', 'one');
      // Writes from here on are lost with the first one.
      await arrived(service, 6);
      place.setClock(-30);
      place.failOver(replica);
      await arrived(service, 10);
      place.setClock(+30);
      await arrived(service, 14);
      place.setClock(0);
    });

    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured.accepted).toBe(2 * FINDS);
    expect((await service.state()).finds - before.finds).toBe(2 * FINDS);
    expect(replica.command('dbsize')).toBe('1');
  },
);
