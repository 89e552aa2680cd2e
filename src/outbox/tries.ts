import type { Attempt } from './entry.ts';
import { attemptsOf } from './journal.ts';
import type { Outbox } from './open-outbox.ts';

/** After so many tries in a row that came to nothing an entry waits for minutes, and longer each time. */
export const MOST_TRIES = 8;

const FIRST_WAIT_MS = 1000;
const MOST_SHORT_WAIT_MS = 30_000;
const FIRST_LONG_WAIT_MS = 5 * 60_000;
/** Nothing is told to wait longer. */
export const LONGEST_WAIT_MS = 60 * 60_000;

const CAME_TO_NOTHING: readonly string[] = ['busy', 'cut', 'uncertain', 'lost'];
/** What was no matter of the entry: the service as a whole, the network or the account. */
const SAYS_NOTHING: readonly string[] = ['throttled', 'closed', 'never-arrived', 'never-left', 'unauthorised', 'asked'];

/** How often the entry was tried in vain since it last got a clear answer, by whatever `pas`: the journal has all attempts. */
export function triesInVain(outbox: Outbox, entryId: number): number {
  return vain(attemptsOf(outbox, entryId)).length;
}

function vain(attempts: readonly Attempt[]): Attempt[] {
  const told = attempts.filter(({ outcome }) => outcome !== null && !SAYS_NOTHING.includes(outcome));
  const clear = told.findLastIndex(({ outcome }) => !CAME_TO_NOTHING.includes(outcome ?? ''));
  return told.slice(clear + 1);
}

/** How long an entry waits after so many tries in vain. */
export function waitAfter(tries: number): number {
  if (tries < MOST_TRIES) return Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), MOST_SHORT_WAIT_MS);
  return Math.min(FIRST_LONG_WAIT_MS * 2 ** (tries - MOST_TRIES), LONGEST_WAIT_MS);
}

/** When what is to be sent again may be: at once, unless it was tried in vain too often. */
export function againAt(outbox: Outbox, entryId: number): number {
  const tries = vain(attemptsOf(outbox, entryId));
  return tries.length < MOST_TRIES ? 0 : (tries.at(-1)?.endedAt ?? 0) + waitAfter(tries.length);
}
