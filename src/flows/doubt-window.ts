import type { Entry } from '../outbox/entry.ts';
import { evidenceOf } from '../outbox/evidence.ts';
import { attemptsOf } from '../outbox/journal.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { type ServerNow, serverTimeOf } from '../outbox/server-time.ts';
import type { Window } from './judge-doubt.ts';

/** The time in which an entry's attempts may have taken effect, on the server's clock. */
export function windowOf(outbox: Outbox, entry: Entry, settleMs: number, now: ServerNow): Window {
  const attempts = attemptsOf(outbox, entry.id).map((attempt) => serverTimeOf(outbox, entry.profile, attempt, now));
  const restored = entry.doubt === null ? [] : [inServerTime(entry.doubt, now)];
  const moments = [...attempts, ...restored];
  const settled = moments.map(({ untilMs, sure }) => (sure ? untilMs : Math.min(untilMs, firstLookMs(outbox, entry, now))));
  return {
    fromMs: Math.min(...moments.map(({ fromMs }) => fromMs)),
    untilMs: Math.max(...moments.map(({ untilMs }) => untilMs)) + settleMs,
    settledMs: Math.max(...settled) + settleMs,
  };
}

/** When anything of the entry may have reached the service first, by this machine's clock. */
export function firstStartMs(outbox: Outbox, entry: Entry): number {
  return Math.min(
    entry.doubt?.fromMs ?? Number.POSITIVE_INFINITY,
    ...attemptsOf(outbox, entry.id).map(({ startedAt }) => startedAt),
  );
}

function inServerTime({ fromMs, untilMs }: { fromMs: number; untilMs: number }, { offsetMs }: ServerNow) {
  return { fromMs: fromMs + offsetMs, untilMs: untilMs + offsetMs, sure: true };
}

/** Whenever it was sent, it was sent before it was first looked for. */
function firstLookMs(outbox: Outbox, entry: Entry, { nowMs, offsetMs }: ServerNow): number {
  const looks = evidenceOf(outbox, entry.id);
  const since = looks.slice(looks.findLastIndex(({ verdict }) => verdict === 'absent' || verdict === 'person') + 1);
  const [first] = since;
  return first === undefined ? nowMs : Math.min(nowMs, first.foundAt + offsetMs);
}
