import { describe, expect, test } from 'vitest';
import { pathOfRegistry, registryWithPath } from '../../../src/flows/system/registry-file.ts';
import { type TimedProgram, type TimerSystem, timerFor } from '../../../src/flows/system/system-timer.ts';

const ODD = '/home/Eva Dvořáková/100% "its" $HOME\\x';
const program: TimedProgram = {
  name: 'pas-push-field-0a1b2c3d',
  description: 'pas push, profile field <50%>',
  command: ['/opt/pas/runtime/node', ODD],
  everyMs: 3_600_000,
  firstAt: '2026-11-23T12:00:00',
};
const system = (platform: NodeJS.Platform): TimerSystem => ({
  platform,
  configFolder: '/home/eva/.config',
  userFolder: '/Users/eva',
  userId: 501,
  ownFolder: platform === 'win32' ? 'C:\\Users\\Eva\\AppData\\Local\\pas\\state\\schedules' : '/state',
});

test('systemd gets two units in the user’s own folder, in which nothing of a path stands for something else', () => {
  const { files, begin, end } = timerFor(program, system('linux'));
  expect(files.map(({ path }) => path)).toEqual([
    '/home/eva/.config/systemd/user/pas-push-field-0a1b2c3d.service',
    '/home/eva/.config/systemd/user/pas-push-field-0a1b2c3d.timer',
  ]);
  const [service, timer] = files.map(({ content }) => String(content));
  expect(service).toContain('Description=pas push, profile field <50%%>\n');
  expect(service).toContain('ExecStart="/opt/pas/runtime/node" "/home/Eva Dvořáková/100%% \\"its\\" $$HOME\\\\x"\n');
  expect(timer).toContain('OnUnitActiveSec=3600s\n');
  expect(begin.at(-1)).toEqual(['systemctl', '--user', 'enable', '--now', 'pas-push-field-0a1b2c3d.timer']);
  expect(end).toEqual([['systemctl', '--user', 'disable', '--now', 'pas-push-field-0a1b2c3d.timer']]);
});

test('launchd gets an agent of the user', () => {
  const { files, begin, end } = timerFor(program, system('darwin'));
  const [{ path, content } = { path: '', content: '' }] = files;
  expect(path).toBe('/Users/eva/Library/LaunchAgents/org.pas-finds.pas-push-field-0a1b2c3d.plist');
  for (const part of ['<key>StartInterval</key>', '<integer>3600</integer>', '<string>/opt/pas/runtime/node</string>', '<true/>'])
    expect(String(content)).toContain(part);
  expect(begin).toEqual([['launchctl', 'bootstrap', 'gui/501', path]]);
  expect(end).toEqual([['launchctl', 'bootout', 'gui/501/org.pas-finds.pas-push-field-0a1b2c3d']]);
});

test('the Task Scheduler gets a task in UTF-16 that asks for no rights and runs once at a time', () => {
  const { files, begin, end } = timerFor(
    { ...program, command: ['C:\\pas\\node.exe', 'C:\\pas\\pas.js', '__scheduled'] },
    system('win32'),
  );
  const [{ path, content } = { path: '', content: '' }] = files;
  expect(path).toBe('C:\\Users\\Eva\\AppData\\Local\\pas\\state\\schedules\\pas-push-field-0a1b2c3d.xml');
  const text = (content as Buffer).toString('utf16le');
  expect(text.startsWith('\uFEFF<?xml version="1.0" encoding="UTF-16"?>\r\n<Task ')).toBe(true);
  for (const part of [
    '<Interval>PT60M</Interval>',
    '<StartBoundary>2026-11-23T12:00:00</StartBoundary>',
    '<RunLevel>LeastPrivilege</RunLevel>',
    '<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '<Command>C:\\pas\\node.exe</Command>',
    '<Arguments>"C:\\pas\\pas.js" "__scheduled"</Arguments>',
    'profile field &lt;50%&gt;',
  ])
    expect(text).toContain(part);
  expect(begin).toEqual([['schtasks', '/Create', '/TN', 'pas\\pas-push-field-0a1b2c3d', '/XML', path, '/F']]);
  expect(end).toEqual([['schtasks', '/Delete', '/TN', 'pas\\pas-push-field-0a1b2c3d', '/F']]);
});

describe('the path of the registry of Windows', () => {
  const exported = (line: string): string =>
    `Windows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER\\Environment]\r\n"TEMP"="x"\r\n${line}\r\n`;

  test.each([
    ['"Path"="C:\\\\Nářadí;C:\\\\b"', 'C:\\Nářadí;C:\\b'],
    ['"PATH"="C:\\\\a \\"q\\""', 'C:\\a "q"'],
    ['"Path"=hex(2):43,00,3a,00,\\\r\n  5c,00,59,01,00,00', 'C:\\ř'],
    ['"Other"="1"', ''],
  ])('is read from %s', (line, path) => {
    expect(pathOfRegistry(exported(line))).toBe(path);
  });

  test('is read back as it was written, letters and variables alike', () => {
    const path = '%USERPROFILE%\\bin;C:\\Výkop u brodu\\pas;D:\\"x"';
    const bytes = registryWithPath(path);
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xfe]);
    expect(pathOfRegistry(bytes.toString('utf16le'))).toBe(path);
  });

  test('is not touched where it is of another kind', () => {
    expect(() => pathOfRegistry(exported('"Path"=dword:00000001'))).toThrow('unknown kind');
  });
});
