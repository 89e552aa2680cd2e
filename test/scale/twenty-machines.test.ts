import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import { measurePushes, warmUp } from '../pace/measure-pushes.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { HAS_REDIS, startRedis } from '../support/redis-process.ts';
import { expectDone, type Home, makeHome, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { tempFolder } from '../support/temp-outbox.ts';

const ACCOUNTS = ['researcher', 'archaeologist', 'archivist', 'admin'];
const MACHINES_EACH = 5;
const FINDS_EACH = 9;

/** Several machines of one account: copies of one home, each with files and state of its own. */
async function laptops(service: MockProcess, account: string, pacing: string): Promise<Home[]> {
  const first = await signedIn(service, account, ['--pacing', pacing]);
  await expectDone(first.pas('import', writeSeason(first, FINDS_EACH)));
  const home = Array.from({ length: MACHINES_EACH - 1 }, () => {
    const folder = tempFolder();
    cpSync(first.folder, folder, { recursive: true });
    return makeHome({ PAS_PASSWORD: account }, folder);
  });
  return [first, ...home];
}

// An institution: twenty laptops, four accounts, one outward address. Departures held in every
// round measured; the rate also depends on twenty processes getting their turn on the cores of one
// machine, so such a round may be repeated.
test.skipIf(!HAS_REDIS)(
  'twenty machines with four accounts share one address, and none is starved',
  {
    retry: 2,
    timeout: 300_000,
  },
  async () => {
    await using service = await startMockProcess('--latency', '40');
    await using redis = await startRedis();
    await warmUp(service);
    const before = await service.state();
    const homes = (
      await Promise.all(ACCOUNTS.map((account) => laptops(service, account, redis.url)))
    ).flat();

    const measured = await measurePushes(service, homes);

    const finds = ACCOUNTS.length * MACHINES_EACH * FINDS_EACH;
    expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
    expect(measured).toMatchObject({ accepted: finds });
    expect(measured.notes).not.toContain('pacing store');
    expect((await service.state()).finds - before.finds).toBe(finds);
    expect(measured.perSecond).toBeGreaterThanOrEqual(0.8 * 10);
  },
);
