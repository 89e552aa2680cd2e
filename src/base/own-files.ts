import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Folder of pas's own package.json, which has `schemas/`; sources and build are below it. */
export const packageRoot = findPackage(import.meta.dirname);

function findPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findPackage(dirname(folder));
}

/** Returns the version of pas, such as `0.1.0`. */
export function getPackageVersion(): string {
  const text = readFileSync(join(packageRoot, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}

/**
 * Runs a built script of pas in a process that is killed after `timeoutMs`, since native code may
 * wait without end. This process is blocked until the script ends, whose stderr is dropped.
 * @param script path below `src` without its ending; the rest are arguments
 * @param input written to the stdin of the script
 * @param env undefined: the environment of this process
 * @returns exit status and stdout; `error` where the script was killed or not started, which is not
 * thrown
 */
export function runChildScript(
  [script, ...args]: readonly [string, ...string[]],
  input: string | Buffer,
  timeoutMs: number,
  env?: NodeJS.ProcessEnv,
): SpawnSyncReturns<Buffer> {
  return spawnSync(process.execPath, [join(packageRoot, 'dist', 'src', `${script}.js`), ...args], {
    input,
    env,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}
