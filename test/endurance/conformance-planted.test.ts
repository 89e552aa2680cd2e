import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { conform, listEverything, listReading } from '../contract/conform.ts';
import { startAlteredMock } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { PLANTED_IN_HARVEST } from './planted-harvest.ts';
import { PLANTED_IN_WRITES, type Planted } from './planted-writes.ts';

const PLANTED = [...PLANTED_IN_HARVEST, ...PLANTED_IN_WRITES];
/** One in so many is looked for; all of them with CONFORMANCE_ALL=1. */
const STEP = process.env['CONFORMANCE_ALL'] === undefined ? 6 : 1;
const looked = (planted: readonly Planted[]) => planted.filter((_, index) => index % STEP === 0);

const OF_PACE = ['--interval-ms', '120', '--only', 'throttle'];

test('there are enough of them, each with a unique name', () => {
  expect(PLANTED.length).toBeGreaterThan(40);
  expect(new Set(PLANTED.map(({ name }) => name)).size).toBe(PLANTED.length);
});

test.each(PLANTED)('$name: occurs once in the source', ({ file, from }) => {
  expect(readFileSync(join(PROJECT, 'mock-server', file), 'utf8').split(from)).toHaveLength(2);
});

describe.concurrent('A mock server that differs from the contract', () => {
  test.each(looked(PLANTED_IN_HARVEST))(
    '$name: is detected by its clauses, by reading alone',
    async (planted) => {
      await using mock = await startAlteredMock(planted, '--min-interval', '0');
      const run = await conform(listReading(mock));
      expect({ broken: run.broken, code: run.code }).toEqual({
        broken: [...planted.clauses].sort(),
        code: 15,
      });
    },
  );

  test.each(looked(PLANTED_IN_WRITES))(
    '$name: is detected by its clauses, and by no other',
    async (planted) => {
      await using mock = await startAlteredMock(
        planted,
        ...(planted.isOfPace ? [] : ['--min-interval', '0']),
      );
      const run = await conform([...listEverything(mock), ...(planted.isOfPace ? OF_PACE : [])]);
      expect({ broken: run.broken, code: run.code }).toEqual({
        broken: [...planted.clauses].sort(),
        code: 15,
      });
    },
  );
});
