import { InvalidArgumentError, Option } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, formatDecimal, type Message, msg, msgid, ngettext, t } from '../../base/message.ts';
import { ENTRY_KINDS, type EntryKind } from '../../outbox/entry.ts';
import { clearBackoff } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { KIND_WORDS } from '../../outbox/views/entry-words.ts';
import type { NewPerson } from '../../outbox/views/outbox-status.ts';
import { pushOutbox } from '../../push/push-all.ts';
import type { NoSearchReason, PushContext } from '../../push/push-context.ts';
import {
  countEntriesToSend,
  countRemainingAfterPush,
  type PushResult,
  planPush,
} from '../../push/push-session.ts';
import { defineCommand, parseWholeNumber, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import {
  announceService,
  openPush,
  requireProductionConfirmation,
} from '../context/open-service.ts';
import {
  openUnitedOutbox,
  renewProfileDocuments,
  uniteOutboxesOfAccount,
} from '../context/profile-outbox.ts';
import {
  admitNewPeople,
  listNewPeopleOfProfile,
  printNewPeople,
  toNewPeopleJson,
} from '../new-people.ts';
import { EXIT_REASON_OF_STOP, formatStopCause, LOST_LEDGER_NOTE } from '../result-texts.ts';
import { printIssues } from '../terminal.ts';
import { makePushListeners, makeWaitListener } from './push-progress.ts';

type PushOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly only?: readonly EntryKind[];
  readonly limit?: number;
  readonly watch?: boolean;
  readonly onQuestion?: 'hold' | 'send';
  readonly takeOver?: boolean;
  readonly acceptNewPeople?: boolean;
};

/** Registers `pas push`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'push [find...]',
    t`Send the queued entries, each once, within the rate limit of the service.`,
    ['pas push', 'pas push K-017 K-018 --only import,photo --dry-run'],
  )
    .option('--dry-run', t`show what would happen and change nothing`)
    .option('--only <kinds>', t`only these kinds: import, number, photo`, parseKinds)
    .option('--limit <n>', t`send at most this many requests`, parseWholeNumber)
    .option(
      '--watch',
      t`keep running and send new entries as they are queued, until you press Ctrl-C`,
    )
    .addOption(
      new Option(
        '--on-question <answer>',
        t`what to do with finds that may already be in the service: hold or send`,
      )
        .choices(['hold', 'send'])
        .default('hold'),
    )
    .option('--accept-new-people', t`let the service create a person for each unknown finder`)
    .option('--take-over', t`push an outbox from here that was pushed from another place`)
    .action(run(pushCommand));
};

function parseKinds(text: string): EntryKind[] {
  return text.split(',').map((word) => {
    const kind = ENTRY_KINDS.find((kind) => kind === word.trim());
    if (kind !== undefined) return kind;
    const kindNames = ENTRY_KINDS.join(', ');
    throw new InvalidArgumentError(t`There is no kind ${word}. Choose from ${kindNames}.`);
  });
}

/**
 * Sends the queue after a confirmation for production, and prints the results; with `--dry-run`
 * prints what would be sent, without a request and without renewing documents.
 * @param names finds whose entries are sent, also those that wait for a retry; empty for all
 * @throws UsageError for `--watch` with `--limit` or `--dry-run`, or where production is not
 * confirmed
 */
async function pushCommand(
  context: Context,
  names: readonly string[],
  options: PushOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const isDryRun = options.dryRun === true;
  const outbox = await context.openOutbox(isDryRun ? undefined : 'push');
  outbox.command.words = 'push';
  if (options.watch === true && (isDryRun || options.limit !== undefined))
    throw new UsageError(
      t`--watch runs until you stop it, so it cannot be combined with --limit or --dry-run.`,
    );
  announceService(context);
  if (!isDryRun) {
    await openUnitedOutbox(context);
    await renewProfileDocuments(context);
  }
  const kinds = options.only ?? ENTRY_KINDS;
  const plan = planPush(outbox, names);
  printDrafts(context, plan.drafts);
  if (isDryRun) {
    printIssues(terminal, plan.usedNumbers);
    const people = kinds.includes('import')
      ? await listNewPeopleOfProfile(context, outbox, plan.subjects)
      : [];
    return printQueued(context, kinds, plan.queued, people);
  }
  await requireProductionConfirmation(context);
  if (plan.subjects !== undefined) clearBackoff(outbox, plan.subjects);
  const { end, ...telling } = makePushListeners(context, outbox);
  const pushOptions = {
    ...(await openPushContext(context, outbox, options, kinds, plan.subjects)),
    ...telling,
  };
  const expected = {
    drafts: plan.drafts,
    left: () => (options.limit === undefined ? countEntriesToSend(pushOptions) : 0),
  };
  const result = await sendOrWatch(context, options, pushOptions).finally(end);
  return summarise(context, outbox, expected, result);
}

