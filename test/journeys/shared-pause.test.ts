import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { expectDone, type Home, makeHome, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';

let service: RunningMock;
let home: Home;

beforeAll(async () => {
  service = await serveMock('--min-interval', '10');
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.control('POST', '/reset');
  home = await signedIn(service);
});

type Pause = { readonly paused_until: string | null; readonly asked_until: string | null };

async function throttledFor(seconds: number): Promise<{ readonly stderr: string }> {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await service.faults({
    endpoint: 'import',
    when: { nth: 1 },
    fault: 'throttle',
    retry_after: seconds,
    times: 1,
  });
  const ended = await home.pas('push');
  expect(ended.code).toBe(5);
  return ended;
}

test('a pause requested by the service is shown by status, doctor and pace, and can be ended by a person', async () => {
  const { finds } = await service.state();
  await throttledFor(1800);
  const status = await home.pas('status');
  expect(status.stdout).toMatch(
    /asked for a pause: nothing is sent until \d{4}-\d\d-\d\d \d\d:\d\d\. .*pas pace --clear/,
  );
  expect((await home.json<Pause>('status')).paused_until).toMatch(/Z$/);
  const doctor = JSON.parse((await home.pas('doctor', '--offline', '--json')).stdout) as {
    checks: { name: string; level: string }[];
  };
  expect(doctor.checks.find(({ name }) => name === 'pause')).toMatchObject({ level: 'warning' });
  expect(await home.json('pace', '--clear')).toMatchObject({ cleared: true, paused_until: null });
  expect(await home.json('pace')).toMatchObject({ cleared: false, paused_until: null });
  expect((await home.json<Pause>('status')).paused_until).toBeNull();
  await expectDone(home.pas('push'));
  expect(await service.state()).toMatchObject({ finds: finds + 2 });
});

test('a pause of more than an hour is kept for an hour, shown, and kept in full if a person says so', async () => {
  const before = Date.now();
  const { stderr } = await throttledFor(86_400);
  expect(stderr).toMatch(
    /asked for a pause until \d{4}-\d\d-\d\d \d\d:\d\d; only `pas pace --keep` waits longer than an hour/,
  );
  const unasked = await home.json<Pause>('pace');
  expect(Date.parse(unasked.paused_until ?? '')).toBeGreaterThan(before + 3_000_000);
  expect(Date.parse(unasked.paused_until ?? '')).toBeLessThan(Date.now() + 3_601_000);
  expect(Date.parse(unasked.asked_until ?? '')).toBeGreaterThan(before + 86_000_000);
  expect((await home.pas('status')).stdout).toMatch(
    /By default pas waits at most one hour.* pas pace --keep/,
  );
  const { paused_until: whole, asked_until: asked } = await home.json<Pause>('pace', '--keep');
  expect(whole).toBe(asked);
  expect(Date.parse(whole ?? '')).toBeGreaterThan(before + 86_000_000);
  expect((await home.pas('push')).code).toBe(5);
  expect((await home.pas('pace', '--keep', '--clear')).code).toBe(2);
  expect(await home.json('pace', '--clear')).toMatchObject({
    cleared: true,
    paused_until: null,
    asked_until: null,
  });
});

test('without a pause, pas pace shows the interval between requests, even before the first push', async () => {
  const fresh = makeHome();
  const flags = ['--base-url', service.base_url, '--schema-base', service.schema_base];
  await expectDone(fresh.pas('init', '--name', 'x', '--kind', 'training', ...flags));
  expect((await fresh.pas('pace')).stdout).toMatch(/There is no pause\. .* every 100 ms/);
});
