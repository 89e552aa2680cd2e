import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { EXIT_CODES, type ExitReason } from '../base/errors.ts';
import { getLanguage } from '../base/language.ts';
import { packageRoot } from '../base/own-files.ts';
import type { Environment } from './context/places.ts';

type ProcessOptions = {
  readonly environment: Environment;
  readonly cwd: string;
  /** True where the process has the terminal of this one, and nothing is returned as output. */
  readonly isOnTerminal: boolean;
};

/**
 * Runs a command line of pas in a process of its own, as a person would type it, and waits for
 * its end. On a terminal it uses that, and `output` and `errors` are empty. An unknown exit code
 * counts as `interrupted`.
 * @throws Error where the process cannot be started
 */
export async function runPas(
  args: readonly string[],
  { environment, cwd, isOnTerminal }: ProcessOptions,
): Promise<{ readonly reason: ExitReason; readonly output: string; readonly errors: string }> {
  const child = spawn(process.execPath, [join(packageRoot, 'bin', 'pas.js'), ...args], {
    env: { ...environment, PAS_LANG: getLanguage() },
    cwd,
    stdio: isOnTerminal ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const reasons = Object.keys(EXIT_CODES) as ExitReason[];
  const reason = reasons.find((each) => EXIT_CODES[each][0] === code) ?? 'interrupted';
  return { reason, output, errors };
}
