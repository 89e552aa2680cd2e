import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { acquireLockFile } from '../../../src/base/disk/lock-file.ts';
import {
  type Keyring,
  KeyringError,
  makeSecretsOwner,
  openSecrets,
  openSystemKeyring,
} from '../../../src/service/secrets.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const CLOCK = manualClock();
const SECRETS = { password: 'planted-password', token: 'planted-token' };
const ADDRESS = 'https://finds.example.org';
const MUSEUM = makeSecretsOwner({ baseUrl: ADDRESS, username: 'eva@example.org' });

let file: string;
let kept: Map<string, string>;
let keyring: Keyring;

beforeEach(() => {
  file = join(tempFolder(), 'home', 'secrets.json');
  kept = new Map();
  keyring = (action, account, secret = '') => {
    if (action === 'write') kept.set(account, secret);
    if (action === 'remove') kept.delete(account);
    return kept.get(account) ?? null;
  };
});

const brokenKeyring: Keyring = () => {
  throw new KeyringError('it is locked');
};

test.each(['set', 'remove'] as const)(
  'a change (%s) waits for that of another process and keeps it',
  (how) => {
    const other = makeSecretsOwner({ baseUrl: ADDRESS, username: 'jan@example.org' });
    openSecrets(file, undefined, CLOCK).set(MUSEUM, SECRETS);
    const lock = acquireLockFile(join(file, '..', '.secrets.lock'));
    const hold = (): void => {
      writeFileSync(
        file,
        JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), [other]: SECRETS }),
      );
      lock?.release();
    };
    const secrets = openSecrets(file, undefined, { ...CLOCK, hold });
    if (how === 'set') secrets.set(MUSEUM, { token: 'newer' });
    else secrets.remove(MUSEUM);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      ...(how === 'set' ? { [MUSEUM]: { token: 'newer' } } : {}),
      [other]: SECRETS,
    });
  },
);

describe('with a keyring', () => {
  test('no secret is in the file, and what was stored is read by the next process', () => {
    openSecrets(file, keyring, CLOCK).set(MUSEUM, SECRETS);
    expect(readFileSync(file, 'utf8')).not.toContain('planted');
    expect(openSecrets(file, keyring, CLOCK).get(MUSEUM)).toEqual(SECRETS);
    expect(openSecrets(file, keyring, CLOCK).getLocation(MUSEUM)).toBe('keyring');
  });

  test('logout deletes both', () => {
    const secrets = openSecrets(file, keyring, CLOCK);
    secrets.set(MUSEUM, SECRETS);
    secrets.remove(MUSEUM);
    expect(kept.size).toBe(0);
    expect(secrets.get(MUSEUM)).toEqual({});
    expect(secrets.getLocation(MUSEUM)).toBe('nowhere');
  });

  test('what another process stores while the keyring is asked is kept', () => {
    const other = makeSecretsOwner({ baseUrl: ADDRESS, username: 'jan@example.org' });
    const slow: Keyring = () => {
      openSecrets(file, undefined, CLOCK).set(other, SECRETS);
      return null;
    };
    openSecrets(file, slow, CLOCK).set(MUSEUM, SECRETS);
    expect(openSecrets(file, undefined, CLOCK).get(other)).toEqual(SECRETS);
  });

  test('two homes with the same account do not share their secrets', () => {
    openSecrets(file, keyring, CLOCK).set(MUSEUM, SECRETS);
    const other = openSecrets(join(file, '..', 'other.json'), keyring, CLOCK);
    other.set(MUSEUM, { password: 'another' });
    expect(openSecrets(file, keyring, CLOCK).get(MUSEUM)).toEqual(SECRETS);
  });

  test('that is later unavailable, the secrets do not count as missing', () => {
    openSecrets(file, keyring, CLOCK).set(MUSEUM, SECRETS);
    expect(() => openSecrets(file, brokenKeyring, CLOCK).get(MUSEUM)).toThrow(
      /cannot be opened: it is locked/,
    );
    expect(() => openSecrets(file, brokenKeyring, CLOCK).remove(MUSEUM)).toThrow(
      /cannot be opened/,
    );
  });

  test('that refuses, the file stores them, readable by its owner alone', () => {
    openSecrets(file, brokenKeyring, CLOCK).set(MUSEUM, SECRETS);
    expect(openSecrets(file, brokenKeyring, CLOCK).get(MUSEUM)).toEqual(SECRETS);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  });
});

test('a damaged file is named without its content', () => {
  openSecrets(file, undefined, CLOCK).set(MUSEUM, SECRETS);
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, -4));
  expect(() => openSecrets(file, undefined, CLOCK).get(MUSEUM)).toThrow(/damaged/);
  try {
    openSecrets(file, undefined, CLOCK).get(MUSEUM);
  } catch (thrown) {
    expect(JSON.stringify([thrown, (thrown as Error).message])).not.toContain('planted');
  }
});

test('secrets belong to an account of a service: neither another account nor another service has them', () => {
  const secrets = openSecrets(file, keyring, CLOCK);
  secrets.set(MUSEUM, SECRETS);
  for (const other of [
    { baseUrl: ADDRESS, username: 'jan@example.org' },
    { baseUrl: ADDRESS, username: undefined },
    { baseUrl: 'https://elsewhere.example.org', username: 'eva@example.org' },
  ])
    expect(secrets.get(makeSecretsOwner(other))).toEqual({});
});

describe('a system keyring is used', () => {
  test('only with a session bus', () => {
    expect(openSystemKeyring({}, 'linux')).toBeUndefined();
    expect(
      openSystemKeyring({ XDG_RUNTIME_DIR: join(tmpdir(), 'no-such-folder') }, 'linux'),
    ).toBeUndefined();
    expect(
      openSystemKeyring({ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }, 'linux'),
    ).toBeDefined();
  });

  test('and not when it is disabled', () => {
    expect(
      openSystemKeyring(
        { PAS_KEYRING: 'off', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' },
        'linux',
      ),
    ).toBeUndefined();
    expect(openSystemKeyring({ PAS_KEYRING: 'off' }, 'darwin')).toBeUndefined();
  });
});

test('a file that others could read is restricted once it is used', () => {
  openSecrets(file, undefined, CLOCK).set(MUSEUM, SECRETS);
  chmodSync(file, 0o644);
  expect(openSecrets(file, undefined, CLOCK).get(MUSEUM)).toEqual(SECRETS);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
