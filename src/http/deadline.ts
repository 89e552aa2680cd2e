import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, elapsedMs, momentOf } from '../base/clock.ts';

type DeadlineOptions = {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Returns a count that grows with every byte read. */
  readonly progress: () => number;
  /** Called when the limit has passed and the sockets were read. Returns the extension in milliseconds; undefined ends the deadline. */
  readonly judge: () => number | undefined;
};

export type Deadline = {
  /** Restarts the limit. */
  putOff(): void;
  /** Ends the deadline; `judge` is not called. */
  cancel(): void;
};

/** Minimum delay of a timer that counts as a pause of the process. */
const PAUSED_MS = 250;
/** Extension after a pause, for bytes that are still in transit. */
const GRACE_MS = 1000;
const MAX_GRACES = 3;
const MAX_READING_MS = 1000;
/** Event loop turns without progress before `judge` is called; each turn polls all sockets once. */
const QUIET_TURNS = 2;

/**
 * Starts a deadline of `limitMs` that is judged only after the sockets were read: the timers of a process that was paused (SIGSTOP,
 * sleep of the machine) expire before it reads the bytes that arrived meanwhile. A pause also extends the deadline by a second.
 */
export function startDeadline({ clock, limitMs, progress, judge }: DeadlineOptions): Deadline {
  const cancelled = new AbortController();
  const { signal } = cancelled;
  let begun = momentOf(clock);
  let givenMs = limitMs;
  const give = (ms: number): void => {
    [begun, givenMs] = [momentOf(clock), ms];
  };
  const run = async (): Promise<void> => {
    for (let graces = 0; ; ) {
      const awaited = begun;
      await clock.sleep(begun.monotonicMs + givenMs - clock.monotonicMs(), signal);
      // Restarted during the sleep.
      if (awaited !== begun) continue;
      const wasPaused = elapsedMs(clock, begun) - givenMs > PAUSED_MS;
      await arrivedIsRead(clock, progress);
      if (signal.aborted) return;
      if (awaited !== begun) continue;
      if (wasPaused && graces < MAX_GRACES) {
        graces += 1;
        give(GRACE_MS);
        continue;
      }
      const moreMs = judge();
      if (moreMs === undefined || signal.aborted) return;
      give(moreMs);
    }
  };
  run().catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown;
  });
  return { putOff: () => give(limitMs), cancel: () => cancelled.abort() };
}

/** Resolves after consecutive event loop turns without progress, or after MAX_READING_MS. */
async function arrivedIsRead(clock: Clock, progress: () => number): Promise<void> {
  const begunMs = clock.monotonicMs();
  let known = progress();
  for (let quiet = 0; quiet < QUIET_TURNS && clock.monotonicMs() - begunMs < MAX_READING_MS; quiet += 1) {
    await turn();
    const read = progress();
    if (read !== known) [known, quiet] = [read, -1];
  }
}
