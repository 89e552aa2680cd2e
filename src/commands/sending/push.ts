import { type Command, InvalidArgumentError } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { decimal, momentText, msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openSync } from '../../context/harvesting.ts';
import { watchInterrupts } from '../../context/interrupts.ts';
import { announceInstance, confirmProduction } from '../../context/open-service.ts';
import { openPace } from '../../context/pacing.ts';
import { openRecognition } from '../../context/recognition.ts';
import { KIND_WORDS } from '../../flows/finds/entry-words.ts';
import { type LeftOut, noWalls } from '../../flows/push/left-out.ts';
import { leftAfterPush, planPush, SENDABLE_KINDS } from '../../flows/push/plan-push.ts';
import type { PushResult } from '../../flows/push/push-due.ts';
import type { StopCause } from '../../flows/push/push-run.ts';
import { type PushToEnd, pushToEnd } from '../../flows/push/push-to-end.ts';
import type { EntryKind } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';
import { requestCount } from '../counted.ts';
import { wholeNumber } from '../finds/list.ts';
import { noteOtherAccounts } from '../next-command.ts';
import { showPush, showWaits } from './push-progress.ts';

type PushOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly only?: readonly EntryKind[];
  readonly limit?: number;
  readonly yes?: boolean;
  readonly takeOver?: boolean;
  readonly watch?: boolean;
  readonly copy?: boolean;
  readonly anyAccount?: boolean;
  readonly moved?: boolean;
  readonly copied?: boolean;
  readonly why?: boolean;
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
    .option('--copied', t`the outbox is a copy of one of another machine, from where finds may have been sent`)
    .option('--moved', t`the outbox was moved here from another machine, where nobody uses it any more`)
    .option('--take-over', t`take the outbox from a pas that you know is gone, where that cannot be seen from here`)
    .option('--why', t`with the evidence on what is uncertain`)
    .action((finds: string[], options: PushOptions) => run(options, (context) => pushCommand(context, finds, options)));
}

function kinds(text: string): EntryKind[] {
  return text.split(',').map((word) => {
    const kind = SENDABLE_KINDS.find((known) => known === word.trim());
    if (kind !== undefined) return kind;
    const known = SENDABLE_KINDS.join(', ');
    throw new InvalidArgumentError(t`There is no kind ${word}. Choose from ${known}.`);
  });
}

export async function pushCommand(context: Context, names: readonly string[], options: PushOptions): Promise<ExitReason> {
  const { places, terminal } = context;
  const outbox = await context.outbox();
  const profile = context.profile();
  if (options.watch === true && (options.dryRun === true || options.limit !== undefined))
    throw new UsageError(t`--watch goes on until it is stopped, so --limit and --dry-run do not go with it.`);
  const dryRun = options.dryRun === true;
  announceInstance(context);
  const kinds = options.only ?? SENDABLE_KINDS;
  const { recordKeys, anyAccount, elsewhere, queued } = planPush(outbox, names, options.anyAccount === true);
  if (elsewhere.length > 0) {
    const { copyFromOthers } = await import('../finds/copy-from-others.ts');
    await copyFromOthers(context, elsewhere, { alsoToProduction: names.length > 0 || options.copy === true, dryRun });
  }
  if (dryRun) return sayQueued(context, kinds, queued);
  await confirmProduction(context, options.yes === true);

  const { end, ...telling } = showPush(context, outbox, options.why === true);
  const { maxInFlight, answerTimeoutMs, settleMs } = profile;
  const given: PushToEnd = {
    ...watchInterrupts(context, t`Finishing what is under way. Press Ctrl-C again to give it up.`),
    ...(await openSync(context, options.takeOver === true)),
    ...{ kinds, recordKeys, anyAccount, maxInFlight, answerTimeoutMs, settleMs, ...telling },
    isUrgent: recordKeys !== undefined,
    limit: options.limit,
    pace: await openPace(context, profile),
    recognition: openRecognition(
      context,
      outbox,
      options.moved === true ? 'moved' : options.copied === true ? 'copied' : undefined,
    ),
    walls: noWalls(),
    photosFolder: places.photosFolder,
  };
  if (options.watch !== true) return summarise(context, outbox, await pushToEnd(given).finally(end));
  const { pushWatching } = await import('../../flows/push/push-watching.ts');
  terminal.note(t`Watching: what is queued is sent as soon as it can be. Press Ctrl-C to stop.`);
  return summarise(context, outbox, await pushWatching(given, showWaits(context)).finally(end));
}

