import { describe, expect, test } from 'vitest';
import {
  isLedgerBesideOutbox,
  makeDataPaths,
  readMachineId,
  type SystemQueries,
  thisSystem,
} from '../../../src/cli/context/places.ts';

/** The ledger is beside the outbox there. */
const isContainer = (system: SystemQueries): boolean =>
  isLedgerBesideOutbox(makeDataPaths({}), system);

const MACHINE_ID = '0123456789abcdef0123456789abcdef';
const GUID = '01234567-89AB-cdef-0123-456789abcdef';

/** Answers exactly these questions, with what a machine of that kind was seen to print. */
function machine(
  platform: NodeJS.Platform,
  answers: Readonly<Record<string, string>>,
): SystemQueries {
  return {
    platform,
    read: (path) => answers[`read ${path}`],
    link: (path) => answers[`link ${path}`],
    exists: (path) => answers[`exists ${path}`] !== undefined,
    run: (program, args) => answers[[program, ...args].join(' ')],
  };
}

describe('Linux', () => {
  const SPACE = 'link /proc/self/ns/pid';
  const linux = (changes: Readonly<Record<string, string>> = {}): SystemQueries =>
    machine('linux', {
      [SPACE]: 'pid:[4026531836]',
      'read /etc/machine-id': `${MACHINE_ID}\n`,
      ...changes,
    });

  test('has an identifier if it is the host of its processes', () => {
    expect(readMachineId(linux())).toBe(MACHINE_ID);
    expect(isContainer(linux())).toBe(false);
  });

  test.each([
    ['another name space of processes', { [SPACE]: 'pid:[4026532177]' }],
    ['a name space that cannot be read', { [SPACE]: '' }],
    ['the file of Docker', { 'exists /.dockerenv': '' }],
    ['the file of Podman', { 'exists /run/.containerenv': '' }],
  ])('is a container by %s, and its identifier may be that of its image', (_, changes) => {
    expect(isContainer(linux(changes))).toBe(true);
    expect(readMachineId(linux(changes))).toBe('');
  });

  test('without readable files counts as a container', () => {
    expect(isContainer(machine('linux', {}))).toBe(true);
    expect(readMachineId(machine('linux', {}))).toBe('');
  });

  test.each([`x${MACHINE_ID}\n`, `${MACHINE_ID}0\n`, 'uninitialized\n', ''])(
    'has no identifier in %j',
    (text) => {
      expect(readMachineId(linux({ 'read /etc/machine-id': text }))).toBe('');
    },
  );

  test('may have no identifier file', () => {
    expect(readMachineId(machine('linux', { [SPACE]: 'pid:[4026531836]' }))).toBe('');
  });
});

describe('macOS', () => {
  const darwin = (printed: string): SystemQueries =>
    machine('darwin', {
      '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice': printed,
      'exists /.dockerenv': '',
    });

  test('has the identifier of its platform and is no container', () => {
    const system = darwin(`+-o J314 <class>\n    {\n      "IOPlatformUUID" = "${GUID}"\n    }\n`);
    expect([readMachineId(system), isContainer(system)]).toEqual([GUID, false]);
  });

  test.each(['', '"IOPlatformUUID" = "unknown"', `"IOPlatformUUID" = "${GUID}0"`])(
    'has none in %j',
    (printed) => {
      expect(readMachineId(darwin(printed))).toBe('');
    },
  );

  test('has none if no program reports it', () => {
    expect(readMachineId(machine('darwin', {}))).toBe('');
  });
});

describe('Windows', () => {
  const IN_CONTAINER =
    'reg.exe query HKLM\\SYSTEM\\CurrentControlSet\\Control /v ContainerType /reg:64';
  const GUIDS = 'reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64';
  const NAMED = { [GUIDS]: `\r\n    MachineGuid    REG_SZ    ${GUID}\r\n` };

  test('has the identifier in its registry and is no container', () => {
    const system = machine('win32', NAMED);
    expect([readMachineId(system), isContainer(system)]).toEqual([GUID, false]);
  });

  test('is a container if the registry names its kind, and its identifier may be that of its image', () => {
    const system = machine('win32', {
      ...NAMED,
      [IN_CONTAINER]: '    ContainerType    REG_DWORD    0x2\r\n',
    });
    expect([readMachineId(system), isContainer(system)]).toEqual(['', true]);
  });

  test('has none if the registry cannot be queried', () => {
    expect(readMachineId(machine('win32', {}))).toBe('');
  });
});

test('any other system has no identifier and is no container', () => {
  const system = machine('openbsd', { 'read /etc/machine-id': MACHINE_ID });
  expect([readMachineId(system), isContainer(system)]).toEqual(['', false]);
});

test('this system answers all questions, with an identifier of its kind or none', () => {
  expect(readMachineId(thisSystem)).toMatch(/^([0-9a-f-]{32,36})?$/i);
  if (isContainer(thisSystem)) expect(readMachineId(thisSystem)).toBe('');
  expect(thisSystem.run('no-such-program-of-any-system', [])).toBeUndefined();
  expect(thisSystem.read('/no/such/file')).toBeUndefined();
});
