import { expect, test } from 'vitest';
import type { Exchange } from '../../../src/http/exchange.ts';
import type { FakeRepository } from '../../support/fake-repository.ts';
import { labels } from '../../support/harvest-output.ts';
import { harvestPlace } from '../../support/record-harvest.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident, sorted } from '../../support/term-repository.ts';
import { harvest, stored } from '../../support/vocabulary-harvest.ts';

/** A service that sends what is no XML, in a record's text or in its identifier. */
function breaking(repository: FakeRepository, where: 'text' | 'identifier'): { exchange: Exchange; mended: boolean } {
  const service = {
    mended: false,
    exchange: async (request: Parameters<Exchange>[0]) => {
      const given = await repository.exchange(request);
      if (service.mended) return given;
      const [from, to] = where === 'text' ? ['věc 4<', 'věc & 4<'] : [`/id/${ident(4)}<`, '/id/& <'];
      return { ...given, body: Buffer.from(given.body.toString().replaceAll(from, to)) };
    },
  };
  return service;
}

test.each(['text', 'identifier'] as const)(
  'a record that was left out for its %s is asked for until it can be read',
  async (where) => {
    using store = tempVocabulary();
    const [place, vocabulary] = [harvestPlace(), store.source(OAI_BASE)];
    const repository = aRepository(7);
    const service = breaking(repository, where);
    const both = async () => {
      const records = await place.run(service.exchange, { skipBroken: true });
      const [terms] = await harvest(repository, vocabulary, { skipBroken: true, exchange: service.exchange });
      return [records.broken, terms?.broken ?? []].map((broken) => broken.map(({ identifier }) => identifier));
    };
    const name = where === 'text' ? `${OAI_BASE}/id/${ident(4)}` : undefined;
    expect(await both()).toEqual([[name], [name]]);
    repository.nowMs += 24 * 3_600_000;
    expect(await both()).toEqual([[name], [name]]);
    service.mended = true;
    expect(await both()).toEqual([[], []]);
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  },
);
