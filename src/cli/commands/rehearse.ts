import { rmSync } from 'node:fs';
import { AuthError, type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, setProfileFlagSource, t } from '../../base/message.ts';
import { findNamedFinds } from '../../outbox/changes/resolve-finds.ts';
import { ENTRY_KINDS } from '../../outbox/entry.ts';
import { findImportOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import {
  assertTrainingInstance,
  collectRehearsalResult,
  copyFindsForRehearsal,
  listFindsToRehearse,
  parseProjectCode,
  prepareRehearsalFolder,
  type RehearsalResult,
} from '../../outbox/rehearsal.ts';
import type { StoredFind } from '../../outbox/stored-finds.ts';
import { pushOutbox } from '../../push/push-all.ts';
import { appendValue, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openFindValidator } from '../context/find-input.ts';
import { openPush } from '../context/open-service.ts';
import { EXIT_REASON_OF_STOP, formatFindCount, formatStopCause } from '../result-texts.ts';
import { printIssues, requireConfirmation, withProgress } from '../terminal.ts';

type RehearseOptions = GlobalOptions & {
  readonly to?: string;
  readonly projectMap?: readonly string[];
};

/** Registers `pas rehearse`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'rehearse [find...]',
    t`Send copies of what is queued to a training instance, and report what it would refuse.`,
    [
      'pas rehearse',
      'pas rehearse K-017 --to training --project-map C-202400101=C-202300001 --yes',
    ],
  )
    .option('--to <profile>', t`profile of the training instance; not needed if there is only one`)
    .option(
      '--project-map <from=to>',
      t`training project to use in place of a production project; may be repeated`,
      appendValue,
    )
    .action(run(rehearse));
};

/**
 * Sends copies of finds to a training instance after a confirmation, and prints what it refused.
 * @returns `dataRefused` where it refused any; where nothing was sent, the reason of the stop
 * @throws UsageError without finds, a training profile or a confirmation
 */
async function rehearse(
  context: Context,
  names: readonly string[],
  options: RehearseOptions,
): Promise<ExitReason> {
  const name = chooseTrainingProfile(context, options.to);
  const projects = parseProjectMap(options.projectMap ?? []);
  const profiles = [...context.getConfig().profiles.values()];
  const production = profiles
    .filter(({ kind }) => kind !== 'training')
    .map(({ base_url: url }) => String(url));
  const folder = prepareRehearsalFolder(context.places.home, context.clock.now());
  const training = context.asProfile(name, folder);
  assertTrainingInstance(training.getProfile(), production);
  const outbox = await context.openOutbox();
  const finds = names.length === 0 ? listFindsToRehearse(outbox) : findNamedFinds(outbox, names);
  if (finds.length === 0) throw new UsageError(t`Nothing is queued that could be rehearsed.`);
  await confirm(context, finds.length, training.getProfile().baseUrl);
  const [result, ended] = await sendCopies(context, training, outbox, finds, projects).finally(() =>
    rmSync(folder, { recursive: true, force: true }),
  );
  print(context, result);
  context.terminal.printValue({
    sent: result.sent,
    accepted: result.accepted,
    refused: result.refused.map(({ localId, issues }) => ({ local_id: localId, issues })),
    not_tested: result.notTested.map(({ localId, reason }) => ({
      local_id: localId,
      reason: String(reason),
    })),
  });
  if (result.refused.length > 0) return 'dataRefused';
  return result.sent === 0 && result.accepted === 0 ? ended : 'done';
}

/**
 * Returns the named profile, which need not exist, else the only one of a training instance.
 * @throws UsageError where none is named, and there is none or several
 */
function chooseTrainingProfile(context: Context, named: string | undefined): string {
  if (named !== undefined) return named;
  const all = [...context.getConfig().profiles].flatMap(([name, { kind }]) =>
    kind === 'training' ? [name] : [],
  );
  const [only] = all;
  const profileNames = all.join(', ') || '–';
  if (only !== undefined && all.length === 1) return only;
  throw new UsageError(t`Name a training profile with --to. There are: ${profileNames}.`, {
    hint: t`Create one: ${cmd`pas init --kind training --name training`}`,
  });
}

async function confirm(context: Context, count: number, address: string): Promise<void> {
  const finds = formatFindCount(count);
  context.terminal.note(
    t`A rehearsal creates records of ${finds} in the training instance ${address}.`,
  );
  await requireConfirmation(context, t`Create them?`);
}

/** @throws UsageError for a text that is no pair of codes */
function parseProjectMap(texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const [from = '', to = ''] = text.split('=').map(parseProjectCode);
      if (from !== '' && to !== '') return [from, to];
      throw new UsageError(t`"${text}" is not a pair of projects.`, {
        hint: t`Write --project-map C-202400101=C-202300001.`,
      });
    }),
  );
}

