import { expect, test } from 'vitest';
import { expectEnded } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
// A profile as people have it: with a pace.
const home = useHome(mock, []);

async function throttledFor(seconds: number): Promise<void> {
  await importSeason(home, 2);
  await mock.service.faults({
    endpoint: 'import',
    when: { nth: 1 },
    fault: 'throttle',
    retry_after: seconds,
    times: 1,
  });
  await expectEnded(home.pas('push'), 5);
}

test('a pause requested by the service is shown by status, and honoured by the next push', async () => {
  await throttledFor(1800);
  const status = await home.pas('status');
  expect(status.stdout).toMatch(
    /asked for a pause: nothing is sent until \d{4}-\d\d-\d\d \d\d:\d\d\./,
  );
  expect((await home.json('status')).paused_until).toMatch(/Z$/);
  await expectEnded(home.pas('push'), 5);
  await mock.expectMade({ finds: 0 });
});

test('without a pause, status shows none, even before the first push', async () => {
  expect(await home.json('status')).toMatchObject({ paused_until: null });
});
