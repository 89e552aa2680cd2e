import { describe, expect, test } from 'vitest';
import { tempSource } from '../../support/temp-vocabulary.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, stored } from './vocabulary-harvest.ts';

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
