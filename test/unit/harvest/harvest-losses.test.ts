import { describe, expect, test } from 'vitest';
import { isHarvested } from '../../../src/finds/vocabulary/terms.ts';
import { answer, OAI_BASE, oaiError } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import type { FakeRepository } from './fake-repository.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, SET, stored } from './vocabulary-harvest.ts';

const CAUTIOUS = { acceptLosses: false } as const;
const HOUR_MS = 3_600_000;

const forgetFirst = (repository: FakeRepository, count: number): void => {
  for (let n = 1; n <= count; n++) repository.forget(ident(n));
};

/** An output and a vocabulary, harvested once from a list of so many records. */
async function harvested(count: number) {
  const repository = aRepository(count);
  repository.habits.pageSize = 40;
  const place = harvestPlace();
  const store = tempVocabulary();
  const vocabulary = store.openSource(OAI_BASE);
  const run = async (
    more: { full?: boolean; acceptLosses?: boolean; inUse?: readonly string[] } = {},
  ) => {
    const { sets, ...records } = await place.run(repository.exchange, { ...CAUTIOUS, ...more });
    const [terms] = await harvest(repository, vocabulary, { ...CAUTIOUS, ...more });
    return { records: { ...records, unconfirmed: sets[0]?.unconfirmed }, terms };
  };
  await run();
  repository.nowMs += HOUR_MS;
  const held = () => [labels(place).size, stored(vocabulary).size];
  return {
    repository,
    place,
    vocabulary,
    run,
    held,
    [Symbol.dispose]: () => store[Symbol.dispose](),
  };
}

describe.each([
  ['an ordinary run', {}],
  ['--full', { full: true }],
])('%s', (_, flags) => {
  test.each([
    ['all', 60, 60],
    ['more than a tenth', 20, 3],
    ['more than fifty', 520, 51],
  ])('keeps the records if %s of them are not listed', async (_share, count, lost) => {
    using scene = await harvested(count);
    forgetFirst(scene.repository, lost);
    const { records, terms } = await scene.run(flags);
    const unconfirmed = { lost, held: count, inUse: [] };
    expect([records, terms]).toMatchObject([
      { unconfirmed, vanished: 0 },
      { unconfirmed, vanished: 0 },
    ]);
    expect(scene.held()).toEqual([count, count]);
  });
});

describe('many losses', () => {
  test('are accepted by a second scan with the same result an hour later, and not before', async () => {
    using scene = await harvested(20);
    forgetFirst(scene.repository, 10);
    await scene.run();
    scene.repository.nowMs += HOUR_MS / 2;
    await scene.run();
    expect(scene.held()).toEqual([20, 20]);
    scene.repository.nowMs += HOUR_MS / 2;
    expect(await scene.run()).toMatchObject({ records: { vanished: 10 }, terms: { vanished: 10 } });
    expect(scene.held()).toEqual([10, 10]);
  });

  test('are checked for another hour if the result differs', async () => {
    using scene = await harvested(20);
    forgetFirst(scene.repository, 10);
    await scene.run();
    scene.repository.nowMs += HOUR_MS;
    scene.repository.forget(ident(11));
    await scene.run();
    expect(scene.held()).toEqual([20, 20]);
  });

  test('are reverted by an ordinary run when the service is right again', async () => {
    using scene = await harvested(20);
    const all = scene.repository.alive();
    const longAgoMs = scene.repository.nowMs - 24 * HOUR_MS;
    forgetFirst(scene.repository, 20);
    await scene.run({ acceptLosses: true });
    expect(scene.held()).toEqual([0, 0]);
    for (const [name, label] of all) scene.repository.putBack(name, label, longAgoMs);
    expect(await scene.run()).toMatchObject({ records: { pass: 'full' }, terms: { pass: 'full' } });
    expect(labels(scene.place)).toEqual(scene.repository.alive());
    expect(stored(scene.vocabulary)).toEqual(scene.repository.alive());
  });
});

test('an entry used by finds is not marked at once', async () => {
  using scene = await harvested(40);
  scene.repository.forget(ident(7));
  const { terms } = await scene.run({ inUse: [ident(7), ident(8)] });
  expect(terms).toMatchObject({
    unconfirmed: { lost: 1, held: 40, inUse: [ident(7)] },
    vanished: 0,
  });
});

test('a set that is empty at its first harvest stays due in full, and does not count as harvested', async () => {
  using scene = await harvested(0);
  expect(isHarvested(scene.vocabulary, SET)).toBe(false);
  const longAgoMs = scene.repository.nowMs - 24 * HOUR_MS;
  scene.repository.putBack(ident(1), 'věc', longAgoMs);
  expect(await scene.run()).toMatchObject({
    terms: { pass: 'full', records: 1, unconfirmed: undefined },
  });
  expect(scene.held()).toEqual([1, 1]);
});

test('after an ordinary run one request counts the whole list', async () => {
  using scene = await harvested(100);
  scene.repository.requests.length = 0;
  await scene.place.run(scene.repository.exchange, CAUTIOUS);
  const counts = scene.repository.requests.filter((request) =>
    request.startsWith('verb=ListIdentifiers'),
  );
  expect(counts).toEqual([expect.not.stringContaining('from=')]);
});

test('a deletion hidden by an empty list of changes is found, even if a run was killed before the count', async () => {
  using scene = await harvested(100);
  scene.repository.remove(ident(3));
  scene.repository.nowMs += HOUR_MS;
  const hiding: typeof scene.repository.exchange = (request) => {
    if (request.url.includes('verb=ListIdentifiers')) throw new Error('killed');
    return request.url.includes('from=')
      ? Promise.resolve(answer(oaiError('noRecordsMatch')))
      : scene.repository.exchange(request);
  };
  await expect(scene.place.run(hiding, CAUTIOUS)).rejects.toThrow('killed');
  scene.repository.nowMs += 30 * HOUR_MS;
  await scene.place.run(scene.repository.exchange, CAUTIOUS);
  expect(labels(scene.place).has(ident(3))).toBe(false);
});

test('a deletion that an empty list of changes hid is found on the first page of the counted list', async () => {
  using scene = await harvested(100);
  scene.repository.remove(ident(3));
  scene.repository.nowMs += HOUR_MS;
  const hiding: typeof scene.repository.exchange = (request) =>
    request.url.includes('from=')
      ? Promise.resolve(answer(oaiError('noRecordsMatch')))
      : scene.repository.exchange(request);
  expect(await scene.place.run(hiding, CAUTIOUS)).toMatchObject({ pass: 'full', deleted: 1 });
  expect(
    await harvest(scene.repository, scene.vocabulary, { ...CAUTIOUS, exchange: hiding }),
  ).toMatchObject([{ pass: 'full', deleted: 1 }]);
  expect(scene.held()).toEqual([99, 99]);
  expect(await scene.place.run(hiding, CAUTIOUS)).toMatchObject({ pass: 'changes' });
});
