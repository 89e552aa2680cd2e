import { makeSeededRandom } from '../base/random.ts';
import { integer, object, type Reader, ShapeError } from '../base/shape.ts';

/** Maximum of a timer; a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;
/** Standard deviations above the mean at the 99th percentile. */
const P99 = 2.326_347_874;

/** One delay for all, or a log-normal distribution by its median and its 99th percentile. */
export type LatencySetting = number | { readonly median_ms: number; readonly p99_ms: number };

const delayMs = integer({ min: 0, max: MAX_TIMER_MS });
const distribution = object({
  median_ms: integer({ min: 1, max: MAX_TIMER_MS }),
  p99_ms: integer({ min: 1, max: MAX_TIMER_MS }),
});

/**
 * Reads a delay in milliseconds, or a distribution.
 * @throws ShapeError where its p99_ms is below its median_ms
 */
export const readLatency: Reader<LatencySetting> = (value, place = '') => {
  if (typeof value !== 'object') return delayMs(value, place);
  const latency = distribution(value, place);
  if (latency.p99_ms < latency.median_ms)
    throw new ShapeError(place, 'has a p99_ms below its median_ms');
  return latency;
};

/** Pseudo-random delays, equal for the same seed. */
export class Latency {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = makeSeededRandom(seed);
  }

  /** Returns milliseconds. */
  drawNext(setting: LatencySetting): number {
    if (typeof setting === 'number') return setting;
    const { median_ms, p99_ms } = setting;
    // Box and Muller; 1 - x is never 0.
    const normal =
      Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
    const spread = Math.log(p99_ms / median_ms) / P99;
    return Math.min(MAX_TIMER_MS, median_ms * Math.exp(spread * normal));
  }
}
