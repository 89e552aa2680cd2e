import type { Direction, Window } from '../ledger/pass.ts';
import type { Granularity } from '../oai/datestamp.ts';

/** How the datestamps of a walk ran so far, and the last of them. */
export type WalkEdge = { readonly direction: Direction | null; readonly edgeMs: number | null };

/** The edge after some more records of the list. */
export function edgeAfter(edge: WalkEdge, datestampsMs: readonly number[]): WalkEdge {
  let { direction, edgeMs } = edge;
  for (const datestampMs of datestampsMs) {
    if (edgeMs !== null && datestampMs !== edgeMs) {
      const step = datestampMs < edgeMs ? 'falling' : 'rising';
      direction = direction === null || direction === step ? step : 'neither';
    }
    edgeMs = datestampMs;
  }
  return { direction, edgeMs };
}

/**
 * What of a window is still to be read where a walk through it broke off: all, unless the list is ordered by datestamp.
 * Reaches a little into what was read, since several records may share the last datestamp.
 */
export function windowLeft({ fromMs, untilMs }: Window, { direction, edgeMs }: WalkEdge, granularity: Granularity): Window {
  if (edgeMs === null) return { fromMs, untilMs };
  if (direction === 'rising') return { fromMs: Math.max(fromMs ?? edgeMs, edgeMs), untilMs };
  if (direction !== 'falling') return { fromMs, untilMs };
  // Bounds are sent without milliseconds, and some services compare them with datestamps that have them.
  const justAfterMs = granularity === 'second' ? edgeMs + 1000 : edgeMs;
  return { fromMs, untilMs: Math.min(untilMs ?? justAfterMs, justAfterMs) };
}
