import { serverMs } from '../../base/clock.ts';
import { attemptsOf } from '../../outbox/attempts.ts';
import type { Attempt, AttemptBounds, Entry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { AttemptWindow } from './verdict.ts';

/** Returns the interval in which an entry's attempts may have taken effect, by the server's clock, and their accounts. */
export function windowOf(outbox: Outbox, entry: Entry): AttemptWindow {
  const attempts = relevantAttempts(attemptsOf(outbox, entry));
  const bounds = attempts.flatMap(({ bounds: each }) => each ?? []);
  const accounts = new Set(attempts.map(({ account }) => account));
  return { accounts, bounds: bounds.length === attempts.length && attempts.length > 0 ? unionOf(bounds) : undefined };
}

/** Returns attempts of unknown outcome; without any, the accepted one. */
function relevantAttempts(attempts: readonly Attempt[]): readonly Attempt[] {
  const unknown = attempts.filter(({ outcome }) => outcome === null || outcome === 'uncertain' || outcome === 'orphaned');
  if (unknown.length > 0) return unknown;
  return attempts.filter(({ outcome }) => outcome === 'accepted' || outcome === 'already-applied').slice(-1);
}

function unionOf(bounds: readonly AttemptBounds[]): AttemptBounds {
  return {
    fromMs: serverMs(Math.min(...bounds.map(({ fromMs }) => fromMs))),
    untilMs: serverMs(Math.max(...bounds.map(({ untilMs }) => untilMs))),
    settledMs: serverMs(Math.max(...bounds.map(({ settledMs }) => settledMs))),
  };
}

/** Returns the earliest time at which an attempt may have reached the service; undefined where the server time was unknown. */
export function earliestMs(outbox: Outbox, entry: Entry): number | undefined {
  return windowOf(outbox, entry).bounds?.fromMs;
}
