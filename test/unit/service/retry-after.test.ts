import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRetryAfterMs } from '../../../src/service/http/exchange.ts';

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
  expect(parseRetryAfterMs({ 'retry-after': value }, NOW)).toBe(expected);
});

test.each([-40, 0, 3])(
  'a date is as far away as the server says, where the clock of this machine is %d days ahead',
  (days) => {
    const headers = {
      date: 'Mon, 01 Jan 2024 12:00:00 GMT',
      'retry-after': 'Mon, 01 Jan 2024 12:00:30 GMT',
    };
    expect(parseRetryAfterMs(headers, NOW + days * 86_400_000)).toBe(30_000);
  },
);

test.each([undefined, '', '-1', '1.5', 'soon', '2024-01-01'])('%s gives no time', (value) => {
  expect(
    parseRetryAfterMs(value === undefined ? {} : { 'retry-after': value }, NOW),
  ).toBeUndefined();
});

test('for any header the wait is a finite non-negative number, or unknown', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const ms = parseRetryAfterMs({ 'retry-after': value }, NOW);
      expect(ms === undefined || (Number.isFinite(ms) && ms >= 0)).toBe(true);
    }),
  );
});
