import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  everythingIn,
  hashFile,
  pasAsOrdinaryUser,
  pasWithFilesUpTo,
} from '../support/hostile-disk.ts';
import { outboxFolder } from '../support/outbox-files.ts';
import { expectDone, type Home, PROJECT, type Run, signedIn } from '../support/run-pas.ts';
import { tinyPng, writeSeason } from '../support/season.ts';
import { useMockProcess } from '../support/use-mock.ts';

const mock = useMockProcess('--min-interval', '10');
let home: Home;

/** Large enough that the databases beside it stay below its size. */
const MANY = 400;
const LONG = 'x'.repeat(1000);

const PROFILE_FLAGS = [
  '--kind',
  'training',
  '--base-url',
  'https://x.example',
  '--schema-base',
  'https://x.example/s',
];

/** A file that a command writes again and a little larger; `enlarge` makes it large before. */
const REWRITTEN = [
  {
    command: 'pas init',
    file: 'pas/config.toml',
    enlarge: (path: string) => {
      const profiles = Array.from({ length: MANY }, (_, n) => [
        `[profiles.p${n}]`,
        'kind = "training"',
        'base_url = "https://x.example"',
        `schema_base = "https://x.example/${LONG}"`,
      ]);
      appendFileSync(path, `\n${profiles.flat().join('\n')}\n`);
    },
    args: ['init', '--name', 'late', ...PROFILE_FLAGS],
  },
  {
    command: 'pas login',
    file: 'pas/secrets.json',
    enlarge: (path: string) => {
      const secrets = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
      for (const owner of Object.keys(secrets)) secrets[owner] = {};
      for (let n = 0; n < MANY; n += 1) secrets[`https://x.example/${n}`] = { token: LONG };
      writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`);
    },
    args: ['login'],
  },
  {
    command: 'pas vocab map set',
    file: 'pas/mapping.csv',
    enlarge: (path: string) => {
      const rows = Array.from(
        { length: MANY },
        (_, n) => `heslo:obdobi;term ${n};HES-000253;;${LONG};yes`,
      );
      writeFileSync(path, `set;term;id;label;note;confirmed\n${rows.join('\n')}\n`);
    },
    args: ['vocab', 'map', 'set', 'obdobi', 'late', 'HES-000253'],
  },
  {
    command: 'pas backup',
    file: 'good.sqlite',
    enlarge: (path: string) => writeFileSync(path, Buffer.alloc(100_000)),
    args: ['backup', 'good.sqlite', '--force'],
  },
  {
    command: 'pas export',
    file: 'finds.csv',
    enlarge: (path: string) => writeFileSync(path, Buffer.alloc(50_000)),
    args: ['export', '--out', 'finds.csv', '--force'],
  },
];

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', ['--set', 'min_interval_ms=20'], {
    name: 'a season',
    prepare: async (home) => {
      await expectDone(home.pas('import', writeSeason(home, 500)));
      await expectDone(home.pas('harvest-vocab', 'heslo:obdobi'));
    },
  });
});

function expectClear(
  run: Run,
  words = /has reached the limit of its size|disk is full/,
  code = 5,
): void {
  expect(run.stderr).toMatch(words);
  expect(run.stderr).not.toMatch(/\n\s+at |bug in pas/);
  expect(run.code).toBe(code);
}

const drafts = (): string[] => everythingIn(home.folder).filter((path) => path.includes('.tmp'));

test.each(REWRITTEN)(
  '$command that cannot write its whole file keeps the old file, and works later',
  async ({ file, enlarge, args }) => {
    const path = join(home.folder, file);
    enlarge(path);
    const before = hashFile(path);
    const run = pasWithFilesUpTo(home, Math.floor(statSync(path).size / 1024), ...args);
    // SQLite does not say what the disk refused.
    if (file.endsWith('.sqlite')) expectClear(run, /the disk reported an error/, 12);
    else expectClear(run);
    expect(hashFile(path)).toBe(before);
    expect(drafts()).toEqual([]);
    await expectDone(home.pas(...args));
    expect(hashFile(path)).not.toBe(before);
  },
);

test('a photograph whose last bytes do not fit on the disk is not queued, and not accepted as complete', async () => {
  const bytes = Buffer.concat([tinyPng(1), Buffer.alloc(800_000)]);
  const photo = home.file('large.png', bytes);
  expectClear(
    pasWithFilesUpTo(home, Math.floor(bytes.length / 1024), 'photo', 'add', 'K-1', photo),
  );
  const photos = join(outboxFolder(home), 'photos');
  const kept = (): string[] =>
    existsSync(photos) ? everythingIn(photos).filter((path) => statSync(path).isFile()) : [];
  expect(kept()).toEqual([]);
  await expectDone(home.pas('photo', 'add', 'K-1', photo));
  expect(kept().map((path) => readFileSync(path).equals(bytes))).toEqual([true]);
});

test.each([['list'], ['vocab', 'export', 'heslo:obdobi']])(
  'a list written to a file on a full disk (pas %s) is reported as incomplete',
  (...args) => {
    const run = (redirected: string): Run => {
      const { status, signal, stderr } = spawnSync(
        'bash',
        ['-c', redirected, process.execPath, join(PROJECT, 'bin', 'pas.js'), ...args, '--json'],
        { env: home.env, cwd: home.folder, encoding: 'utf8' },
      );
      return { code: status, signal, stdout: '', stderr };
    };
    const out = join(home.folder, 'out');
    expect(run('exec "$0" "$@" >out').code).toBe(0);
    // The bytes before it leave room for all stored data, and for all of the list except its last
    // bytes.
    const before = 1024 ** 2 + 1023 - (statSync(out).size % 1024);
    const kilobytes = Math.floor((before + statSync(out).size - 1) / 1024);
    writeFileSync(out, Buffer.alloc(before));
    expectClear(
      run(`ulimit -f ${kilobytes}; exec "$0" "$@" >>out`),
      /EFBIG|has reached the limit of its size/,
    );
  },
);

test('an answer that cannot be stored for the operator is still reported', async () => {
  await mock.service.faults({ endpoint: 'oai', fault: 'malformed', when: { every: 1 } });
  pasAsOrdinaryUser(home, 'status');
  chmodSync(join(home.folder, 'pas'), 0o500);
  const run = pasAsOrdinaryUser(home, 'oai', 'identify');
  chmodSync(join(home.folder, 'pas'), 0o700);
  expect(run.stderr).toMatch(/could not be saved.*permission denied/);
  expect(run.code).toBe(14);
});
