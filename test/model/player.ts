import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processorMsSince } from '../support/processor-time.ts';
import { seededRandom } from '../support/random.ts';
import { trace } from './trace.ts';

/** Traces from one seed up to, not including, another one. */
type Part = { readonly from: number; readonly until: number };
/** A trace that came to something else than the history; none of the part was gone after it. */
type Found = { readonly seed: number; readonly text: string };
/** Outcomes. `digest` is of all their steps: the same on any machine. */
type Played = {
  readonly traces: number;
  readonly steps: number;
  readonly digest: string;
  readonly processorMs: number;
  readonly found?: Found;
};

/** A disk of memory flushes at once. */
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

function playPart(folder: string, { from, until }: Part): Played {
  const before = process.cpuUsage();
  const tally = { traces: 0, steps: 0 };
  const all = createHash('sha256');
  let found: Found | undefined;
  for (let seed = from; seed < until && found === undefined; seed += 1) {
    const { steps, differs } = trace(folder, seededRandom(seed));
    if (differs !== undefined)
      found = { seed, text: [`trace ${seed}: ${differs}`, ...steps].join('\n') };
    all.update(`${seed}\n${steps.join('\n')}\n`);
    tally.traces += 1;
    tally.steps += steps.length;
  }
  const played = { ...tally, digest: all.digest('hex'), processorMs: processorMsSince(before) };
  return found === undefined ? played : { ...played, found };
}

const folder = mkdtempSync(join(DISK, 'pas-model-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.on('message', (part: Part) => process.send?.(playPart(folder, part)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
