import { type Entry, OPEN_END_MS } from '../../outbox/entry.ts';
import { evidenceOf } from '../../outbox/evidence.ts';
import { attemptsOf } from '../../outbox/journal.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { type Moment, type ServerNow, serverTimeOf } from '../../outbox/server-time.ts';
import type { Window } from './verdict.ts';

type Doubted = {
  readonly outbox: ServiceOutbox;
  readonly settleMs: number;
  /** The profile's account now, where it is known. */
  readonly user: string | undefined;
};

/** The time in which an entry's attempts may have taken effect, on the server's clock, and by whom. */
export function windowOf({ outbox, settleMs, user }: Doubted, entry: Entry, now: ServerNow): Window {
  const moments = momentsOf(outbox, entry, now);
  const firstMs = firstLookMs(outbox, entry, now);
  // The service's clock may have been wrong at that time as well as this machine's: the later of the two counts.
  const settled = moments.map(({ untilMs, sure, localMs }) =>
    sure ? Math.max(untilMs, Math.min(localMs ?? untilMs, firstMs)) : Math.min(untilMs, firstMs),
  );
  // What was made long after the first look was made by somebody else.
  const lastMs = ({ untilMs, unanswered }: Attempted): number => (unanswered ? Math.min(untilMs, firstMs) : untilMs);
  return {
    fromMs: Math.min(...moments.map(({ fromMs }) => fromMs)),
    untilMs: Math.max(...moments.map(lastMs)) + settleMs,
    answeredMs: Math.max(...moments.map((moment) => (moment.ended ? moment.untilMs : lastMs(moment) + settleMs))),
    settledMs: Math.max(...settled) + settleMs,
    accounts: accountsOf(outbox, entry, user),
  };
}

/** When anything of the entry may have reached the service first; undefined where nothing bounds that. */
export function earliestMs(outbox: ServiceOutbox, entry: Entry, now: ServerNow): number | undefined {
  const moments = momentsOf(outbox, entry, now);
  return moments.every(({ bounded }) => bounded) ? Math.min(...moments.map(({ fromMs }) => fromMs)) : undefined;
}

type Attempted = Moment & {
  /** By this machine's clock, as far as it is ahead of the service's now, where the service has said when it failed. */
  readonly localMs?: number;
  /** The service itself has answered that it failed: it works on it no longer. */
  readonly ended?: boolean;
  /** No answer says when it was made. */
  readonly unanswered?: boolean;
};

function momentsOf(outbox: ServiceOutbox, entry: Entry, now: ServerNow): Attempted[] {
  const attempts = attemptsOf(outbox, entry.id).map((attempt): Attempted => {
    const { endedAt, outcome, startedAt, status, serverDateAt } = attempt;
    const moment = serverTimeOf(outbox, attempt, now);
    if (serverDateAt === null) return { ...moment, unanswered: true };
    if (outcome !== 'uncertain') return moment;
    return { ...moment, localMs: (endedAt ?? startedAt) + now.offsetMs, ended: status === 500 };
  });
  return entry.doubt === null ? attempts : [...attempts, inServerTime(entry.doubt, now)];
}

/** Its begin may have been taken from an answer of the server, and then is on the server's clock already. Its end may be open. */
export function inServerTime({ fromMs, untilMs }: { fromMs: number; untilMs: number }, { offsetMs }: ServerNow): Moment {
  return {
    fromMs: fromMs + Math.min(0, offsetMs),
    untilMs: untilMs === OPEN_END_MS ? Number.POSITIVE_INFINITY : untilMs + offsetMs,
    sure: true,
    bounded: true,
  };
}

/** What was sent without this outbox knowing was sent by the account that queued it, as far as anybody knows. */
export function accountsOf(outbox: ServiceOutbox, entry: Entry, user: string | undefined): ReadonlySet<string> | undefined {
  const tried = attemptsOf(outbox, entry.id).map(({ account }) => account);
  const isOwn = entry.username === '' || entry.username === outbox.username;
  const all = new Set(entry.doubt === null ? tried : [...tried, (isOwn ? user : undefined) ?? null]);
  const known = [...all].filter((account) => account !== null);
  return known.length === all.size && all.size > 0 ? new Set(known) : undefined;
}

/** Whenever it was sent, it was sent before it was first looked for. The server's own time of that look counts. */
function firstLookMs(outbox: ServiceOutbox, entry: Entry, { nowMs }: ServerNow): number {
  const looks = evidenceOf(outbox, entry.id);
  const since = looks.slice(looks.findLastIndex(({ verdict }) => verdict === 'absent' || verdict === 'person') + 1);
  const first = since.find(({ serverAt }) => serverAt !== null);
  return Math.min(nowMs, first?.serverAt ?? nowMs);
}
