import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../src/http/exchange.ts';

const NOW = Date.UTC(2024, 0, 1, 12, 0, 0);

test.each([
  ['1', 1000],
  [' 120 ', 120_000],
  ['0', 0],
  ['9999999999', 1_000_000_000_000],
  ['9'.repeat(400), 1_000_000_000_000],
  ['Mon, 01 Jan 2024 12:00:30 GMT', 30_000],
  ['Monday, 01-Jan-24 12:00:30 GMT', 30_000],
  ['Mon, 01 Jan 2024 11:00:00 GMT', 0],
])('%s means %d milliseconds', (value, expected) => {
  expect(retryAfterMs(value, NOW)).toBe(expected);
});

test.each([undefined, '', '-1', '1.5', 'soon', '2024-01-01'])('%s says nothing', (value) => {
  expect(retryAfterMs(value, NOW)).toBeUndefined();
});

test('whatever a server sends, the wait is a finite number that is not negative, or unknown', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const ms = retryAfterMs(value, NOW);
      expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
    }),
  );
});
