import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadWidthLibrary } from '../../base/characters.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { once } from '../../base/collections.ts';
import { restrictPermissions } from '../../base/disk/files.ts';
import { EXIT_CODES, type ExitReason, UnavailableError, UsageError } from '../../base/errors.ts';
import { getLanguage, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import type { VocabularyStore } from '../../finds/vocabulary/term-lookup.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { Connections } from '../../service/http/send.ts';
import { openSecrets, openSystemKeyring } from '../../service/secrets.ts';
import { makeTerminal, type Streams, type Terminal } from '../terminal.ts';
import {
  type CommandResources,
  chooseProfile,
  findProfileName,
  formatProfileFlag,
  getNetworkSettings,
  type Machine,
  type ProfileAccess,
  type ProfileContext,
} from './chosen-profile.ts';
import {
  type Config,
  changeConfigFile,
  type Profile,
  type ProfileSettings,
  readConfigFile,
} from './config.ts';
import {
  type Environment,
  isLedgerBesideOutbox,
  type LedgerPaths,
  makeDataPaths,
  makeLedgerPathsBeside,
  makeOutboxPaths,
  type OutboxPaths,
  omitEmptyVariables,
  readMachineId,
  thisSystem,
} from './places.ts';

/** Flags that every command takes; `color` is false with `--no-color`. */
export type GlobalOptions = {
  readonly profile?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
};

/**
 * What the process gives to a command: environment, streams and folder; tests and nested contexts
 * replace parts of it.
 */
export type Runtime = {
  readonly environment: Environment;
  readonly streams: Streams;
  readonly cwd: string;
  /** Replacements for the system's services. */
  readonly overrides?: Partial<Machine>;
  /** The command that this one is a part of, such as a rehearsal. */
  readonly outer?: {
    readonly terminal: Terminal;
    /** Folder of outboxes that have their ledgers beside them; by default that of the data home. */
    readonly outboxesFolder: string | undefined;
  };
};

const THIS_MACHINE: Machine = {
  clock: systemClock,
  system: thisSystem,
  random: Math.random,
  openConnections: async (network) =>
    (await import('../../service/http/send.ts')).openConnections({ maxConnections: 64, network }),
};

/** Context of a command. */
export type Context = Runtime &
  ProfileContext & {
    random(): number;
    /**
     * Makes a context of the same command for another profile, without the environment's credentials.
     * Closed with this one.
     * @param outboxesFolder another place for its outbox, with the ledger beside it
     */
    asProfile(name: string, outboxesFolder?: string): Context;
    openVocabulary(): Promise<VocabularyStore>;
    /** As `openVocabulary`, for reading: a copy where nothing can be written. */
    openVocabularyToRead(): Promise<VocabularyStore>;
    close(): Promise<void>;
  };

/** Makes the context of a command. Nothing is opened before its first use. */
export function makeContext(runtime: Runtime, options: GlobalOptions): Context {
  const { streams, outer } = runtime;
  const machine = { ...THIS_MACHINE, ...runtime.overrides };
  const { clock, random } = machine;
  const environment = omitEmptyVariables(runtime.environment);
  const systemPlaces = makeDataPaths(environment);
  const outboxesFolder = outer?.outboxesFolder ?? systemPlaces.outboxesFolder;
  const { onClose, close } = createClosers();
  const terminal = outer?.terminal ?? makeContextTerminal(streams, environment, options);
  const base = {
    ...runtime,
    environment,
    machine,
    clock,
    places: { ...systemPlaces, outboxesFolder },
    terminal,
    isConfirmed: options.yes === true,
    prompt: once(async () => {
      const [{ makePrompt }] = await Promise.all([import('../prompt.ts'), loadWidthLibrary()]);
      return makePrompt(streams.stdin, streams.stderr);
    }),
    onClose,
  };
  const isLedgerBeside = outer?.outboxesFolder === undefined ? undefined : true;
  const asProfile: Context['asProfile'] = (name, folder) => {
    const inner = makeContext(
      {
        ...runtime,
        environment: omitAccountVariables(environment),
        outer: { terminal, outboxesFolder: folder },
      },
      { ...options, profile: name },
    );
    onClose(inner.close);
    return inner;
  };
  return {
    ...base,
    ...makeProfileAccess(base, options.profile, isLedgerBeside),
    ...makeVocabularyAccess(base),
    random,
    asProfile,
    close,
  };
}

/**
 * Makes the access to everything that follows from a profile.
 * @param flag profile that the command line names
 * @param isLedgerBeside each outbox has a ledger beside it; by default as the machine needs it
 */
function makeProfileAccess(
  base: CommandResources,
  flag: string | undefined,
  isLedgerBeside?: boolean,
): ProfileAccess {
  const { clock, environment, places, machine, onClose } = base;
  const getConfig = (): Config => readConfigFile(places.configFile);
  let profile: Profile | undefined;
  const getProfile = (): Profile => {
    profile ??= chooseProfile(getConfig(), base, flag);
    return profile;
  };
  const openConnectionsWith = async (given?: ProfileSettings): Promise<Connections> => {
    const config = getConfig();
    const name = findProfileName(config, environment, flag);
    const network = getNetworkSettings(config, environment, name, given);
    const connections = await machine.openConnections(network);
    onClose(() => connections.close());
    return connections;
  };
  const hasLedgerBeside = once(
    () => isLedgerBeside ?? isLedgerBesideOutbox(places, machine.system),
  );
  const getOutboxPlaces = (name = getProfile().outbox): OutboxPaths =>
    makeOutboxPaths(places, name);
  const getLedgerPlaces = (name = getProfile().outbox): LedgerPaths =>
    hasLedgerBeside() ? makeLedgerPathsBeside(getOutboxPlaces(name).folder) : places;
  const load = once(() => import('./profile-outbox.ts'));
  let pushing: Promise<Outbox> | undefined;
  const openOutboxToPush = once(() => {
    pushing = load().then(({ openProfileOutbox }) => openProfileOutbox(sources, 'push'));
    return pushing;
  });
  const openForCommand = once(async () => (await load()).openProfileOutbox(sources, 'command'));
  const access: ProfileAccess = {
    getConfig,
    changeConfig: (change) => {
      changeConfigFile(places, clock, change);
      profile = undefined;
    },
    getProfile,
    getProfileFlag: once(() => formatProfileFlag(getConfig, environment, getProfile)),
    openSecrets: once(() => openSecrets(places.secretsFile, openSystemKeyring(environment), clock)),
    openConnections: once(openConnectionsWith),
    openConnectionsWith,
    getMachineId: once(() => readMachineId(machine.system)),
    getOutboxPlaces,
    getLedgerPlaces,
    pushLock: (name = getProfile().outbox) => ({
      folder: getLedgerPlaces(name).locksFolder,
      scope: name,
      outboxFolder: getOutboxPlaces(name).folder,
      clock,
    }),
    openOutbox: () => pushing ?? openForCommand(),
    openOutboxToPush,
    openOutboxToRead: once(() =>
      openOrCopy(getOutboxPlaces().outboxFile, onClose, access.openOutbox, async (path) =>
        (await load()).openOutboxCopy(sources, path),
      ),
    ),
  };
  const sources = { ...base, ...access };
  return access;
}

/** Opens a database; a temporary copy where nothing can be written. */
async function openOrCopy<T>(
  file: string,
  onClose: Context['onClose'],
  open: () => Promise<T>,
  openCopy: (path: string) => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (thrown) {
    const { isWriteRefused, copyToTempFolder } = await import('../../base/disk/database-file.ts');
    if (!isWriteRefused(thrown) || !existsSync(file)) throw thrown;
    const copy = copyToTempFolder(file);
    onClose(copy.remove);
    return openCopy(copy.path);
  }
}

/** Opens the vocabularies once; for reading a copy where nothing can be written. */
function makeVocabularyAccess({
  places: { vocabularyFile: file },
  clock,
  onClose,
}: CommandResources): Pick<Context, 'openVocabulary' | 'openVocabularyToRead'> {
  const openAt = async (path: string): Promise<VocabularyStore> => {
    const { openVocabulary } = await import('../../finds/vocabulary/term-lookup.ts');
    const vocabulary = openVocabulary(path, clock);
    onClose(() => vocabulary.close());
    return vocabulary;
  };
  const openShared = once(() => openAt(file));
  return {
    openVocabulary: openShared,
    openVocabularyToRead: once(() => openOrCopy(file, onClose, openShared, openAt)),
  };
}

function createClosers() {
  const all: (() => void | Promise<void>)[] = [];
  return {
    onClose: (close: () => void | Promise<void>): void => {
      all.unshift(close);
    },
    close: async (): Promise<void> => {
      for (const close of all.splice(0)) await close();
    },
  };
}

function makeContextTerminal(
  streams: Streams,
  environment: Environment,
  options: GlobalOptions,
): Terminal {
  return makeTerminal(streams, {
    json: options.json === true,
    quiet: options.quiet === true,
    verbose: options.verbose === true,
    color: options.color !== false && isColorWanted(environment, streams),
    cursor: environment['TERM'] !== 'dumb',
  });
}

/**
 * Returns the environment without token, password, user name and profile, for a context of
 * another profile: credentials of one service are never sent to another one.
 */
export function omitAccountVariables(environment: Environment): Environment {
  const {
    PAS_TOKEN: _token,
    PAS_PASSWORD: _password,
    PAS_USERNAME: _username,
    PAS_PROFILE: _profile,
    ...otherVariables
  } = environment;
  return otherVariables;
}

/** See no-color.org; a dumb terminal and a redirected stdout get plain text as well. */
function isColorWanted(environment: Environment, streams: Streams): boolean {
  if ((environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb') return false;
  return streams.stdout.isTTY === true;
}

/**
 * Restricts the permissions of a data folder or a file of secrets that other users may read, with a
 * warning; the warning repeats where that fails. A folder without files of pas is left alone.
 */
export function restrictHomePermissions({
  places: { home, outboxesFolder, secretsFile },
  terminal,
}: Context): void {
  if (!existsSync(outboxesFolder) && !existsSync(secretsFile)) return;
  const restricted = [home, secretsFile]
    .filter(existsSync)
    .map((path) => ({ path, how: restrictPermissions(path) }));
  const [narrowed, open] = (['narrowed', 'open'] as const).map((how) =>
    restricted.flatMap((each) => (each.how === how ? [each.path] : [])).join(', '),
  );
  if (narrowed !== '')
    terminal.warn(t`Others could read ${narrowed} until now; from now on only you can.`);
  if (open !== '')
    terminal.warn(t`Others may read ${open}, and its permissions cannot be changed.`);
}

/** The first Ctrl-C stops after the requests under way; the second aborts them. */
type Interrupts = { readonly stop: AbortSignal; readonly abort: AbortSignal };

/** SIGBREAK is Ctrl-Break on Windows, where SIGHUP is a closed console. */
const SIGNALS = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  ...(process.platform === 'win32' ? (['SIGBREAK'] as const) : []),
] as const;

/**
 * Handles Ctrl-C and the signals of the system until the context is closed: the first aborts
 * `stop` and prints `message`, the second aborts `abort`. The process is not ended.
 * @param message shown at the first signal
 */
export function installSignalHandlers(
  { terminal, onClose }: Context,
  message?: string,
): Interrupts {
  const stop = new AbortController();
  const abort = new AbortController();
  // One listener per parallel request, which is no leak.
  setMaxListeners(0, stop.signal, abort.signal);
  const onSignal = (): void => {
    if (stop.signal.aborted) abort.abort();
    else if (message !== undefined) terminal.warn(`\n${message}`);
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  onClose(() => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  });
  return { stop: stop.signal, abort: abort.signal };
}

type Closable = { readonly clock: Clock; onClose(close: () => void): void };

/**
 * Makes a signal that Ctrl-C or the end of a time limit aborts.
 * @param deadline such as `30m`; undefined for no limit
 * @throws UsageError for an invalid duration
 */
export function makeDeadlineSignal(
  resources: Closable,
  stop: AbortSignal,
  deadline: string | undefined,
): AbortSignal {
  if (deadline === undefined) return stop;
  const givenMs = parseDurationMs(deadline);
  if (givenMs === undefined)
    throw new UsageError(t`"${deadline}" is not a duration.`, { hint: t`Write 90s, 30m or 2h.` });
  const reason = new UnavailableError(t`The deadline of ${deadline} (--deadline) has passed.`, {
    hint: t`The stored data is kept. Run the command again to continue.`,
  });
  const signal = AbortSignal.any([stop, makeTimeoutSignal(resources, givenMs, reason)]);
  setMaxListeners(0, signal);
  return signal;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Parses a time such as `90s` or `2h` into milliseconds; undefined for anything else. */
function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MS_OF_UNIT[unit] ?? 0);
}

/**
 * Makes a signal that aborts after so many milliseconds, unless the context is closed before.
 * @param reason of the abortion
 */
export function makeTimeoutSignal(
  { clock, onClose }: Closable,
  ms: number,
  reason?: Error,
): AbortSignal {
  const over = new AbortController();
  const ended = new AbortController();
  onClose(() => ended.abort());
  clock.sleep(ms, ended.signal).then(
    () => over.abort(reason),
    () => {},
  );
  return over.signal;
}

type ProcessOptions = {
  readonly environment: Environment;
  readonly cwd: string;
  /** True where the process has the terminal of this one, and nothing is returned as output. */
  readonly isOnTerminal: boolean;
};

/**
 * Runs a command line of pas in a process of its own, as a person would type it, and waits for
 * its end. On a terminal it uses that, and `output` and `errors` are empty.
 * @throws Error where the process cannot be started, or ends otherwise than pas does
 */
export async function runPas(
  args: readonly string[],
  { environment, cwd, isOnTerminal }: ProcessOptions,
): Promise<{ readonly reason: ExitReason; readonly output: string; readonly errors: string }> {
  const child = spawn(process.execPath, [join(packageRoot, 'bin', 'pas.js'), ...args], {
    env: { ...environment, PAS_LANG: getLanguage() },
    cwd,
    stdio: isOnTerminal ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...ended) => resolve(ended));
  });
  const reasons = Object.keys(EXIT_CODES) as ExitReason[];
  const reason = reasons.find((each) => EXIT_CODES[each][0] === code);
  if (reason === undefined)
    throw new Error(`pas ${args.join(' ')} ended with ${code ?? signal}: ${errors}`);
  return { reason, output, errors };
}
