import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  getOwner,
  type Keyring,
  KeyringError,
  openSecrets,
  openSystemKeyring,
  type SecretStore,
} from '../../../src/store/secrets.ts';

const SECRETS = { password: 'planted-password', token: 'planted-token' };
const ADDRESS = 'https://finds.example.org';
const MUSEUM = getOwner({ baseUrl: ADDRESS, username: 'eva@example.org' });

let file: string;
let kept: Map<string, string>;
let keyring: Keyring;

beforeEach(() => {
  file = join(mkdtempSync(join(tmpdir(), 'pas-secrets-')), 'home', 'secrets.json');
  kept = new Map();
  keyring = {
    read: (account) => kept.get(account),
    write: (account, secret) => {
      kept.set(account, secret);
    },
    remove: (account) => {
      kept.delete(account);
    },
  };
});

/** Case without data of an earlier pas. */
const open = (path: string, ring: Keyring | undefined): SecretStore => openSecrets(path, ring, () => []);

const locked = (): never => {
  throw new KeyringError('it is locked');
};
const brokenKeyring: Keyring = { read: locked, write: locked, remove: locked };

describe('with a keyring', () => {
  test('no secret is in the file, and what was stored is read by the next process', () => {
    open(file, keyring).set(MUSEUM, SECRETS);
    expect(readFileSync(file, 'utf8')).not.toContain('planted');
    expect(open(file, keyring).get(MUSEUM)).toEqual(SECRETS);
    expect(open(file, keyring).getPlace(MUSEUM)).toBe('keyring');
  });

  test('logout deletes both', () => {
    const secrets = open(file, keyring);
    secrets.set(MUSEUM, SECRETS);
    secrets.remove(MUSEUM);
    expect(kept.size).toBe(0);
    expect(secrets.get(MUSEUM)).toEqual({});
    expect(secrets.getPlace(MUSEUM)).toBe('nowhere');
  });

  test('two homes with the same account do not share their secrets', () => {
    open(file, keyring).set(MUSEUM, SECRETS);
    const other = open(join(file, '..', 'other.json'), keyring);
    other.set(MUSEUM, { password: 'another' });
    expect(open(file, keyring).get(MUSEUM)).toEqual(SECRETS);
  });

  test('that is later unavailable, the secrets do not count as missing', () => {
    open(file, keyring).set(MUSEUM, SECRETS);
    expect(() => open(file, brokenKeyring).get(MUSEUM)).toThrow(/cannot be opened: it is locked/);
    expect(() => open(file, brokenKeyring).remove(MUSEUM)).toThrow(/cannot be opened/);
  });

  test('that refuses, the file stores them, readable by its owner alone', () => {
    open(file, brokenKeyring).set(MUSEUM, SECRETS);
    expect(open(file, brokenKeyring).get(MUSEUM)).toEqual(SECRETS);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  });
});

test('a damaged file is named without its content', () => {
  open(file, undefined).set(MUSEUM, SECRETS);
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
  expect(() => open(file, undefined).get(MUSEUM)).toThrow(/damaged/);
  try {
    open(file, undefined).get(MUSEUM);
  } catch (thrown) {
    expect(JSON.stringify([thrown, (thrown as Error).message])).not.toContain('planted');
  }
});

