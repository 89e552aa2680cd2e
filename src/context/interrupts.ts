import { setMaxListeners } from 'node:events';
import { UnavailableError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context } from './context.ts';

/** Ctrl-C, twice: first finish what is under way, then give it up. */
type Interrupts = { readonly stop: AbortSignal; readonly abort: AbortSignal };

/** The last is Ctrl-Break on Windows, where SIGHUP is a console that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', ...(process.platform === 'win32' ? (['SIGBREAK'] as const) : [])] as const;

/** @param said to the person, at the first */
export function watchInterrupts({ terminal, onClose }: Context, said?: string): Interrupts {
  const stop = new AbortController();
  const abort = new AbortController();
  // One listener for each request under way: that many is no leak.
  setMaxListeners(0, stop.signal, abort.signal);
  const onSignal = (): void => {
    if (stop.signal.aborted) abort.abort();
    else if (said !== undefined) terminal.warn(`\n${said}`);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  onClose(() => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  });
  return { stop: stop.signal, abort: abort.signal };
}

/**
 * A signal for what may be asked to stop by Ctrl-C, and by the end of the time that a person gave it.
 * @param deadline such as `30m`; undefined: as long as it takes
 * @throws UsageError where that is no time
 */
export function stopWithin(
  { clock, onClose }: Pick<Context, 'clock' | 'onClose'>,
  { stop }: Pick<Interrupts, 'stop'>,
  deadline: string | undefined,
): AbortSignal {
  if (deadline === undefined) return stop;
  const givenMs = durationMs(deadline);
  if (givenMs === undefined) throw new UsageError(t`"${deadline}" is no time.`, { hint: t`Write 90s, 30m or 2h.` });
  const reason = new UnavailableError(t`The time of --deadline ${deadline} is over.`, {
    hint: t`What was stored is kept. Run the command again to go on.`,
  });
  const signal = AbortSignal.any([stop, overAfter({ clock, onClose }, givenMs, reason)]);
  setMaxListeners(0, signal);
  return signal;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a time such as `90s` or `2h`; undefined for what is none. */
function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MS_OF_UNIT[unit] ?? 0);
}

/** @returns a signal that says after so long, by the clock, that the time is over */
export function overAfter({ clock, onClose }: Pick<Context, 'clock' | 'onClose'>, ms: number, reason?: Error): AbortSignal {
  const [over, ended] = [new AbortController(), new AbortController()];
  onClose(() => ended.abort());
  clock.sleep(ms, ended.signal).then(
    () => over.abort(reason),
    () => {},
  );
  return over.signal;
}
