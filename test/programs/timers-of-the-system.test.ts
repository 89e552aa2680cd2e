import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { timerFor } from '../../src/flows/system/system-timer.ts';
import { tempFolder } from '../support/temp-outbox.ts';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

const ODD = join('Eva Dvořáková', '100% "its" $HOME <job>.json');

function filesFor(platform: NodeJS.Platform): string[] {
  const folder = tempFolder();
  const { files } = timerFor(
    {
      name: 'pas-push-field',
      description: 'pas push, 100 % <of it>',
      command: [process.execPath, join(folder, ODD)],
      everyMs: 1_800_000,
      firstAt: '2026-11-23T12:00:00',
    },
    { platform, configFolder: folder, userFolder: folder, userId: 0, ownFolder: folder },
  );
  return files.map(({ path, content }) => {
    mkdirSync(join(folder, 'out'), { recursive: true });
    const copy = join(folder, 'out', basename(path));
    writeFileSync(copy, content);
    return copy;
  });
}

test.skipIf(!has('systemd-analyze'))('systemd finds nothing wrong in the units', () => {
  const { status, stderr, stdout } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', ...filesFor('linux')], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: tempFolder() },
  });
  // What it says of units of this machine is not about ours.
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('pas-push-field'))).toEqual([]);
  expect(status).toBe(0);
});

test.skipIf(!has('python3'))('Python reads the agent of launchd as it was meant', () => {
  const [file = ''] = filesFor('darwin');
  const script = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
  const { stdout, stderr } = spawnSync('python3', ['-c', script, file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    Label: 'org.pas-finds.pas-push-field',
    ProgramArguments: [process.execPath, expect.stringMatching(/Eva Dvořáková\/100% "its" \$HOME <job>\.json$/)],
    StartInterval: 1800,
    RunAtLoad: true,
    ProcessType: 'Background',
  });
});

test.skipIf(!has('python3'))('and the task of Windows', () => {
  const [file = ''] = filesFor('win32').map((path) => path);
  const script = [
    'import sys, xml.etree.ElementTree as tree',
    'ns = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"',
    'task = tree.parse(sys.argv[1]).getroot()',
    'print([child.tag.replace(ns, "") for child in task], task.find(f".//{ns}Interval").text, task.find(f".//{ns}Arguments").text)',
  ].join('\n');
  const { stdout, stderr } = spawnSync('python3', ['-c', script, file], {
    encoding: 'utf8',
    env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
  });
  expect(stderr).toBe('');
  expect(stdout).toContain("['RegistrationInfo', 'Triggers', 'Principals', 'Settings', 'Actions'] PT30M");
  expect(stdout).toContain('Eva Dvořáková');
});
