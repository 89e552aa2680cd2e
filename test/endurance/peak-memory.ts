import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Home, homeWithoutNetwork, type Run } from '../support/run-pas.ts';

/**
 * Each process writes down the most memory that it ever had. What `getrusage` says includes that of
 * the process that began it.
 */
const AT_EXIT = `import { appendFileSync, readFileSync } from 'node:fs';
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const peak = /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  appendFileSync(process.env.PEAKS, peak + ' ' + (user + system) + '\\n');
});`;

export const MEASURES_MEMORY = process.platform === 'linux';

export type Peak = {
  readonly run: Run;
  readonly peakBytes: number;
  readonly processorSeconds: number;
};

/** Runs `pas`, and returns the memory of its largest process, and the processor time of all. */
export async function readPeak(home: Home, ...args: string[]): Promise<Peak> {
  const peaks = join(home.folder, 'peaks');
  writeFileSync(peaks, '');
  const hook = `--import=data:text/javascript,${encodeURIComponent(AT_EXIT)}`;
  // Warnings are not what matters: such a variable gives each run a process of its own.
  const own = { NODE_OPTIONS: hook, NODE_NO_WARNINGS: '1', PEAKS: peaks };
  const run = await home.with(own).pas(...args);
  const lines = readFileSync(peaks, 'utf8').trim().split('\n');
  const processes = lines.map((line) => line.split(' ').map(Number));
  const peakKibibytes = Math.max(...processes.map(([kibibytes = 0]) => kibibytes));
  expect(peakKibibytes).toBeGreaterThan(10_000);
  const microseconds = processes.reduce((sum, [, each = 0]) => sum + each, 0);
  return { run, peakBytes: peakKibibytes * 1024, processorSeconds: microseconds / 1_000_000 };
}

/** An import of a file that cannot be used ends with one clear error, which has this text. */
export async function readPeakOfRefusal(
  name: string,
  content: string | Buffer,
  said: RegExp,
): Promise<Peak> {
  const home = await homeWithoutNetwork();
  const peak = await readPeak(home, 'import', home.file(name, content), '--dry-run');
  const { code, stdout, stderr } = peak.run;
  expect(stdout + stderr).toMatch(said);
  expect(stderr).not.toMatch(/\n\s+at |heap/);
  expect([2, 3]).toContain(code);
  return peak;
}
