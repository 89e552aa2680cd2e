import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Keyring, KeyringError, systemKeyring } from '../../../src/store/keyring.ts';
import { openSecrets } from '../../../src/store/secrets.ts';

const SECRETS = { password: 'planted-password', token: 'planted-token' };

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

const locked = (): never => {
  throw new KeyringError('it is locked');
};
const brokenKeyring: Keyring = { read: locked, write: locked, remove: locked };

describe('with a keyring', () => {
  test('nothing secret is in the file, and what was kept is read again by the next process', () => {
    openSecrets(file, keyring).set('museum', SECRETS);
    expect(readFileSync(file, 'utf8')).not.toContain('planted');
    expect(openSecrets(file, keyring).get('museum')).toEqual(SECRETS);
    expect(openSecrets(file, keyring).placeOf('museum')).toBe('keyring');
  });

  test('signing out forgets both', () => {
    const secrets = openSecrets(file, keyring);
    secrets.set('museum', SECRETS);
    secrets.remove('museum');
    expect(kept.size).toBe(0);
    expect(secrets.get('museum')).toEqual({});
    expect(secrets.placeOf('museum')).toBe('nowhere');
  });

  test('two homes with a profile of one name do not share their secrets', () => {
    openSecrets(file, keyring).set('museum', SECRETS);
    const other = openSecrets(join(file, '..', 'other.json'), keyring);
    other.set('museum', { password: 'another' });
    expect(openSecrets(file, keyring).get('museum')).toEqual(SECRETS);
  });

  test('that is out of reach later, the secrets are not taken for missing', () => {
    openSecrets(file, keyring).set('museum', SECRETS);
    expect(() => openSecrets(file, brokenKeyring).get('museum')).toThrow(/cannot be had: it is locked/);
    expect(() => openSecrets(file, brokenKeyring).remove('museum')).toThrow(/cannot be had/);
  });

  test('that refuses, the file takes them, readable by its owner alone', () => {
    openSecrets(file, brokenKeyring).set('museum', SECRETS);
    expect(openSecrets(file, brokenKeyring).get('museum')).toEqual(SECRETS);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  });
});

test('a damaged file is named without a word of what it holds', () => {
  openSecrets(file, undefined).set('museum', SECRETS);
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
  expect(() => openSecrets(file, undefined).get('museum')).toThrow(/damaged/);
  try {
    openSecrets(file, undefined).get('museum');
  } catch (thrown) {
    expect(JSON.stringify([thrown, (thrown as Error).message])).not.toContain('planted');
  }
});

describe('a keyring of the system is looked for', () => {
  test('only where there is a session bus', () => {
    expect(systemKeyring({}, 'linux')).toBeUndefined();
    expect(systemKeyring({ XDG_RUNTIME_DIR: join(tmpdir(), 'no-such-folder') }, 'linux')).toBeUndefined();
    expect(systemKeyring({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }, 'linux')).toBeDefined();
  });

  test('and not when it is not wanted', () => {
    expect(systemKeyring({ PAS_KEYRING: 'off', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }, 'linux')).toBeUndefined();
    expect(systemKeyring({ PAS_KEYRING: 'off' }, 'darwin')).toBeUndefined();
  });
});
