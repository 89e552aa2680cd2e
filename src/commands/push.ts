import { type Command, InvalidArgumentError } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import { decimal, msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openSync } from '../context/harvesting.ts';
import { watchInterrupts } from '../context/interrupts.ts';
import { openPace } from '../context/pacing.ts';
import { announceInstance, confirmProduction } from '../context/service.ts';
import { KIND_WORDS } from '../flows/entry-words.ts';
import { queuedByOthers } from '../flows/known-services.ts';
import { type LeftOut, noWalls } from '../flows/left-out.ts';
import { recordsNamed } from '../flows/named-finds.ts';
import type { PushResult } from '../flows/push.ts';
import type { StopCause } from '../flows/push-run.ts';
import { forgetWaits } from '../outbox/claims.ts';
import { countElsewhere, countEntries } from '../outbox/counts.ts';
import { entryById } from '../outbox/entries.ts';
import { ENTRY_KINDS, type EntryKind } from '../outbox/entry.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { countQueued } from '../outbox/overview.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { requestCount } from './counted.ts';
import { wholeNumber } from './list.ts';
import { noteOtherAccounts } from './next-command.ts';
import { type Pusher, pushOnce } from './push-once.ts';

type PushOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly only?: readonly EntryKind[];
  readonly limit?: number;
  readonly yes?: boolean;
  readonly takeOver?: boolean;
  readonly watch?: boolean;
  readonly copy?: boolean;
  readonly anyAccount?: boolean;
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
    .option('--watch', t`go on: wait for the network and for what is queued later, until you press Ctrl-C`)
    .option('--copy', t`also send finds that so far only other services have`)
    .option('--any-account', t`also send what other accounts of the service have queued here`)
    .option('--take-over', t`take the outbox from a pas that you know is gone, where that cannot be seen from here`)
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
  if (options.watch === true && (options.dryRun === true || options.limit !== undefined))
    throw new UsageError(t`--watch goes on until it is stopped, so --limit and --dry-run do not go with it.`);
  const dry = options.dryRun === true;
  announceInstance(context);
  // As a rule there is nothing to copy, and what that takes need not be loaded.
  if (names.length > 0 || countElsewhere(outbox) > 0) {
    const { copyFromOthers } = await import('./copy-from-others.ts');
    await copyFromOthers(context, outbox, { names, all: options.copy === true, dryRun: dry });
  }
  const recordKeys = names.length === 0 ? undefined : recordsNamed(outbox, names);
  const only = options.only ?? ENTRY_KINDS;
  // Who names a find wants it sent, whoever queued it.
  const anyAccount = recordKeys !== undefined || options.anyAccount === true;
  if (dry) return dryRun(context, outbox, only, { recordKeys, anyAccount });
  await confirmProduction(context, options.yes === true);

  const interrupts = watchInterrupts(() =>
    context.terminal.warn(`\n${t`Finishing what is under way. Press Ctrl-C again to give it up.`}`),
  );
  context.onClose(() => interrupts.close());
  const pusher: Pusher = {
    ...(await openSync(context, options.takeOver === true)),
    context,
    kinds: only,
    recordKeys,
    anyAccount,
    limit: options.limit,
    pace: await openPace(context, profile),
    interrupts,
    walls: noWalls(),
  };
  if (recordKeys !== undefined) forgetWaits(outbox, recordKeys);
  if (options.watch !== true) return summarise(context, outbox, await pushOnce(pusher));
  const { pushWatching } = await import('./push-watching.ts');
  return summarise(context, outbox, await pushWatching(pusher));
}

function dryRun(
  { terminal }: Context,
  outbox: ServiceOutbox,
  only: readonly EntryKind[],
  which: Parameters<typeof countQueued>[1],
): ExitReason {
  const counts = countQueued(outbox, which);
  for (const kind of only) {
    const [word, count] = [KIND_WORDS[kind], counts[kind]];
    terminal.line(t`${word}: ${count} would be sent`);
  }
  terminal.value({ dry_run: true, queued: Object.fromEntries(only.map((kind) => [kind, counts[kind]])) });
  return 'done';
}

function stopText(cause: StopCause): string {
  switch (cause.kind) {
    case 'interrupted':
      return t`interrupted`;
    case 'waiting':
    case 'not-yet': {
      const [reason, until] = [printable(cause.reason), new Date(cause.untilMs).toISOString()];
      return t`${reason} (until ${until})`;
    }
    default:
      return printable(cause.reason);
  }
}

function summarise(context: Context, outbox: ServiceOutbox, result: PushResult & { readonly atRest?: boolean }): ExitReason {
  const { terminal } = context;
  const counts = countEntries(outbox);
  const left = (state: 'queued' | 'uncertain' | 'refused'): number =>
    ENTRY_KINDS.reduce((sum, kind) => sum + counts[kind][state], 0);
  const { accepted, refused, throttled, locked, stopCause } = result;
  const [uncertain, queued, requests] = [left('uncertain'), left('queued'), requestCount(result.requests)];
  const seconds = decimal(result.elapsedMs / 1000, 1);
  const outcome = t`${accepted} accepted, ${refused} refused, ${uncertain} uncertain, ${queued} still queued`;
  const effort = t`${requests} in ${seconds} s`;
  const held = throttled + locked > 0 ? `, ${t`${throttled} throttled, ${locked} locked`}` : '';
  terminal.line(`${outcome}; ${effort}${held}.`);
  if (stopCause !== undefined && result.atRest !== true) {
    const why = stopText(stopCause);
    terminal.warn(t`Stopped: ${why}. What was not sent stays queued.`);
  }
  noteOtherAccounts(context, queuedByOthers(outbox));
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
    left_out: result.leftOut.map(({ kind, project, status, reason }) => ({ kind, project, status, reason })),
    elapsed_ms: Math.round(result.elapsedMs),
  });
  if (uncertain > 0) return 'uncertain';
  const walls = result.leftOut.map(exitOfWall);
  if (walls.includes('notAllowed')) return 'notAllowed';
  switch (stopCause?.kind) {
    case 'not-allowed':
      return 'notAllowed';
    case 'interrupted':
      return result.atRest === true && queued === 0 ? (left('refused') > 0 ? 'dataRefused' : 'done') : 'interrupted';
    case 'closed':
    case 'unreachable':
    case 'waiting':
    case 'not-yet':
    case 'in-doubt':
      return 'unavailable';
    case undefined:
      if (walls.includes('unavailable')) return 'unavailable';
      if (left('refused') > 0 || walls.length > 0) return 'dataRefused';
      return warnOfOddAnswers(context, outbox, result) ? 'outsideContract' : 'done';
  }
}

/** One project left out is refused; everything is out of reach, unless the service itself says why it is refused. */
function exitOfWall({ project, status }: LeftOut): ExitReason {
  if (project !== null || status === 404 || status === 422) return 'dataRefused';
  return status === 403 ? 'notAllowed' : 'unavailable';
}

/** Of those that were looked up since and are not at the service: they are to be sent again, to one that answers oddly. */
function warnOfOddAnswers({ terminal }: Context, outbox: ServiceOutbox, { oddlyAnswered }: PushResult): boolean {
  const count = oddlyAnswered.filter((id) => entryById(outbox, id)?.state === 'queued').length;
  if (count === 0) return false;
  terminal.warn(
    ngettext(
      msgid`${count} entry got an answer that the contract does not know and is still to be sent. Run pas push again; if it happens again, show the operator of the service what pas show says of it.`,
      `${count} entries got an answer that the contract does not know and are still to be sent. Run pas push again; if it happens again, show the operator of the service what pas show says of them.`,
      count,
    ),
  );
  return true;
}
