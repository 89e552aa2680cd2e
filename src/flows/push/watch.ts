import type { Clock } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import { RETRY_POLICY } from '../../base/retry-policy.ts';
import type { StopCause } from './push-context.ts';

export type Round = { readonly accepted: number; readonly stopCause: StopCause | undefined };

/** Subject of a wait, and its end at the latest. */
export type WatchEvent = {
  readonly type: 'waiting';
  readonly for: 'service' | 'time' | 'entries';
  readonly reason: Message | null;
  readonly untilMs: number | null;
};

type WatchOptions = {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** One push of all that is due. */
  readonly push: () => Promise<Round>;
  /** One cheap question within the pace: is the service there and open? */
  readonly isOpen: () => Promise<boolean>;
  /** Returns the time of the next retry; undefined where no entry waits for time alone. */
  readonly dueAtMs: () => number | undefined;
  readonly report: (event: WatchEvent) => void;
};

const { minPauseMs, maxPauseMs, maxUncertainPauseMs, pollMs } = RETRY_POLICY.watch;

/**
 * Pushes until interrupted: whenever an entry becomes due, also what other processes queue, and as soon as a
 * service that was away is there again.
 * @returns why it ended: interrupted, or not allowed to go on
 */
export async function watch(options: WatchOptions): Promise<StopCause> {
  const { clock, stop } = options;
  let pauseMs: number = minPauseMs;
  let uncertainPauseMs: number = minPauseMs;
  for (;;) {
    const round = await options.push();
    if (stop.aborted) return { kind: 'interrupted' };
    if (round.accepted > 0) {
      pauseMs = minPauseMs;
      uncertainPauseMs = minPauseMs;
    }
    const cause = round.stopCause;
    if (cause?.kind === 'in-doubt') {
      pauseMs = Math.max(pauseMs, uncertainPauseMs);
      uncertainPauseMs = Math.min(uncertainPauseMs * 2, maxUncertainPauseMs);
    }
    switch (cause?.kind) {
      case 'interrupted':
      case 'not-allowed':
      case 'new-people':
        return cause;
      case 'closed':
      case 'unreachable':
      case 'in-doubt':
        do {
          options.report({ type: 'waiting', for: 'service', reason: cause.reason, untilMs: clock.now() + pauseMs });
          await pause(options, pauseMs);
          pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        } while (!stop.aborted && !(await options.isOpen()));
        break;
      case 'waiting':
        options.report({ type: 'waiting', for: 'time', reason: cause.reason, untilMs: cause.untilMs });
        await pause(options, Math.max(pollMs, Math.min(cause.untilMs - clock.now(), maxPauseMs)));
        break;
      case 'not-yet':
      case undefined: {
        const dueAt = options.dueAtMs();
        options.report({ type: 'waiting', for: dueAt === undefined ? 'entries' : 'time', reason: null, untilMs: dueAt ?? null });
        await untilDue(options);
      }
    }
    if (stop.aborted) return { kind: 'interrupted' };
  }
}

/** Waits until an entry may be sent: one that waited for its time, or that another process queued. */
async function untilDue(options: WatchOptions): Promise<void> {
  const { clock, stop, dueAtMs } = options;
  do await pause(options, pollMs);
  while (!stop.aborted && (dueAtMs() ?? Number.POSITIVE_INFINITY) > clock.now());
}

async function pause({ clock, stop }: WatchOptions, ms: number): Promise<void> {
  try {
    await clock.sleep(ms, stop);
  } catch (thrown) {
    if (!stop.aborted) throw thrown;
  }
}
