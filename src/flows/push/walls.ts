import { type Message, msg } from '../../base/message.ts';
import { applySettlement, countOpen, type Settlement, waitBehind } from '../../outbox/claims.ts';
import { entryById, projectOf } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Outcome } from '../../pas-api/outcome.ts';
import { type LeftOut, leftOutNow } from './left-out.ts';
import { type PushRun, reportSettled } from './push-run.ts';
import type { Sent } from './send-entry.ts';

/** Fewer may be a coincidence. */
const FEWEST_EQUAL = 5;
const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

/** What becomes of an entry in view of what became of those before it. To be asked before it is settled. */
export function heedWalls(run: PushRun, entry: Entry, sent: Sent, settlement: Settlement): Settlement {
  const { clock, walls } = run.context;
  const project = projectOf(entry);
  const [ofKind, ofProject] = [entry.kind, `${entry.kind} ${project}`];
  if (settlement.state === 'accepted') {
    for (const key of [ofKind, ofProject]) {
      walls.rows.delete(key);
      walls.leftOut.delete(key);
    }
    return settlement;
  }
  const concern = concernOf(entry, sent, settlement);
  // What the service finds wrong in an entry shows that the way to it is free.
  if (concern === 'entry' && !PROJECTS.includes(walls.rows.get(ofKind)?.answer ?? '')) walls.rows.delete(ofKind);
  if (concern === undefined || concern === 'entry') return settlement;
  const reason = settlement.reason;
  const leftOut = leftOutNow(walls, clock);
  if (!leftOut.some(({ kind, project: only }) => kind === entry.kind && (only === null || only === project))) {
    const record = entry.identCely ?? entry.recordKey;
    const about = { record, project: project ?? record, kind: `${entry.id}` }[concern];
    const isProject = concern === 'project' && project !== null && isOneTooMany(run, ofProject, record, entry, sent);
    const isKind = isOneTooMany(run, ofKind, about, entry, sent);
    if (!isProject && !isKind) return settlement;
    for (const each of [...(isProject ? [project] : []), ...(isKind ? [null] : [])])
      leaveOut(run, { kind: entry.kind, project: each, status: sent.status ?? null, reason });
  }
  return settlement.state === 'refused' ? backToQueue(run, reason) : settlement;
}

const PROJECTS: readonly string[] = ['403', '404'];

type Concern = 'entry' | 'record' | 'project' | 'kind';

/**
 * What an answer may be about. A refusal with findings is about what the entry says. What the contract has for a project or a record
 * may be about all of that project. For anything else no request of `pas` gives a reason, so it is about the way to the service.
 */
function concernOf(entry: Entry, { outcome, status }: Sent, { state }: Settlement): Concern | undefined {
  switch (outcome.kind) {
    case 'refused':
    case 'forbidden':
      if (state !== 'refused') return undefined;
      if (outcome.findings.length > 0 || (status === 422 && entry.kind !== 'import')) return 'entry';
      return PROJECTS.includes(`${status}`) ? 'project' : 'kind';
    case 'refused-with-detail':
      return state === 'refused' ? 'kind' : undefined;
    case 'busy':
      return 'record';
    case 'never-arrived':
      return outcome.cut ? 'kind' : undefined;
    default:
      return undefined;
  }
}

const SENT_AGAIN: readonly Outcome['kind'][] = ['busy', 'never-arrived'];

/** What makes answers equal: a way that is blocked is blocked, whatever stands there says. */
function answerOf({ outcome, status }: Sent): string {
  if (SENT_AGAIN.includes(outcome.kind)) return outcome.kind;
  return PROJECTS.includes(`${status}`) ? `${status}` : 'way';
}

/** Whether this answer is one too many. What fails once may fail for all that are under way: of those that are sent again, one counts. */
function isOneTooMany({ context }: PushRun, key: string, about: string, { id }: Entry, sent: Sent): boolean {
  const { clock, walls } = context;
  const known = walls.rows.get(key);
  const answer = answerOf(sent);
  const row = known?.answer === answer ? known : { answer, about: new Set<string>(), refused: new Set<number>(), lastAtMs: 0 };
  walls.rows.set(key, row);
  if (SENT_AGAIN.includes(sent.outcome.kind) && sent.departedAtMs < row.lastAtMs) return false;
  row.about.add(about);
  row.refused.add(id);
  row.lastAtMs = clock.monotonicMs();
  return row.about.size >= FEWEST_EQUAL;
}

type Wall = Pick<LeftOut, 'kind' | 'project' | 'status' | 'reason'>;

function leaveOut(run: PushRun, wall: Wall): void {
  const { clock, outbox, report, walls } = run.context;
  const { kind, project, status, reason } = wall;
  const key = project === null ? kind : `${kind} ${project}`;
  const pauseMs = Math.min((walls.leftOut.get(key)?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
  walls.leftOut.set(key, { ...wall, untilMs: clock.monotonicMs() + pauseMs, pauseMs });
  // What was allowed before may not be any more.
  if (status === 403) run.accessProven = false;
  putBack(run, key, reason);
  if (project !== null) waitBehind(outbox, { kind, project }, because(reason));
  const until = new Date(clock.now() + pauseMs).toISOString();
  report({ type: 'left_out', ...wall, count: countOpen(outbox, { kind, project }), until });
}

/** What was refused while nobody knew why. */
export function putBack(run: PushRun, key: string, reason: Message): void {
  const { outbox, walls } = run.context;
  const row = walls.rows.get(key);
  for (const id of row?.refused ?? []) {
    const entry = entryById(outbox, id);
    // A person may have taken it up meanwhile.
    if (entry?.state !== 'refused') continue;
    const back = backToQueue(run, reason);
    applySettlement(outbox, entry, back);
    run.counts.refused -= 1;
    reportSettled(run, entry, back);
  }
  row?.refused.clear();
}

/** Behind the others, so that the next push begins with what may get through. */
function backToQueue(run: PushRun, reason: Message): Settlement {
  return { state: 'queued', reason: because(reason), notBeforeAt: run.context.clock.now() };
}

function because(reason: Message): Message {
  return msg`left out with others that were answered the same: ${reason}`;
}
