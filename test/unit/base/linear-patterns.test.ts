import { expect, test } from 'vitest';
import { parseDateForm } from '../../../src/columns/date-form.ts';
import { numberOf } from '../../../src/columns/value-shapes.ts';
import { parseNumberFormat } from '../../../src/tables/number-format.ts';
import { parseHtml } from '../../../src/text/html-text.ts';

const SHORT = 4000;
const LONGER = 8;
/** Linear work grows by {@link LONGER}, quadratic by its square. */
const MAX_GROWTH = 3 * LONGER;
const MIN_MICROSECONDS = 20_000;

/** Processor time of the quickest of some runs, so that other work on the machine does not count. */
function cost(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage().user;
    work();
    return process.cpuUsage().user - before;
  });
  return Math.min(...times);
}

test.each([
  ['blanks before a time that does not come', (count: number) => parseDateForm(`1.1.2024${' '.repeat(count)}x`, 'd.m.yyyy')],
  ['blanks before a unit that does not come', (count: number) => numberOf(`5${' '.repeat(count)}x`)],
  ['blanks in HTML without a line break', (count: number) => parseHtml(`<p>${' '.repeat(count)}x`)],
  ['placeholders of a number format', (count: number) => parseNumberFormat(`${'0'.repeat(count)}x/0`).show(1.5)],
])('%s take time in proportion to their length', (_, work) => {
  const short = Math.max(
    cost(() => work(SHORT)),
    MIN_MICROSECONDS / LONGER,
  );
  expect(cost(() => work(SHORT * LONGER))).toBeLessThan(short * MAX_GROWTH);
});
