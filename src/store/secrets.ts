import { readFileSync } from 'node:fs';
import { AuthError, ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { writePrivateFile } from './files.ts';
import { type Keyring, KeyringError } from './keyring.ts';

/** What signs a profile in. It is kept apart from the configuration and is never printed. */
export type Secrets = {
  readonly password?: string;
  readonly token?: string;
  /** Of the Redis that keeps the pace. */
  readonly pacingPassword?: string;
};

export type SecretPlace = 'keyring' | 'file' | 'nowhere';

export type SecretStore = {
  /** @throws AuthError when they are in a keyring that cannot be had; ConfigError when the file is damaged */
  get(profile: string): Secrets;
  set(profile: string, secrets: Secrets): void;
  remove(profile: string): void;
  /** Where a profile's secrets are. */
  placeOf(profile: string): SecretPlace;
};

/** A profile's secrets themselves, or the note that the keyring has them. */
type Kept = Secrets | { readonly keyring: true };

/**
 * Secrets in the system's keyring where there is one that works, else in a file that only its owner can read. The file
 * says which, so that a keyring that is out of reach is not taken for one that is empty.
 */
export function openSecrets(path: string, keyring: Keyring | undefined): SecretStore {
  const account = (profile: string): string => `${profile} (${path})`;
  const read = new Map<string, Secrets>();
  const change = (edit: (all: Map<string, Kept>) => void): void => {
    const all = readAll(path);
    edit(all);
    writePrivateFile(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  };
  return {
    get: (profile) => {
      const kept = readAll(path).get(profile) ?? {};
      if (!('keyring' in kept)) return kept;
      const secrets = read.get(profile) ?? fromKeyring(keyring, profile, account(profile));
      read.set(profile, secrets);
      return secrets;
    },
    set: (profile, secrets) => {
      const inKeyring = keptInKeyring(keyring, account(profile), secrets);
      change((all) => all.set(profile, inKeyring ? { keyring: true } : secrets));
      read.set(profile, secrets);
    },
    remove: (profile) => {
      const kept = readAll(path).get(profile);
      if (kept !== undefined && 'keyring' in kept) withKeyring(profile, () => keyring?.remove(account(profile)));
      if (kept !== undefined) change((all) => all.delete(profile));
      read.delete(profile);
    },
    placeOf: (profile) => {
      const kept = readAll(path).get(profile);
      if (kept === undefined) return 'nowhere';
      return 'keyring' in kept ? 'keyring' : 'file';
    },
  };
}

function keptInKeyring(keyring: Keyring | undefined, account: string, secrets: Secrets): boolean {
  if (keyring === undefined) return false;
  try {
    keyring.write(account, JSON.stringify(secrets));
    return true;
  } catch (thrown) {
    if (!(thrown instanceof KeyringError)) throw thrown;
    return false;
  }
}

/** Without a keyring, since none is wanted, the profile counts as not signed in. */
function fromKeyring(keyring: Keyring | undefined, profile: string, account: string): Secrets {
  const text = withKeyring(profile, () => keyring?.read(account));
  if (text === undefined) return {};
  return parseSecrets(text) ?? {};
}

function withKeyring<T>(profile: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof KeyringError)) throw thrown;
    throw new AuthError(t`The secrets of ${profile} are in the system's keyring, and that cannot be had: ${thrown.message}.`, {
      hint: t`Unlock it; or set PAS_KEYRING=off and run \`pas login\` to keep them in a file that only you can read.`,
    });
  }
}

function readAll(path: string): Map<string, Kept> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return new Map();
    throw new ConfigError(t`${path} cannot be read.`, { cause: thrown, hint: t`Check its permissions.` });
  }
  const all = parseObject(text);
  if (all === undefined) throw new ConfigError(t`${path} is damaged.`, { hint: t`Delete it and run \`pas login\` again.` });
  return new Map(
    Object.entries(all).map(([profile, kept]) => [
      profile,
      isObject(kept) && kept['keyring'] === true ? { keyring: true } : secretsOf(kept),
    ]),
  );
}

function parseSecrets(text: string): Secrets | undefined {
  const value = parseObject(text);
  return value === undefined ? undefined : secretsOf(value);
}

function secretsOf(value: unknown): Secrets {
  if (!isObject(value)) return {};
  const { password, token, pacingPassword } = value;
  return {
    ...(typeof password === 'string' ? { password } : {}),
    ...(typeof token === 'string' ? { token } : {}),
    ...(typeof pacingPassword === 'string' ? { pacingPassword } : {}),
  };
}

/** The parser's message would quote the text, so it is not passed on. */
function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
