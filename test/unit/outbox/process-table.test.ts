import { describe, expect, test } from 'vitest';
import { nodeSystem, processTable, type System } from '../../../src/outbox/process-table.ts';

const MACHINE_ID = '0123456789abcdef0123456789abcdef';
const GUID = '01234567-89AB-cdef-0123-456789abcdef';
const FILETIME = '133612345678901234';

/** Answers with what a machine of that kind was seen to print, to exactly these questions. */
function machine(platform: NodeJS.Platform, answers: Readonly<Record<string, string>>, alive: readonly number[] = [40]) {
  const asked: string[] = [];
  const answer = (question: string): string | undefined => {
    asked.push(question);
    return answers[question];
  };
  const system: System = {
    ...{ platform, pid: 40, host: 'laptop' },
    read: (path) => answer(`read ${path}`),
    link: (path) => answer(`link ${path}`),
    exists: (pid) => alive.includes(pid),
    run: (program, args) => answer([program, ...args].join(' ')),
  };
  return { ...processTable(system), asked };
}

/** The fields behind a name, which may hold brackets and blanks itself: the 22nd of all is the start. */
const stat = (state: string, start: string): string =>
  `40 (a) b (c)) ${[state, ...Array.from({ length: 18 }, (_, nth) => nth), start, 'rest'].join(' ')}\n`;

describe('Linux', () => {
  const PROC = {
    'link /proc/self': '40',
    'link /proc/self/ns/pid': 'pid:[4026531836]',
    'read /proc/sys/kernel/random/boot_id': 'b0071d\n',
    'read /proc/40/stat': stat('S', '4711'),
    'read /etc/machine-id': `${MACHINE_ID}\n`,
  };
  const linux = (changes: Readonly<Record<string, string>> = {}) => machine('linux', { ...PROC, ...changes });

  test('tells a process by its start, the boot and the name space', () => {
    const table = linux();
    expect(table.self()).toEqual({ boot: 'b0071d', start: '4711', nameSpace: 'pid:[4026531836]' });
    expect(table.self()).toBe(table.self());
    expect(table.machine()).toBe(MACHINE_ID);
  });

  test.each(['Z', 'X'])('takes one in state %s for ended', (state) => {
    expect(linux({ 'read /proc/40/stat': stat(state, '4711') }).seen(40)).toBe('gone');
  });

  test('does not look for the state of a zombie elsewhere than at its place', () => {
    expect(linux({ 'read /proc/40/stat': stat('SZ', '4711') }).seen(40)).toEqual({ start: '4711' });
  });

  test('of a /proc that shows another name space it reads nothing', () => {
    expect(linux({ 'link /proc/self': '41' }).seen(40)).toBe('hidden');
    expect(linux({ 'link /proc/self': '41' }).seen(39)).toBe('gone');
  });

  test.each([[`x${MACHINE_ID}\n`], [`${MACHINE_ID}0\n`], ['uninitialized\n']])('%j is no identifier of a machine', (text) => {
    expect(linux({ 'read /etc/machine-id': text }).machine()).toBe('');
  });

  test('what cannot be read is empty, and a process is hidden then', () => {
    const table = machine('linux', {});
    expect(table.self()).toEqual({ boot: '', start: '', nameSpace: '' });
    expect(table.machine()).toBe('');
    expect([table.seen(40), table.seen(41)]).toEqual(['hidden', 'gone']);
  });

  test('a stat that is cut short tells no start', () => {
    expect(linux({ 'read /proc/40/stat': '40 (pas) S 1 2' }).seen(40)).toBe('hidden');
    expect(linux({ 'read /proc/40/stat': '' }).seen(40)).toBe('hidden');
  });
});

