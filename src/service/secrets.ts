import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { restrictPermissions } from '../base/disk/files.ts';
import { acquireChangeLock } from '../base/disk/lock-file.ts';
import { writePrivateFile } from '../base/disk/output-file.ts';
import { AuthError, ConfigError, getErrorCode } from '../base/errors.ts';
import { isPlainObject, parseJsonObject } from '../base/json-and-toml.ts';
import { cmd, t } from '../base/message.ts';
import { runChildScript } from '../base/own-files.ts';

/** Credentials of an account, stored apart from the configuration and never printed. */
type Secrets = {
  readonly password?: string;
  readonly token?: string;
};

/** Where the credentials of an account are; `nowhere`: there are none. */
export type SecretLocation = 'keyring' | 'file' | 'nowhere';

/** Credentials by their owner; see {@link makeSecretsOwner}. */
export type SecretStore = {
  /**
   * Returns the credentials; none where nothing is stored, and while their keyring is switched off.
   * @throws AuthError when they are in an unavailable keyring; ConfigError when the file is
   * damaged, cannot be read, or has secrets that others may read
   */
  get(owner: string): Secrets;
  /** Stores them in the keyring, or in the file where there is none that works. */
  set(owner: string, secrets: Secrets): void;
  /** Removes them; while the keyring is switched off, it keeps what it has. */
  remove(owner: string): void;
  /** Tells where they are by the file alone; the keyring is not opened. */
  getLocation(owner: string): SecretLocation;
};

/**
 * Makes the name of the owner by whom credentials are stored: service address and user name, or the
 * address alone without a user name. So they are not used after a profile changes its address.
 */
export function makeSecretsOwner({
  baseUrl,
  username,
}: {
  readonly baseUrl: string;
  readonly username: string | undefined;
}): string {
  return `${baseUrl} ${username ?? ''}`.trimEnd();
}

/** Stored entry: the secrets, or a reference to the keyring. */
type StoredSecrets = Secrets | { readonly keyring: true };

/**
 * Opens the secrets of a data home: in the system's keyring where one works, else in the file at
 * `path`, which only its owner can read. The file records which, so that an unavailable keyring is
 * not taken for an empty one. Nothing is read yet. `set` and `remove` throw ConfigError where the
 * file is damaged or another process keeps its lock, and DatabaseError where the disk fails;
 * `remove` throws AuthError for an unavailable keyring.
 */
export function openSecrets(path: string, keyring: Keyring | undefined, clock: Clock): SecretStore {
  const getAccountName = (name: string): string => `${name} (${path})`;
  const read = new Map<string, Secrets>();
  return {
    get: (owner) => {
      const stored = readAll(path).get(owner) ?? {};
      if (!('keyring' in stored)) return stored;
      const secrets = read.get(owner) ?? readFromKeyring(keyring, owner, getAccountName(owner));
      read.set(owner, secrets);
      return secrets;
    },
    set: (owner, secrets) => {
      const stored = tryKeepInKeyring(keyring, getAccountName(owner), secrets)
        ? ({ keyring: true } as const)
        : secrets;
      changeAll(path, clock, (all) => all.set(owner, stored));
      read.set(owner, secrets);
    },
    remove: (owner) => {
      const stored = readAll(path).get(owner);
      if (stored !== undefined && 'keyring' in stored)
        convertKeyringErrors(owner, () => keyring?.('remove', getAccountName(owner)));
      if (stored !== undefined) changeAll(path, clock, (all) => all.delete(owner));
      read.delete(owner);
    },
    getLocation: (owner) => {
      const stored = readAll(path).get(owner);
      if (stored === undefined) return 'nowhere';
      return 'keyring' in stored ? 'keyring' : 'file';
    },
  };
}

/**
 * Changes the file under its lock, which is not held while the keyring is used: that may wait for a
 * person.
 * @param apply changes the entries; false where nothing is to be written
 */
function changeAll(
  path: string,
  clock: Clock,
  apply: (all: Map<string, StoredSecrets>) => unknown,
): void {
  const lock = acquireChangeLock(join(dirname(path), '.secrets.lock'), clock);
  try {
    const all = readAll(path);
    if (apply(all) !== false)
      writePrivateFile(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  } finally {
    lock.release();
  }
}

function tryKeepInKeyring(
  keyring: Keyring | undefined,
  account: string,
  secrets: Secrets,
): boolean {
  if (keyring === undefined) return false;
  try {
    keyring('write', account, JSON.stringify(secrets));
    return true;
  } catch (thrown) {
    if (!(thrown instanceof KeyringError)) throw thrown;
    return false;
  }
}

/** Reads from the keyring; while it is switched off, the owner counts as not signed in. */
function readFromKeyring(keyring: Keyring | undefined, owner: string, account: string): Secrets {
  return toSecrets(
    parseJsonObject(convertKeyringErrors(owner, () => keyring?.('read', account)) ?? '{}'),
  );
}

/** @throws AuthError in place of a KeyringError of `work` */
function convertKeyringErrors<T>(owner: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof KeyringError)) throw thrown;
    throw new AuthError(
      t`The secrets of ${owner} are in the system keyring, which cannot be opened: ${thrown.message}.`,
      {
        hint: t`Unlock it; or set PAS_KEYRING=off and run \`${cmd`pas login`}\` to store them in a file that only you can read.`,
      },
    );
  }
}

