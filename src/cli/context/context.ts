import { spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Clock } from '../../base/clock.ts';
import {
  ConfigError,
  EXIT_CODES,
  type ExitReason,
  UnavailableError,
  UsageError,
} from '../../base/errors.ts';
import { cmd, getLanguage, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import type { VocabularyStore } from '../../finds/vocabulary/term-lookup.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { PushLockOptions } from '../../outbox/push-lock.ts';
import type { ProfileUser } from '../../push/account.ts';
import type { NetworkSettings } from '../../service/http/proxy.ts';
import type { Connections } from '../../service/http/send.ts';
import { makeSecretsOwner, type SecretLocation, type SecretStore } from '../../service/secrets.ts';
import type { Prompt } from '../prompt.ts';
import type { Streams, Terminal } from '../terminal.ts';
import type { Config, Profile, ProfileSettings } from './config.ts';
import type { DataPaths, Environment, OutboxPaths, SystemQueries } from './places.ts';

/** Services of the machine and the network. */
export type Machine = {
  readonly clock: Clock;
  /** Identifies the machine, and tells if it is a container. */
  readonly system: SystemQueries;
  random(): number;
  openConnections(network: NetworkSettings): Promise<Connections>;
};

/** Flags that every command takes, without `--lang`; `color` is false with `--no-color`. */
export type GlobalOptions = {
  readonly profile?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color?: boolean;
};

/**
 * Environment, streams and folder that the process gives to a command; tests and nested contexts
 * replace parts of it.
 */
export type Runtime = {
  readonly environment: Environment;
  readonly streams: Streams;
  /** The current folder; empty where that was removed. */
  readonly cwd: string;
  /** Replacements for the system's services. */
  readonly overrides?: Partial<Machine>;
  /** The command that this one is a part of, such as a rehearsal. */
  readonly outer?: {
    readonly terminal: Terminal;
    /** Folder of outboxes that have their ledgers beside them. */
    readonly outboxesFolder: string;
  };
};

/** Where an outbox is, and the lock of what pushes it. */
export type OutboxPlaces = OutboxPaths & { readonly lock: PushLockOptions };

/**
 * All that a command works with. Which service, account, outbox and secrets it uses follows from
 * its profile, which is chosen at its first use; nothing is opened before. What is opened by it is
 * closed with it.
 */
export type Context = Runtime & {
  readonly clock: Clock;
  readonly places: DataPaths;
  readonly terminal: Terminal;
  /** A person has confirmed beforehand: `--yes`. */
  readonly isConfirmed: boolean;
  random(): number;
  prompt(): Promise<Prompt>;
  onClose(close: () => void | Promise<void>): void;
  /** Closes what is open, the last first; where that fails, the rest stays open. */
  close(): Promise<void>;
  getConfig(): Config;
  /** Changes config.toml; {@link Context.getProfile} then chooses again. What is open stays. */
  changeConfig(change: (config: Config) => Config): void;
  /**
   * Returns service and account.
   * @throws ConfigError where there is none, or no choice
   */
  getProfile(): Profile;
  /**
   * Returns ` --profile NAME`, with its blank, for printed commands; empty where the profile is the
   * default anyway, or there is none. Later calls return the same, whatever the configuration.
   */
  getProfileFlag(): string;
  /**
   * Makes a context of the same command for another profile, without the environment's credentials.
   * Closed with this one.
   * @param outboxesFolder place of its outbox, with the ledger beside it
   */
  asProfile(name: string, outboxesFolder: string): Context;
  /** Passwords and tokens, by {@link makeSecretsOwner}. */
  openSecrets(): SecretStore;
  /**
   * Opens the connections by which requests of the profile leave this machine, once for all calls
   * without `given`. They are closed with the context. Settings of the network that are missing are
   * those for all profiles.
   * @param given settings that no profile has yet; new connections are opened
   * @throws ConfigError without `given` where no profile is chosen
   */
  openConnections(given?: ProfileSettings): Promise<Connections>;
  /** Returns the identifier of this machine; empty where it has none. */
  getMachineId(): string;
  /**
   * Returns the files of the profile's outbox, or of the outbox of this name, with its ledger and
   * its lock.
   */
  getOutboxPlaces(name?: string): OutboxPlaces;
  /**
   * Opens the outbox of the profile, which is created at its first use.
   * @param purpose that of the first call counts: a push checks the ledger, and waits longer for it
   * @throws ConfigError where it is for another service; DatabaseError where it is unusable
   */
  openOutbox(purpose?: 'push'): Promise<Outbox>;
  /** Opens the vocabularies of all services, whose file is created at its first use. */
  openVocabulary(): Promise<VocabularyStore>;
};

/**
 * Returns the environment without PAS_TOKEN, PAS_PASSWORD, PAS_USERNAME and PAS_PROFILE, for a
 * context of another profile: credentials of one service are never sent to another one.
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

/**
 * Returns the password in PAS_PASSWORD, else the stored one; undefined where there is neither.
 * @throws AuthError where it may be in a keyring that is unavailable; ConfigError where the secrets
 * are damaged; neither where PAS_PASSWORD is set
 */
export function getPassword(context: Context, profile: Profile): string | undefined {
  return (
    context.environment['PAS_PASSWORD'] ??
    context.openSecrets().get(makeSecretsOwner(profile)).password
  );
}

/**
 * Returns where the credentials come from: `environment` where PAS_TOKEN or PAS_PASSWORD is set,
 * else where those of the profile are stored: `keyring`, `file` or `nowhere`. No keyring is opened.
 * @throws ConfigError where the environment has none, and no profile is chosen, or the secrets are
 * damaged, cannot be read, or can be read by others
 */
export function getSourceOfSecrets({
  environment,
  getProfile,
  openSecrets,
}: Context): 'environment' | SecretLocation {
  const isGiven =
    environment['PAS_TOKEN'] !== undefined || environment['PAS_PASSWORD'] !== undefined;
  return isGiven ? 'environment' : openSecrets().getLocation(makeSecretsOwner(getProfile()));
}

/** Functions that format where the credentials are, from the path of the secrets file. */
export const SECRET_PLACE_TEXTS: Readonly<
  Record<'environment' | SecretLocation, (file: string) => string>
> = {
  environment: () => t`The password or token comes from the environment (PAS_PASSWORD, PAS_TOKEN).`,
  keyring: () => t`The password and token are in the system keyring.`,
  file: (file) =>
    process.platform === 'win32'
      ? t`The password and token are in ${file}. Every account that can open your user folder can read it, including administrators.`
      : t`The password and token are in ${file}, which only you can read.`,
  nowhere: () => t`No password or token is stored.`,
};

/**
 * Returns the address of the harvesting interface of the profile (`oai_base`).
 * @throws ConfigError where it has none
 */
export function requireHarvestBase(profile: Profile): string {
  if (profile.oaiBase !== undefined) return profile.oaiBase;
  throw makeNoHarvestingError(profile);
}

/**
 * Returns the address of the harvesting interface that shows what the profile sends; undefined
 * where there is none. A training instance may have the interface of production, for vocabularies:
 * there its identifiers belong to other records. So its interface counts only on the host to which
 * it writes, and where no production profile with another write address has the same one.
 */
export function findOwnHarvestBase(context: Context): string | undefined {
  const { kind, baseUrl, oaiBase } = context.getProfile();
  if (oaiBase === undefined || kind === 'production') return oaiBase;
  const isOfAnother = [...context.getConfig().profiles.values()].some(
    (other) =>
      other.kind !== 'training' && other.oai_base === oaiBase && other.base_url !== baseUrl,
  );
  return isOfAnother || new URL(oaiBase).hostname !== new URL(baseUrl).hostname
    ? undefined
    : oaiBase;
}

/**
 * Returns the milliseconds for which the service may work on a request (`settle_ms`): a later
 * search can settle what is uncertain. Undefined where nothing can be searched.
 */
export function findSettleMs(context: Context): number | undefined {
  return findOwnHarvestBase(context) === undefined ? undefined : context.getProfile().settleMs;
}

/**
 * Makes the error that a profile's records cannot be looked up: it has no harvesting interface, or
 * one that does not show them, see {@link findOwnHarvestBase}.
 */
export function makeNoHarvestingError(profile: Profile): ConfigError {
  if (profile.oaiBase !== undefined)
    return new ConfigError(
      t`The harvesting interface of profile ${profile.name} belongs to another instance and does not show what was sent to this one.`,
      {
        hint: t`Check the website of the instance, then run \`${cmd`pas resolve`} FIND --created IDENT\` or \`${cmd`pas resolve`} FIND --resend\`.`,
      },
    );
  return new ConfigError(t`Profile ${profile.name} has no harvesting interface.`, {
    hint: t`Add it with \`${cmd`pas init --name ${profile.name} --oai-base`} …\`; a training instance uses that of production.`,
  });
}

/** Returns the chosen profile with its user name in config.toml, also where PAS_USERNAME is set. */
export function getProfileUser(context: Context): ProfileUser {
  const { name } = context.getProfile();
  return { name, username: context.getConfig().profiles.get(name)?.username };
}

/** The first Ctrl-C aborts `stop`, the second `abort`. */
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
 * `stop`, the second `abort`. None ends the process, so the command must react to them.
 * @param message printed at the first signal; undefined for none
 */
export function handleSignals({ terminal, onClose }: Context, message?: string): Interrupts {
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
 * Makes a signal that is aborted by Ctrl-C, or with an UnavailableError when a time limit has
 * passed.
 * @param stop aborted by Ctrl-C; returned as it is without a limit
 * @param deadline time from now: digits with s, m or h, such as `30m`; undefined for no limit
 * @throws UsageError for another form
 */
export function makeDeadlineSignal(
  context: Closable,
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
  const signal = AbortSignal.any([stop, makeTimeoutSignal(context, givenMs, reason)]);
  setMaxListeners(0, signal);
  return signal;
}

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Parses a time such as `90s` or `2h` into milliseconds; undefined for any other text, and 0. */
function parseDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (MS_OF_UNIT[unit] ?? 0);
}

/**
 * Makes a signal that is aborted after `ms` milliseconds, unless the context is closed before.
 * @param reason of the abortion
 */
export function makeTimeoutSignal(
  { clock, onClose }: Closable,
  ms: number,
  reason: Error,
): AbortSignal {
  const timeout = new AbortController();
  const closing = new AbortController();
  onClose(() => closing.abort());
  clock.sleep(ms, closing.signal).then(
    () => timeout.abort(reason),
    () => {},
  );
  return timeout.signal;
}

type ProcessOptions = {
  readonly environment: Environment;
  readonly cwd: string;
  /** True where the process has the terminal of this one, and nothing is returned as output. */
  readonly isOnTerminal: boolean;
};

/**
 * Runs a command line of pas in a process of its own, in the language of this one, and waits for
 * its end. On a terminal `output` and `errors` are empty, since the process prints itself; else it
 * has no input.
 * @param args words after `pas`
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
  const [[code, signal], output, errors] = await Promise.all([
    once(child, 'close') as Promise<[number | null, string | null]>,
    child.stdout === null ? '' : readText(child.stdout),
    child.stderr === null ? '' : readText(child.stderr),
  ]);
  const reasons = Object.keys(EXIT_CODES) as ExitReason[];
  const reason = reasons.find((each) => EXIT_CODES[each][0] === code);
  if (reason === undefined)
    throw new Error(`pas ${args.join(' ')} ended with ${code ?? signal}: ${errors}`);
  return { reason, output, errors };
}
