import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectEnded, type Home, makeHome, PROJECT } from '../support/run-pas.ts';

const SCRIPTS = join(PROJECT, 'bin', 'completion');

let home: Home;
beforeAll(() => {
  execFileSync(process.execPath, [join(PROJECT, 'scripts', 'outline.mjs')]);
  home = makeHome();
  mkdirSync(join(home.folder, 'bin'));
  home.file(
    'bin/pas',
    `#!/bin/sh\nexec "${process.execPath}" "${join(PROJECT, 'bin', 'pas.js')}" "$@"\n`,
  );
  chmodSync(join(home.folder, 'bin', 'pas'), 0o755);
  home.file('season.csv', '');
});

function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function shell(program: string, ...args: string[]): Promise<string[]> {
  const env = {
    ...home.env,
    LC_ALL: 'C.UTF-8',
    PATH: `${join(home.folder, 'bin')}:${home.env['PATH']}`,
  };
  return new Promise((done, fail) => {
    execFile(program, args, { cwd: home.folder, env }, (error, stdout, stderr) => {
      if (error !== null) fail(new Error(stderr, { cause: error }));
      else done(stdout.split('\n').filter((line) => line !== ''));
    });
  });
}

/** Completions of bash for a line, as it calls the function. */
function inBash(line: string): Promise<string[]> {
  const words = line.split(' ');
  const quoted = words.map((word) => `'${word}'`).join(' ');
  return shell(
    'bash',
    '-c',
    `source '${SCRIPTS}/pas.bash'; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _pas
     printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

describe('in bash', () => {
  test.each([
    ['pas vo', ['vocab']],
    ['pas vocab ma', ['map']],
    ['pas help sta', ['status']],
    ['pas push --on-q', ['--on-question']],
    ['pas --lang ', ['en', 'cs']],
    ['pas push --lang c', ['cs']],
    ['pas push --on-question h', ['hold']],
    ['pas oai iden', ['identify', 'identifiers']],
    ['pas import se', []],
    ['pas push --profile p', []],
    ['pas nonsense --wh', []],
  ])('%s offers %j', async (line, offers) => {
    expect(await inBash(line)).toEqual(offers);
  });
});

test.skipIf(!has('zsh')).each([
  [
    ['vocab', 's'],
    ['search', 'show'],
  ],
  [['number', 'import', ''], ['FILES']],
])('in zsh pas %j offers %j', async (words, offers) => {
  const texts = await shell(
    'zsh',
    '-fc',
    `functions[compdef]=:; _describe() { print -rl -- $described }; _files() { print -- FILES $@ }; source '${SCRIPTS}/pas.zsh'
     words=(pas ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _pas`,
  );
  expect(texts.map((line) => line.split(':')[0])).toEqual(offers);
});

test.skipIf(!has('fish')).each([
  ['pas vocab sh', /^show\tShow one entry/],
  ['pas push --dry', /^--dry-run\tshow what/],
  ['pas number import se', /^season\.csv/],
])('in fish %s offers %s', async (line, offer) => {
  const texts = await shell(
    'fish',
    '--no-config',
    '-c',
    `source '${SCRIPTS}/pas.fish'; complete -C '${line}'`,
  );
  expect(texts).toEqual([expect.stringMatching(offer)]);
});

test('completion leaves no trace in the data home', async () => {
  const empty = makeHome();
  await empty.do('__complete', '--', 'show', '');
  expect(readdirSync(empty.folder)).toEqual([]);
});

test('the script of each shell is printed; an unknown shell is refused with the known ones', async () => {
  expect((await home.do('completion', 'bash')).stdout).toContain('complete -o default -F _pas pas');
  await expectEnded(home.pas('completion', 'tcsh'), 2, 'bash, zsh, fish');
  const czech = await home.with({ PAS_LANG: 'cs' }).pas('completion', 'tcsh');
  expect(czech.stderr).toContain(
    'Hodnota „tcsh“ pro „shell“ je neplatná. Vyberte z: bash, zsh, fish.',
  );
});