describe('secrets that an earlier pas stored under a profile name', () => {
  const STORE = 'rediss://redis.example.org:6379/0';
  const OLD = { ...SECRETS, pacingPassword: 'planted-pacing' };
  const rings: [string, () => Keyring | undefined][] = [
    ['in the keyring', () => keyring],
    ['in the file', () => undefined],
  ];

  /** As that pas left it. */
  function keptFor(profile: string, secrets: object, ring: Keyring | undefined): void {
    ring?.write(`${profile} (${file})`, JSON.stringify(secrets));
    mkdirSync(dirname(file), { recursive: true });
    const others = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {};
    writeFileSync(file, JSON.stringify({ ...others, [profile]: ring === undefined ? secrets : { keyring: true } }));
  }

  describe.each(rings)('%s', (_place, getRing) => {
    test('belong to its account from now on, whatever that profile names later', () => {
      const ring = getRing();
      keptFor('museum', SECRETS, ring);
      const other = getOwner({ baseUrl: 'https://elsewhere.example.org', username: 'eva@example.org' });
      expect(openSecrets(file, ring, () => [MUSEUM]).getPlace('anybody')).toBe('nowhere');
      const later = openSecrets(file, ring, () => [other]);
      expect([later.get(other), later.get('museum'), later.get(MUSEUM)]).toEqual([{}, {}, SECRETS]);
    });

    test('are found by the account that asks first', () => {
      const ring = getRing();
      keptFor('museum', SECRETS, ring);
      const secrets = openSecrets(file, ring, (profile) => (profile === 'museum' ? [MUSEUM] : []));
      expect(secrets.get(MUSEUM)).toEqual(SECRETS);
      expect(secrets.getPlace(MUSEUM)).toBe(ring === undefined ? 'file' : 'keyring');
    });

    test('of a removed profile stay as they are, for a profile that may return', () => {
      const ring = getRing();
      keptFor('gone', SECRETS, ring);
      const before = readFileSync(file, 'utf8');
      const secrets = open(file, ring);
      expect([secrets.get(MUSEUM), secrets.getPlace(MUSEUM)]).toEqual([{}, 'nowhere']);
      expect(readFileSync(file, 'utf8')).toBe(before);
      secrets.set(MUSEUM, { token: 'planted-other' });
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(JSON.parse(before) as object);
      expect(openSecrets(file, ring, () => [`${ADDRESS} jan@example.org`]).get(`${ADDRESS} jan@example.org`)).toEqual(SECRETS);
    });

    test('do not replace what the account got since', () => {
      const ring = getRing();
      open(file, ring).set(MUSEUM, { token: 'planted-newer' });
      keptFor('museum', SECRETS, ring);
      expect(openSecrets(file, ring, () => [MUSEUM]).get(MUSEUM)).toEqual({ token: 'planted-newer' });
    });

    test('go to its account and to its pacing store, and logging out of one keeps the other', () => {
      const ring = getRing();
      keptFor('museum', OLD, ring);
      const secrets = openSecrets(file, ring, () => [MUSEUM, STORE]);
      secrets.remove(MUSEUM);
      expect(openSecrets(file, ring, () => []).get(STORE).pacingPassword).toBe('planted-pacing');
      expect([...kept.values(), readFileSync(file, 'utf8')].join()).not.toMatch(/planted-(password|token)/);
    });

    test('under two names of one account are stored once, and logout removes all', () => {
      const ring = getRing();
      keptFor('museum', SECRETS, ring);
      keptFor('field', { token: 'planted-too' }, ring);
      expect(openSecrets(file, ring, () => [MUSEUM]).get(MUSEUM)).toEqual(SECRETS);
      openSecrets(file, ring, () => []).remove(MUSEUM);
      expect([...kept.values(), readFileSync(file, 'utf8')].join()).not.toContain('planted');
    });

    test('are gone when the account signs in again and out', () => {
      const ring = getRing();
      keptFor('museum', SECRETS, ring);
      const secrets = openSecrets(file, ring, () => [MUSEUM]);
      secrets.set(MUSEUM, { token: 'planted-newer' });
      secrets.remove(MUSEUM);
      expect([...kept.values(), readFileSync(file, 'utf8')].join()).not.toContain('planted');
    });
  });
});

test('secrets belong to an account of a service: neither another account nor another service has them', () => {
  const secrets = open(file, keyring);
  secrets.set(MUSEUM, SECRETS);
  for (const other of [
    { baseUrl: ADDRESS, username: 'jan@example.org' },
    { baseUrl: ADDRESS, username: undefined },
    { baseUrl: 'https://elsewhere.example.org', username: 'eva@example.org' },
  ])
    expect(secrets.get(getOwner(other))).toEqual({});
});

describe('a system keyring is used', () => {
  test('only with a session bus', () => {
    expect(openSystemKeyring({}, 'linux')).toBeUndefined();
    expect(openSystemKeyring({ XDG_RUNTIME_DIR: join(tmpdir(), 'no-such-folder') }, 'linux')).toBeUndefined();
    expect(openSystemKeyring({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }, 'linux')).toBeDefined();
  });

  test('and not when it is disabled', () => {
    expect(openSystemKeyring({ PAS_KEYRING: 'off', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }, 'linux')).toBeUndefined();
    expect(openSystemKeyring({ PAS_KEYRING: 'off' }, 'darwin')).toBeUndefined();
  });
});

test('a file that others could read is restricted once it is used', () => {
  open(file, undefined).set(MUSEUM, SECRETS);
  chmodSync(file, 0o644);
  expect(open(file, undefined).get(MUSEUM)).toEqual(SECRETS);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
