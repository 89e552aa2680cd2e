import { errorIssue, type Issue } from '../../base/issue.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { findNumberProblem } from '../../find/value-rules.ts';
import type { Settlement } from '../../outbox/claims.ts';
import type { Entry } from '../../outbox/entry.ts';
import { MOST_TRIES, triesInVain, waitAfter } from '../../outbox/tries.ts';
import type { ServerFinding } from '../../pas-api/error-body.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import type { PushRun } from './push-run.ts';

/** Two answers of unknown cause for different records within this time are a throttle, not two locks. */
const BUSY_WINDOW_MS = 2000;
/** A lock that lasts longer may be a throttle that does not say so. */
const MOST_QUICK_LOCKS = 3;
/** A number may be sent again soon, but not for ever against a service that never answers. */
const MOST_NUMBER_REPEATS = 4;
const MOST_CONNECT_WAIT_MS = 10_000;
const MOST_CONNECT_FAILURES = 4;
const MOST_IN_DOUBT_IN_A_ROW = 5;
/** Each one waited longer than the last: a service that still refuses has no room for us now. */
const MOST_THROTTLED_IN_A_ROW = 20;

/**
 * What an outcome does to the entry, and to the push as a whole. `forbidden` and `unauthorised` need a further question
 * to the service and are decided by the caller.
 */
export function settlementOf(
  run: PushRun,
  entry: Entry,
  outcome: Exclude<Outcome, { kind: 'forbidden' | 'unauthorised' }>,
  departedAtMs: number,
): Settlement {
  const { clock } = run.context;
  const now = clock.now();
  noteProgress(run, outcome);
  switch (outcome.kind) {
    case 'accepted':
      return { state: 'accepted', identCely: outcome.identCely };
    case 'already-current':
      return alreadyCurrent(entry, outcome.detail);
    case 'refused':
      return refusal(entry, outcome.detail, outcome.findings);
    case 'refused-with-detail':
      return refusalInAWord(run, entry, outcome.detail, now);
    case 'file-changed':
      return refusal(
        entry,
        msg`the photograph was removed or changed since it was queued; queue it again with \`${cmd`pas photo add`}\``,
        [],
      );
    case 'throttled':
      return throttled(run, departedAtMs, outcome.waitMs);
    case 'busy':
      return busy(run, entry, departedAtMs, now);
    case 'closed':
      run.stopCause ??= { kind: 'closed', reason: outcome.detail };
      return { state: 'queued', reason: msg`the service is closed`, notBeforeAt: 0 };
    case 'never-arrived':
      if (outcome.cut) return again(run, entry, msg`the request did not reach the service (${outcome.detail})`, now);
      return neverArrived(run, outcome.detail, now);
    case 'uncertain':
      return uncertain(run, entry, outcome.detail, now);
  }
}

function noteProgress(run: PushRun, outcome: Outcome): void {
  if (outcome.kind === 'accepted') run.accessProven = true;
  if (outcome.kind !== 'never-arrived' || outcome.cut) run.connectFailures = 0;
  if (outcome.kind !== 'throttled') run.throttledInARow = 0;
  if (outcome.kind === 'uncertain') {
    run.inDoubtInARow += 1;
    if (run.inDoubtInARow >= MOST_IN_DOUBT_IN_A_ROW) {
      run.stopCause ??= { kind: 'in-doubt', reason: msg`${run.inDoubtInARow} answers in a row left their entries in doubt` };
    }
  } else if (outcome.kind !== 'never-arrived') {
    run.inDoubtInARow = 0;
  }
}

/** Believed of what the service could refuse for nothing else. */
function alreadyCurrent(entry: Entry, detail: Message): Settlement {
  if (entry.kind !== 'number' || findNumberProblem(entry.value) !== undefined) return refusal(entry, detail, []);
  return { state: 'accepted', identCely: entry.identCely ?? '', reason: msg`the service had this number already` };
}

export function refusal(entry: Entry, detail: Message, findings: readonly ServerFinding[]): Settlement {
  return { state: 'refused', reason: detail, issues: findings.map((finding) => toIssue(entry, finding)) };
}

/** More are no chance. */
const MOST_COLLISIONS = 4;

