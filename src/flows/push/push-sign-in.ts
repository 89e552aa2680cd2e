import { PasError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import type { Entry } from '../../outbox/entry.ts';
import { attemptsInARow } from '../../outbox/journal.ts';
import type { PushRun } from './push-run.ts';

/** A service that refuses every token it gives is not asked for ever. */
const MOST_RENEWALS = 3;

/**
 * The token; undefined where the push ends for want of one.
 * @throws PasError where nothing was sent yet, so that a person is told what to do
 */
export async function signedIn(run: PushRun, asked: Promise<string>): Promise<string | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (run.halt.aborted) return undefined;
    if (!(thrown instanceof PasError) || run.counts.requests === 0) throw thrown;
    run.stopCause ??= { kind: thrown.exitReason === 'notAllowed' ? 'not-allowed' : 'unreachable', reason: thrown.says };
    return undefined;
  }
}

/** The request was not looked at and is in the queue again; with a new token it is sent again. */
export async function renew(run: PushRun, entry: Entry, refused: string): Promise<void> {
  const { outbox, session } = run.context;
  const next = await signedIn(run, session.renew(refused, run.halt));
  if (next === refused || attemptsInARow(outbox, entry.id, 'unauthorised') > MOST_RENEWALS) {
    run.stopCause ??= { kind: 'not-allowed', reason: msg`the service refuses the token that it gave` };
  }
}
