import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatDatestamp,
  formatDatestampRoundedUp,
  parseDatestampMs,
  parseGranularity,
  parseUntilMs,
} from '../../../src/harvest/protocol.ts';

test.each([
  ['2025-06-18', Date.UTC(2025, 5, 18)],
  ['2025-06-18T08:30:00Z', Date.UTC(2025, 5, 18, 8, 30)],
  ['2024-07-11T12:27:13.968Z', Date.UTC(2024, 6, 11, 12, 27, 13, 968)],
  ['2024-02-29', Date.UTC(2024, 1, 29)],
])('%s is read', (text, ms) => {
  expect(parseDatestampMs(text)).toBe(ms);
});

test.each([
  '',
  '2024',
  '2024-05',
  '2024-02-30',
  '2025-13-01',
  '2025-06-18T24:61:00Z',
  '2025-06-18T08:30Z',
  '2025-06-18T08:30:00',
  '2025-06-18T08:30:00+02:00',
  'yesterday',
  ' 2025-06-18',
  '2025-06-18 ',
  '2025-06-18 08:30:00Z',
  ' 2025-06-18T08:30:00Z',
  '2025-06-18T08:30:00Z ',
  '2025-06-18T24:00:00Z',
  '2025-06-18T08:30:00.Z',
  '2025-06-18T08:30:00.1234567890Z',
  '02025-06-18',
  '2025-6-18',
])('"%s" is not a datestamp', (text) => {
  expect(parseDatestampMs(text)).toBeUndefined();
  expect(parseGranularity(text)).toBeUndefined();
});

test('a datestamp with milliseconds can be read, but not requested', () => {
  expect(parseGranularity('2024-07-11T12:27:13.968Z')).toBeUndefined();
  expect([parseGranularity('2024-07-11T12:27:13Z'), parseGranularity('2024-07-11')]).toEqual([
    'second',
    'day',
  ]);
});

test('the requested start is never later than the intended one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: Date.UTC(2100, 0) }),
      fc.constantFrom('day' as const, 'second' as const),
      (ms, granularity) => {
        const from = parseDatestampMs(formatDatestamp(ms, granularity)) ?? Number.NaN;
        expect(from).toBeLessThanOrEqual(ms);
        expect(ms - from).toBeLessThan(granularity === 'day' ? 86_400_000 : 1000);
      },
    ),
  );
});

test('the requested end is never earlier than the intended one', () => {
  const noon = Date.UTC(2025, 5, 18, 12);
  expect(
    [noon, noon + 1, noon + 999, noon + 1000].map((ms) => formatDatestampRoundedUp(ms, 'second')),
  ).toEqual([
    '2025-06-18T12:00:00Z',
    '2025-06-18T12:00:01Z',
    '2025-06-18T12:00:01Z',
    '2025-06-18T12:00:01Z',
  ]);
  const lastMs = Date.UTC(2025, 5, 19) - 1;
  expect([
    formatDatestampRoundedUp(lastMs, 'day'),
    formatDatestampRoundedUp(lastMs + 1, 'day'),
  ]).toEqual(['2025-06-18', '2025-06-19']);
});

test('a bound given by a person includes the last millisecond of its day or second', () => {
  expect(parseUntilMs('2025-06-18')).toBe(Date.UTC(2025, 5, 19) - 1);
  expect(parseUntilMs('2025-06-18T08:00:00Z')).toBe(Date.UTC(2025, 5, 18, 8, 0, 1) - 1);
});
