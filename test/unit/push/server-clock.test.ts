import { expect, test } from 'vitest';
import { asWallMs, type Clock, createServerClock } from '../../../src/base/clock.ts';
import type { HttpRequest } from '../../../src/service/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';

const SAID = 'Sat, 01 Jun 2024 20:00:00 GMT';
const SAID_MS = Date.UTC(2024, 5, 1, 20);

test('the service’s time is its last Date and the elapsed time, whatever else its answers contain', async () => {
  const clock = manualClock();
  let sleptMs = 0;
  const machine: Clock = { ...clock, now: () => asWallMs(clock.now() + sleptMs) };
  const serverClock = createServerClock(machine);
  const hear = serverClock.observe(async ({ url }: HttpRequest) => ({
    status: 200,
    body: Buffer.alloc(0),
    headers: (url === '' ? {} : { date: url }) as Record<string, string>,
  }));
  const hearDate = (date = ''): Promise<unknown> => hear({ method: 'GET', url: date });
  const bounds = (): unknown[] => [serverClock.now(), serverClock.latest()];

  await hearDate();
  expect(bounds()).toEqual([undefined, undefined]);
  expect(await hearDate(SAID)).toMatchObject({ status: 200, headers: { date: SAID } });
  expect(bounds()).toEqual([SAID_MS, SAID_MS + 1000]);
  for (const nothing of ['', 'soon']) {
    await clock.advance(5000);
    await hearDate(nothing);
  }
  expect(bounds()).toEqual([SAID_MS + 10_000, SAID_MS + 11_000]);
  // The monotonic clock stands still while the machine sleeps; the wall clock may be set back.
  sleptMs = 60_000;
  expect(bounds()).toEqual([SAID_MS + 10_000, SAID_MS + 71_000]);
  sleptMs = -60_000;
  expect(bounds()).toEqual([SAID_MS + 10_000, SAID_MS + 11_000]);
  await hearDate(SAID);
  expect(bounds()).toEqual([SAID_MS, SAID_MS + 1000]);
});

test('an answer that is read an hour after it was written says nothing of that hour', async () => {
  const clock = manualClock();
  const serverClock = createServerClock(clock);
  const hear = serverClock.observe(async () => {
    await clock.sleep(3_600_000);
    return { status: 200, body: Buffer.alloc(0), headers: { date: SAID } };
  });
  const heard = hear({ method: 'GET', url: '' });
  await clock.advance(3_600_000);
  await heard;
  expect([serverClock.now(), serverClock.latest()]).toEqual([SAID_MS, SAID_MS + 3_601_000]);
});
