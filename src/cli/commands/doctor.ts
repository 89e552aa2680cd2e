import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { padText } from '../../base/characters.ts';
import { type ExitReason, PasError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { describeOutbox, repairOutbox } from '../../outbox/repair-outbox.ts';
import type { Exchange } from '../../service/http/exchange.ts';
import {
  type Check,
  checkDatabase,
  checkFacts,
  checkHome,
  checkLedger,
  checkLocks,
  checkMachineOfOutbox,
  checkNode,
  checkPermissions,
  checkPhotographs,
  checkSpace,
  makeCheckOfError,
  makePassedCheck,
  makeUncheckedChecks,
  makeWarningCheck,
} from '../checks/check-machine.ts';
import { defineCommand, type Runner } from '../command.ts';
import { getSourceOfSecrets, SECRET_PLACE_TEXTS } from '../context/chosen-profile.ts';
import { isProtectedAddress, type Profile } from '../context/config.ts';
import { type Context, type GlobalOptions, makeTimeoutSignal } from '../context/context.ts';
import { openHarvestClient, openService } from '../context/open-service.ts';
import { checkPacing, openPace, readSharedPause } from '../context/pacing.ts';
import { getBinding, openStoredOutbox } from '../context/profile-outbox.ts';
import { INSTANCE_WORDS } from '../result-texts.ts';

type DoctorOptions = GlobalOptions & { readonly offline?: boolean; readonly repair?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(
    program,
    'doctor',
    t`Check everything that a push needs and show how to fix each problem.`,
    ['pas doctor', 'pas doctor --offline --json'],
  )
    .option('--offline', t`check only what needs no network`)
    .option('--repair', t`remove what is damaged in the outbox, and add what the ledger has`)
    .action(run(runDoctor));
}

async function runDoctor(context: Context, options: DoctorOptions): Promise<ExitReason> {
  if (options.repair === true) await repair(context);
  const checks: Check[] = [];
  const add = (...more: readonly Check[]): void => {
    printChecks(context, more);
    checks.push(...more);
  };
  for (const check of checkMachine(context)) add(check);
  const sound = checks.every(({ name, level }) => name !== 'outbox' || level === 'ok');
  let profile: Profile | undefined;
  let hasOutbox = false;
  try {
    profile = context.getProfile();
  } catch (thrown) {
    add(makeCheckOfError('profile', thrown));
  }
  if (profile !== undefined) {
    add(...(await checkProfile(context, profile)));
    // Missing files are not created.
    hasOutbox = sound && existsSync(context.getOutboxPlaces().outboxFile);
    if (hasOutbox) add(...(await checkOutbox(context)));
    if (sound)
      add(await attemptCheck('photographs', () => checkStoredPhotographs(context, hasOutbox)));
    add(await attemptCheck('vocabulary-age', () => checkStoredVocabulary(context, profile)));
    const isOnline = options.offline !== true;
    const hasPace = isOnline || profile.pacing === 'local';
    if (hasPace) {
      add(...(await checkPause(context, profile)));
      add(await attemptCheck('pacing', () => checkPacing(context, profile)));
    }
    if (isOnline) add(...(await checkReachableService(context, profile, hasOutbox)));
    else add(...makeUncheckedChecks(hasPace ? NEEDS_NETWORK : ['pacing', ...NEEDS_NETWORK]));
  } else
    add(
      ...makeUncheckedChecks([
        'secrets',
        'photographs',
        'vocabulary-age',
        'pacing',
        ...NEEDS_NETWORK,
      ]),
    );
  return conclude(context, checks, hasOutbox);
}

/** Repairs the ledger and the outbox of the profile; nothing where it has none. */
async function repair(context: Context): Promise<void> {
  const { terminal, clock } = context;
  const profile = context.getProfile();
  const { outboxFile } = context.getOutboxPlaces();
  if (!existsSync(outboxFile)) return;
  const { ledgerAside, outboxAside, damaged, drafts, corrected } = await repairOutbox({
    lock: context.pushLock(),
    ledgerFile: context.getLedgerPlaces().ledgerFile,
    outboxFile,
    clock,
    open: () => openStoredOutbox(context, profile.outbox, { binding: getBinding(profile) }),
  });
  if (ledgerAside !== undefined)
    terminal.warn(t`The damaged ledger is now ${ledgerAside}. It is made again from the outbox.`);
  if (outboxAside !== undefined)
    terminal.warn(
      t`The damaged outbox is now ${outboxAside}. What can be read of it is in a new one.`,
    );
  warnOfFinds(
    damaged,
    (names) =>
      t`What was damaged is removed, and the ledger added what it has. Check these finds, and import or edit again what they lack: ${names}`,
  );
  warnOfFinds(
    drafts,
    (names) => t`Their documents were damaged; \`${cmd`pas validate`}\` makes them again: ${names}`,
  );
  warnOfFinds(corrected, (names) => t`The stored states of ${names} were wrong.`);

  function warnOfFinds(finds: readonly string[], say: (names: string) => string): void {
    if (finds.length > 0) terminal.warn(say(finds.slice(0, MAX_NAMED).join(', ')));
  }
}

const MAX_NAMED = 20;

const NEEDS_NETWORK: readonly string[] = [
  'service',
  'connection',
  'clock',
  'account',
  'writing',
  'schema',
  'harvesting',
];

/** Priority of exit reasons, where several checks fail: what stops a push first comes first. */
const GRAVEST_FIRST: readonly ExitReason[] = [
  'databaseTooNew',
  'config',
  'notAllowed',
  'unavailable',
  'oaiProtocol',
  'outsideContract',
];

async function conclude(
  context: Context,
  checks: readonly Check[],
  hasOutbox: boolean,
): Promise<ExitReason> {
  const { terminal } = context;
  const reasons = checks.flatMap(({ level, reason }) => (level === 'problem' ? [reason] : []));
  const good = reasons.length === 0;
  const all = checks.every(({ level }) => level !== 'unchecked');
  terminal.printLine();
  const ready = all
    ? t`Ready to push.`
    : t`Ready, except for checks that could not be run: see the lines marked –.`;
  terminal.printLine(good ? ready : t`Not ready: see the lines marked ✗.`);
  terminal.printValue({
    ok: good,
    checks: checks.map(({ name, level, message, todo }) => ({
      name,
      level,
      message,
      todo: todo ?? null,
    })),
    outbox: hasOutbox ? await toOutboxJson(context) : null,
  });
  return good
    ? 'done'
    : (GRAVEST_FIRST.find((reason) => reasons.includes(reason)) ?? 'dataRefused');
}

/** Returns the outbox for programs; null where it cannot be read, which a check says. */
async function toOutboxJson(context: Context): Promise<Record<string, unknown> | null> {
  try {
    const outbox = await context.openOutbox();
    const described = describeOutbox(outbox, context.getMachineId());
    const { header, user, place, ...counts } = described;
    return {
      id: header.outbox,
      file: outbox.path,
      service: header.address,
      kind: header.kind,
      account: header.account,
      user: user ?? null,
      ledger: context.getLedgerPlaces().ledgerFile,
      place: place ?? null,
      ...counts,
    };
  } catch (thrown) {
    if (thrown instanceof PasError) return null;
    throw thrown;
  }
}

/** Runs one after the other, since a large database takes its time. */
function* checkMachine(context: Context): Generator<Check> {
  const { places } = context;
  const outboxFile = getOutboxPath(context);
  yield checkNode(process.versions.node);
  yield checkHome(places.home);
  yield checkSpace(places.home);
  yield checkPermissions([places.home, places.paceFile, places.ledgerFile, places.locksFolder]);
  yield checkDatabase('outbox', outboxFile);
  yield checkDatabase(
    'vocabulary-file',
    places.vocabularyFile,
    t`It is only a cache: delete it and run \`${cmd`pas harvest-vocab`}\`.`,
  );
  yield checkDatabase(
    'pace',
    places.paceFile,
    t`Delete it while no pas process is running; it stores only the time of the last request.`,
  );
}

/** Returns the path of the profile's outbox; a nonexistent one where no profile is usable. */
function getOutboxPath(context: Context): string {
  try {
    return context.getOutboxPlaces().outboxFile;
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    return join(context.places.outboxesFolder, 'NAME', 'outbox.sqlite');
  }
}

async function checkOutbox(context: Context): Promise<Check[]> {
  const { ledgerFile, locksFolder } = context.getLedgerPlaces();
  return [
    await attemptCheck('rows', async () =>
      checkFacts(await context.openOutbox(), context.getMachineId()),
    ),
    await attemptCheck('ledger', async () => checkLedger(ledgerFile)),
    await attemptCheck('locks', async () => checkLocks(locksFolder)),
    await attemptCheck('belongs-to', async () =>
      checkMachineOfOutbox(await context.openOutbox(), context.getMachineId()),
    ),
  ];
}

async function checkProfile(context: Context, profile: Profile): Promise<Check[]> {
  const parts = [
    INSTANCE_WORDS[profile.kind],
    profile.baseUrl,
    profile.username ?? t`no user name`,
  ].join(', ');
  const named = `${profile.name}: ${parts}`;
  const secrets = await attemptCheck('secrets', async () => {
    const place = getSourceOfSecrets(context);
    const message = SECRET_PLACE_TEXTS[place](context.places.secretsFile);
    return place === 'nowhere'
      ? makeWarningCheck('secrets', message, t`Run \`${cmd`pas login`}\`.`)
      : makePassedCheck('secrets', message);
  });
  const open = !isProtectedAddress(profile.baseUrl, false);
  return [
    open
      ? makeWarningCheck(
          'profile',
          t`${named}; the password is sent unencrypted.`,
          t`Use an https:// address if there is one.`,
        )
      : makePassedCheck('profile', named),
    secrets,
  ];
}

async function checkStoredPhotographs(context: Context, hasOutbox: boolean): Promise<Check> {
  const progress = context.terminal.startProgress(t`Reading the photographs`);
  try {
    const outbox = hasOutbox ? await context.openOutbox() : undefined;
    return checkPhotographs(
      outbox,
      hasOutbox ? context.getOutboxPlaces().photosFolder : '',
      progress.update,
    );
  } finally {
    progress.end();
  }
}

async function checkStoredVocabulary(context: Context, profile: Profile): Promise<Check> {
  const { checkVocabulary } = await import('../checks/check-service.ts');
  const isThere = existsSync(context.places.vocabularyFile);
  const vocabulary = isThere
    ? (await context.openVocabulary()).openSource(profile.oaiBase ?? '')
    : undefined;
  return checkVocabulary(vocabulary, context.clock.now());
}

async function checkPause(context: Context, profile: Profile): Promise<Check[]> {
  const { text } = await readSharedPause(context, profile);
  return text === undefined
    ? []
    : [makeWarningCheck('pause', text, t`Wait until it ends; ${cmd`pas status`} shows it.`)];
}

/** Time limit of a check, whatever the service does. */
const MAX_CHECKING_MS = 60_000;

async function checkReachableService(
  context: Context,
  profile: Profile,
  hasOutbox: boolean,
): Promise<Check[]> {
  const { checkHarvesting, checkService, makeLateCheck } = await import(
    '../checks/check-service.ts'
  );
  const connections = await context.openConnections();
  const stop = makeTimeoutSignal(context, MAX_CHECKING_MS);
  const send: Exchange = (request) => connections.send({ ...request, signal: stop });
  const checks: Check[] = [];
  try {
    const { session } = await openService(context);
    const pace = await openPace(context, profile, { tolerant: true });
    const outbox = hasOutbox ? await context.openOutbox() : undefined;
    const service = { ...profile, session, send, pace, outbox, clock: context.clock, stop };
    checks.push(...(await checkService(service)));
  } catch (thrown) {
    checks.push(stop.aborted ? makeLateCheck('service') : makeCheckOfError('service', thrown));
  }
  if (profile.oaiBase !== undefined)
    return [
      ...checks,
      await checkHarvesting(
        () => openHarvestClient(context),
        makeTimeoutSignal(context, MAX_CHECKING_MS),
      ),
    ];
  const todo = t`Add oai_base to the profile if the service has one; without it you must resolve uncertain entries yourself.`;
  return [
    ...checks,
    makeWarningCheck('harvesting', t`This profile has no harvesting interface.`, todo),
  ];
}

/** Reports a check that could not begin as a problem, and continues with the others. */
async function attemptCheck(name: string, work: () => Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (thrown) {
    return makeCheckOfError(name, thrown);
  }
}

/** Prints unchecked items in one line. */
function printChecks(context: Context, checks: readonly Check[]): void {
  const unchecked = checks.filter(({ level }) => level === 'unchecked');
  for (const check of checks) if (check.level !== 'unchecked') printCheck(context, check);
  const [first] = unchecked;
  if (first === undefined) return;
  const names = unchecked.map(({ name }) => name).join(', ');
  printCheck(context, { ...first, name: '', message: `${first.message}: ${names}` });
}

function printCheck({ terminal }: Context, { name, level, message, todo }: Check): void {
  const { color } = terminal;
  const mark = {
    ok: color.green('✓'),
    warning: color.yellow('!'),
    problem: color.red('✗'),
    unchecked: color.dim('–'),
  }[level];
  terminal.printLine(`${mark} ${padText(name, 16)} ${message}`);
  if (todo !== undefined) terminal.printLine(`${' '.repeat(19)}→ ${todo}`);
}
