// Counts the files of src in which a function runs for a command: `npm run footprint -- import`, `…
// -- status --why`, with --list before it to name them. The command runs on the examples, at a mock
// server of its own, after the commands of the first push that come before it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/**
 * The modules of pas as they are: the coverage of a joined file does not tell which of them ran.
 */
const PAS = [
  '--input-type=module',
  '--eval',
  `import { startCommandLine } from ${JSON.stringify(pathToFileURL(join(ROOT, 'dist', 'src', 'cli', 'main.js')))};
   process.exitCode = await startCommandLine(process.argv.slice(1), { environment: process.env, streams: process, cwd: process.cwd() });`,
  '--',
];

/**
 * The first push, and what is typed after a command of it where only its name is given.
 * @type {readonly (readonly [string, readonly string[]])[]}
 */
const WALK = [
  ['init', ['--set', 'min_interval_ms=0', '--username', 'archaeologist']],
  ['login', []],
  ['harvest-vocab', []],
  ['import', [join(ROOT, 'examples', 'finds.csv')]],
  ['push', ['--accept-new-people']],
  ['harvest', ['samostatny_nalez', '--out', 'finds.jsonl']],
];

const isListed = process.argv[2] === '--list';
const [word, ...commandArgs] = process.argv.slice(isListed ? 3 : 2);
if (word === undefined) throw new Error('Name a command: npm run footprint -- import');

const home = mkdtempSync(join(tmpdir(), 'pas-footprint-'));
const mock = spawn(
  process.execPath,
  [join(ROOT, 'bin', 'pas-mock-server.js'), '--json', '--min-interval', '0'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  const [line] = await new Promise((done) =>
    createInterface(mock.stdout).once('line', (first) => done([first])),
  );
  const address = JSON.parse(line).base_url;
  const { HOME: _, PAS_PROFILE: __, PAS_TOKEN: ___, ...environment } = process.env;
  const env = {
    ...environment,
    HOME: home,
    PAS_HOME: join(home, 'pas'),
    PAS_STATE: join(home, 'state'),
    PAS_KEYRING: 'off',
    PAS_LANG: 'en',
    PAS_PASSWORD: 'archaeologist',
  };
  const run = (/** @type {readonly string[]} */ args, more = {}) =>
    spawnSync(process.execPath, [...PAS, ...args], {
      cwd: home,
      env: { ...env, ...more },
      encoding: 'utf8',
    });
  const readArgs = (/** @type {string} */ name, /** @type {readonly string[]} */ args) =>
    name === 'init' ? [name, address, ...args] : [name, ...args];

  for (const [name, args] of WALK) {
    if (name === word || (name === 'push' && WALK.every(([other]) => other !== word))) break;
    run(readArgs(name, args));
  }
  const [, usual] = WALK.find(([name]) => name === word) ?? [word, []];
  const coverage = join(home, 'coverage');
  const { status, stderr } = run(readArgs(word, commandArgs.length > 0 ? commandArgs : usual), {
    NODE_V8_COVERAGE: coverage,
  });
  const files = filesThatRan(coverage);
  if (isListed) for (const file of files) console.log(file);
  else console.log(files.length);
  if (status !== 0)
    console.error(`${word} ended with ${status}: ${stderr.trim().split('\n').at(-1)}`);
} finally {
  mock.kill();
  rmSync(home, { recursive: true, force: true });
}

/**
 * Files with a function that has a name and ran, in the process of the command or in one that it
 * started. The code of a module itself runs in each that is loaded, and says nothing.
 * @param {string} folder
 */
function filesThatRan(folder) {
  const files = new Set();
  for (const name of readdirSync(folder)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(folder, name), 'utf8')).result) {
      const [, path] = /\/dist\/src\/(.+)\.js$/.exec(url) ?? [];
      const ran = functions.some(
        ({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0,
      );
      if (path !== undefined && ran) files.add(`${path}.ts`);
    }
  }
  return [...files].sort();
}
