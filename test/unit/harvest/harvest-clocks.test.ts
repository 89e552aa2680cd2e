import { describe, expect, test } from 'vitest';
import { labels } from '../../support/harvest-output.ts';
import { harvestPlace } from '../../support/record-harvest.ts';
import { tempSource } from '../../support/temp-vocabulary.ts';
import { aRepository, ident } from '../../support/term-repository.ts';
import { harvest, stored } from '../../support/vocabulary-harvest.ts';

const HOUR_MS = 3_600_000;

describe('a service’s clock that is ahead', () => {
  test('in one answer only hides no later change', async () => {
    using vocabulary = tempSource();
    const place = harvestPlace();
    const repository = aRepository(5);
    repository.beforeAnswer = ({ url }) => {
      repository.aheadMs =
        url.includes('ListRecords') && !url.includes('resumptionToken') ? 5 * HOUR_MS : 0;
    };
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    repository.beforeAnswer = () => {};
    repository.aheadMs = 0;
    repository.nowMs += HOUR_MS;
    repository.put(ident(2), 'změněno');
    repository.nowMs += 6 * HOUR_MS;
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    expect(labels(place)).toEqual(repository.alive());
    expect(stored(vocabulary)).toEqual(repository.alive());
  });

  test('is reported once it is right again, and everything is read again', async () => {
    using vocabulary = tempSource();
    const place = harvestPlace();
    const repository = aRepository(5);
    repository.aheadMs = 5 * HOUR_MS;
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    repository.aheadMs = 0;
    repository.nowMs += HOUR_MS;
    repository.put(ident(2), 'změněno');
    const notes: string[] = [];
    expect(await place.run(repository.exchange, { notes })).toMatchObject({ pass: 'full' });
    expect(await harvest(repository, vocabulary, { notes })).toMatchObject([{ pass: 'full' }]);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(
      /went back from 2025-06-01T05:00:\S+ \(last harvest\) to 2025-06-01T01:00:\S+, so everything is read again/,
    );
    expect(labels(place)).toEqual(repository.alive());
    expect(stored(vocabulary)).toEqual(repository.alive());
  });
});

test('the last second of a requested day is harvested to its last millisecond', async () => {
  const place = harvestPlace();
  const repository = aRepository(2);
  repository.putBack(ident(3), 'poslední', Date.UTC(2025, 5, 1, 23, 59, 59, 700));
  repository.putBack(ident(4), 'příští den', Date.UTC(2025, 5, 2));
  repository.nowMs = Date.UTC(2025, 6, 1);
  await place.run(repository.exchange, { until: '2025-06-01' });
  expect([...labels(place).keys()].sort()).toEqual([ident(1), ident(2), ident(3)]);
});

test('vocabularies harvested by another account are read again', async () => {
  using vocabulary = tempSource();
  const repository = aRepository(5);
  const kinds = [];
  for (const account of ['', 'archaeologist', 'archaeologist', '']) {
    const [result] = await harvest(repository, vocabulary, { account });
    kinds.push(result?.pass);
  }
  expect(kinds).toEqual(['full', 'full', 'changes', 'full']);
});
