import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, elapsedMs, momentOf } from '../base/clock.ts';

type DeadlineOptions = {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Grows with all that arrives, such as the bytes that were read so far. */
  readonly progress: () => number;
  /**
   * Called when the time is over and all that had arrived by then is read. Returns how much more time is given, in
   * milliseconds; undefined ends the deadline.
   */
  readonly judge: () => number | undefined;
};

/** A limit on how long something may take; see {@link startDeadline}. */
export type Deadline = {
  /** Begins the whole time anew. */
  putOff(): void;
  /** Ends it without a judgement. */
  cancel(): void;
};

/** A timer that fires so much later than it was due shows that the process was paused. */
const PAUSED_MS = 250;
/** Time for what is on its way to a process that was paused. */
const GRACE_MS = 1000;
/** Bounds the extra time of an exchange whose process is paused again and again. */
const MAX_GRACES = 3;
/** Bounds the reading of an answer that comes without a gap. */
const MAX_READING_MS = 1000;
/** Event loop turns that are given to reading before anything is called late; each of them polls all sockets once. */
const QUIET_TURNS = 2;

/**
 * Starts a deadline that is judged only after the sockets were read: a process that was paused (by SIGSTOP, or the sleep of the
 * machine) finds its timers over before it reads what arrived meanwhile. After a pause it has, in addition, a short time of grace.
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
      // Begun anew while it was slept.
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

/** Resolves when some turns of the event loop in a row have brought nothing, or when reading takes too long. */
async function arrivedIsRead(clock: Clock, progress: () => number): Promise<void> {
  const begunMs = clock.monotonicMs();
  let known = progress();
  for (let quiet = 0; quiet < QUIET_TURNS && clock.monotonicMs() - begunMs < MAX_READING_MS; quiet += 1) {
    await turn();
    const read = progress();
    if (read !== known) [known, quiet] = [read, -1];
  }
}
