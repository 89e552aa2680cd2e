import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from '../../support/run-pas.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const SCRIPTS = join(PROJECT, 'scripts', 'archive');

describe('install.sh', () => {
  /** An unpacked archive with the script. */
  function unpacked(): string {
    const folder = join(tempFolder(), 'pas 1');
    mkdirSync(join(folder, 'app', 'bin'), { recursive: true });
    for (const name of ['pas', 'pas-mock-server', 'app/bin/pas.js'])
      writeFileSync(join(folder, name), '');
    return folder;
  }

  function install(archive: string, home: string, ...args: string[]) {
    spawnSync('cp', [join(SCRIPTS, 'install.sh'), archive]);
    const env = { HOME: home, PATH: '/usr/bin:/bin' };
    return spawnSync('sh', [join(archive, 'install.sh'), ...args], { env, encoding: 'utf8' });
  }

  test('links the programs over those of an older archive, and removes the links again', () => {
    const home = tempFolder();
    const link = join(home, '.local', 'bin', 'pas');
    expect(install(unpacked(), home).status).toBe(0);
    const newer = unpacked();
    const run = install(newer, home);
    expect([run.status, readlinkSync(link)]).toEqual([0, join(newer, 'pas')]);
    expect(run.stdout).toContain('export PATH="$HOME/.local/bin:$PATH"');
    expect(install(newer, home, '--remove').status).toBe(0);
    expect(existsSync(link)).toBe(false);
  });

  test('changes nothing if another program has the name', () => {
    const home = tempFolder();
    const place = join(home, '.local', 'bin');
    mkdirSync(place, { recursive: true });
    symlinkSync('/bin/true', join(place, 'pas-mock-server'));
    const run = install(unpacked(), home);
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining('is another program')]);
    expect(existsSync(join(place, 'pas'))).toBe(false);
    install(unpacked(), home, '--remove');
    expect(readlinkSync(join(place, 'pas-mock-server'))).toBe('/bin/true');
  });
});

describe('the path of the registry of Windows', async () => {
  const { formatRegistryPath, parseRegistryPath } = (await import(
    join(SCRIPTS, 'install.mjs')
  )) as {
    formatRegistryPath(path: string): Buffer;
    parseRegistryPath(text: string): string;
  };
  const exported = (line: string): string =>
    `Windows Registry Editor Version 5.00\r\n\r\n[HKEY_CURRENT_USER\\Environment]\r\n"TEMP"="x"\r\n${line}\r\n`;

  test.each([
    ['"Path"="C:\\\\Nářadí;C:\\\\b"', 'C:\\Nářadí;C:\\b'],
    ['"PATH"="C:\\\\a \\"q\\""', 'C:\\a "q"'],
    ['"Path"=hex(2):43,00,3a,00,\\\r\n  5c,00,59,01,00,00', 'C:\\ř'],
    ['"Other"="1"', ''],
  ])('is read from %s', (line, path) => {
    expect(parseRegistryPath(exported(line))).toBe(path);
  });

  test('is read back as it was written, case and variables included', () => {
    const path = '%USERPROFILE%\\bin;C:\\Výkop u brodu\\pas;D:\\"x"';
    const bytes = formatRegistryPath(path);
    expect([...bytes.subarray(0, 2)]).toEqual([0xff, 0xfe]);
    expect(parseRegistryPath(bytes.toString('utf16le'))).toBe(path);
  });

  test('is not changed if it is of another type', () => {
    expect(() => parseRegistryPath(exported('"Path"=dword:00000001'))).toThrow('unknown type');
  });
});
