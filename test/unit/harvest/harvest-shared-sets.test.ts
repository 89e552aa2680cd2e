import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { answer, oaiXml } from '../../support/scripted-oai.ts';
import type { FakeRepository } from './fake-repository.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace, type RunOptions } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';

const SETS = ['nálezy', 'sbírka'] as const;
const TWO: RunOptions = { sets: SETS };

/** A service whose two sets are these. */
function ofSets(lists: readonly [FakeRepository, FakeRepository]): Exchange {
  let [asked] = lists;
  return async (request) => {
    const query = new URL(request.url).searchParams;
    if (query.get('verb') === 'ListSets') {
      return answer(
        oaiXml(
          `<ListSets>${SETS.map((set) => `<set><setSpec>${set}</setSpec></set>`).join('')}</ListSets>`,
        ),
      );
    }
    if (query.has('set')) asked = lists[query.get('set') === SETS[0] ? 0 : 1];
    return asked.exchange(request);
  };
}

/** Records 1 to 6 in the first set, 4 to 9 in the second. */
function sharing(): {
  both: [FakeRepository, FakeRepository];
  exchange: Exchange;
  change: (n: number, label: string) => void;
} {
  const both: [FakeRepository, FakeRepository] = [aRepository(6), aRepository(9)];
  for (const n of [1, 2, 3]) both[1].forget(ident(n));
  const pass = (ms: number): void => {
    const nowMs = Math.max(...both.map((one) => one.nowMs)) + ms;
    for (const one of both) one.nowMs = nowMs;
  };
  pass(3600_000);
  return {
    both,
    exchange: ofSets(both),
    change: (n, label) => {
      pass(3600_000);
      for (const one of both) if (one.alive().has(ident(n))) one.put(ident(n), label);
      pass(60_000);
    },
  };
}

const all = (...without: number[]): string[] =>
  [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((n) => !without.includes(n)).map((n) => ident(n));

describe('two sets that share records, in one output', () => {
  test.each([
    [0, 1],
    [1, 0],
  ] as const)(
    'keep a record that leaves set %i and stays in the other, until it leaves that as well',
    async (first, second) => {
      const place = harvestPlace();
      const { both, exchange, change } = sharing();
      await place.run(exchange, TWO);
      change(9, 'jiný');
      both[first].forget(ident(5));
      expect(await place.run(exchange, { ...TWO, full: true })).toMatchObject({
        vanished: 0,
        held: 9,
      });
      expect([...labels(place).keys()].sort()).toEqual(all());
      both[second].forget(ident(5));
      expect(await place.run(exchange, { ...TWO, full: true })).toMatchObject({
        vanished: 1,
        held: 9,
      });
      expect([...labels(place).keys()].sort()).toEqual(all(5));
      both[first].put(ident(5), 'zase tam');
      await place.run(exchange, TWO);
      expect(labels(place).get(ident(5))).toBe('zase tam');
    },
  );

  test('lose at once what is no longer in either of them', async () => {
    const place = harvestPlace();
    const { both, exchange } = sharing();
    await place.run(exchange, TWO);
    for (const one of both) one.forget(ident(5));
    expect(await place.run(exchange, { ...TWO, full: true })).toMatchObject({ vanished: 1 });
    expect([...labels(place).keys()].sort()).toEqual(all(5));
    expect(await place.run(exchange, { ...TWO, full: true })).toMatchObject({
      vanished: 0,
      written: 0,
    });
  });
});
