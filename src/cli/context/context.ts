import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { loadWidthLibrary } from '../../base/characters.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { restrictPermissions } from '../../base/disk/folder.ts';
import { UnavailableError, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { quoteShellWord, setProfileFlagSource } from '../../base/message.ts';
import { formatLabelAndName } from '../../finds/fields.ts';
import type { VocabularyStore } from '../../finds/vocabulary/vocabulary-store.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { PushLockOptions } from '../../outbox/push-lock.ts';
import type { NetworkSettings } from '../../service/http/proxy.ts';
import type { Connections } from '../../service/http/send.ts';
import {
  makeSecretsOwner,
  openSecrets,
  openSystemKeyring,
  type SecretStore,
} from '../../service/secrets.ts';
import type { Prompt } from '../prompt.ts';
import { makeTerminal, type Streams, type Terminal } from '../terminal.ts';
import { changeConfigFile } from './change-config.ts';
import { type ConfigFile, chooseProfile, type Profile, readConfigFile } from './config.ts';
import { type ConnectionAccess, makeConnectionAccess } from './network.ts';
import {
  type DataPaths,
  type Environment,
  isLedgerBesideOutbox,
  type LedgerPaths,
  makeDataPaths,
  makeLedgerPathsBeside,
  makeOutboxPaths,
  type OutboxPaths,
  omitEmptyVariables,
  readMachineId,
  type SystemQueries,
  thisSystem,
} from './places.ts';
import type { OutboxSources } from './profile-outbox.ts';

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
  readonly overrides?: Partial<Dependencies>;
  /** Replacements for the configuration, in a nested context. */
  readonly fixed?: FixedParts;
};

/** Terminal and places of a nested context, such as that of a rehearsal. */
type FixedParts = {
  readonly terminal?: Terminal;
  readonly outboxesFolder?: string;
  readonly isLedgerBeside?: boolean;
};

/** Services of the machine and the network. */
type Dependencies = {
  readonly clock: Clock;
  /** Identifies the machine, and tells if it is a container. */
  readonly system: SystemQueries;
  readonly holder: { readonly pid: number; readonly host: string };
  random(): number;
  openConnections(network: NetworkSettings): Promise<Connections>;
};

const SYSTEM: Dependencies = {
  clock: systemClock,
  system: thisSystem,
  holder: { pid: process.pid, host: hostname() },
  random: Math.random,
  openConnections: async (network) =>
    (await import('../../service/http/send.ts')).openConnections({ maxConnections: 64, network }),
};

/** Context of a command. Resources are opened on first use and closed at the end. */
export type Context = Runtime &
  ConnectionAccess & {
    readonly clock: Clock;
    random(): number;
    readonly places: DataPaths;
    readonly terminal: Terminal;
    /** A person has confirmed beforehand: `--yes`. */
    readonly isConfirmed: boolean;
    readonly secrets: SecretStore;
    getConfig(): ConfigFile;
    getProfile(): Profile;
    /** Returns the identifier of this machine; empty where it has none. */
    getMachineId(): string;
    /** Returns the files of the profile's outbox, or of another one. */
    getOutboxPlaces(name?: string): OutboxPaths;
    getLedgerPlaces(name?: string): LedgerPaths;
    /** Returns the options for the lock of the profile's outbox, or of another one. */
    pushLock(name?: string): PushLockOptions;
    /**
     * Opens the outbox of the profile, which is created at its first use.
     * @throws ConfigError where it is for another service
     */
    openOutbox(): Promise<Outbox>;
    /**
     * Opens the outbox of the profile, and waits longer for the ledger. To be called before
     * `openOutbox`.
     */
    openOutboxToPush(): Promise<Outbox>;
    /** Opens the outbox of the profile for reading: a copy where the disk is full or read-only. */
    openOutboxToRead(): Promise<Outbox>;
    /** Changes the configuration, of which the profile is chosen anew. */
    changeConfig(change: (config: ConfigFile) => ConfigFile): void;
    /**
     * Makes a context of the same command for another profile, without the environment's credentials.
     * Closed with this one.
     */
    asProfile(name: string, fixed?: FixedParts): Context;
    openVocabulary(): Promise<VocabularyStore>;
    /** As `openVocabulary`, for reading: a copy where nothing can be written. */
    openVocabularyToRead(): Promise<VocabularyStore>;
    prompt(): Promise<Prompt>;
    onClose(close: () => void | Promise<void>): void;
    close(): Promise<void>;
  };

/**
 * Makes the context of a command. Nothing is opened before its first use; `close` closes what was
 * opened, the last first. The profile is chosen at its first use, too, so a command without one
 * works.
 */
