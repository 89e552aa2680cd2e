import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Home, Run } from '../support/run-pas.ts';

/**
 * Each process writes down the most memory that it ever had. What `getrusage` says includes that of
 * the process that began it.
 */
const AT_EXIT = `import { appendFileSync, readFileSync } from 'node:fs';
process.on('exit', () => appendFileSync(process.env.PEAKS, /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] + '\\n'));`;

export const MEASURES_MEMORY = process.platform === 'linux';

export type Peak = { readonly run: Run; readonly peakBytes: number };

/** Runs `pas`, and says how much memory the largest of its processes had at most. */
export async function readPeak(home: Home, ...args: string[]): Promise<Peak> {
  const peaks = join(home.folder, 'peaks');
  writeFileSync(peaks, '');
  const hook = `--import=data:text/javascript,${encodeURIComponent(AT_EXIT)}`;
  const run = await home.with({ NODE_OPTIONS: hook, PEAKS: peaks }).pas(...args);
  const kibibytes = readFileSync(peaks, 'utf8').trim().split('\n').map(Number);
  expect(Math.max(...kibibytes)).toBeGreaterThan(10_000);
  return { run, peakBytes: Math.max(...kibibytes) * 1024 };
}
