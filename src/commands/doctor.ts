import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { type ExitReason, PasError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Profile } from '../context/config.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openHarvestClient } from '../context/harvesting.ts';
import { checkPacing, openPace } from '../context/pacing.ts';
import { openService, placeOfSecrets, SECRETS_ARE } from '../context/service.ts';
import { checkCounts } from '../flows/check-counts.ts';
import { checkLease } from '../flows/check-lease.ts';
import {
  type Check,
  checkDatabase,
  checkHome,
  checkNode,
  checkPermissions,
  checkPhotographs,
  checkSpace,
  failed,
  ok,
  type QueuedPhotograph,
  unchecked,
  warning,
} from '../flows/check-machine.ts';
import { wasAcceptedNaming } from '../outbox/overview.ts';
import { unsentPhotographs } from '../outbox/photographs.ts';
import { openContentStore } from '../store/content-store.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';
import { INSTANCE_WORDS } from './instance-words.ts';

type DoctorOptions = GlobalOptions & { readonly offline?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'doctor',
    summary: t`Check everything that a push needs, and say what to do about what is wrong. Changes nothing.`,
    examples: ['pas doctor', 'pas doctor --offline --json'],
  })
    .option('--offline', t`check only what needs no network`)
    .action((options: DoctorOptions) => run(options, (context) => doctor(context, options)));
}

async function doctor(context: Context, options: DoctorOptions): Promise<ExitReason> {
  const checks: Check[] = [];
  const add = (...more: readonly Check[]): void => {
    printChecks(context, more);
    checks.push(...more);
  };
  for (const check of machineChecks(context)) add(check);
  const sound = checks.every(({ name, level }) => name !== 'outbox' || level === 'ok');
  const profile = attempt('profile', add, () => context.profile());
  if (profile !== undefined) {
    add(...profileChecks(context, profile));
    if (sound && existsSync(context.places.outboxFile)) {
      add(await attemptCheck('counts', async () => checkCounts(await context.outbox())));
      add(await attemptCheck('lease', async () => checkLease(await context.outbox())));
    }
    if (sound) add(await attemptCheck('photographs', () => photographsCheck(context)));
    add(await attemptCheck('vocabulary-age', () => vocabularyCheck(context, profile)));
    if (options.offline === true) {
      if (profile.pacing === 'local') add(await attemptCheck('pacing', () => checkPacing(context, profile)));
      const names = profile.pacing === 'local' ? NEEDS_NETWORK : ['pacing', ...NEEDS_NETWORK];
      add(...unchecked(names, t`it needs a network`, t`Run \`pas doctor\` without --offline once there is one.`));
    } else {
      add(await attemptCheck('pacing', () => checkPacing(context, profile)));
      add(...(await serviceChecks(context, profile, sound)));
    }
  } else {
    const names = ['secrets', 'photographs', 'vocabulary-age', 'pacing', ...NEEDS_NETWORK];
    add(...unchecked(names, t`there is no profile to check with`, t`Make one, and run \`pas doctor\` again: pas init`));
  }
  return conclude(context, checks);
}

/** Checks that nobody can make without a network. */
const NEEDS_NETWORK: readonly string[] = ['service', 'clock', 'account', 'writing', 'schema', 'harvesting'];

/** Where several things are wrong, what stops a push soonest says how the command ends. */
const GRAVEST_FIRST: readonly ExitReason[] = [
  'databaseTooNew',
  'config',
  'notAllowed',
  'unavailable',
  'oaiProtocol',
  'outsideContract',
];

function conclude({ terminal }: Context, checks: readonly Check[]): ExitReason {
  const reasons = checks.flatMap(({ level, reason }) => (level === 'problem' ? [reason] : []));
  const good = reasons.length === 0;
  const all = checks.every(({ level }) => level !== 'unchecked');
  terminal.line();
  terminal.line(
    good
      ? all
        ? t`Ready to push.`
        : t`Ready, as far as could be checked: see what is marked –.`
      : t`Not ready: see what is marked ✗.`,
  );
  terminal.value({
    ok: good,
    checks: checks.map(({ name, level, message, todo }) => ({
      name,
      level,
      message,
      todo: todo === undefined ? null : terminal.advised(todo),
    })),
  });
  return good ? 'done' : (GRAVEST_FIRST.find((reason) => reasons.includes(reason)) ?? 'dataRefused');
}

/** One after the other, since a large database takes its time. */
function* machineChecks({ places }: Context): Generator<Check> {
  yield checkNode(process.versions.node);
  yield checkHome(places.home);
  yield checkSpace(places.home);
  yield checkPermissions([places.home, places.paceFile]);
  yield checkDatabase(
    'outbox',
    places.outboxFile,
    t`Put the last backup back: pas restore FILE --replace keeps the damaged file aside.`,
  );
  yield checkDatabase('vocabulary-file', places.vocabularyFile, t`Delete it and run \`pas harvest-vocab\`: it is only a cache.`);
  yield checkDatabase('pace', places.paceFile, t`Delete it while no pas runs: it holds only when the last request left.`);
}

