import { expect, test } from 'vitest';
import { startDeadline } from '../../../src/service/http/send.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A deadline of a second that is judged once, with all that it did. */
function watched({ more = [] }: { readonly more?: readonly number[] } = {}) {
  const clock = manualClock();
  const beganMs = clock.monotonicMs();
  const judgedAtMs: number[] = [];
  let read = 0;
  const deadline = startDeadline({
    clock,
    limitMs: 1000,
    progress: () => read,
    judge: () => {
      judgedAtMs.push(clock.monotonicMs() - beganMs);
      return more[judgedAtMs.length - 1];
    },
  });
  return { clock, judgedAtMs, deadline, readMore: () => (read += 1), bytesRead: () => read };
}

/** A process that is stopped for so long: time passes, and nothing is done. */
async function pause({ clock }: ReturnType<typeof watched>, ms: number): Promise<void> {
  clock.hold(ms);
  await clock.advance(0);
}

test('a deadline is judged once, when its time has passed', async () => {
  const { clock, judgedAtMs } = watched();
  await clock.advance(999);
  expect(judgedAtMs).toEqual([]);
  await clock.advance(5000);
  expect(judgedAtMs).toEqual([1000]);
});

test('a deadline that gives more time is judged again', async () => {
  const { clock, judgedAtMs } = watched({ more: [300, 20] });
  await clock.advance(5000);
  expect(judgedAtMs).toEqual([1000, 1300, 1320]);
});

test('a postponed deadline starts its whole time again', async () => {
  const { clock, judgedAtMs, deadline } = watched();
  await clock.advance(900);
  deadline.restart();
  await clock.advance(999);
  expect(judgedAtMs).toEqual([]);
  await clock.advance(1);
  expect(judgedAtMs).toEqual([1900]);
});

test('a cancelled deadline is not judged, even after its time', async () => {
  const { clock, judgedAtMs, deadline } = watched();
  clock.hold(1000);
  deadline.cancel();
  await clock.advance(5000);
  expect(judgedAtMs).toEqual([]);
});

test('nothing is judged while each turn of the event loop reads more', async () => {
  const { clock, judgedAtMs, readMore, bytesRead } = watched();
  const bytesAtJudgement: number[] = [];
  const arrive = (left: number): void => {
    if (judgedAtMs.length > 0) bytesAtJudgement.push(bytesRead());
    readMore();
    if (left > 0) setImmediate(arrive, left - 1);
  };
  await clock.advance(999);
  arrive(60);
  await clock.advance(1);
  for (let turns = 0; turns < 5; turns += 1) await clock.advance(0);
  expect(judgedAtMs).toEqual([1000]);
  expect(bytesAtJudgement).toEqual([]);
});

test('endless reading is judged after a second', async () => {
  const { clock, judgedAtMs, readMore } = watched();
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
  expect(judgedAtMs).toHaveLength(1);
  expect(judgedAtMs[0]).toBeLessThan(2500);
});

test('after a pause of the process a deadline has a second of grace', async () => {
  const scene = watched();
  await pause(scene, 3_600_000);
  await scene.clock.advance(999);
  expect(scene.judgedAtMs).toEqual([]);
  await scene.clock.advance(1);
  expect(scene.judgedAtMs).toEqual([3_601_000]);
});

test('a timer that is a little late does not count as a pause', async () => {
  const scene = watched();
  await pause(scene, 1200);
  expect(scene.judgedAtMs).toEqual([1200]);
});

test('a process that is paused repeatedly has three grace periods at most', async () => {
  const scene = watched();
  for (let pauses = 0; pauses < 10; pauses += 1) await pause(scene, 10_000);
  expect(scene.judgedAtMs).toEqual([40_000]);
});
