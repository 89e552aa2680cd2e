import { describe, expect, test } from 'vitest';
import type { Exchange, HttpResponse } from '../../../src/http/exchange.ts';
import { FakeRepository } from '../../support/fake-repository.ts';
import { repetitions } from '../../support/harvest-output.ts';
import { harvestPlace, SET } from '../../support/record-harvest.ts';
import { answer, listXml, oaiXml, recordXml } from '../../support/scripted-oai.ts';

/** What a harvest asks before its list. */
function ofService(url: string): HttpResponse | undefined {
  if (url.includes('verb=Identify')) return answer(oaiXml('<Identify/>'));
  if (url.includes('verb=ListSets')) return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
  return undefined;
}

describe('a list that comes short', () => {
  const short = (request: { url: string }): ReturnType<Exchange> =>
    new Promise((done) => {
      const query = new URL(request.url).searchParams;
      if (query.get('verb') === 'Identify') done(answer(oaiXml('<Identify/>')));
      else if (query.get('verb') === 'ListSets')
        done(answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`)));
      else if (query.has('resumptionToken')) done(answer(listXml('ListRecords', [recordXml('B')], '', 'completeListSize="5"')));
      else done(answer(listXml('ListRecords', [recordXml('A')], 'T1', 'completeListSize="5"')));
    });

  test('is a failure that says how many are missing', async () => {
    const place = harvestPlace();
    const failure = await place.run(short).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ oaiCode: 'incomplete', exitCode: 14 });
    expect(String(failure)).toMatch(/counts 5 records and sent 2: 3 are missing/);
    expect(place.lines()).toHaveLength(2);
    expect(place.state(({ watermarkMs }) => watermarkMs())).toBeNull();
  });

  test('is read again by the next run', async () => {
    const place = harvestPlace();
    await place.run(short).catch(() => {});
    const repository = new FakeRepository();
    for (const name of ['A', 'B', 'C', 'D', 'E']) repository.put(name, name);
    expect(await place.run(repository.exchange)).toMatchObject({ pass: 'full', records: 5 });
  });
});

describe('a list that never ends', () => {
  function endless(pageOf: (n: number) => string): Exchange {
    let pages = 0;
    return async ({ url }) => ofService(url) ?? answer(pageOf(pages++));
  }

  test.each([
    ['gives the same token again', (n: number) => listXml('ListRecords', [recordXml(`A${n}`)], 'T', 'completeListSize="9"')],
    ['loops', (n: number) => listXml('ListRecords', [recordXml(`A${n % 3}`)], `T${n}`, 'completeListSize="9"')],
    [
      'shuffles the same records for ever',
      (n: number) =>
        listXml(
          'ListRecords',
          [...new Set([n % 7, (n * n) % 7, (n >> 2) % 7])].map((k) => recordXml(`A${k}`)),
          `T${n}`,
          'completeListSize="9"',
        ),
    ],
  ])('since it %s is a failure that says how many are missing', async (_, pageOf) => {
    const place = harvestPlace();
    const failure = await place.run(endless(pageOf)).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ oaiCode: 'loop', exitCode: 14 });
    expect(String(failure)).toMatch(/counts 9 records and sent \d: \d are missing/);
    expect(place.state(({ pass }) => pass()?.walk.token)).toBeNull();
    expect(repetitions(place)).toEqual([]);
  });
});