function profileChecks(context: Context, profile: Profile): Check[] {
  const said = [INSTANCE_WORDS[profile.kind], profile.baseUrl, profile.username ?? t`no user name`].join(', ');
  const named = `${profile.name}: ${said}`;
  const secrets = attemptValue('secrets', () => {
    const place = placeOfSecrets(context);
    const message = SECRETS_ARE[place](context.places.secretsFile);
    return place === 'nowhere' ? warning('secrets', message, t`Run \`pas login\`.`) : ok('secrets', message);
  });
  const { protocol, hostname } = new URL(profile.baseUrl);
  const open = profile.allowHttp && protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(hostname);
  return [
    open
      ? warning('profile', t`${named}; the password travels in the open.`, t`Use an https:// address if there is one.`)
      : ok('profile', named),
    secrets,
  ];
}

async function photographsCheck(context: Context): Promise<Check> {
  const photographs = await queuedPhotographs(context);
  const progress = context.terminal.progress(t`Looking at the photographs`);
  const watched = function* (): Generator<QueuedPhotograph> {
    for (const [index, photograph] of photographs.entries()) {
      progress.update(index, photographs.length);
      yield photograph;
    }
  };
  try {
    return checkPhotographs(watched());
  } finally {
    progress.end();
  }
}

async function queuedPhotographs(context: Context): Promise<QueuedPhotograph[]> {
  // What is not there is not made.
  if (!existsSync(context.places.outboxFile)) return [];
  const content = openContentStore(context.places.photosFolder);
  return unsentPhotographs(await context.outbox()).map((photograph) => ({
    ...photograph,
    path: photograph.link ?? content.pathOf(photograph.sha512),
  }));
}

async function vocabularyCheck(context: Context, profile: Profile): Promise<Check> {
  const [{ checkVocabulary }, { allHarvests }] = await Promise.all([
    import('../flows/check-service.ts'),
    import('../vocabulary/harvests.ts'),
  ]);
  if (!existsSync(context.places.vocabularyFile)) return checkVocabulary([], 0);
  const vocabulary = (await context.vocabulary()).source(profile.oaiBase ?? '');
  return checkVocabulary(allHarvests(vocabulary), context.clock.now());
}

async function serviceChecks(context: Context, profile: Profile, outboxIsSound: boolean): Promise<Check[]> {
  const { checkHarvesting, checkSchema, checkService } = await import('../flows/check-service.ts');
  const { send } = await context.connections();
  const checks: Check[] = [];
  try {
    const { session } = await openService(context);
    const pace = await openPace(context, profile, { tolerant: true });
    const versionWasAccepted = outboxIsSound && (await wasVersionAccepted(context, profile));
    const service = { ...profile, session, send, clock: context.clock, depart: () => pace.depart(), versionWasAccepted };
    checks.push(...(await checkService(service)), await checkSchema(service));
  } catch (thrown) {
    checks.push(failed('service', thrown));
  }
  if (profile.oaiBase !== undefined) return [...checks, await checkHarvesting(() => openHarvestClient(context))];
  const todo = t`Add oai_base to the profile if there is one; without it a person settles what is uncertain.`;
  return [...checks, warning('harvesting', t`This profile has no harvesting interface.`, todo)];
}

async function wasVersionAccepted(context: Context, { schemaBase, schemaVersion }: Profile): Promise<boolean> {
  if (!existsSync(context.places.outboxFile)) return false;
  return wasAcceptedNaming(await context.outbox(), `${schemaBase}/${schemaVersion}/`);
}

/** A check that could not even begin is a problem, not the end of the others. */
async function attemptCheck(name: string, work: () => Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (thrown) {
    return failed(name, thrown);
  }
}

function attemptValue(name: string, work: () => Check): Check {
  try {
    return work();
  } catch (thrown) {
    return failed(name, thrown);
  }
}

function attempt<T>(name: string, add: (check: Check) => void, work: () => T): T | undefined {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
    add(failed(name, thrown));
    return undefined;
  }
}

/** What was left unchecked for one reason stands in one line. */
function printChecks(context: Context, checks: readonly Check[]): void {
  const left = checks.filter(({ level }) => level === 'unchecked');
  for (const check of checks) if (check.level !== 'unchecked') printCheck(context, check);
  const [first] = left;
  if (first === undefined) return;
  const names = left.map(({ name }) => name).join(', ');
  printCheck(context, { ...first, name: '', message: t`not checked, since ${first.message}: ${names}` });
}

function printCheck({ terminal }: Context, { name, level, message, todo }: Check): void {
  const { color } = terminal;
  const mark = { ok: color.green('✓'), warning: color.yellow('!'), problem: color.red('✗'), unchecked: color.dim('–') }[level];
  terminal.line(`${mark} ${name.padEnd(16)} ${printable(message)}`);
  if (todo !== undefined) terminal.line(`${' '.repeat(19)}→ ${printable(terminal.advised(todo))}`);
}
