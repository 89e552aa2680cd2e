import { describe, expect, test } from 'vitest';
import { conform, listEverything } from '../contract/conform.ts';
import { serveMock } from '../support/mock-process.ts';

/** More of them by hand: the goal is none in a hundred. */
const RUNS = Number(process.env['CONFORMANCE_RUNS'] ?? 4);

const ENDPOINTS = ['import', 'number', 'photo', 'token', 'user-info', 'oai'] as const;

/** Trouble on the way that has nothing to do with the contract, in about one request of twenty. */
const oddities = (seed: number) =>
  ENDPOINTS.flatMap((endpoint, place) =>
    [
      { fault: 'reset-before-save', probability: 0.01 },
      { fault: 'reset-after-save', probability: 0.01 },
      { fault: 'truncate', probability: 0.01 },
      { fault: '502', probability: 0.01 },
      { fault: endpoint === 'oai' ? 'oai-503' : '503', probability: 0.01 },
      { fault: '500-after-save', probability: 0.005 },
      { fault: 'slow', ms: 20, probability: 0.02 },
    ]
      .filter(({ fault }) => endpoint !== 'oai' || !/save|503$/.test(fault) || fault === 'oai-503')
      .map(({ fault, probability, ...rest }, index) => ({
        endpoint,
        fault,
        ...rest,
        when: { probability, seed: seed * 100 + place * 10 + index },
      })),
  );

describe('A mock server that keeps to the contract', () => {
  test.each(Array.from({ length: RUNS }, (_, index) => index + 1))(
    'run %i: nothing is reported as broken',
    async (seed) => {
      const variety = seed % 3 === 0 ? ['--seed-number', String(seed), '--page-size', '40'] : [];
      await using mock = await serveMock(...variety);
      if (seed % 2 === 0) await mock.faults(...oddities(seed));
      const run = await conform(listEverything(mock));
      expect(run.results.filter(({ result }) => result === 'break')).toEqual([]);
      if (seed % 2 === 1) expect(run.last).toMatchObject({ break: 0, outage: 0, skipped: 3 });
    },
  );
});
