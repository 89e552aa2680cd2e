import { describe, expect, test } from 'vitest';
import type { FakeRepository } from '../../support/fake-repository.ts';
import { labels } from '../../support/harvest-output.ts';
import { harvestPlace } from '../../support/record-harvest.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, HABITS, ident, sorted } from '../../support/term-repository.ts';
import { harvest, stored } from '../../support/vocabulary-harvest.ts';

/** Does something once, before the second page of the list is answered. */
function onceWhileRead(repository: FakeRepository, change: () => void): void {
  let done = false;
  repository.beforeAnswer = ({ url }) => {
    if (done || !url.includes('resumptionToken')) return;
    done = true;
    change();
  };
}

describe.each(HABITS)('while a list is read of a service %s', (_, habits) => {
  const first = habits.order === 'newest-first' ? 12 : 1;

  test('a record that is deleted for good hides no other, whether vocabularies or records are harvested', async () => {
    using store = tempVocabulary();
    const [place, vocabulary] = [harvestPlace(), store.source(OAI_BASE)];
    const ofRecords = aRepository(12, habits);
    onceWhileRead(ofRecords, () => ofRecords.forget(ident(first)));
    await place.run(ofRecords.exchange);
    const ofTerms = aRepository(12, habits);
    onceWhileRead(ofTerms, () => ofTerms.forget(ident(first)));
    await harvest(ofTerms, vocabulary, { full: true });
    // What was read before it was deleted stays in a file; among the vocabularies it has vanished.
    expect([...labels(place).keys()]).toEqual(expect.arrayContaining([...ofRecords.alive().keys()]));
    expect(sorted(stored(vocabulary))).toEqual(sorted(ofTerms.alive()));
  });

  test('a record that leaves the dates that were asked for, since it was edited, hides no other', async () => {
    const place = harvestPlace();
    const repository = aRepository(12, habits);
    const until = `${new Date(repository.nowMs).toISOString().slice(0, 19)}Z`;
    repository.nowMs += 3_600_000;
    onceWhileRead(repository, () => repository.put(ident(first), 'změněno'));
    await place.run(repository.exchange, { until });
    expect([...labels(place).keys()]).toEqual(
      expect.arrayContaining([...repository.alive().keys()].filter((one) => one !== ident(first))),
    );
  });
});
