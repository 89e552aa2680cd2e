import { formatIso } from '../../base/clock.ts';
import type { PasError } from '../../base/errors.ts';
import { cmd, type Message, quoteShellWord, t } from '../../base/message.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { formatEntry, KIND_WORDS, STATE_WORDS } from '../../outbox/views/entry-words.ts';
import type { ReconciledEntry } from '../../push/judge-import.ts';
import type { PushEvent } from '../../push/push-context.ts';
import { explainUncertain } from '../../push/uncertain-words.ts';
import type { WatchEvent } from '../../push/watch.ts';
import { type Context, findSettleMs } from '../context/context.ts';
import { getSettlingCommand } from '../result-texts.ts';
import type { Progress } from '../terminal.ts';

/** Makes the function that says why an entry is uncertain, each sentence once, with its details. */
function makeUncertainPrinter(context: Context, outbox: Outbox) {
  const printed = new Set<string>();
  return (what: Message, entryId: number): void => {
    const [plainly, ...reasons] = explainUncertain(outbox, entryId, findSettleMs(context));
    const line = `${what}: ${plainly}`;
    if (printed.has(line)) return;
    printed.add(line);
    context.terminal.note(line);
    for (const reason of reasons) context.terminal.printDetail(`  ${reason}`);
  };
}

/** Makes the bars of a push, of which one is shown at a time. */
function makeBars({ terminal }: Context) {
  let bar: Progress | undefined;
  let isSearching = false;
  let doneCount = 0;
  let total = 0;
  const end = (): void => {
    bar?.end();
    bar = undefined;
    isSearching = false;
  };
  return {
    end,
    startSending: (queued: number) => {
      end();
      bar = terminal.startProgress(t`Sending`);
      doneCount = 0;
      total = queued;
    },
    countSettled: () => {
      doneCount += 1;
      bar?.update(doneCount, total);
    },
    showSearch: (searched: number, all: number | undefined) => {
      if (!isSearching) {
        end();
        bar = terminal.startProgress(t`Checking the service`);
        isSearching = true;
      }
      bar?.update(searched, all);
    },
  };
}

/**
 * Makes the listeners that show the progress of a push: one bar at a time, and above it the results
 * of entries that were not simply accepted; under `--json` each event as a value. `end` removes the
 * bar, and must be called in any case, also after an error.
 */
export function makePushListeners(context: Context, outbox: Outbox) {
  const { terminal } = context;
  const printUncertain = makeUncertainPrinter(context, outbox);
  const bars = makeBars(context);
  return {
    end: bars.end,
    onRound: bars.startSending,
    onSearch: bars.showSearch,
    report: (event: PushEvent) => {
      terminal.printValue(event);
      if (event.type === 'settled' && event.state !== 'queued') bars.countSettled();
      printEvent(terminal, event, printUncertain);
    },
    onReconciled: (settled: readonly ReconciledEntry[]) => {
      bars.end();
      for (const each of settled) {
        if (each.verdict.kind === 'undecided')
          printUncertain(formatEntry(each.entry), each.entry.id);
        else terminal.note(formatReconciledEntry(each));
      }
    },
    onSearchFailed: ({ message }: PasError) => {
      bars.end();
      terminal.note(t`Uncertain entries could not be checked: ${message}`);
    },
  };
}

/**
 * Formats what a search found out about an uncertain entry; for one that stays uncertain with the
 * command by which a person decides.
 */
export function formatReconciledEntry({ entry, verdict }: ReconciledEntry): string {
  const what = formatEntry(entry);
  switch (verdict.kind) {
    case 'found':
      return t`${what}: accepted as ${verdict.identCely}; ${verdict.reason}.`;
    case 'absent':
      return t`${what}: queued again; ${verdict.reason}.`;
    case 'undecided': {
      const command = getSettlingCommand(entry);
      return t`${what}: still uncertain; ${verdict.reason}. Decide with: ${command}`;
    }
  }
}

function printEvent(
  terminal: Context['terminal'],
  event: PushEvent,
  printUncertain: (what: Message, entryId: number) => void,
): void {
  if (event.type === 'left_out') {
    terminal.warn(formatLeftOut(event));
    return;
  }
  const what = formatEntry(event);
  if (event.type === 'attempt') {
    const answer = event.status ?? t`no answer`;
    terminal.printDetail(
      t`${what}: ${answer} after ${event.ms} ms, waited ${event.paced_ms} ms for the rate limit`,
    );
    return;
  }
  const reason = event.reason ?? '';
  const state = STATE_WORDS[event.state];
  if (event.state === 'queued') terminal.printDetail(`${what}: ${reason}`);
  else if (event.state === 'uncertain') printUncertain(what, event.entry);
  else if (event.state !== 'accepted') terminal.note(t`${what} ${state}: ${reason}`);
}

function formatLeftOut({
  kind,
  project,
  status,
  reason,
  count,
  refused,
}: Extract<PushEvent, { type: 'left_out' }>): string {
  const word = KIND_WORDS[kind];
  const answer = status === null ? reason : t`${reason} (status ${status})`;
  const names = refused.map((find) => quoteShellWord(find)).join(' ');
  const refusal = t`The service refused ${refused.length} in a row: ${answer} Once that is settled, queue these again: ${cmd`pas resolve`} ${names} --resend`;
  return count === 0
    ? refusal
    : t`Not sent, still queued: ${word} of project ${project}, ${count} in total. ${refusal}`;
}

/**
 * Makes the listener that prints the waits of a watched push: to programs each of them, to people
 * only one for another reason than the last; the others are details.
 */
export function makeWaitListener({ terminal, clock }: Context): (event: WatchEvent) => void {
  let printed: WatchEvent['for'] | undefined;
  return (event) => {
    const { untilMs, ...what } = event;
    terminal.printValue({ ...what, until: formatIso(untilMs) });
    const text = formatWaiting(event, clock.now());
    if (event.for === printed) terminal.printDetail(text);
    else terminal.note(text);
    printed = event.for;
  };
}

function formatWaiting({ for: what, reason, untilMs }: WatchEvent, nowMs: number): string {
  const seconds = untilMs === null ? 0 : Math.max(1, Math.round((untilMs - nowMs) / 1000));
  const why = reason ?? '';
  switch (what) {
    case 'service':
      return t`Waiting for the service (${why}); next try in ${seconds} s.`;
    case 'time':
      return t`Waiting ${seconds} s; nothing can be sent sooner.`;
    case 'entries':
      return t`Nothing can be sent now; \`${cmd`pas status`}\` shows what is held. Waiting for new entries.`;
  }
}
