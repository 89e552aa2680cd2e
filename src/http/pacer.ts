import { type Clock, elapsedMs, type Moment, momentOf, rejectOnAbort } from '../base/clock.ts';
import {
  clampToNow,
  GUARD_MS,
  gapMs,
  MAX_DEPARTING_MS,
  MAX_PAUSE_MS,
  type PaceState,
  type PaceStore,
  type Pause,
  pollIntervalMs,
  withBackoff,
  withReservation,
} from './pace-state.ts';
import { isLongPause, LongPauseError } from './retry-after.ts';

type PaceOptions = {
  readonly store: PaceStore;
  readonly clock: Clock;
  /** `address:…` and `account:…`: both limits hold for every request (A-RATE-1, A-RATE-2). */
  readonly scopes: readonly string[];
  readonly intervalMs: number;
};

/** Leave for one request to go out. It is either left with or given back; who does neither holds everybody up for a while. */
export type Slot = {
  /** How long it was waited for. */
  readonly waitedMs: number;
  /**
   * To be called just before the first byte, after any connecting. Holds the process for what is left until the slot, so
   * that nothing else comes between; the next slot counts from here. False where the slot ran out meanwhile: somebody
   * else may be leaving, so this request must not.
   */
  leave(): boolean;
  /** The request never got out. */
  giveBack(): void;
};

/**
 * `approach` and `depart` throw a LongPauseError as soon as nobody may leave for so long. All that are given a signal reject at once
 * when it is aborted, also while a store in the network is waited for.
 */
export type Pace = {
  /** Resolves shortly before the next slot, so that what must be on disk first does not eat into it. */
  approach(signal?: AbortSignal): Promise<void>;
  /** Resolves just before a request may leave, so that it can connect and be built. */
  depart(signal?: AbortSignal): Promise<Slot>;
  /**
   * The service refused for frequency: everybody slows down; `retryAfterMs` is what it asked for. Returns how long
   * everybody pauses.
   */
  slowDown(departedAtMs: number, retryAfterMs: number | undefined): number;
  /** How long until a request could leave. */
  waitMs(signal?: AbortSignal): Promise<number>;
  /** The pause that the service asked for. */
  pause(): Promise<Pause>;
  /** Ends it for everybody, or has everybody keep all of it. */
  setPause(to: 'ended' | 'whole'): Promise<void>;
};

/** How early a slot may be taken, and `approach` returns: a commit that reaches the disk takes a few milliseconds, as a rule. */
const LEAD_MS = 12;
const LEAD_DECAY = 0.9;
/** How early `depart` returns. The process is held for what a request does not need of it. */
const HELD_MS = 2;
/** Whoever shares the pace may change it, so nobody sleeps for longer than this without looking. */
const LOOK_UP_MS = 500;
const PAUSE_WITHOUT_RETRY_AFTER_INTERVALS = 10;

/**
 * Spaces departures by at least the interval in every scope. A slot is taken shortly before its time, and by one request
 * alone, so a late departure pushes the next one on instead of closing the gap behind it.
 */
