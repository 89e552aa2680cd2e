import { expect, test } from 'vitest';
import { Deadline } from '../../../src/service/http/deadline.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A deadline of a second with the times at which it ended. */
function watched() {
  const clock = manualClock();
  const beganMs = clock.monotonicMs();
  const endedAtMs: number[] = [];
  let read = 0;
  let answeredBytes = 0;
  const deadline = new Deadline({
    clock,
    getProgress: () => read,
    getAnsweredBytes: () => answeredBytes,
  });
  deadline.begin(1000, () => endedAtMs.push(clock.monotonicMs() - beganMs));
  return {
    clock,
    endedAtMs,
    deadline,
    readMore: () => (read += 1),
    bytesRead: () => read,
    answer: (bytes: number) => (answeredBytes += bytes),
  };
}

/** A process that is stopped for so long: time passes, and nothing is done. */
async function pause({ clock }: ReturnType<typeof watched>, ms: number): Promise<void> {
  clock.hold(ms);
  await clock.advance(0);
}

test('a deadline ends once, when its time has passed', async () => {
  const { clock, endedAtMs } = watched();
  await clock.advance(999);
  expect(endedAtMs).toEqual([]);
  await clock.advance(5000);
  expect(endedAtMs).toEqual([1000]);
});

test('the bytes of an answer extend it, up to ten times its limit', async () => {
  const slow = watched();
  slow.answer(1200);
  await slow.clock.advance(1200);
  slow.answer(80);
  await slow.clock.advance(5000);
  expect(slow.endedAtMs).toEqual([1320]);
  const endless = watched();
  endless.answer(1_000_000);
  await endless.clock.advance(20_000);
  expect(endless.endedAtMs).toEqual([10_000]);
});

test('a phase replaces the one before', async () => {
  const { clock, endedAtMs, deadline } = watched();
  await clock.advance(900);
  deadline.begin(500, () => endedAtMs.push(-1));
  await clock.advance(5000);
  expect(endedAtMs).toEqual([-1]);
});

test('a postponed deadline starts its whole time again', async () => {
  const { clock, endedAtMs, deadline } = watched();
  await clock.advance(900);
  deadline.restart();
  await clock.advance(999);
  expect(endedAtMs).toEqual([]);
  await clock.advance(1);
  expect(endedAtMs).toEqual([1900]);
});

test('a cancelled deadline does not end, even after its time', async () => {
  const { clock, endedAtMs, deadline } = watched();
  clock.hold(1000);
  deadline.cancel();
  await clock.advance(5000);
  expect(endedAtMs).toEqual([]);
});

test('nothing ends while each turn of the event loop reads more', async () => {
  const { clock, endedAtMs, readMore, bytesRead } = watched();
  const bytesAtEnd: number[] = [];
  const arrive = (left: number): void => {
    if (endedAtMs.length > 0) bytesAtEnd.push(bytesRead());
    readMore();
    if (left > 0) setImmediate(arrive, left - 1);
  };
  await clock.advance(999);
  arrive(60);
  await clock.advance(1);
  for (let turns = 0; turns < 5; turns += 1) await clock.advance(0);
  expect(endedAtMs).toEqual([1000]);
  expect(bytesAtEnd).toEqual([]);
});

test('endless reading ends after a second', async () => {
  const { clock, endedAtMs, readMore } = watched();
  let isOver = false;
  const arrive = (): void => {
    readMore();
    clock.hold(1);
    if (!isOver) setImmediate(arrive);
  };
  await clock.advance(1000);
  arrive();
  for (let turns = 0; turns < 200; turns += 1) await clock.advance(0);
  isOver = true;
  expect(endedAtMs).toHaveLength(1);
  expect(endedAtMs[0]).toBeLessThan(2500);
});

test('after a pause of the process a deadline has a second of grace', async () => {
  const scene = watched();
  await pause(scene, 3_600_000);
  await scene.clock.advance(999);
  expect(scene.endedAtMs).toEqual([]);
  await scene.clock.advance(1);
  expect(scene.endedAtMs).toEqual([3_601_000]);
});

test('a timer that is a little late does not count as a pause', async () => {
  const scene = watched();
  await pause(scene, 1200);
  expect(scene.endedAtMs).toEqual([1200]);
});

test('a process that is paused repeatedly has three grace periods at most', async () => {
  const scene = watched();
  for (let pauses = 0; pauses < 10; pauses += 1) await pause(scene, 10_000);
  expect(scene.endedAtMs).toEqual([40_000]);
});
