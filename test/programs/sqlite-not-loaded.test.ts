import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

const SQLITE = Number(process.versions['napi']) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12';
let installed: string;

/** An installation of which SQLite can be taken away: all else is a link to this one. */
beforeAll(() => {
  installed = tempFolder();
  for (const name of ['bin', 'package.json', 'dist'])
    cpSync(join(PROJECT, name), join(installed, name), { recursive: true });
  for (const name of ['src', 'schemas', 'mock-server', 'examples'])
    symlinkSync(join(PROJECT, name), join(installed, name));
  mkdirSync(join(installed, 'node_modules'));
  for (const name of readdirSync(join(PROJECT, 'node_modules')))
    if (name !== SQLITE)
      symlinkSync(join(PROJECT, 'node_modules', name), join(installed, 'node_modules', name));
});

/** @param code of the addon; undefined: there is no file */
function layPackage(code: string | undefined): void {
  const folder = join(installed, 'node_modules', SQLITE);
  for (const name of ['package.json', 'lib'])
    cpSync(join(PROJECT, 'node_modules', SQLITE, name), join(folder, name), { recursive: true });
  const release = join(folder, 'build', 'Release');
  if (code === undefined) return;
  mkdirSync(release, { recursive: true });
  writeFileSync(join(release, 'better_sqlite3.node'), code);
  const prebuilt = join(folder, 'prebuilds', `${process.platform}-${process.arch}`);
  mkdirSync(prebuilt, { recursive: true });
  for (const name of ['better-sqlite3.node', 'better-sqlite3.musl.node'])
    writeFileSync(join(prebuilt, name), code);
}

function run(
  program: string,
  ...args: string[]
): { readonly code: number | null; readonly stderr: string; readonly stdout: string } {
  const home = tempFolder();
  mkdirSync(join(home, 'pas'));
  writeFileSync(join(home, 'pas', 'vocabulary.sqlite'), '');
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    PAS_HOME: join(home, 'pas'),
    PAS_LANG: 'en',
  };
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [join(installed, 'bin', program), ...args],
    {
      env,
      cwd: home,
      encoding: 'utf8',
    },
  );
  return { code: status, stderr, stdout };
}

const INIT = [
  'init',
  '--kind',
  'training',
  '--base-url',
  'http://127.0.0.1:9',
  '--schema-base',
  'http://127.0.0.1:9/schema',
];

describe.each([
  ['was left out of the installation', 'no package'],
  ['has no machine code, since install scripts were blocked', undefined],
  ['has machine code that does not load', 'of another machine'],
])('without a working SQLite (%s)', (_, code) => {
  beforeAll(() => {
    rmSync(join(installed, 'node_modules', SQLITE), { recursive: true, force: true });
    if (code !== 'no package') layPackage(code);
  });

  test('pas ends with 12, and says what to install', () => {
    const { code: ended, stderr } = run('pas.js', ...INIT);
    expect(stderr).toMatch(
      code === undefined
        ? /^pas: SQLite cannot be loaded by .+[^:]\n {5}npm has not made it: install scripts were blocked .+npm rebuild/
        : /^pas: SQLite cannot be loaded by Node v\S+ on \S+: .+[^:]\n {5}(npm has|Reinstall) .+ the archive/,
    );
    expect(stderr).not.toContain('bug in pas');
    expect(stderr.trim().split('\n')).toHaveLength(2);
    expect(ended).toBe(12);
  });

  test('pas doctor names SQLite as the cause, not the files', () => {
    const { stdout } = run('pas.js', 'doctor', '--offline');
    expect(stdout).not.toMatch(/[Dd]elete it/);
  });

  test('pas-mock-server does so too', () => {
    const { code: ended, stderr } = run('pas-mock-server.js');
    expect(stderr).toMatch(/^pas-mock-server: SQLite cannot be loaded by Node v\S+: .+\nInstall /);
    expect(ended).toBe(12);
  });
});

test('without SQLite, pas --help still works, and commands without a profile say what is missing', () => {
  expect(run('pas.js', '--help')).toMatchObject({ code: 0, stderr: '' });
  for (const command of ['demo', 'mock-server'])
    expect(run('pas.js', command)).toMatchObject({
      code: 12,
      stderr: expect.stringMatching(/^pas: SQLite cannot be loaded/),
    });
});
