import { t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import type { Interrupts } from '../context/interrupts.ts';
import { entryText, KIND_WORDS, STATE_WORDS, VERDICT_WORDS } from '../flows/entry-words.ts';
import type { Walls } from '../flows/left-out.ts';
import { openKeptPhotograph } from '../flows/open-kept-photograph.ts';
import type { PushResult } from '../flows/push.ts';
import type { PushEvent } from '../flows/push-run.ts';
import { pushToEnd, type SyncContext } from '../flows/push-to-end.ts';
import { readRecordIdent } from '../flows/read-record-ident.ts';
import type { Reconciled } from '../flows/reconcile.ts';
import type { Pace } from '../http/pace.ts';
import type { EntryKind } from '../outbox/entry.ts';
import { printable } from '../ui/terminal.ts';

/** What a push needs, opened once however often it pushes. */
export type Pusher = Omit<SyncContext, 'onLook'> & {
  readonly context: Context;
  readonly kinds: readonly EntryKind[];
  readonly anyAccount: boolean;
  readonly limit: number | undefined;
  readonly pace: Pace;
  readonly interrupts: Interrupts;
  /** What stands in the way, from one push to the next. */
  readonly walls: Walls;
};

/** One push to its end, shown as it goes. */
export async function pushOnce({ context, interrupts, ...pusher }: Pusher): Promise<PushResult> {
  const { terminal, places } = context;
  const { maxInFlight, answerTimeoutMs, settleMs } = context.profile();
  const [sending, looking] = [terminal.progress(t`Sending`), terminal.progress(t`Looking at the service`)];
  let total = 0;
  return await pushToEnd({
    ...pusher,
    ...{ maxInFlight, answerTimeoutMs, settleMs },
    openPhotograph: (photograph) => openKeptPhotograph(places.photosFolder, photograph),
    readIdentCely: readRecordIdent,
    report: reporter(context, (done) => sending.update(done, total)),
    onRound: (queued) => {
      looking.end();
      total = queued;
    },
    onLook: (done, all) => {
      sending.end();
      looking.update(done, all);
    },
    onReconciled: (settled) => {
      looking.end();
      for (const one of settled) sayVerdict(context, one);
    },
    onLookFailed: ({ message }) => {
      looking.end();
      const why = printable(message);
      terminal.note(t`What is uncertain could not be looked up: ${why}`);
    },
    stop: interrupts.stop,
    abort: interrupts.abort,
  }).finally(() => {
    sending.end();
    looking.end();
  });
}

function sayVerdict({ terminal }: Context, { entry, verdict }: Reconciled): void {
  const what = entryText(entry.kind, entry.localId ?? entry.identCely);
  terminal.note(`${what}: ${VERDICT_WORDS[verdict.kind]}; ${printable(verdict.reason)}`);
}

function reporter({ terminal }: Context, onSettled: (done: number) => void): (event: PushEvent) => void {
  let done = 0;
  return (event) => {
    terminal.value(event);
    if (event.type === 'left_out') {
      terminal.warn(leftOutText(event));
      return;
    }
    const what = entryText(event.kind, event.find);
    if (event.type === 'attempt') {
      const answer = event.status ?? t`no answer`;
      terminal.detail(t`${what}: ${answer} after ${event.ms} ms, paced ${event.paced_ms} ms`);
      return;
    }
    if (event.state === 'queued') {
      terminal.detail(`${what}: ${printable(event.reason ?? '')}`);
      return;
    }
    done += 1;
    onSettled(done);
    const [state, reason] = [STATE_WORDS[event.state], printable(event.reason ?? '')];
    if (event.state !== 'accepted') terminal.note(t`${what} ${state}: ${reason}`);
  };
}

function leftOutText({ kind, project, status, reason, count }: Extract<PushEvent, { type: 'left_out' }>): string {
  const [word, said] = [KIND_WORDS[kind], printable(reason)];
  const answer = status === null ? said : t`${said} (status ${status})`;
  return project === null
    ? t`Left out and kept queued: ${word}, ${count} in all. One after another was answered the same: ${answer}`
    : t`Left out and kept queued: ${word} of project ${project}, ${count} in all. One after another was answered the same: ${answer}`;
}
