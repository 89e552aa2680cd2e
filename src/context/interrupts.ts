import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import { UnavailableError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context } from './context.ts';

/** The first Ctrl-C stops after the requests under way; the second aborts them. */
type Interrupts = { readonly stop: AbortSignal; readonly abort: AbortSignal };

/** SIGBREAK is Ctrl-Break on Windows, where SIGHUP is a closed console. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', ...(process.platform === 'win32' ? (['SIGBREAK'] as const) : [])] as const;

/** @param message shown at the first signal */
export function installSignalHandlers({ terminal, onClose }: Context, message?: string): Interrupts {
  const stop = new AbortController();
  const abort = new AbortController();
  // One listener per parallel request, which is no leak.
  setMaxListeners(0, stop.signal, abort.signal);
  const onSignal = (): void => {
    if (stop.signal.aborted) abort.abort();
    else if (message !== undefined) terminal.warn(`\n${message}`);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  onClose(() => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  });
  return { stop: stop.signal, abort: abort.signal };
}

type Closable = { readonly clock: Clock; onClose(close: () => void): void };

/**
 * Makes a signal that Ctrl-C or the end of a time limit aborts.
 * @param deadline such as `30m`; undefined for no limit
 * @throws UsageError for an invalid duration
 */
export function deadlineSignal(resources: Closable, stop: AbortSignal, deadline: string | undefined): AbortSignal {
  if (deadline === undefined) return stop;
  const givenMs = durationMs(deadline);
  if (givenMs === undefined) throw new UsageError(t`"${deadline}" is not a duration.`, { hint: t`Write 90s, 30m or 2h.` });
  const reason = new UnavailableError(t`The deadline of ${deadline} (--deadline) has passed.`, {
    hint: t`The stored data is kept. Run the command again to continue.`,
  });
  const signal = AbortSignal.any([stop, timeoutSignal(resources, givenMs, reason)]);
  setMaxListeners(0, signal);
  return signal;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Parses a time such as `90s` or `2h` into milliseconds; undefined for anything else. */
function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MS_OF_UNIT[unit] ?? 0);
}

/** @returns a signal that aborts after so many milliseconds */
export function timeoutSignal({ clock, onClose }: Closable, ms: number, reason?: Error): AbortSignal {
  const [over, ended] = [new AbortController(), new AbortController()];
  onClose(() => ended.abort());
  clock.sleep(ms, ended.signal).then(
    () => over.abort(reason),
    () => {},
  );
  return over.signal;
}
