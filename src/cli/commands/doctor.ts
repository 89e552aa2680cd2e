import { existsSync } from 'node:fs';
import { padEndText } from '../../base/characters.ts';
import { type ExitReason, UnavailableError } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { describeOutbox, repairOutbox } from '../../outbox/repair-outbox.ts';
import type { Exchange } from '../../service/http/exchange.ts';
import { defineCommand, type Registration } from '../command.ts';
import { isProtectedAddress, type Profile } from '../context/config.ts';
import {
  type Context,
  type GlobalOptions,
  getSourceOfSecrets,
  makeTimeoutSignal,
  SECRET_PLACE_TEXTS,
} from '../context/context.ts';
import {
  findProfileVocabulary,
  openHarvestClient,
  openPace,
  openService,
} from '../context/open-service.ts';
import { openStoredOutbox, toBinding } from '../context/profile-outbox.ts';
import {
  type Check,
  checkDatabase,
  checkHome,
  checkLedger,
  checkLocks,
  checkMachineOfOutbox,
  checkOutbox,
  checkPaceStore,
  checkPhotographs,
  checkService,
  checkSpace,
  checkVocabulary,
  type Finding,
  makePass,
  makeWarning,
  toProblem,
} from '../doctor-checks.ts';
import { INSTANCE_WORDS } from '../result-texts.ts';
import { withProgress } from '../terminal.ts';

type DoctorOptions = GlobalOptions & { readonly offline?: boolean; readonly repair?: boolean };

/** Registers `pas doctor`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'doctor',
    t`Check everything that a push needs and show how to fix each problem.`,
    ['pas doctor', 'pas doctor --offline --json'],
  )
    .option('--offline', t`check only what needs no network`)
    .option('--repair', t`remove what is damaged in the outbox, and add what the ledger has`)
    .action(run(runDoctor));
};

/**
 * Runs the checks one after another, and prints each result at once; `--repair` repairs before.
 * @returns the exit reason of the first problem; `done` without one, also with warnings
 */
async function runDoctor(context: Context, options: DoctorOptions): Promise<ExitReason> {
  if (options.repair === true) await repair(context);
  const checks: Check[] = [];
  /** An error of pas is a problem, and the other checks continue. */
  const run: RunCheck = async (name, check) => {
    const finding = await Promise.resolve().then(check).catch(toProblem);
    for (const each of [finding].flat()) {
      const named = { name, ...each };
      printCheck(context, named);
      checks.push(named);
    }
  };
  await checkMachine(context, run);
  let profile: Profile | undefined;
  await run('profile', () => {
    profile = context.getProfile();
    return checkProfile(profile);
  });
  if (profile !== undefined) await checkWithProfile(context, profile, options, run);
  return conclude(context, checks);
}

/** Runs a check under a name, and prints and keeps what it found; nothing where that is empty. */
type RunCheck = (
  name: string,
  check: () => Finding | readonly Check[] | Promise<Finding | readonly Check[]>,
) => Promise<void>;

async function checkWithProfile(
  context: Context,
  profile: Profile,
  { offline }: DoctorOptions,
  run: RunCheck,
): Promise<void> {
  await run('secrets', () => checkSecrets(context));
  const outbox = await checkData(context, run);
  if (offline !== true || profile.pacing === 'local')
    await run('pacing', () => checkPaceStore(context, profile));
  if (offline !== true) await checkOnline(context, profile, outbox, run);
}

/**
 * Repairs the ledger and the outbox of the profile, and prints what was moved aside or removed;
 * nothing where it has no outbox.
 * @throws OutboxLeasedError during a push; ConfigError where no profile is chosen; DatabaseError
 */
async function repair(context: Context): Promise<void> {
  const { terminal, clock } = context;
  const profile = context.getProfile();
  const places = context.getOutboxPlaces();
  if (!existsSync(places.outboxFile)) return;
  const { ledgerAside, outboxAside, damaged } = await repairOutbox({
    ...places,
    clock,
    open: () => openStoredOutbox(context, profile.outbox, { binding: toBinding(profile) }),
  });
  if (ledgerAside !== undefined)
    terminal.warn(t`The damaged ledger is now ${ledgerAside}. It is made again from the outbox.`);
  if (outboxAside !== undefined)
    terminal.warn(
      t`The damaged outbox is now ${outboxAside}. What can be read of it is in a new one.`,
    );
  const names = damaged.slice(0, MAX_NAMED).join(', ');
  if (names !== '')
    terminal.warn(
      t`What was damaged is removed, and the ledger added what it has. Check these finds, and import or edit again what they lack: ${names}`,
    );
}

const MAX_NAMED = 20;

async function conclude(context: Context, checks: readonly Check[]): Promise<ExitReason> {
  const { terminal } = context;
  const reasons = checks.flatMap(({ level, reason }) => (level === 'problem' ? [reason] : []));
  const good = reasons.length === 0;
  terminal.printLine();
  terminal.printLine(good ? t`Ready to push.` : t`Not ready: see the lines marked ✗.`);
  terminal.printValue({
    ok: good,
    checks: checks.map(({ name, level, message, todo }) => ({
      name,
      level,
      message,
      todo: todo ?? null,
    })),
    outbox: terminal.json ? await toOutboxJson(context, checks) : null,
  });
  return good ? 'done' : (reasons[0] ?? 'dataRefused');
}