/** Sends what is due once, or with `--watch` until a person stops it. */
async function sendOrWatch(
  context: Context,
  { watch }: PushOptions,
  push: PushContext,
): Promise<EndedPush> {
  if (watch !== true) return pushOutbox(push);
  const { watchOutbox } = await import('../../push/watch.ts');
  context.terminal.note(
    t`Watching: new entries are sent as soon as they can be. Press Ctrl-C to stop.`,
  );
  return watchOutbox(push, makeWaitListener(context));
}

function mayAsk({ terminal }: Context, { watch }: PushOptions): boolean {
  return terminal.interactive && watch !== true;
}

/**
 * Opens what the push needs, with the answers of the flags. A person is asked the questions that
 * they leave open only on a terminal without `--watch`.
 */
async function openPushContext(
  context: Context,
  outbox: Outbox,
  options: PushOptions,
  kinds: readonly EntryKind[],
  subjects: PushContext['subjects'],
) {
  const { terminal } = context;
  const isAllAccepted = options.acceptNewPeople === true;
  const admission = (mayAskNow: boolean) => ({
    outbox,
    subjects,
    isAllAccepted,
    mayAsk: mayAskNow && mayAsk(context, options),
  });
  return {
    ...(await openPush(context)),
    kinds,
    subjects,
    limit: options.limit,
    onQuestion: options.onQuestion ?? 'hold',
    onNotChecked: (why: NoSearchReason) => terminal.note(String(NOT_CHECKED[why])),
    admitNewPeople: kinds.includes('import')
      ? (mayAskNow: boolean) => admitNewPeople(context, admission(mayAskNow))
      : undefined,
    onLostLedger: () => terminal.warn(String(LOST_LEDGER_NOTE)),
    confirmTakeOver: () => confirmTakeOver(context, options),
    confirmSameService: mayAsk(context, options)
      ? (addresses: readonly string[], account: string) =>
          confirmSameService(context, addresses, account)
      : undefined,
  };
}

const NOT_CHECKED: Readonly<Record<NoSearchReason, Message>> = {
  'no-harvesting': msg`Not checked: this service has no harvesting, so pas cannot see if another computer has sent the same finds.`,
  anonymous: msg`Not checked: the harvest is not signed in as the account that sends, so pas cannot see if another computer has sent the same finds. If the service takes the account there: ${cmd`pas profile set oai_auth=basic`}`,
  refused: msg`Not checked: the service does not let this account harvest, so pas cannot see if another computer has sent the same finds.`,
};

/** Asks if the account's other addresses are of this service; if so, its outboxes are united. */
async function confirmSameService(
  context: Context,
  addresses: readonly string[],
  account: string,
): Promise<boolean> {
  const { baseUrl } = context.getProfile();
  const names = addresses.join(', ');
  const isSame = await (await context.prompt()).confirm(
    t`This account has sent from this machine to ${names}. Is ${baseUrl} the same service, at a new address?`,
  );
  if (isSame) await uniteOutboxesOfAccount(context, account, addresses);
  return isSame;
}

async function confirmTakeOver(context: Context, options: PushOptions): Promise<boolean> {
  const { terminal, prompt } = context;
  if (options.takeOver === true) return true;
  if (!mayAsk(context, options)) return false;
  terminal.note(t`This outbox was pushed from another place.`);
  return (await prompt()).confirm(
    t`Push it from here from now on? You must then stop pushing it from the other place.`,
  );
}

function printDrafts({ terminal }: Context, drafts: readonly string[]): void {
  if (drafts.length === 0) return;
  const [first = ''] = drafts;
  const names = drafts.slice(0, MAX_NAMED).join(', ');
  terminal.warn(
    t`Not complete, so not sent: ${names}. \`${cmd`pas validate ${first}`}\` says what is missing.`,
  );
}

const MAX_NAMED = 10;

function printQueued(
  context: Context,
  kinds: readonly EntryKind[],
  queued: Readonly<Record<EntryKind, number>>,
  people: readonly NewPerson[],
): ExitReason {
  const { terminal } = context;
  for (const kind of kinds) {
    const word = KIND_WORDS[kind];
    const count = queued[kind];
    terminal.printLine(t`${word}: ${count} would be sent`);
  }
  printNewPeople(context, people);
  terminal.printValue({
    dry_run: true,
    queued: Object.fromEntries(kinds.map((kind) => [kind, queued[kind]])),
    new_people: toNewPeopleJson(people),
  });
  return 'done';
}