/**
 * Sends the copies from an outbox and a ledger of their own, so that a rehearsal can be repeated;
 * both are closed afterwards, also after an error.
 * @returns the results, and the exit reason where nothing was sent
 */
async function sendCopies(
  context: Context,
  training: Context,
  from: Outbox,
  finds: readonly StoredFind[],
  projects: ReadonlyMap<string, string>,
): Promise<[RehearsalResult, ExitReason]> {
  // Also an error that ends the rehearsal names commands for the training profile.
  setProfileFlagSource(training.getProfileFlag);
  try {
    const to = await training.openOutbox('push');
    await copyFindsForRehearsal(from, to, finds, {
      validate: await openFindValidator(training),
      photosFolders: {
        from: context.getOutboxPlaces().photosFolder,
        to: training.getOutboxPlaces().photosFolder,
      },
      projects,
    });
    const ended = await push(training);
    const mapped = finds.filter(({ uuid }) => {
      const project = findImportOfFind(from, uuid)?.project ?? undefined;
      return project === undefined || projects.has(project);
    });
    const result = collectRehearsalResult(to, finds, new Set(mapped.map(({ localId }) => localId)));
    setProfileFlagSource(context.getProfileFlag);
    return [result, ended];
  } catch (thrown) {
    if (!(thrown instanceof AuthError)) throw thrown;
    // Credentials of the environment are those of the other profile.
    throw new AuthError(thrown.says, { cause: thrown, hint: t`Run \`${cmd`pas login`}\`.` });
  } finally {
    await training.close();
  }
}

/** Pushes the copies. @returns the exit reason where nothing was sent */
async function push(training: Context): Promise<ExitReason> {
  const opened = await openPush(training);
  let settled = 0;
  const { stopCause } = await withProgress(training.terminal, t`Sending`, (update) =>
    pushOutbox({
      ...opened,
      report: (event) => {
        if (event.type !== 'settled' || event.state === 'queued') return;
        settled += 1;
        update(settled, undefined);
      },
      kinds: ENTRY_KINDS,
      subjects: undefined,
      limit: undefined,
      // Records of an earlier rehearsal are equal to these.
      onQuestion: 'send',
    }),
  );
  if (stopCause === undefined) return 'dataRefused';
  const why = formatStopCause(stopCause);
  training.terminal.warn(t`Stopped: ${why}.`);
  return EXIT_REASON_OF_STOP[stopCause.kind];
}

function print(
  { terminal }: Context,
  { sent, accepted, refused, notTested }: RehearsalResult,
): void {
  const all = formatFindCount(sent);
  terminal.printLine(t`${all} sent to the training instance, ${accepted} accepted.`);
  for (const { localId, issues } of refused) {
    terminal.printLine(t`${localId} would be refused:`);
    printIssues(terminal, issues, (line) => terminal.printLine(`  ${line}`));
  }
  for (const { localId, reason } of notTested) {
    terminal.printLine(t`${localId} was not tested: ${reason}`);
  }
}
