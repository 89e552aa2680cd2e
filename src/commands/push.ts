import { type Command, InvalidArgumentError } from 'commander';
import { type ExitReason, PasError } from '../base/errors.ts';
import { decimal, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { openKeptPhotograph } from '../flows/kept-photographs.ts';
import { type PushResult, push } from '../flows/push.ts';
import type { PushEvent, StopCause } from '../flows/push-run.ts';
import { readRecordIdent } from '../flows/read-record-ident.ts';
import { entriesInState, entryById } from '../outbox/entries.ts';
import { ENTRY_KINDS, type EntryKind } from '../outbox/entry.ts';
import { KIND_WORDS, STATE_WORDS } from '../outbox/entry-words.ts';
import { takeLease } from '../outbox/lease.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { countEntries, countQueued } from '../outbox/overview.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { requestCount } from './counted.ts';
import { entryText, VERDICT_WORDS } from './entry-words.ts';
import { recordsNamed } from './finds.ts';
import { watchInterrupts } from './interrupts.ts';
import { wholeNumber } from './list.ts';
import { openPace } from './pacing.ts';
import { reconcileEntries } from './reconcile.ts';
import { confirmProduction, openAccountSession } from './service.ts';

export type PushOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly only?: readonly EntryKind[];
  readonly limit?: number;
  readonly yes?: boolean;
  readonly takeOver?: boolean;
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'push [find...]',
    summary: t`Send what is queued, each entry once, at the pace that the service permits.`,
    examples: ['pas push', 'pas push K-017 K-018 --only import,photo --dry-run'],
  })
    .option('--dry-run', t`say what would be sent and send nothing`)
    .option('--only <kinds>', t`only these kinds: import, number, photo`, kinds)
    .option('--limit <n>', t`send at most this many requests`, wholeNumber)
    .option('--yes', t`write to production without asking`)
    .option('--take-over', t`the pas that holds the outbox on another machine is gone`)
    .action((finds: string[], options: PushOptions) => run(options, (context) => pushCommand(context, finds, options)));
}

function kinds(text: string): EntryKind[] {
  return text.split(',').map((word) => {
    const kind = ENTRY_KINDS.find((known) => known === word.trim());
    if (kind !== undefined) return kind;
    const known = ENTRY_KINDS.join(', ');
    throw new InvalidArgumentError(t`There is no kind ${word}. Choose from ${known}.`);
  });
}

export async function pushCommand(context: Context, names: readonly string[], options: PushOptions): Promise<ExitReason> {
  const outbox = await context.outbox();
  const profile = context.profile();
  const recordKeys = names.length === 0 ? undefined : recordsNamed(outbox, profile.name, names);
  const only = options.only ?? ENTRY_KINDS;
  if (options.dryRun === true) return dryRun(context, outbox, only, recordKeys);
  await confirmProduction(context, options.yes === true);

  const lease = takeLease(outbox, { takeOver: options.takeOver === true });
  const interrupts = watchInterrupts(() =>
    context.terminal.warn(`\n${t`Finishing what is under way. Press Ctrl-C again to give it up.`}`),
  );
  context.onClose(() => interrupts.close());
  try {
    const { send } = await context.connections();
    const counts = countQueued(outbox, profile.name, recordKeys);
    const total = only.reduce((sum, kind) => sum + counts[kind], 0);
    const progress = context.terminal.progress(t`Sending`);
    const result = await push({
      outbox,
      profile: profile.name,
      baseUrl: profile.baseUrl,
      kinds: only,
      recordKeys,
      limit: options.limit,
      maxInFlight: profile.maxInFlight,
      answerTimeoutMs: profile.answerTimeoutMs,
      pace: await openPace(context, profile),
      session: await openAccountSession(context),
      send,
      openPhotograph: (photograph) => openKeptPhotograph(context.places.photosFolder, photograph),
      readIdentCely: readRecordIdent,
      clock: context.clock,
      report: reporter(context, (done) => progress.update(done, total)),
      stop: interrupts.stop,
      abort: interrupts.abort,
    });
    progress.end();
    await settleDoubts(context, outbox, result, recordKeys);
    return summarise(context, outbox, result);
  } finally {
    lease.release();
  }
}

