import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/base/errors.ts';
import { type Exchange, TransportError } from '../../../src/service/http/exchange.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import type { FakeRepository } from './fake-repository.ts';
import { cutAfter, labels, repetitions, replacing } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, HABITS, ident } from './term-repository.ts';

const listRequests = (repository: FakeRepository): string[] =>
  repository.requests.filter((query) => query.includes('ListRecords'));

describe.each(HABITS)('a service %s', (_, habits) => {
  test.each([0, 1, 3, 4, 10])('of %i records is harvested completely, each once', async (count) => {
    const place = harvestPlace();
    const repository = aRepository(count, habits);
    const result = await place.run(repository.exchange);
    expect(result).toMatchObject({
      pass: 'full',
      records: count,
      written: count,
      held: count,
      broken: [],
    });
    expect(labels(place)).toEqual(repository.alive());
    expect(place.lines()).toHaveLength(count);
  });

  test('that changes between two runs is asked only for changes', async () => {
    const place = harvestPlace();
    const repository = aRepository(10, habits);
    repository.nowMs += 3600_000;
    await place.run(repository.exchange);
    repository.nowMs += 3600_000;
    repository.put(ident(2), 'změněno');
    repository.remove(ident(7));
    repository.requests.length = 0;
    const result = await place.run(repository.exchange);
    expect(result).toMatchObject({ pass: 'changes', records: 2, written: 2, deleted: 1, held: 10 });
    expect(labels(place)).toEqual(repository.alive());
    expect(place.lines()).toHaveLength(12);
    expect(place.lines().filter(({ deleted }) => deleted)).toMatchObject([
      { identifier: `${OAI_BASE}/id/${ident(7)}` },
    ]);
    expect(listRequests(repository)).toHaveLength(1);
  });

  test('whose records change while they are read loses none and repeats none', async () => {
    const place = harvestPlace();
    const repository = aRepository(12, habits);
    let changes = 0;
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken') && changes < 4)
        repository.put(ident(++changes), `změněno ${changes}`);
    };
    await place.run(repository.exchange);
    await place.run(repository.exchange);
    expect(labels(place)).toEqual(repository.alive());
    expect(repetitions(place)).toEqual([]);
  });
});

describe('a harvest that was interrupted', () => {
  test.each(['killed', 'ended'])('and %s resumes at its page', async (how) => {
    const place = harvestPlace();
    const repository = aRepository(12);
    const first = place.run(cutAfter(repository, 2));
    await expect(first).rejects.toBeInstanceOf(UnavailableError);
    if (how === 'killed') place.breakOff();
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({
      pass: 'full',
      records: 12,
      written: 6,
    });
    expect(listRequests(repository)[0]).toBe('verb=ListRecords&resumptionToken=T2');
    expect(place.lines()).toHaveLength(12);
    expect(labels(place)).toEqual(repository.alive());
  });

  test('after its last page requests only what it misses', async () => {
    const place = harvestPlace();
    const repository = aRepository(4, { end: 'empty-token' });
    // Two pages, and the first count was too high: the list is read to its end, then the network
    // goes.
    const counting = replacing(repository, 'completeListSize="4"', 'completeListSize="5"');
    const grown: Exchange = async (request) => {
      if (request.url.includes('from=')) throw new TransportError('reset', true, 'gone');
      return counting(request);
    };
    await expect(place.run(grown)).rejects.toBeInstanceOf(UnavailableError);
    repository.put(ident(5), 'nová');
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({ records: 5, written: 1 });
    expect(listRequests(repository)[0]).toContain('from=');
  });
});

describe('a token that the service has forgotten', () => {
  test.each([
    // 30 records on pages of 3 are 10 pages, of which 6 were read and the last of them may be met
    // again. Beside them: the refused token, the empty page at the end, what changed since, and
    // the first page with one read ahead, to have all counted.
    ['loses only the rest of a list with the newest first', 'newest-first', 1 + 5 + 1 + 1 + 2],
    ['has another list read again, and nothing written twice', 'oldest-first', 1 + 10 + 1 + 1 + 2],
  ] as const)('%s', async (_, order, requests) => {
    const place = harvestPlace();
    const repository = aRepository(30, { order });
    repository.nowMs += 3600_000;
    await place.run(cutAfter(repository, 6)).catch(() => {});
    repository.expireTokens();
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({ records: 30, held: 30 });
    expect(labels(place)).toEqual(repository.alive());
    expect(repetitions(place)).toEqual([]);
    expect(listRequests(repository).length).toBeLessThanOrEqual(requests);
  });

  test('may be every one, as long as the list is ordered', async () => {
    const place = harvestPlace();
    const repository = aRepository(12);
    repository.beforeAnswer = () => repository.expireTokens();
    expect(await place.run(repository.exchange)).toMatchObject({ records: 12 });
    expect(labels(place)).toEqual(repository.alive());
  });
});

test('progress counts the records read against the whole', async () => {
  const place = harvestPlace();
  const seen: (readonly [number, number | undefined])[] = [];
  await place.run(aRepository(7).exchange, {
    startProgress: () => (doneCount, total) => seen.push([doneCount, total]),
  });
  expect(seen.slice(0, 3)).toEqual([
    [3, 7],
    [6, 7],
    [7, 7],
  ]);
});
