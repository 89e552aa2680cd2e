import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAfter, labels, repetitions } from '../../support/harvest-output.ts';
import { harvestPlace } from '../../support/record-harvest.ts';
import { aRepository, HABITS, ident, sorted } from '../../support/term-repository.ts';

type Change = { readonly do: 'put' | 'remove' | 'page size'; readonly n: number } | { readonly do: 'tokens expire' | 'nothing' };
type Harvest = {
  readonly do: 'harvest';
  readonly pages: number;
  readonly killed: boolean;
  readonly during: readonly Change[];
};

const numbered = (name: 'put' | 'remove' | 'page size', max: number): fc.Arbitrary<Change> =>
  fc.record({ do: fc.constant(name), n: fc.integer({ min: 1, max }) });

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: numbered('put', 25) },
  { weight: 2, arbitrary: numbered('remove', 25) },
  { weight: 1, arbitrary: numbered('page size', 5) },
  { weight: 1, arbitrary: fc.constant({ do: 'tokens expire' as const }) },
);
const harvest: fc.Arbitrary<Harvest> = fc.record({
  do: fc.constant('harvest' as const),
  pages: fc.integer({ min: 0, max: 12 }),
  killed: fc.boolean(),
  during: fc.array(fc.oneof(change, fc.constant({ do: 'nothing' as const })), { maxLength: 8 }),
});
const story = fc.record({
  steps: fc.array(fc.oneof({ weight: 3, arbitrary: change }, { weight: 2, arbitrary: harvest }), { maxLength: 20 }),
  pageSize: fc.integer({ min: 1, max: 5 }),
  habits: fc.constantFrom(...HABITS.map(([, habits]) => habits)),
});

async function play({ steps, pageSize, habits }: typeof story extends fc.Arbitrary<infer Story> ? Story : never): Promise<void> {
  const place = harvestPlace();
  const repository = aRepository(10, { ...habits, pageSize });
  let version = 0;
  const apply = (one: Change): void => {
    if (one.do === 'put') repository.put(ident(one.n), `${one.n}, ${++version}`);
    else if (one.do === 'remove') repository.remove(ident(one.n));
    else if (one.do === 'page size') repository.habits.pageSize = one.n;
    else if (one.do === 'tokens expire') repository.expireTokens();
  };
  for (const one of steps) {
    if (one.do !== 'harvest') {
      apply(one);
      continue;
    }
    const coming = [...one.during];
    repository.beforeAnswer = () => apply(coming.shift() ?? { do: 'nothing' });
    await place.run(cutAfter(repository, one.pages), { killed: one.killed }).catch(() => {});
    repository.beforeAnswer = () => {};
  }
  await place.run(repository.exchange);
  expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
  expect(repetitions(place)).toEqual([]);
}

test('whatever happens between and during harvests, one quiet run makes the output equal to the service', () =>
  fc.assert(fc.asyncProperty(story, play), { numRuns: 60 }));