describe('macOS', () => {
  const PS = '/usr/bin/env LC_ALL=C TZ=UTC /bin/ps -o stat= -o lstart= -p 40';
  const SYSCTL = '/usr/sbin/sysctl -n kern.bootsessionuuid';
  const IOREG = '/usr/sbin/ioreg -rd1 -c IOPlatformExpertDevice';
  const darwin = (changes: Readonly<Record<string, string>> = {}) =>
    machine('darwin', {
      [PS]: 'S+   Mon Jun  3 09:05:07 2024    \n',
      [SYSCTL]: `${GUID}\n`,
      [IOREG]: `+-o J314 <class>\n    {\n      "IOPlatformUUID" = "${GUID}"\n    }\n`,
      ...changes,
    });

  test('tells a process by its start, the boot and that it is one', () => {
    const start = String(Date.UTC(2024, 5, 3, 9, 5, 7));
    expect(darwin().self()).toEqual({ boot: GUID, start, nameSpace: 'darwin' });
    expect(darwin().machine()).toBe(GUID);
  });

  test.each([
    ['  Ss Mon Jun  3 09:05:07 2024', { start: '1717405507000' }],
    ['Z    Mon Jun  3 09:05:07 2024', 'gone'],
    [' Z   Mon Jun  3 09:05:07 2024', 'gone'],
    ['S    some day', 'hidden'],
    ['', 'hidden'],
  ])('reads %j', (printed, seen) => {
    expect(darwin({ [PS]: printed }).seen(40)).toEqual(seen);
  });

  test.each([`x${GUID}`, `${GUID}x`, `z${GUID.slice(1)}`, 'unknown'])('%j is no boot', (printed) => {
    expect(darwin({ [SYSCTL]: printed }).self().boot).toBe('');
  });

  test('what no program tells is empty', () => {
    const table = machine('darwin', {});
    expect(table.self()).toEqual({ boot: '', start: '', nameSpace: 'darwin' });
    expect(table.machine()).toBe('');
  });
});

describe('Windows', () => {
  const POWERSHELL = 'powershell.exe -NoProfile -NonInteractive -Command (Get-Process -Id 40).StartTime.ToFileTimeUtc()';
  const CONTAINER = 'reg.exe query HKLM\\SYSTEM\\CurrentControlSet\\Control /v ContainerType /reg:64';
  const GUIDS = 'reg.exe query HKLM\\SOFTWARE\\Microsoft\\Cryptography /v MachineGuid /reg:64';
  const windows = (changes: Readonly<Record<string, string>> = {}) =>
    machine('win32', { [POWERSHELL]: `${FILETIME}\r\n`, [GUIDS]: `\r\n    MachineGuid    REG_SZ    ${GUID}\r\n`, ...changes });

  test('tells a process by its start and that it is one', () => {
    expect(windows().self()).toEqual({ boot: '', start: FILETIME, nameSpace: 'win32' });
    expect(windows().machine()).toBe(GUID);
  });

  test('has no name in a container, which has that of its image', () => {
    expect(windows({ [CONTAINER]: '    ContainerType    REG_DWORD    0x2\r\n' }).machine()).toBe('');
  });

  test('asks nothing of a process that is not there', () => {
    const table = windows();
    expect(table.seen(41)).toBe('gone');
    expect(table.asked).toEqual([]);
  });

  test.each([`error: ${FILETIME}`, `${FILETIME} at line 1`, ''])('%j tells no start', (printed) => {
    expect(windows({ [POWERSHELL]: printed }).seen(40)).toBe('hidden');
  });
});

test('of another system nothing is known', () => {
  const table = machine('openbsd', {});
  expect(table.self()).toEqual({ boot: '', start: '', nameSpace: '' });
  expect([table.machine(), table.seen(41)]).toEqual(['', 'hidden']);
  expect(table.asked).toEqual([]);
});

describe.runIf(process.platform === 'linux')('this machine', () => {
  test('says which processes there are', () => {
    expect([nodeSystem.exists(process.pid), nodeSystem.exists(1), nodeSystem.exists(2 ** 22 + 1)]).toEqual([true, true, false]);
    // A number that no process can have is no proof that a process is gone.
    expect(nodeSystem.exists(2 ** 40)).toBe(true);
  });

  test('runs programs, and reads nothing of one that fails', () => {
    expect(nodeSystem.run('/bin/sh', ['-c', 'echo out; echo err >&2'])).toBe('out\n');
    expect(nodeSystem.run('/bin/sh', ['-c', 'echo out; exit 3'])).toBeUndefined();
    expect(nodeSystem.run('/bin/cat', [])).toBe('');
  });

  test('reads files and links, and nothing where there are none', () => {
    expect(nodeSystem.read('/proc/self/comm')).toMatch(/\n$/);
    expect(nodeSystem.link('/proc/self')).toBe(`${process.pid}`);
    expect([nodeSystem.read('/nowhere'), nodeSystem.link('/nowhere')]).toEqual([undefined, undefined]);
  });
});