/** The service assigns numbers within a project without reserving them: one of two imports at once may lose, wherever the other comes from. */
function refusalInAWord(run: PushRun, entry: Entry, detail: Message, now: number): Settlement {
  if (entry.kind !== 'import' || entry.project === null || entry.collisions >= MOST_COLLISIONS) return refusal(entry, detail, []);
  const collisions = entry.collisions + 1;
  run.serialProjects.add(entry.project);
  return {
    state: 'queued',
    reason: msg`refused, perhaps beside another import of its project (${detail}); tried again alone`,
    notBeforeAt: now + waitAfter(collisions),
    collisions,
  };
}

/** The pace holds everybody back, so the entry itself may go again at once. */
function throttled(run: PushRun, departedAtMs: number, waitMs: number | undefined): Settlement {
  run.counts.throttled += 1;
  run.throttledInARow += 1;
  const pauseMs = run.context.pace.slowDown(departedAtMs, waitMs);
  if (run.throttledInARow >= MOST_THROTTLED_IN_A_ROW) {
    run.stopCause ??= {
      kind: 'waiting',
      reason: msg`the service asked for fewer requests ${run.throttledInARow} times in a row`,
      untilMs: run.context.clock.now() + pauseMs,
    };
  }
  return { state: 'queued', reason: msg`the service asked for fewer requests`, notBeforeAt: 0 };
}

function busy(run: PushRun, entry: Entry, departedAtMs: number, now: number): Settlement {
  const { lastBusy } = run;
  run.lastBusy = { recordKey: entry.recordKey, atMs: now };
  if (lastBusy !== undefined && lastBusy.recordKey !== entry.recordKey && now - lastBusy.atMs < BUSY_WINDOW_MS) {
    run.counts.throttled += 1;
    run.context.pace.slowDown(departedAtMs, undefined);
  } else {
    run.counts.locked += 1;
    if (triesInVain(run.context.outbox, entry.id) >= MOST_QUICK_LOCKS) run.context.pace.slowDown(departedAtMs, undefined);
  }
  return again(run, entry, msg`another operation on this record is under way at the service`, now);
}

/** After a pause that is longer the more often it was tried; what never gets through is told apart by how often that was. */
function again(run: PushRun, entry: Entry, reason: Message, now: number): Settlement {
  const tries = triesInVain(run.context.outbox, entry.id) + 1;
  const said = tries < MOST_TRIES ? reason : msg`${reason} (tried ${tries} times)`;
  return { state: 'queued', reason: said, notBeforeAt: now + waitAfter(tries) };
}

export function neverArrived(run: PushRun, detail: Message, now: number): Settlement {
  run.connectFailures += 1;
  run.holdUntilMs = now + Math.min(500 * 2 ** run.connectFailures, MOST_CONNECT_WAIT_MS);
  if (run.connectFailures >= MOST_CONNECT_FAILURES) run.stopCause ??= { kind: 'unreachable', reason: detail };
  return { state: 'queued', reason: msg`the request did not reach the service (${detail})`, notBeforeAt: 0 };
}

function uncertain(run: PushRun, entry: Entry, detail: Message, now: number): Settlement {
  if (entry.kind === 'number' && triesInVain(run.context.outbox, entry.id) < MOST_NUMBER_REPEATS) {
    return again(run, entry, msg`${detail}; a number may be sent again`, now);
  }
  return { state: 'uncertain', reason: detail };
}

const ERROR_TYPE_RULES: Readonly<Record<number, string>> = {
  1: 'service-missing-record',
  2: 'service-invalid-data',
  3: 'service-permission',
};

/** A finding of the service beside the element that stands on its line of the document that was sent. */
function toIssue(entry: Entry, finding: ServerFinding): Issue {
  const element = entry.kind === 'import' && entry.document !== null ? elementAtLine(entry.document, finding.line) : undefined;
  return errorIssue(ERROR_TYPE_RULES[finding.errorType ?? 0] ?? 'service-refusal', finding.message, {
    ...(entry.localId === null ? {} : { find: entry.localId }),
    ...(finding.line === undefined ? {} : { line: finding.line }),
    ...(element === undefined || element === 'samostatny_nalez' ? {} : { element }),
  });
}

/** pas writes one element a line, so the line's first tag is the element that the service means. */
function elementAtLine(document: Buffer, line: number | undefined): string | undefined {
  if (line === undefined) return undefined;
  const text = document.toString('utf8').split('\n')[line - 1];
  return text?.match(/<(?:[\w.-]+:)?([\w.-]+)/)?.[1];
}
