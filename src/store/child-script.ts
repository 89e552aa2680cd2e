import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../base/package-root.ts';

/**
 * Runs a script of this folder in a process that is killed after a time limit, since native code
 * may wait without end.
 * @param env undefined: that of this process
 */
export function runChildScript(
  name: string,
  input: string | Buffer,
  timeoutMs: number,
  env?: NodeJS.ProcessEnv,
) {
  return spawnSync(process.execPath, [join(packageRoot, 'dist', 'src', 'store', `${name}.js`)], {
    input,
    env,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}
