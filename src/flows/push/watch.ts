import type { Clock } from '../../base/clock.ts';
import { OutboxLeasedError } from '../../base/errors.ts';
import { joined, type Message } from '../../base/message.ts';
import type { StopCause } from './push-run.ts';

export type Round = { readonly accepted: number; readonly stopCause: StopCause | undefined };

/** What is waited for, and until when it is looked at again at the latest. */
export type WatchEvent = {
  readonly type: 'waiting';
  readonly for: 'service' | 'outbox' | 'time' | 'entries';
  readonly reason: Message | null;
  readonly untilMs: number | null;
};

type WatchOptions = {
  readonly clock: Clock;
  readonly stop: AbortSignal;
  /** One push of all that is due; the error says who holds the outbox instead. */
  readonly push: () => Promise<Round | OutboxLeasedError>;
  /** One cheap question within the pace: is the service there and open? */
  readonly isOpen: () => Promise<boolean>;
  /** When the next entry may be sent; undefined where none waits for time alone. */
  readonly dueAtMs: () => number | undefined;
  readonly report: (event: WatchEvent) => void;
};

const FIRST_PAUSE_MS = 1000;
const MOST_PAUSE_MS = 60_000;
/** A service that is there and leaves entries in doubt is not given new ones every minute of a night. */
const MOST_DOUBT_PAUSE_MS = 3_600_000;
/** The outbox is this machine's own: looking into it costs the service nothing. */
const LOOK_MS = 1000;

/**
 * Pushes for as long as it is let: whenever something becomes due, also what other processes queue, and as soon as a
 * service that was away is there again.
 * @returns why it ended: interrupted, or not allowed to go on
 */
export async function watch(options: WatchOptions): Promise<StopCause> {
  const { clock, stop } = options;
  let pauseMs = FIRST_PAUSE_MS;
  let doubtPauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const round = await options.push();
    if (stop.aborted) return { kind: 'interrupted' };
    if (!(round instanceof OutboxLeasedError) && round.accepted > 0) {
      pauseMs = FIRST_PAUSE_MS;
      doubtPauseMs = FIRST_PAUSE_MS;
    }
    const cause = round instanceof OutboxLeasedError ? heldBy(round) : round.stopCause;
    if (cause?.kind === 'in-doubt') {
      pauseMs = Math.max(pauseMs, doubtPauseMs);
      doubtPauseMs = Math.min(doubtPauseMs * 2, MOST_DOUBT_PAUSE_MS);
    }
    switch (cause?.kind) {
      case 'interrupted':
      case 'not-allowed':
        return cause;
      case 'closed':
      case 'unreachable':
      case 'in-doubt':
        do {
          options.report({ type: 'waiting', for: 'service', reason: cause.reason, untilMs: clock.now() + pauseMs });
          await pause(options, pauseMs);
          pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS);
        } while (!stop.aborted && !(await options.isOpen()));
        break;
      case 'waiting':
        options.report({ type: 'waiting', for: 'time', reason: cause.reason, untilMs: cause.untilMs });
        await pause(options, Math.max(LOOK_MS, Math.min(cause.untilMs - clock.now(), MOST_PAUSE_MS)));
        break;
      case 'held':
        options.report({ type: 'waiting', for: 'outbox', reason: cause.reason, untilMs: null });
        await untilDue(options);
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

/** Another pas has it: whoever watches may have to see to that. */
function heldBy({ says, hintSays }: OutboxLeasedError): { readonly kind: 'held'; readonly reason: Message } {
  return { kind: 'held', reason: hintSays === undefined ? says : joined([says, hintSays], ' ') };
}

/** Until an entry may be sent: one that waited for its time, or that another process queued. */
async function untilDue({ clock, stop, dueAtMs }: WatchOptions): Promise<void> {
  do await pause({ clock, stop }, LOOK_MS);
  while (!stop.aborted && (dueAtMs() ?? Number.POSITIVE_INFINITY) > clock.now());
}

async function pause({ clock, stop }: Pick<WatchOptions, 'clock' | 'stop'>, ms: number): Promise<void> {
  try {
    await clock.sleep(ms, stop);
  } catch (thrown) {
    if (!stop.aborted) throw thrown;
  }
}
