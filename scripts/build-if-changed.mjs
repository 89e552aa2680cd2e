// Builds, unless everything that the build reads is older than its last output.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src', 'mock-server', 'test/conformance', 'scripts'];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** The build writes this file last. */
const OUTPUT = join(ROOT, 'dist', 'pas', 'main.cjs');

const getTime = (/** @type {string} */ path) =>
  statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Yields files and folders: a folder changes when a file in it is removed. */
function* listInputs() {
  for (const name of SETTINGS) yield join(ROOT, name);
  for (const name of SOURCES) {
    const folder = join(ROOT, name);
    yield folder;
    for (const entry of readdirSync(folder, { recursive: true })) yield join(folder, String(entry));
  }
}

const builtMs = getTime(OUTPUT);
if ([...listInputs()].some((path) => getTime(path) > builtMs)) {
  const { status } = spawnSync('npm run --silent build', {
    cwd: ROOT,
    shell: true,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