/** A push ends by settling what it can. What it cannot stays as it is, and is never the reason for a push to fail. */
async function settleDoubts(
  context: Context,
  outbox: Outbox,
  result: PushResult,
  recordKeys: readonly string[] | undefined,
): Promise<void> {
  const profile = context.profile();
  const uncertain = entriesInState(outbox, profile.name, 'uncertain').length;
  const online = result.stopCause === undefined || result.stopCause.kind === 'in-doubt';
  if (uncertain === 0 || !online || profile.oaiBase === undefined) return;
  try {
    for (const { entry, verdict } of await reconcileEntries(context, outbox, recordKeys)) {
      const what = entryText(entry.kind, entry.localId ?? entry.identCely);
      context.terminal.note(`${what}: ${VERDICT_WORDS[verdict.kind]}; ${printable(verdict.reason)}`);
    }
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    const why = printable(thrown.message);
    context.terminal.note(t`What is uncertain could not be looked up: ${why}`);
  }
}

function dryRun(
  { terminal, profile }: Context,
  outbox: Outbox,
  only: readonly EntryKind[],
  recordKeys: readonly string[] | undefined,
): ExitReason {
  const counts = countQueued(outbox, profile().name, recordKeys);
  for (const kind of only) {
    const [word, count] = [KIND_WORDS[kind], counts[kind]];
    terminal.line(t`${word}: ${count} would be sent`);
  }
  terminal.value({ dry_run: true, queued: Object.fromEntries(only.map((kind) => [kind, counts[kind]])) });
  return 'done';
}

function reporter({ terminal }: Context, onSettled: (done: number) => void): (event: PushEvent) => void {
  let done = 0;
  return (event) => {
    terminal.value(event);
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

function stopText(cause: StopCause): string {
  switch (cause.kind) {
    case 'interrupted':
      return t`interrupted`;
    case 'waiting': {
      const [reason, until] = [printable(cause.reason), new Date(cause.untilMs).toISOString()];
      return t`${reason} (until ${until})`;
    }
    default:
      return printable(cause.reason);
  }
}

function summarise(context: Context, outbox: Outbox, result: PushResult): ExitReason {
  const { terminal } = context;
  const counts = countEntries(outbox, context.profile().name);
  const left = (state: 'queued' | 'uncertain' | 'refused'): number =>
    ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind][state], 0);
  const { accepted, refused, throttled, locked, stopCause } = result;
  const [uncertain, queued, requests] = [left('uncertain'), left('queued'), requestCount(result.requests)];
  const seconds = decimal(result.elapsedMs / 1000, 1);
  const outcome = t`${accepted} accepted, ${refused} refused, ${uncertain} uncertain, ${queued} still queued`;
  const effort = t`${requests} in ${seconds} s`;
  const held = throttled + locked > 0 ? `, ${t`${throttled} throttled, ${locked} locked`}` : '';
  terminal.line(`${outcome}; ${effort}${held}.`);
  if (stopCause !== undefined) {
    const why = stopText(stopCause);
    terminal.warn(t`Stopped: ${why}. What was not sent stays queued.`);
  }
  if (uncertain + left('refused') > 0) terminal.note(t`\`pas status\` says what needs you.`);
  terminal.value({
    type: 'summary',
    accepted,
    refused,
    queued,
    uncertain,
    requests: result.requests,
    throttled,
    locked,
    elapsed_ms: Math.round(result.elapsedMs),
  });
  if (uncertain > 0) return 'uncertain';
  switch (stopCause?.kind) {
    case 'not-allowed':
      return 'notAllowed';
    case 'interrupted':
      return 'interrupted';
    case 'closed':
    case 'unreachable':
    case 'waiting':
    case 'in-doubt':
      return 'unavailable';
    case undefined:
      if (left('refused') > 0) return 'dataRefused';
      // Looked up since, and not at the service: they are to be sent again, to a service that answers oddly.
      return result.oddlyAnswered.some((id) => entryById(outbox, id)?.state === 'queued') ? 'outsideContract' : 'done';
  }
}
