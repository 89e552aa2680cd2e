import { setImmediate as letOthersRun } from 'node:timers/promises';
import { type Clock, measureElapsedMs, readClock } from '../../base/clock.ts';

type DeadlineOptions = {
  readonly clock: Clock;
  /** Returns a count that grows with every byte read. */
  readonly getProgress: () => number;
  /** Returns the number of bytes of the answer so far, which extend the limit. */
  readonly getAnsweredBytes: () => number;
};

/**
 * Rate at which the bytes of an answer extend its time limit: a slow network is allowed, a dripping
 * answer ends.
 */
const MIN_BYTES_PER_MS = 4;
/** Maximum time of an answer, in multiples of its limit. */
const MAX_TIMES = 10;
/** Minimum delay of a timer that counts as a pause of the process. */
const PAUSED_MS = 250;
/** Extension after a pause, for bytes that are still in transit. */
const GRACE_MS = 1000;
const MAX_GRACES = 3;
const MAX_READING_MS = 1000;
/** Event loop turns without progress before the limit counts; each turn polls all sockets once. */
const QUIET_TURNS = 2;
/** Reason of each cancelled phase: without one, Node makes an error with its stack. */
const CANCELLED = 'cancelled';

/**
 * The time limit of a request, for one phase after the other. It counts only after the sockets were
 * read: the timers of a process that was paused (SIGSTOP, sleep of the machine) expire before it
 * reads the bytes that arrived meanwhile. A pause also extends the limit by a second.
 */
export class Deadline {
  readonly #options: DeadlineOptions;
  #phase = new AbortController();
  #limitMs = 0;
  #givenMs = 0;
  #begun;

  constructor(options: DeadlineOptions) {
    this.#options = options;
    this.#begun = readClock(options.clock);
  }

  /**
   * Begins a phase in place of the last one. `expire` is called once when its time is over: after
   * `limitMs`, to which the bytes of an answer and pauses of the process add.
   */
  begin(limitMs: number, expire: () => void): void {
    this.cancel();
    this.#phase = new AbortController();
    this.#limitMs = limitMs;
    this.restart();
    const { signal } = this.#phase;
    this.#watch(signal, expire).catch((thrown: unknown) => {
      if (!signal.aborted) throw thrown;
    });
  }

  /** Gives the phase its whole time again. */
  restart(): void {
    this.#give(this.#limitMs);
  }

  /** Ends the phase without `expire`. */
  cancel(): void {
    this.#phase.abort(CANCELLED);
  }

  #give(ms: number): void {
    this.#begun = readClock(this.#options.clock);
    this.#givenMs = ms;
  }

  async #watch(signal: AbortSignal, expire: () => void): Promise<void> {
    const { clock, getProgress, getAnsweredBytes } = this.#options;
    let knownBytes = 0;
    let leftMs = this.#limitMs * (MAX_TIMES - 1);
    let graces = 0;
    for (;;) {
      const begun = this.#begun;
      await clock.sleep(begun.monotonicMs + this.#givenMs - clock.monotonicMs(), signal);
      // Restarted during the sleep.
      if (begun !== this.#begun) continue;
      const wasPaused = measureElapsedMs(clock, begun) - this.#givenMs > PAUSED_MS;
      await waitUntilRead(clock, getProgress);
      if (signal.aborted) return;
      if (begun !== this.#begun) continue;
      if (wasPaused && graces < MAX_GRACES) {
        graces += 1;
        this.#give(GRACE_MS);
        continue;
      }
      const answeredBytes = getAnsweredBytes();
      const moreMs = Math.min((answeredBytes - knownBytes) / MIN_BYTES_PER_MS, leftMs);
      if (moreMs < 1) {
        expire();
        return;
      }
      knownBytes = answeredBytes;
      leftMs -= moreMs;
      this.#give(moreMs);
    }
  }
}

/** Resolves after consecutive event loop turns without progress, or after MAX_READING_MS. */
async function waitUntilRead(clock: Clock, getProgress: () => number): Promise<void> {
  const begunMs = clock.monotonicMs();
  let before = getProgress();
  for (
    let quiet = 0;
    quiet < QUIET_TURNS && clock.monotonicMs() - begunMs < MAX_READING_MS;
    quiet += 1
  ) {
    await letOthersRun();
    const read = getProgress();
    if (read === before) continue;
    before = read;
    quiet = -1;
  }
}