/**
 * Reads the file, after taking the permissions of other users away; empty where there is none.
 * @throws ConfigError where it cannot be read, is damaged, or has secrets that others may read
 */
function readAll(path: string): Map<string, StoredSecrets> {
  let text: string;
  let isOpen: boolean;
  try {
    isOpen = restrictPermissions(path) === 'open';
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (getErrorCode(thrown) === 'ENOENT') return new Map();
    throw new ConfigError(t`${path} cannot be read.`, {
      cause: thrown,
      hint: t`Check its permissions.`,
    });
  }
  const all = parseJsonObject(text);
  if (all === undefined)
    throw new ConfigError(t`${path} is damaged.`, {
      hint: t`Delete it and run \`${cmd`pas login`}\` again.`,
    });
  const secrets = new Map(
    Object.entries(all).map(([owner, value]) => [owner, parseStoredSecrets(value)]),
  );
  if (isOpen && [...secrets.values()].some((stored) => !('keyring' in stored)))
    throw new ConfigError(
      t`${path} is not used: others may read it, and its permissions cannot be changed.`,
      {
        hint: t`Delete it. Keep the data folder (PAS_HOME) on a disk that has permissions, or give the password in PAS_PASSWORD.`,
      },
    );
  return secrets;
}

function parseStoredSecrets(value: unknown): StoredSecrets {
  return isPlainObject(value) && value['keyring'] === true ? { keyring: true } : toSecrets(value);
}

function toSecrets(value: unknown): Secrets {
  if (!isPlainObject(value)) return {};
  const { password, token } = value;
  return {
    password: typeof password === 'string' ? password : undefined,
    token: typeof token === 'string' ? token : undefined,
  };
}

/**
 * The system's store for secrets: does one action, and returns the secret that it reads, null where
 * there is none. Throws {@link KeyringError} when it is unavailable.
 */
export type Keyring = (
  action: KeyringRequest['action'],
  account: string,
  secret?: string,
) => string | null;

/** Reason why the keyring is unavailable, without any of its content. */
export class KeyringError extends Error {}

/** Input of keyring-process.ts; `secret` is given to write one. */
export type KeyringRequest = {
  readonly action: 'read' | 'write' | 'remove';
  readonly service: string;
  readonly account: string;
  readonly secret?: string;
};

/** Output of keyring-process.ts; `secret` is null where none is stored, or none was to be read. */
export type KeyringAnswer =
  | { readonly ok: true; readonly secret: string | null }
  | { readonly ok: false; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE = 'pas';
const ANSWER_TIMEOUT_MS = 5000;
/** Environment that a keyring's library needs to find its service. PAS_PASSWORD is not passed. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|LANG|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_\w+|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE|TEMP|TMP)$/i;

/**
 * Opens the keyring of the platform. Each use runs a subprocess, for which the thread is blocked
 * for five seconds at most, and throws KeyringError where that fails; after a crash or a timeout,
 * each further use throws at once.
 * @returns undefined where there is no keyring: on Linux without a session bus, and where
 * `PAS_KEYRING` is `off`
 */
export function openSystemKeyring(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): Keyring | undefined {
  if (environment['PAS_KEYRING'] === 'off') return undefined;
  if (platform !== 'darwin' && platform !== 'win32' && !hasSessionBus(environment))
    return undefined;
  const env = Object.fromEntries(
    Object.entries(environment).filter(([name]) => PASSED_ON.test(name)),
  );
  // After a timeout the keyring is not tried again: every attempt would take the whole timeout.
  let silent: string | undefined;
  return (action, account, secret) => {
    if (silent !== undefined) throw new KeyringError(silent);
    const answer = runKeyringProcess({ service: SERVICE, action, account, secret }, env);
    if (answer === undefined) {
      const seconds = ANSWER_TIMEOUT_MS / 1000;
      silent = t`it did not answer within ${seconds} seconds, or crashed`;
      throw new KeyringError(silent);
    }
    if (!answer.ok) throw new KeyringError(answer.message);
    return answer.secret;
  };
}

/** Returns the answer of keyring-process.ts; undefined where it crashed or took too long. */
function runKeyringProcess(
  request: KeyringRequest,
  env: NodeJS.ProcessEnv,
): KeyringAnswer | undefined {
  const { stdout, error } = runChildScript(
    ['service/keyring-process'],
    JSON.stringify(request),
    ANSWER_TIMEOUT_MS,
    env,
  );
  const answer = error === undefined ? parseJsonObject(String(stdout)) : undefined;
  return answer as KeyringAnswer | undefined;
}

function hasSessionBus(environment: Environment): boolean {
  const runtimeFolder = environment['XDG_RUNTIME_DIR'];
  return (
    (environment['DBUS_SESSION_BUS_ADDRESS'] ?? '') !== '' ||
    (runtimeFolder !== undefined && existsSync(join(runtimeFolder, 'bus')))
  );
}
