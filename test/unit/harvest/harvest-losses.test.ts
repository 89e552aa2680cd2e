import { describe, expect, test } from 'vitest';
import { findTermByIdent, isSetHarvested } from '../../../src/finds/vocabulary/terms.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { answer, listXml, OAI_BASE, oaiError, recordXml } from '../../support/scripted-oai.ts';
import { tempSource, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { type FakeRepository, SET, serviceOfList } from './fake-repository.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, stored } from './vocabulary-harvest.ts';

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
  expect(isSetHarvested(scene.vocabulary, SET)).toBe(false);
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

describe('a record that the service restored with its old datestamp', () => {
  test.each(['vanished', 'deleted'] as const)('is a term again after it had %s', async (how) => {
    using vocabulary = tempSource();
    const repository = aRepository(5);
    const madeMs = repository.nowMs - 3000;
    repository.nowMs += 3_600_000;
    await harvest(repository, vocabulary);
    if (how === 'vanished') repository.forget(ident(2));
    else repository.remove(ident(2));
    await harvest(repository, vocabulary, { full: true });
    expect(findTermByIdent(vocabulary, ident(2))?.gone).toBe(how);
    repository.putBack(ident(2), 'věc 2', madeMs);
    await harvest(repository, vocabulary, { full: true });
    expect(findTermByIdent(vocabulary, ident(2))).toMatchObject({ label: 'věc 2', gone: null });
  });

  test('is stored by a full harvest, in vocabularies and files alike', async () => {
    using vocabulary = tempSource();
    const place = harvestPlace();
    const repository = aRepository(5);
    const madeMs = repository.nowMs - 3000;
    repository.nowMs += 3_600_000;
    repository.put(ident(2), 'omyl');
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    repository.putBack(ident(2), 'věc 2', madeMs);
    await place.run(repository.exchange, { full: true });
    await harvest(repository, vocabulary, { full: true });
    expect(labels(place)).toEqual(repository.alive());
    expect(stored(vocabulary)).toEqual(repository.alive());
  });
});

describe('of two copies of one record', () => {
  const copy = (label: string, datestamp: string, name = 'A'): string =>
    recordXml(
      name,
      `<svc xmlns="urn:svc/2.2/"><heslo><ident_cely>${name}</ident_cely><heslo>${label}</heslo></heslo></svc>`,
      datestamp,
    );
  const early = '2025-01-01T00:00:00Z';
  const late = '2025-02-01T00:00:00Z';

  /** A list of one page or two. */
  function service(pages: readonly string[][]): Exchange {
    return serviceOfList((query) => {
      if (query.has('from')) return oaiError('noRecordsMatch');
      const n = Number(query.get('resumptionToken') ?? '0');
      const next = n + 1 < pages.length ? String(n + 1) : undefined;
      return listXml('ListRecords', pages[n] ?? [], next);
    });
  }

  test.each([
    ['on one page', [[copy('nová', late), copy('stará', early)]]],
    ['on two pages', [[copy('nová', late)], [copy('stará', early)]]],
  ])('%s the newer one is stored, whatever their order', async (_, pages) => {
    const place = harvestPlace();
    await place.run(service(pages));
    expect(labels(place).get('A')).toBe('nová');
  });
});