export function makeContext(world: Runtime, options: GlobalOptions): Context {
  const { streams, fixed = {} } = world;
  const ports: Dependencies = { ...SYSTEM, ...world.overrides };
  const { clock, system, random } = ports;
  const environment = omitEmptyVariables(world.environment);
  const systemPlaces = makeDataPaths(environment);
  const places =
    fixed.outboxesFolder === undefined
      ? systemPlaces
      : { ...systemPlaces, outboxesFolder: fixed.outboxesFolder };
  const { onClose, close } = createClosers();
  const readConfig = (): ConfigFile => readConfigFile(places.configFile);
  let profile: Profile | undefined;
  const getProfile = (): Profile => {
    profile ??= chooseProfile(readConfig(), places, { flag: options.profile, environment });
    return profile;
  };
  const terminal = fixed.terminal ?? makeContextTerminal(streams, environment, options);
  // Commands in messages of a nested context are run by the user of the outer one.
  if (world.fixed === undefined) {
    setProfileFlagSource(memoize(() => makeProfileFlag(readConfig, environment, getProfile)));
  }
  const base = {
    ...world,
    environment,
    clock,
    random,
    places,
    terminal,
    isConfirmed: options.yes === true,
    getConfig: readConfig,
    getProfile,
    changeConfig: (change: (config: ConfigFile) => ConfigFile): void => {
      changeConfigFile(places, clock, change);
      profile = undefined;
    },
    onClose,
  };
  const secrets = memoize(() =>
    openSecrets(places.secretsFile, openSystemKeyring(environment), clock),
  );
  const outboxes = makeOutboxAccess(
    { ...base, getMachineId: memoize(() => readMachineId(system)) },
    ports,
    fixed,
  );
  return {
    ...base,
    ...outboxes,
    get secrets() {
      return secrets();
    },
    asProfile: (name, changes = {}) => {
      const inner = makeContext(
        {
          ...world,
          environment: omitAccountVariables(environment),
          fixed: { terminal, ...changes },
        },
        { ...options, profile: name },
      );
      onClose(inner.close);
      return inner;
    },
    ...makeVocabularyAccess(places.vocabularyFile, clock, onClose),
    ...makeConnectionAccess(base, options.profile, ports.openConnections),
    prompt: memoize(async () => {
      const [{ makePrompt }] = await Promise.all([import('../prompt.ts'), loadWidthLibrary()]);
      return makePrompt(streams.stdin, streams.stderr);
    }),
    close,
  };
}

/** Opens the vocabularies once; for reading a copy where nothing can be written. */
function makeVocabularyAccess(
  file: string,
  clock: Clock,
  onClose: Context['onClose'],
): Pick<Context, 'openVocabulary' | 'openVocabularyToRead'> {
  const openAt = async (path: string): Promise<VocabularyStore> => {
    const { openVocabulary } = await import('../../finds/vocabulary/vocabulary-store.ts');
    const vocabulary = openVocabulary(path, clock);
    onClose(() => vocabulary.close());
    return vocabulary;
  };
  const openShared = memoize(() => openAt(file));
  return {
    openVocabulary: openShared,
    openVocabularyToRead: memoize(() => openOrCopy(file, onClose, openShared, openAt)),
  };
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

function memoize<T>(make: () => T): () => T {
  let memo: { readonly value: T } | undefined;
  return () => {
    memo ??= { value: make() };
    return memo.value;
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
    elementName: formatLabelAndName,
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

function makeOutboxAccess(
  parts: Omit<OutboxSources, 'getOutboxPlaces' | 'getLedgerPlaces'>,
  { system, holder }: Dependencies,
  fixed: FixedParts,
) {
  const { clock, places, getProfile } = parts;
  const isLedgerBeside = memoize(
    () => fixed.isLedgerBeside ?? isLedgerBesideOutbox(places, system),
  );
  const getOutboxPlaces = (name = getProfile().outbox): OutboxPaths =>
    makeOutboxPaths(places, name);
  const getLedgerPlaces = (name = getProfile().outbox): LedgerPaths =>
    isLedgerBeside() ? makeLedgerPathsBeside(getOutboxPlaces(name).folder) : places;
  const sources = { ...parts, getOutboxPlaces, getLedgerPlaces };
  const loaded = memoize(() => import('./profile-outbox.ts'));
  let pushing: Promise<Outbox> | undefined;
  const openOutboxToPush = memoize(() => {
    pushing = loaded().then(({ openProfileOutbox }) => openProfileOutbox(sources, 'push'));
    return pushing;
  });
  const ordinary = memoize(() =>
    loaded().then(({ openProfileOutbox }) => openProfileOutbox(sources, 'command')),
  );
  const openOutbox = (): Promise<Outbox> => pushing ?? ordinary();
  return {
    getMachineId: parts.getMachineId,
    getOutboxPlaces,
    getLedgerPlaces,
    pushLock: (name = getProfile().outbox): PushLockOptions => ({
      folder: getLedgerPlaces(name).locksFolder,
      scope: name,
      outboxFolder: getOutboxPlaces(name).folder,
      clock,
      holder,
    }),
    openOutbox,
    openOutboxToPush,
    openOutboxToRead: memoize(async () =>
      openOrCopy(getOutboxPlaces().outboxFile, parts.onClose, openOutbox, async (path) =>
        (await loaded()).openOutboxCopy(sources, path),
      ),
    ),
  };
}

/** Returns the key of a profile's secrets; undefined where it has no address. */
export function findCredentialKey({ profiles }: ConfigFile, name: string): string | undefined {
  const { base_url: baseUrl, username } = profiles.get(name) ?? {};
  return baseUrl === undefined ? undefined : makeSecretsOwner({ baseUrl, username });
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

/**
 * Returns the `--profile` flag for printed commands; nothing where the profile is the default
 * anyway. PAS_PROFILE may be set for this command only, so it and the configured default must both
 * be this profile.
 */
function makeProfileFlag(
  getConfig: () => ConfigFile,
  environment: Environment,
  getProfile: () => Profile,
): string {
  try {
    const { name } = getProfile();
    const { defaultProfile, profiles } = getConfig();
    const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
    const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
    return isUsedAnyway ? '' : ` --profile ${quoteShellWord(name)}`;
  } catch {
    return '';
  }
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
