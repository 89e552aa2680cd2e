import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../chaos/random.ts';
import { type Prepared, prepareOutbox } from './prepared-outbox.ts';
import { replay } from './replay.ts';

/** Traces from one seed up to, not including, another one. */
type Part = { readonly from: number; readonly until: number };

/** What came of them. `digest` is of all their steps: the same on any machine. */
type Played = {
  readonly traces: number;
  readonly steps: number;
  readonly looks: number;
  readonly digest: string;
  readonly processorMs: number;
  readonly found?: Found;
};

/** A trace in which the outbox went another way than the model; none of the part was gone after it. */
type Found = { readonly seed: number; readonly text: string };

/** A disk of memory flushes at once. */
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

async function playPart(prepared: Prepared, { from, until }: Part): Promise<Played> {
  const before = process.cpuUsage();
  const tally = { traces: 0, steps: 0, looks: 0 };
  const all = createHash('sha256');
  let found: Found | undefined;
  for (let seed = from; seed < until && found === undefined; seed += 1) {
    const { steps, looks, differs } = await replay(prepared, seededRandom(seed));
    if (differs !== undefined) found = { seed, text: [`trace ${seed}: ${differs}`, ...steps].join('\n') };
    all.update(`${seed}\n${steps.join('\n')}\n`);
    tally.traces += 1;
    tally.steps += steps.length;
    tally.looks += looks;
  }
  const { user, system } = process.cpuUsage(before);
  const played = { ...tally, digest: all.digest('hex'), processorMs: (user + system) / 1000 };
  return found === undefined ? played : { ...played, found };
}

const folder = mkdtempSync(join(DISK, 'pas-model-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const prepared = prepareOutbox(folder);
process.on('message', async (part: Part) => process.send?.(await playPart(prepared, part)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
