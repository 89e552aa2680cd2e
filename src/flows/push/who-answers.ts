import { type Message, msg } from '../../base/message.ts';
import { type HttpRequest, NoAnswerError } from '../../http/exchange.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Entry } from '../../outbox/entry.ts';
import { type Outcome, outcomeOf } from '../../pas-api/outcome.ts';
import { emptyImport } from '../../pas-api/requests.ts';
import { type Asker, askAccess } from './ask-access.ts';
import type { PushContext, PushRun, StopCause } from './push-run.ts';
import { signedIn } from './push-sign-in.ts';
import type { Sent } from './send-entry.ts';
import { refusal } from './settle-outcome.ts';
import { putBack } from './walls.ts';

/** Keeps account of whether it is the service that answers ({@link PushRun.trust}). */
export function noteWhoAnswers(run: PushRun, entry: Entry, { outcome, status }: Sent): void {
  const isOdd = outcome.kind === 'uncertain' && outcome.outsideContract;
  if (isOdd) run.oddlyAnswered.add(entry.id);
  else run.oddlyAnswered.delete(entry.id);
  switch (outcome.kind) {
    case 'never-arrived':
    case 'file-changed':
      return;
    case 'uncertain':
      // A failure within the contract is the service's own, and where it has answered before, a cut line is the network's.
      if (!isOdd && (status !== undefined || run.trust === 'proven')) return;
      if (run.trust === 'asked') run.stopCause ??= notTheService(outcome.detail);
      run.trust = 'shaken';
      return;
    default:
      if (run.trust !== 'shaken') run.trust = 'proven';
  }
}

/**
 * Something answered that may not have been the service: a proxy, or the portal of a guest network. A request that takes
 * the way of a find, and holds none, shows who is there.
 */
export async function askWhoAnswers(run: PushRun): Promise<void> {
  const token = await signedIn(run, run.context.session.token(run.halt));
  if (token === undefined) return;
  const cause = await reasonToStay(inRun(run), token);
  if (run.halt.aborted) return;
  if (cause === undefined) run.trust = 'asked';
  else run.stopCause = cause;
}

/** One record refused, or the whole account? A harmless request that passes the same gates tells. */
export async function forbidden(
  run: PushRun,
  entry: Entry,
  { detail, findings }: Extract<Outcome, { kind: 'forbidden' }>,
  token: string,
): Promise<Settlement> {
  const outcome = run.accessProven ? undefined : await ask(inRun(run), token);
  const cause = outcome === undefined ? undefined : causeToStop(outcome);
  if (outcome?.kind === 'forbidden') {
    run.stopCause ??= { kind: 'not-allowed', reason: detail };
    for (const [key, row] of run.context.walls.rows) if (row.answer === '403') putBack(run, key, detail);
    return { state: 'queued', reason: msg`the account is refused: ${detail}`, notBeforeAt: 0 };
  }
  if (cause !== undefined || outcome?.kind === 'unauthorised') {
    if (cause !== undefined && !run.halt.aborted) run.stopCause = cause;
    return { state: 'queued', reason: msg`refused, and it is open whether the whole account is: ${detail}`, notBeforeAt: 0 };
  }
  run.accessProven = true;
  return refusal(entry, detail, findings);
}

type ClockedAsker = Asker & Pick<PushContext, 'clock'>;

function inRun({ context, halt }: PushRun): ClockedAsker {
  return { ...context, stop: halt };
}

/** Why nothing is to be sent now; undefined where the service is there, and open. */
export async function reasonToStay(asker: ClockedAsker, token: string): Promise<StopCause | undefined> {
  return causeToStop(await ask(asker, token, emptyImport(asker.baseUrl)));
}

async function ask(asker: ClockedAsker, token: string, question?: HttpRequest): Promise<Outcome> {
  const answer = await askAccess(asker, token, question);
  if (answer instanceof NoAnswerError) return { kind: 'never-arrived', detail: answer.says, cut: false };
  return outcomeOf('import', answer, asker.clock.now(), () => undefined);
}

/** What the answer to a question says against going on. */
function causeToStop(outcome: Outcome): StopCause | undefined {
  switch (outcome.kind) {
    case 'never-arrived':
      return { kind: 'unreachable', reason: outcome.detail };
    case 'closed':
      return { kind: 'closed', reason: outcome.detail };
    case 'uncertain':
      return notTheService(outcome.detail);
    case 'accepted':
      return notTheService(outcome.identCely);
    default:
      return undefined;
  }
}

function notTheService(said: Message): StopCause {
  return { kind: 'in-doubt', reason: msg`what answers may not be the service: ${said}` };
}