/** Rest of what a push was to send: incomplete finds, and the number of other entries. */
type Expected = { readonly drafts: readonly string[]; readonly left: () => number };

type Remaining = ReturnType<typeof countRemainingAfterPush>;

/** Warns of numbers and photographs whose finds were dropped, else of those whose finds wait. */
function warnOfWaiting({ terminal }: Context, remaining: Remaining): void {
  const { forImport, forDropped } = remaining.waiting;
  if (forDropped > 0) {
    const finds = remaining.droppedWithDependents.join(', ');
    terminal.warn(
      t`Numbers or photographs wait for finds that were dropped (${finds}): queue these again with \`${cmd`pas resolve`} FIND --resend\`, or remove them.`,
    );
  } else if (forImport > 0)
    terminal.warn(t`Numbers or photographs wait for their finds, which were not sent.`);
}

/** `atRest`: a watched outbox that has nothing to send now. */
type EndedPush = PushResult & { readonly atRest?: boolean };

/** Prints the results of a push, and returns its exit reason. */
function summarise(
  context: Context,
  outbox: Outbox,
  expected: Expected,
  result: EndedPush,
): ExitReason {
  const { terminal } = context;
  const remaining = countRemainingAfterPush(outbox, result);
  const { totals, held, asked } = remaining;
  const { uncertain, queued } = totals;
  const { accepted, refused, throttled, locked, stopCause } = result;
  const count = result.requests;
  const requests = ngettext(msgid`${count} request`, `${count} requests`, count);
  const seconds = formatDecimal(result.elapsedMs / 1000, 1);
  const outcome = t`${accepted} accepted, ${refused} refused, ${uncertain} uncertain, ${queued} still queued`;
  const effort = t`${requests} in ${seconds} s`;
  const delayed = throttled + locked > 0 ? `, ${t`${throttled} throttled, ${locked} locked`}` : '';
  const isIdle = accepted + refused + uncertain + queued + asked + result.requests === 0;
  terminal.printLine(
    isIdle ? t`The queue is empty; nothing was sent.` : `${outcome}; ${effort}${delayed}.`,
  );
  if (stopCause !== undefined && result.atRest !== true) {
    const why = formatStopCause(stopCause);
    terminal.warn(t`Stopped: ${why}. Entries that were not sent stay queued.`);
  }
  if (asked > 0)
    terminal.warn(
      t`Entries with an open question: ${asked}. What it is about is not sent before you answer it.`,
    );
  if (uncertain + totals.refused + totals.draft + asked > 0)
    terminal.note(t`\`${cmd`pas status`}\` shows what needs your attention.`);
  terminal.printValue({
    type: 'summary',
    accepted,
    refused,
    queued,
    uncertain,
    held,
    requests: result.requests,
    throttled,
    locked,
    left_out: result.leftOut.map(({ kind, project, status, reason }) => ({
      kind,
      project,
      status,
      reason,
    })),
    elapsed_ms: Math.round(result.elapsedMs),
  });
  return chooseExitReason(context, result, remaining, expected);
}

/**
 * Returns the exit reason of a push: of several the gravest, which is the first here. Warns of
 * entries that wait, or got an answer outside the contract, where that is the reason.
 */
function chooseExitReason(
  context: Context,
  { stopCause, atRest, leftOut }: EndedPush,
  remaining: Remaining,
  { drafts, left }: Expected,
): ExitReason {
  const { uncertain, refused, queued } = remaining.totals;
  if (uncertain + remaining.asked > 0) return 'uncertain';
  const hasSentAll = atRest === true && queued === 0;
  if (hasSentAll && stopCause?.kind === 'interrupted') return refused > 0 ? 'dataRefused' : 'done';
  if (stopCause !== undefined) return EXIT_REASON_OF_STOP[stopCause.kind];
  if (refused > 0 || leftOut.length > 0 || drafts.length > 0) return 'dataRefused';
  if (left() > 0) {
    warnOfWaiting(context, remaining);
    return 'dataRefused';
  }
  const { stillNonConforming } = remaining;
  if (stillNonConforming === 0) return 'done';
  context.terminal.warn(
    t`Entries that got an answer that the contract does not allow, and are still queued: ${stillNonConforming}. Run ${cmd`pas push`} again; if it happens again, send the output of ${cmd`pas show`} to the operator of the service.`,
  );
  return 'outsideContract';
}
