import { expect, test } from 'vitest';
import { rejectOnAbort, systemClock } from '../../../src/base/clock.ts';

test.each([0.5, 60_000, 2 ** 31 + 1_000_000])(
  'a sleep of %d ms ends with the reason of its signal, at once',
  async (ms) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const sleep = systemClock.sleep(ms, stop.signal);
    stop.abort(reason);
    await expect(sleep).rejects.toBe(reason);
  },
);

test('a wait for work that ignores the signal ends with the reason of the signal, and the late result is handed on', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const unwanted: string[] = [];
  let finish = (_result: string): void => {};
  const work = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const wait = rejectOnAbort(
    stop.signal,
    () => work,
    (late) => unwanted.push(late),
  );
  stop.abort(reason);
  await expect(wait).rejects.toBe(reason);
  expect(unwanted).toEqual([]);
  finish('late');
  await work;
  expect(unwanted).toEqual(['late']);
});

test('work does not start after the signal', async () => {
  let begun = 0;
  const wait = rejectOnAbort(AbortSignal.abort(new Error('stopped')), async () => {
    begun += 1;
  });
  await expect(wait).rejects.toThrow('stopped');
  expect(begun).toBe(0);
});