function sayQueued({ terminal }: Context, kinds: readonly EntryKind[], queued: Readonly<Record<EntryKind, number>>): ExitReason {
  for (const kind of kinds) {
    const [word, count] = [KIND_WORDS[kind], queued[kind]];
    terminal.line(t`${word}: ${count} would be sent`);
  }
  terminal.value({ dry_run: true, queued: Object.fromEntries(kinds.map((kind) => [kind, queued[kind]])) });
  return 'done';
}

function stopText(cause: StopCause): string {
  switch (cause.kind) {
    case 'interrupted':
      return t`interrupted`;
    case 'waiting':
    case 'not-yet': {
      const [reason, until] = [printable(cause.reason), momentText(cause.untilMs)];
      return t`${reason} (until ${until})`;
    }
    default:
      return printable(cause.reason);
  }
}

function summarise(context: Context, outbox: ServiceOutbox, result: PushResult & { readonly atRest?: boolean }): ExitReason {
  const { terminal } = context;
  const { totals, otherAccounts, stillOdd } = leftAfterPush(outbox, result);
  const { uncertain, queued } = totals;
  const { accepted, refused, throttled, locked, stopCause } = result;
  const requests = requestCount(result.requests);
  const seconds = decimal(result.elapsedMs / 1000, 1);
  const outcome = t`${accepted} accepted, ${refused} refused, ${uncertain} uncertain, ${queued} still queued`;
  const effort = t`${requests} in ${seconds} s`;
  const held = throttled + locked > 0 ? `, ${t`${throttled} throttled, ${locked} locked`}` : '';
  terminal.line(`${outcome}; ${effort}${held}.`);
  if (stopCause !== undefined && result.atRest !== true) {
    const why = stopText(stopCause);
    terminal.warn(t`Stopped: ${why}. What was not sent stays queued.`);
  }
  noteOtherAccounts(context, otherAccounts);
  if (uncertain + totals.refused > 0) terminal.note(t`\`${cmd`pas status`}\` says what needs you.`);
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
  // What the profile's account has queued is not sent with the token of another one.
  const isAnothers = result.sentAs !== undefined && result.sentAs !== outbox.username && queued > 0;
  if (walls.includes('notAllowed') || (isAnothers && stopCause === undefined)) return 'notAllowed';
  switch (stopCause?.kind) {
    case 'not-allowed':
      return 'notAllowed';
    case 'interrupted':
      return result.atRest === true && queued === 0 ? (totals.refused > 0 ? 'dataRefused' : 'done') : 'interrupted';
    case 'closed':
    case 'unreachable':
    case 'waiting':
    case 'not-yet':
    case 'in-doubt':
      return 'unavailable';
    case undefined:
      if (walls.includes('unavailable')) return 'unavailable';
      if (totals.refused > 0 || walls.length > 0) return 'dataRefused';
      return warnOfOddAnswers(context, stillOdd) ? 'outsideContract' : 'done';
  }
}

/** One project left out is refused; everything is out of reach, unless the service itself says why it is refused. */
function exitOfWall({ project, status }: LeftOut): ExitReason {
  if (project !== null || status === 404 || status === 422) return 'dataRefused';
  return status === 403 ? 'notAllowed' : 'unavailable';
}

function warnOfOddAnswers({ terminal }: Context, count: number): boolean {
  if (count === 0) return false;
  terminal.warn(
    ngettext(
      msgid`${count} entry got an answer that the contract does not know and is still to be sent. Run ${cmd`pas push`} again; if it happens again, show the operator of the service what ${cmd`pas show`} says of it.`,
      `${count} entries got an answer that the contract does not know and are still to be sent. Run ${cmd`pas push`} again; if it happens again, show the operator of the service what ${cmd`pas show`} says of them.`,
      count,
    ),
  );
  return true;
}
