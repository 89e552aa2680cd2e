import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { importSeason } from '../support/season.ts';
import { useHome, useMockProcess } from '../support/use-mock.ts';

const FINDS = 8;

const mock = useMockProcess('--latency', '50');
const home = useHome(mock, ['--set', 'min_interval_ms=20']);

beforeEach(() => importSeason(home, FINDS));

type Status = { entries: Record<string, Record<string, number>> };

async function imports(): Promise<Record<string, number>> {
  return (await home.json<Status>('status')).entries['import'] ?? {};
}

/** Invariant at the end of every story: each find is once at the service, or uncertain here. */
async function expectEachOnceOrUncertain(): Promise<void> {
  const { accepted = 0, uncertain = 0, queued = 0, sending = 0 } = await imports();
  expect({ sending, sum: accepted + uncertain + queued }).toEqual({ sending: 0, sum: FINDS });
  const { finds } = await mock.made();
  expect(finds).toBeGreaterThanOrEqual(accepted);
  expect(finds).toBeLessThanOrEqual(accepted + uncertain);
}

test('a second Ctrl-C abandons the requests under way and says so', async () => {
  // The first is answered: until then no other is under way beside it.
  const otherNumbers = Array.from({ length: FINDS - 1 }, (_, index) => index + 2);
  await mock.service.faults(
    ...otherNumbers.map((nth) => ({ endpoint: 'import', when: { nth }, fault: 'hang-after-save' })),
  );
  const running = home.start('push', '--json');
  await untilRequests(3);
  running.child.kill('SIGINT');
  await running.until(({ stderr }) => stderr.includes('Ctrl-C'));
  running.child.kill('SIGINT');
  const { code } = await running.ended;
  expect(code).toBe(6);
  await mock.service.faults();
  await expectEachOnceOrUncertain();
});

function untilRequests(count: number): Promise<void> {
  const seen = async () =>
    (await mock.service.journal()).filter(({ path }) => path.startsWith('/api/pas/import')).length;
  return eventually(seen).toBeGreaterThanOrEqual(count);
}
