import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The package names itself, so that sources, build and joined files find the same folder. */
const require = createRequire(import.meta.url);

/** Folder of pas's own package.json, which has `schemas/`. */
export const packageRoot = dirname(require.resolve('pas-finds/package.json'));

/** Returns the version of pas, such as `0.1.0`. */
export function getPackageVersion(): string {
  const { version }: { readonly version: string } = require('pas-finds/package.json');
  return version;
}

/**
 * Runs a built script in a process that is killed after a time limit, since native code may wait
 * without end; this process is blocked until then.
 * @param script its path below `src`, without its ending, and its arguments
 * @param env undefined: that of this process
 * @returns exit status and stdout; `error` where it was killed or not started. Nothing is thrown.
 */
export function runChildScript(
  [script, ...args]: readonly [string, ...string[]],
  input: string | Buffer,
  timeoutMs: number,
  env?: NodeJS.ProcessEnv,
) {
  return spawnSync(process.execPath, [join(packageRoot, 'dist', 'src', `${script}.js`), ...args], {
    input,
    env,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}
