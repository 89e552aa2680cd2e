import { describe, expect, test } from 'vitest';
import { findTermByIdent } from '../../../src/finds/vocabulary/terms.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { answer, listXml, oaiError, oaiXml, recordXml } from '../../support/scripted-oai.ts';
import { tempSource } from '../../support/temp-vocabulary.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace, SET } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, stored } from './vocabulary-harvest.ts';

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
    return async ({ url }) => {
      const query = new URL(url).searchParams;
      if (query.get('verb') === 'Identify') return answer(oaiXml('<Identify/>'));
      if (query.get('verb') === 'ListSets')
        return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
      if (query.has('from')) return answer(oaiError('noRecordsMatch'));
      const n = Number(query.get('resumptionToken') ?? '0');
      return answer(
        listXml('ListRecords', pages[n] ?? [], n + 1 < pages.length ? String(n + 1) : undefined),
      );
    };
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