/** Converts the outbox to JSON; null where there is none, or its check did not pass. */
async function toOutboxJson(
  context: Context,
  checks: readonly Check[],
): Promise<Record<string, unknown> | null> {
  if (!checks.some(({ name, level }) => name === 'rows' && level === 'ok')) return null;
  const outbox = await context.openOutbox();
  const { header, user, place, ...counts } = describeOutbox(outbox, context.getMachineId());
  return {
    id: header.outbox,
    file: outbox.path,
    service: header.address,
    kind: header.kind,
    account: header.account,
    user: user ?? null,
    ledger: context.getOutboxPlaces().ledgerFile,
    place: place ?? null,
    ...counts,
  };
}

async function checkMachine({ places }: Context, run: RunCheck): Promise<void> {
  await run('home', () => checkHome(places.home));
  await run('disk', () => checkSpace(places.home));
  await run('vocabulary-file', () =>
    checkDatabase(
      places.vocabularyFile,
      t`It is only a cache: delete it and run \`${cmd`pas harvest-vocab`}\`.`,
    ),
  );
}

function checkProfile({ name, kind, baseUrl, username }: Profile): Finding {
  const parts = [INSTANCE_WORDS[kind], baseUrl, username ?? t`no user name`].join(', ');
  const named = `${name}: ${parts}`;
  if (isProtectedAddress(baseUrl)) return makePass(named);
  return makeWarning(
    t`${named}; the password is sent unencrypted.`,
    t`Use an https:// address if there is one.`,
  );
}

function checkSecrets(context: Context): Finding {
  const place = getSourceOfSecrets(context);
  const message = SECRET_PLACE_TEXTS[place](context.places.secretsFile);
  if (place !== 'nowhere') return makePass(message);
  return makeWarning(message, t`Run \`${cmd`pas login`}\`.`);
}

/**
 * Checks outbox, ledger, photographs and vocabulary of a profile; of a damaged outbox only that it
 * is. A missing outbox or vocabulary is not created.
 * @returns the outbox; undefined where it is missing or damaged
 */
async function checkData(context: Context, run: RunCheck): Promise<Outbox | undefined> {
  const { outboxFile, photosFolder, ledgerFile, locksFolder } = context.getOutboxPlaces();
  let isSound = false;
  await run('outbox', () => {
    const found = checkDatabase(outboxFile);
    isSound = found.level === 'ok';
    return found;
  });
  let outbox: Outbox | undefined;
  if (isSound && existsSync(outboxFile)) {
    const machine = context.getMachineId();
    await run('rows', async () => {
      const opened = await context.openOutbox();
      const found = checkOutbox(opened, machine);
      outbox = opened;
      return found;
    });
    await run('ledger', () => checkLedger(ledgerFile));
    await run('locks', () => checkLocks(locksFolder));
    await run('belongs-to', async () => checkMachineOfOutbox(await context.openOutbox(), machine));
  }
  if (isSound)
    await run('photographs', () =>
      withProgress(context.terminal, t`Reading the photographs`, (onProgress) =>
        checkPhotographs(outbox, photosFolder, onProgress),
      ),
    );
  await run('vocabulary-age', async () =>
    checkVocabulary(await findProfileVocabulary(context), context.clock.now()),
  );
  return outbox;
}

/** Time limit of a check, whatever the service does. */
const MAX_CHECKING_MS = 60_000;

/** Checks the write interface and the harvesting interface, each within a minute. */
async function checkOnline(
  context: Context,
  profile: Profile,
  outbox: Outbox | undefined,
  run: RunCheck,
): Promise<void> {
  await run('service', async () => {
    const connections = await context.openConnections();
    const stop = makeCheckingLimit(context);
    const send: Exchange = (request) => connections.send({ ...request, signal: stop });
    const service = await openService(context);
    const pace = await openPace(context, profile);
    const { clock } = context;
    return checkService({ ...profile, ...service, send, pace, clock, stop }, outbox);
  });
  await run('harvesting', async () => {
    if (profile.oaiBase === undefined)
      return makeWarning(
        t`This profile has no harvesting interface.`,
        t`Add oai_base to the profile if the service has one; without it you must resolve uncertain entries yourself.`,
      );
    const client = await openHarvestClient(context);
    const { repositoryName, baseUrl } = await client.identify(makeCheckingLimit(context));
    return makePass(`${repositoryName}, ${baseUrl}`);
  });
}

function makeCheckingLimit(context: Context): AbortSignal {
  const late = new UnavailableError(t`The service took too long to answer.`, {
    hint: t`Check the network. The queue is kept.`,
  });
  return makeTimeoutSignal(context, MAX_CHECKING_MS, late);
}

function printCheck({ terminal }: Context, { name, level, message, todo }: Check): void {
  const { color } = terminal;
  const mark = {
    ok: color.green('✓'),
    warning: color.yellow('!'),
    problem: color.red('✗'),
  }[level];
  terminal.printLine(`${mark} ${padEndText(name, 16)} ${message}`);
  if (todo !== undefined) terminal.printLine(`${' '.repeat(19)}→ ${todo}`);
}
