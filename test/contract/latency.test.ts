import { describe, expect, test } from 'vitest';
import { Latency } from '../../mock-server/state/latency.ts';
import { readSettings } from '../../mock-server/state/settings.ts';

const drawn = (seed: number, count = 10_000) => {
  const latency = new Latency(seed);
  return Array.from({ length: count }, () => latency.drawNext({ median_ms: 40, p99_ms: 400 })).sort(
    (a, b) => a - b,
  );
};

describe('Latency', () => {
  test('half of the requests take the median at most, and 99 of 100 the given maximum', () => {
    const delays = drawn(7);
    expect(delays[5000]).toBeGreaterThan(36);
    expect(delays[5000]).toBeLessThan(44);
    expect(delays[9900]).toBeGreaterThan(330);
    expect(delays[9900]).toBeLessThan(480);
    expect(delays[0]).toBeGreaterThan(0);
  });

  test('is the same for the same seed, differs for another, and is constant if one number is given', () => {
    expect(drawn(1, 50)).toEqual(drawn(1, 50));
    expect(drawn(1, 50)).not.toEqual(drawn(2, 50));
    expect(new Latency(1).drawNext(25)).toBe(25);
  });

  test.each([
    [{ median_ms: 10 }],
    [{ median_ms: 10, p99_ms: 9 }],
    [{ median_ms: 0, p99_ms: 9 }],
    [-1],
    ['5'],
  ])('%j is refused', (latency_ms) => {
    expect(() => readSettings({ latency_ms })).toThrow(/latency_ms/);
  });
});
