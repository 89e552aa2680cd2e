import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fate, type NamedBy, numberStory } from '../../support/number-story.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const fate = (settleMs: number): fc.Arbitrary<Fate> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Fate>('answered', 'lost', 'answer-lost', '500-before', '500-after', 'locked') },
    { weight: 2, arbitrary: fc.integer({ min: 400, max: settleMs }).map((lateMs) => ({ lateMs })) },
  );

type Step =
  | { readonly do: 'ask'; readonly value: string; readonly by: NamedBy }
  | { readonly do: 'push' }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'set-laptop'; readonly ms: number }
  | { readonly do: 'kill' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      value: fc.constantFrom('A', 'B', 'C', 'D'),
      by: fc.constantFrom<NamedBy>('find', 'record'),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'push' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 50, max: 3 * MINUTE }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('set-laptop' as const), ms: fc.integer({ min: -2 * DAY, max: 2 * DAY }) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'kill' as const }) },
);

test('whatever arrives late, is lost or killed: an older number never stands after a newer one was accepted, and the last one stays', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(5000, MINUTE, 10 * MINUTE).chain((settleMs) =>
        fc.record({
          settleMs: fc.constant(settleMs),
          fates: fc.array(fate(settleMs), { maxLength: 8 }),
          steps: fc.array(step, { maxLength: 14 }),
        }),
      ),
      async ({ settleMs, fates, steps }) => {
        using story = numberStory(fates, settleMs);
        for (const each of steps) {
          switch (each.do) {
            case 'ask':
              story.ask(each.value, each.by);
              break;
            case 'push':
              story.push();
              break;
            case 'pass':
              await story.pass(each.ms);
              break;
            case 'set-laptop':
              story.setLaptop(each.ms);
              break;
            case 'kill':
              story.kill();
          }
        }
        await story.pass(4 * HOUR);
        for (let turn = 0; turn < 12 && story.openNumbers() > 0; turn += 1) {
          story.push();
          await story.pass(HOUR);
        }
        await story.pass(2 * settleMs);
        expect(story.faults).toEqual([]);
        expect(story.openNumbers()).toBe(0);
        expect(story.current()).toBe(story.asked.at(-1) ?? '');
      },
    ),
    { numRuns: 80 },
  );
});

test('a number that nobody answered is not sent before a newer one, which waits until the first can no longer arrive', async () => {
  using story = numberStory([{ lateMs: 9 * MINUTE }], 10 * MINUTE);
  story.ask('A', 'find');
  story.push();
  await story.pass(500);
  story.ask('B', 'find');
  await story.pass(HOUR);
  story.push();
  await story.pass(HOUR);
  expect(story).toMatchObject({ applied: ['A', 'B'], faults: [] });
  expect(story.requests()).toBe(2);
  expect(story.states()).toEqual({ A: 'accepted', B: 'accepted' });
});

test('a laptop whose clock was set ahead meanwhile sends the newer number no sooner', async () => {
  using story = numberStory([{ lateMs: 9 * MINUTE }], 10 * MINUTE);
  story.ask('A', 'find');
  story.push();
  await story.pass(200);
  story.kill();
  story.setLaptop(2 * DAY);
  story.ask('B', 'record');
  for (let minute = 0; minute < 20; minute += 1) {
    story.push();
    await story.pass(MINUTE);
  }
  expect(story).toMatchObject({ applied: ['A', 'B'], faults: [] });
});

test('a laptop whose clock is set right again, having been ahead, sends the newer number no later', async () => {
  using story = numberStory(['500-after'], 10 * MINUTE);
  story.setLaptop(2 * DAY);
  story.ask('A', 'find');
  story.push();
  await story.pass(500);
  story.kill();
  story.setLaptop(-2 * DAY);
  story.ask('B', 'find');
  for (let minute = 0; minute < 20; minute += 1) {
    story.push();
    await story.pass(MINUTE);
  }
  expect(story).toMatchObject({ applied: ['A', 'B'], faults: [] });
});

test('a newer number that is dropped leaves the earlier one to be sent', async () => {
  using story = numberStory(['lost'], 10 * MINUTE);
  story.ask('A', 'find');
  story.push();
  await story.pass(500);
  story.ask('B', 'find');
  story.drop('B');
  await story.pass(HOUR);
  story.push();
  await story.pass(MINUTE);
  expect(story).toMatchObject({ applied: ['A'], faults: [] });
});