export function makePace({ store, clock, scopes, intervalMs }: PaceOptions): Pace {
  const maxLeavingMs = Math.max(MAX_DEPARTING_MS, 2 * intervalMs);
  let throttles = 0;
  let leadMs = LEAD_MS;
  let approachedAtMs: number | undefined;

  const waitIn = (states: readonly PaceState[], nowMs: number, minIntervalMs = 0): number => {
    const spacingMs = intervalMs === 0 ? 0 : Math.max(intervalMs, minIntervalMs);
    const freeAt = states.map((state) => Math.max(state.lastDepartureMs + gapMs(state, spacingMs), state.blockedUntilMs));
    return inHundredths(Math.max(0, Math.max(...freeAt) - nowMs));
  };

  /** Takes the slot where it is near and nobody else has it. */
  const tryDepart = (): Promise<Taken | { readonly pollIntervalMs: number }> =>
    store.update<Taken | { pollIntervalMs: number }>(scopes, (found, nowMs, minIntervalMs) => {
      const states = found.map((state) => clampToNow(state, nowMs));
      const remainingMs = waitIn(states, nowMs, minIntervalMs);
      const leavingUntilMs = Math.max(...states.map((state) => state.leavingUntilMs));
      const othersMs = leavingUntilMs > nowMs ? pollIntervalMs(leavingUntilMs, nowMs) : 0;
      if (remainingMs > LEAD_MS || othersMs > 0) {
        return { result: { pollIntervalMs: inHundredths(Math.max(remainingMs - LEAD_MS, othersMs)) }, next: states };
      }
      const mark = nowMs + maxLeavingMs;
      return {
        result: { mark, atMs: clock.monotonicMs() + remainingMs },
        next: states.map((state) => withReservation(state, nowMs, mark)),
      };
    });

  const waitMs = (signal?: AbortSignal): Promise<number> =>
    rejectOnAbort(signal, () =>
      store.update(scopes, (found, nowMs, minIntervalMs) => ({
        result: waitIn(
          found.map((state) => clampToNow(state, nowMs)),
          nowMs,
          minIntervalMs,
        ),
      })),
    );

  const pause = (): Promise<Pause> =>
    store.update(scopes, (found, nowMs) => {
      const states = found.map((state) => clampToNow(state, nowMs));
      const maxMs = (ends: readonly number[]): number => Math.max(0, ...ends.map((endMs) => endMs - nowMs));
      const keptMs = maxMs(states.map(({ blockedUntilMs }) => blockedUntilMs));
      return { result: { keptMs, askedMs: maxMs(states.map(({ askedUntilMs }) => askedUntilMs)) } };
    });

  const sleepALittle = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
    if (isLongPause(ms)) {
      const { keptMs, askedMs } = await rejectOnAbort(signal, pause);
      throw new LongPauseError({ keptMs: Math.max(ms, keptMs), askedMs }, clock.now());
    }
    await clock.sleep(Math.min(ms, LOOK_UP_MS), signal);
  };

  /** Ends the leaving that `mark` stands for, and no other. */
  const release = (mark: number, leftAtMs?: number): void => {
    // Put aside before the first byte or after it, that cannot be told. The guard is spent on it; what is longer counts as before.
    const agoMs = leftAtMs === undefined ? 0 : Math.min(clock.monotonicMs() - leftAtMs, GUARD_MS);
    inPassing(
      store.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((state) => ({
          ...state,
          leavingUntilMs: state.leavingUntilMs === mark ? 0 : state.leavingUntilMs,
          lastDepartureMs: leftAtMs === undefined ? state.lastDepartureMs : Math.max(state.lastDepartureMs, nowMs - agoMs),
        })),
      })),
    );
  };

  const slotOf = ({ mark, atMs }: Taken, asked: Moment, waitedMs: number): Slot => {
    let open = true;
    return {
      waitedMs,
      leave() {
        if (!open) return false;
        clock.hold(atMs - clock.monotonicMs());
        // One gap short of what the others wait, so that whoever takes the next slot then is not met either.
        if (elapsedMs(clock, asked) > maxLeavingMs - intervalMs - GUARD_MS) return false;
        open = false;
        const leftAtMs = clock.monotonicMs();
        // Only when the bytes are out may the next one follow, in case this process is put aside just before them.
        queueMicrotask(() => release(mark, leftAtMs));
        return true;
      },
      giveBack() {
        if (open) release(mark);
        open = false;
      },
    };
  };

  return {
    waitMs,
    async approach(signal) {
      for (;;) {
        const remainingMs = (await waitMs(signal)) - leadMs;
        approachedAtMs = clock.monotonicMs();
        if (remainingMs <= 0) return;
        await sleepALittle(remainingMs, signal);
      }
    },
    async depart(signal) {
      const startedMs = clock.monotonicMs();
      // What was done since `approach` may take as long the next time.
      const preparedMs = startedMs - (approachedAtMs ?? startedMs);
      approachedAtMs = undefined;
      leadMs = Math.max(LEAD_MS, Math.min(Math.max(preparedMs + 2 * HELD_MS, leadMs * LEAD_DECAY), intervalMs / 2));
      for (;;) {
        const asked = momentOf(clock);
        const known = throttles;
        const found = await rejectOnAbort(signal, tryDepart, (late) => 'mark' in late && release(late.mark));
        if ('pollIntervalMs' in found) {
          await sleepALittle(found.pollIntervalMs, signal);
          continue;
        }
        const slot = slotOf(found, asked, found.atMs - startedMs);
        const earlyMs = found.atMs - HELD_MS - clock.monotonicMs();
        try {
          if (earlyMs > 0) await clock.sleep(earlyMs, signal);
        } catch (thrown) {
          slot.giveBack();
          throw thrown;
        }
        if (throttles === known) return slot;
        slot.giveBack();
      }
    },
    pause,
    setPause: (to) =>
      store.update(scopes, (states, nowMs) => ({
        result: undefined,
        next: states.map((found) => {
          const state = clampToNow(found, nowMs);
          if (to === 'ended') return { ...state, blockedUntilMs: 0, askedUntilMs: 0 };
          return { ...state, blockedUntilMs: Math.max(state.blockedUntilMs, state.askedUntilMs) };
        }),
      })),
    slowDown(departedAtMs, retryAfterMs) {
      throttles += 1;
      const pauseMs = retryAfterMs ?? intervalMs * PAUSE_WITHOUT_RETRY_AFTER_INTERVALS;
      const agoMs = clock.monotonicMs() - departedAtMs;
      inPassing(
        store.update(scopes, (states, nowMs) => ({
          result: undefined,
          next: states.map((state) => withBackoff(state, { departedAtMs: nowMs - agoMs, nowMs, pauseMs, intervalMs })),
        })),
      );
      return Math.min(pauseMs, MAX_PAUSE_MS);
    },
  };
}

/** `mark` says whose slot it is; `atMs` is when it begins, on this machine's monotonic clock. */
type Taken = { readonly mark: number; readonly atMs: number };

/** For what nobody waits for. A store that fails fails the next departure as well, and is reported there. */
function inPassing(update: Promise<unknown>): void {
  update.catch(() => undefined);
}

/** Upwards: a remainder too small to be added to a clock's time would never be over. */
function inHundredths(ms: number): number {
  return Math.ceil(100 * ms) / 100;
}
