import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { CommandOutline, Outline } from '../../src/cli/command.ts';
import { makeSuggestions, splitCommandLine } from '../../src/cli/commands/completion.ts';
import { makeOutboxName } from '../../src/cli/context/places.ts';
import { openOutbox } from '../../src/outbox/open-outbox.ts';
import { wantNewFind } from '../../src/outbox/wishes.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { expectEnded, type Home, makeHome, PROJECT, serviceAt } from '../support/run-pas.ts';
import { NO_PLACE } from '../support/temp-outbox.ts';

const SCRIPTS = join(PROJECT, 'bin', 'completion');

let home: Home;
beforeAll(async () => {
  execFileSync(process.execPath, [join(PROJECT, 'scripts', 'outline.mjs')]);
  home = makeHome();
  const address = 'https://finds.example.org';
  await home.init(serviceAt(address), '--name', 'museum');
  await home.do('status');
  const outbox = openOutbox(outboxFile(home, 'museum'), systemClock);
  for (const localId of ['K-017', 'K-018', 'jáma 3/a'])
    wantNewFind(outbox, { localId, elements: {}, ...NO_PLACE }, { document: null, issues: [] });
  outbox.close();
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

/** Completions of bash for a line, as it calls the function: words split at COMP_WORDBREAKS. */
function inBash(line: string): Promise<string[]> {
  const words = line.split(/(?<=[:=])|(?=[:=])|\s+/);
  const quoted = words.map((word) => `'${word}'`).join(' ');
  return shell(
    'bash',
    '-c',
    `source '${SCRIPTS}/pas.bash'; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${quoted})
     COMP_CWORD=${words.length - 1}; _pas 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

/** Values that only the user knows, by the word that help shows for them. */
const FREE_TEXT = [
  'value',
  'term',
  'id',
  'entry',
  'name',
  'n',
  'text',
  'prefix',
  'date',
  'identifier',
  'token',
  'element=value',
  'name=value',
  'key=value',
  'position',
  'metres',
  'number',
  'address',
  'ms',
  'list',
  'kinds',
  'time',
  'from=to',
  'origins',
  'command',
];

test('every argument, and every value of a flag, has completions or is known to be free text', () => {
  const outline = JSON.parse(
    readFileSync(join(PROJECT, 'dist', 'outline-en.json'), 'utf8'),
  ) as Outline;
  const offersNothing = (...typed: string[]): boolean => {
    const { candidates, lookups } = makeSuggestions(outline, [...typed, '']);
    return candidates.length + lookups.length === 0;
  };
  const namesWithout = (command: CommandOutline, path: readonly string[]): string[] => [
    ...command.arguments.flatMap(({ name }, index) =>
      offersNothing(...path, ...command.arguments.slice(0, index).map(() => 'x')) ? [name] : [],
    ),
    ...command.options.flatMap(({ long, value }) =>
      value !== null && offersNothing(...path, long) ? [value] : [],
    ),
    ...command.commands.flatMap((child) => namesWithout(child, [...path, child.name])),
  ];
  const without = new Set(namesWithout(outline.program, []));
  expect([...without].filter((name) => !FREE_TEXT.includes(name))).toEqual([]);
  expect(FREE_TEXT.filter((name) => !without.has(name))).toEqual([]);
});

describe('in bash', () => {
  test.each([
    ['pas vo', ['vocab']],
    ['pas vocab ma', ['map']],
    ['pas help sta', ['status']],
    ['pas help --a', ['--all']],
    ['pas help status --a', []],
    ['pas push --on-q', ['--on-question']],
    ['pas --lang ', ['en', 'cs']],
    ['pas push --lang c', ['cs']],
    ['pas push --lang=c', ['cs']],
    ['pas show K-01', ['K-017', 'K-018']],
    ['pas show j', ['jáma\\ 3/a']],
    ['pas push K-017 K-', ['K-017', 'K-018']],
    ['pas vocab list heslo:obdo', ['obdobi', 'obdobi_kat']],
    ['pas push --profile mu', ['museum']],
    ['pas profile use ', ['museum']],
    ['pas import se', ['season.csv']],
    ['pas import --dry-run se', ['season.csv']],
    ['pas number import se', ['season.csv']],
    ['pas add --point-from se', ['season.csv']],
    ['pas nonsense --wh', []],
  ])('%s offers %j', async (line, offers) => {
    expect(await inBash(line)).toEqual(offers);
  });
});

test.skipIf(!has('zsh'))('in zsh the function describes what it offers', async () => {
  const offers = await shell(
    'zsh',
    '-fc',
    `functions[compdef]=:; _describe() { print -l -- $described }; source '${SCRIPTS}/pas.zsh'; words=(pas vocab s); CURRENT=3; _pas`,
  );
  expect(offers.map((line) => line.split(':')[0])).toEqual(['search', 'show']);
});

test.skipIf(!has('zsh')).each([
  [
    ['vocab', 'list', 'heslo:obdo'],
    ['heslo\\:obdobi', 'heslo\\:obdobi_kat'],
  ],
  [['push', '--profile', 'mu'], ['museum']],
  [
    ['show', 'K-01'],
    ['K-017', 'K-018'],
  ],
  [['number', 'import', ''], ['FILES']],
  [['photo', 'match', ''], ['FILES -/']],
])('in zsh pas %j offers %j', async (words, offers) => {
  const texts = await shell(
    'zsh',
    '-fc',
    `functions[compdef]=:; _describe() { print -rl -- $described }; _files() { print -- FILES $@ }; source '${SCRIPTS}/pas.zsh'
     words=(pas ${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}; _pas`,
  );
  expect(texts.map((line) => line.split(/(?<!\\):/)[0])).toEqual(offers);
});

test.skipIf(!has('fish')).each([
  ['pas vocab list heslo:obdo', ['heslo:obdobi', 'heslo:obdobi_kat']],
  ['pas push --profile mu', ['museum']],
  ['pas number import se', ['season.csv']],
])('in fish %s offers %j', async (line, offers) => {
  const texts = await shell(
    'fish',
    '--no-config',
    '-c',
    `source '${SCRIPTS}/pas.fish'; complete -C '${line}'`,
  );
  expect(texts.map((each) => each.split('\t')[0])).toEqual(offers);
});

test.skipIf(!has('fish'))('in fish the completion offers names with their meaning', async () => {
  expect(
    await shell(
      'fish',
      '--no-config',
      '-c',
      `source '${SCRIPTS}/pas.fish'; complete -C 'pas show K-'`,
    ),
  ).toEqual(['K-017', 'K-018']);
  const flags = await shell(
    'fish',
    '--no-config',
    '-c',
    `source '${SCRIPTS}/pas.fish'; complete -C 'pas push --dry'`,
  );
  expect(flags).toEqual([expect.stringMatching(/^--dry-run\tshow what/)]);
});

test('completion leaves no trace in the data home, and is silent if the home is missing or invalid', async () => {
  const data = join(home.folder, 'pas');
  const before = readdirSync(data);
  await home.do('__complete', '--', 'show', '');
  expect(readdirSync(data)).toEqual(before);

  const empty = makeHome();
  expect(await empty.pas('__complete', '--', 'show', '')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect(readdirSync(empty.folder)).toEqual([]);
  const profile = [
    'kind = "training"',
    'base_url = "https://x.example"',
    'schema_base = "https://x.example/s"',
  ];
  const outbox = makeOutboxName('https://x.example', '');
  empty.file(`pas/outboxes/${outbox}/outbox.sqlite`, 'no database');
  empty.file('pas/config.toml', ['[profiles.a]', ...profile].join('\n'));
  expect(await empty.pas('__complete', '--', 'show', '')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
  empty.file('pas/config.toml', '= broken');
  expect(await empty.pas('__complete', '--', 'show', '')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect(await empty.pas('__complete', '--', 'push', '--profile', '')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

test('the script of each shell is printed; an unknown shell is refused with the known ones', async () => {
  expect((await home.do('completion', 'bash')).stdout).toContain('complete -F _pas pas');
  await expectEnded(home.pas('completion', 'tcsh'), 2, 'bash, zsh, fish');
  const czech = await home.with({ PAS_LANG: 'cs' }).pas('completion', 'tcsh');
  expect(czech.stderr).toContain(
    'Hodnota „tcsh“ pro „shell“ je neplatná. Vyberte z: bash, zsh, fish.',
  );
});

test.each([
  ['pas show ', ['show', '']],
  ['pas show K-0', ['show', 'K-0']],
  ['pas show K\\ 0', ['show', 'K 0']],
  ['pas show "K 0', ['show', 'K 0']],
  ["pas show 'it''s' b", ['show', 'its', 'b']],
  ['pas', []],
])('the words of %j are split as a shell does', (line, words) => {
  expect(splitCommandLine(line)).toEqual(words);
});
