import { setMaxListeners } from 'node:events';
import type { Context } from './context.ts';

/** Ctrl-C, twice: first finish what is under way, then give it up. */
type Interrupts = { readonly stop: AbortSignal; readonly abort: AbortSignal };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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
