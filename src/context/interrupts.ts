import { setMaxListeners } from 'node:events';

/** Ctrl-C, twice: first finish what is under way, then give it up. */
export type Interrupts = { readonly stop: AbortSignal; readonly abort: AbortSignal; close(): void };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchInterrupts(onFirst: () => void): Interrupts {
  const stop = new AbortController();
  const abort = new AbortController();
  // One listener for each request under way: that many is no leak.
  setMaxListeners(0, stop.signal, abort.signal);
  const onSignal = (): void => {
    if (stop.signal.aborted) {
      abort.abort();
      return;
    }
    onFirst();
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    stop: stop.signal,
    abort: abort.signal,
    close: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
