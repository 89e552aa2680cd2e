import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

type Event = { readonly atMs: number; readonly order: number; run(): void };

/** Idle turns before the next event is due: promises and streams take a few turns to continue. */
const QUIET_TURNS = 3;
/**
 * The kernel's answers, which no clock of ours decides: a file that is read, a number that is
 * drawn.
 */
const OUTSIDE = /^(?:FS|FILE|Zip|Zlib|Random|Close|Worker|Hash|PBKDF|Scrypt|Immediate)/i;
const MIN_WAIT_MS = 0.001;
/** Modules that are loaded, at most. */
const MAX_OUTSIDE_MS = 20_000;

/**
 * Clock that advances only when no task is left to run: then it jumps to the next event. Events of
 * one moment come in the order in which they were planned, so a scenario is the same each time.
 */
export class VirtualTime {
  #nowMs: number;
  #order = 0;
  #events: Event[] = [];
  /** Work that needs no time of this clock. */
  #working = 0;
  /** Removes what an earlier scenario left. */
  #era = 0;
  /** Waited before each event, in real time: what is done for the first time may load modules. */
  patienceMs = 0;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** As a process does that keeps its processor busy. */
  pass(ms: number): void {
    this.#nowMs += Math.max(0, ms);
  }

  /** @returns takes it back */
  plan(inMs: number, run: () => void): () => void {
    // A wait too short for the precision of times would end where it began, and loop for ever.
    const waitMs = inMs > 0 ? Math.max(inMs, MIN_WAIT_MS) : 0;
    const event = { atMs: this.#nowMs + waitMs, order: this.#order++, run };
    let at = this.#events.length;
    while (at > 0 && later(this.#events[at - 1] as Event, event)) at -= 1;
    this.#events.splice(at, 0, event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index >= 0) this.#events.splice(index, 1);
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const onAbort = (): void => {
        forget();
        reject(signal?.reason);
      };
      const forget = this.plan(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Nothing else comes before this is done, but for what it sleeps itself by {@link rest}. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    const era = this.#era;
    this.#working += 1;
    try {
      return await work();
    } finally {
      if (era === this.#era) this.#working -= 1;
    }
  }

  async rest(ms: number): Promise<void> {
    this.#working -= 1;
    await this.sleep(ms);
    this.#working += 1;
  }

  /**
   * Lets time pass until the work is done.
   * @throws what it throws; Error where nothing can happen any more
   */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = (): void => {
      isDone = true;
    };
    work.then(done, done);
    const begun = performance.now();
    for (;;) {
      if (this.patienceMs > 0) await delay(this.patienceMs);
      do await quiet(() => isDone);
      while (this.#working > 0 && !isDone);
      if (isDone) return work;
      const event = this.#events.shift();
      if (event !== undefined) {
        this.#nowMs = Math.max(this.#nowMs, event.atMs);
        event.run();
        continue;
      }
      if (performance.now() - begun > MAX_OUTSIDE_MS)
        throw new Error('nothing is planned, and the work does not end');
      await delay(1);
    }
  }

  /**
   * Forgets what was planned, and begins again: seconds of HTTP are whole, so a scenario depends on
   * where they begin.
   */
  beginAt(ms: number): void {
    this.#nowMs = ms;
    this.#order = 0;
    this.#events = [];
    this.#working = 0;
    this.#era += 1;
  }
}

function later(one: Event, other: Event): boolean {
  return one.atMs > other.atMs || (one.atMs === other.atMs && one.order > other.order);
}

async function quiet(isDone: () => boolean): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS && !isDone(); ) {
    await turn();
    turns = process.getActiveResourcesInfo().some((name) => OUTSIDE.test(name)) ? 0 : turns + 1;
  }
}
