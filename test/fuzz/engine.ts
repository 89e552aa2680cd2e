import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { processorMsSince } from '../support/processor-time.ts';
import { seededRandom } from '../support/random.ts';
import { MAX_BLOCKS } from './instrument.ts';
import { mutated, STRETCHED_BYTES, stretched } from './mutate.ts';
import type { Target } from './targets.ts';

declare global {
  var fuzzedBlocks: Uint8Array | undefined;
  var fuzzedWords: Set<string> | undefined;
}

/** Folder of the failing input. */
const FINDINGS = fileURLToPath(new URL('../../dist/fuzz', import.meta.url));
/** Limits for an input. */
export const MAX_MS = 2000;
const HANG_MS = 20_000;
export const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

export type Fuzzed = {
  readonly runs: number;
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Blocks of code that were reached at all. */
  readonly blocks: number;
  readonly slowestMs: number;
  /** Memory above the start, as the system counts it, including garbage not yet collected. */
  readonly memoryMegabytes: number;
  /** The shortest input for each block that was reached. */
  readonly kept: readonly Buffer[];
};

type Options = {
  readonly seed: number;
  /** Processor time; wall-clock time for a target on another machine. */
  readonly milliseconds: number;
  readonly corpus: readonly Buffer[];
};

/**
 * Reads inputs that are made of those before them, and goes on from each that has reached code that
 * none had reached, or more often.
 * @throws Error with the input's file where one was not read and not refused as it should be, took
 * more than two seconds, or too much memory
 */
export async function fuzz(
  target: Target,
  { seed, milliseconds, corpus }: Options,
): Promise<Fuzzed> {
  const random = seededRandom(seed);
  mkdirSync(FINDINGS, { recursive: true });
  const findingFile = join(FINDINGS, `${target.name}-${seed}`);
  const guard = watch(findingFile);
  const blocks = globalThis.fuzzedBlocks ?? new Uint8Array(MAX_BLOCKS);
  const seen = new Uint8Array(MAX_BLOCKS);
  const shortest = new Map<number, Buffer>();
  const queue: Buffer[] = [];
  let [runs, slowestMs] = [0, 0];

  const refuse = (input: Buffer, what: string, cause?: unknown): never => {
    writeFileSync(findingFile, input);
    throw new Error(`${target.name} (seed ${seed}): ${what}; the input is ${findingFile}`, {
      cause,
    });
  };
  const read = async (input: Buffer): Promise<void> => {
    runs += 1;
    blocks.fill(0);
    const processor = process.cpuUsage();
    guard.begin(input);
    try {
      // A reader may write into what it is given.
      await target.read(Buffer.from(input));
    } catch (thrown) {
      refuse(
        input,
        thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown),
        thrown,
      );
    } finally {
      guard.end();
    }
    // Processor time: on a busy machine it waits for others.
    const tookMs = processorMsSince(processor);
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > MAX_MS) refuse(input, `took ${Math.round(tookMs)} ms`);
    if (guard.grownBytes() > MAX_MEMORY_BYTES)
      refuse(input, `takes ${Math.round(guard.grownBytes() / 1e6)} MB with those before it`);
  };
  const reachesMore = (): boolean => {
    for (let at = 0; at < MAX_BLOCKS; at += 1) {
      const count = blocks[at];
      if (count !== undefined && count !== 0 && (getBucket(count) & ~(seen[at] ?? 0)) !== 0)
        return true;
    }
    return false;
  };
  /** Shortens an input as long as it reaches what only it reaches. */
  const trimmed = async (input: Buffer): Promise<Buffer> => {
    let least = input;
    for (let piece = least.length >> 1; piece >= Math.max(1, least.length >> 6); piece >>= 1) {
      for (let at = 0; at < least.length; ) {
        const shorter = Buffer.concat([least.subarray(0, at), least.subarray(at + piece)]);
        await read(shorter);
        if (reachesMore()) least = shorter;
        else at += piece;
      }
    }
    return least;
  };
  const take = async (input: Buffer, whole = false): Promise<void> => {
    await read(input);
    if (!reachesMore()) return;
    const least = whole ? input : await trimmed(input);
    await read(least);
    for (let at = 0; at < MAX_BLOCKS; at += 1) {
      const count = blocks[at] ?? 0;
      if (count === 0) continue;
      seen[at] = (seen[at] ?? 0) | getBucket(count);
      const before = shortest.get(at);
      if (before === undefined || least.length < before.length) shortest.set(at, least);
    }
    queue.push(least);
  };

  const begun = performance.now();
  const processor = process.cpuUsage();
  const processorMs = (): number => processorMsSince(processor);
  try {
    // The first run loads what is needed, which is no part of what an input takes.
    await target.read(Buffer.from(target.seeds[0] ?? ''));
    guard.settle();
    for (const input of [...target.seeds, ...corpus]) await take(Buffer.from(input), true);
    const words = [...(globalThis.fuzzedWords ?? []), ...(target.words ?? [])].map((word) =>
      Buffer.from(word),
    );
    while (
      (target.isElsewhere === true ? performance.now() - begun : processorMs()) < milliseconds
    ) {
      const rare = random.chance(0.7) ? random.pick([...shortest.values()]) : random.pick(queue);
      if (random.chance(0.005)) await read(stretched(rare, words, random));
      else await take(mutated(rare, queue, words, random, target.maxBytes));
    }
  } finally {
    guard.stop();
  }
  return {
    runs,
    seconds: Math.round((performance.now() - begun) / 1000),
    processorSeconds: Math.round(processorMs() / 1000),
    blocks: shortest.size,
    slowestMs: Math.round(slowestMs),
    memoryMegabytes: Math.round(guard.grownBytes() / 1e6),
    kept: [...new Set(shortest.values())],
  };
}

/** Rounded count: a loop that runs a hundred times is new beside one that runs twice. */
function getBucket(count: number): number {
  if (count < 4) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 32) return 32;
  return count < 128 ? 64 : 128;
}

type Guard = {
  begin(input: Buffer): void;
  end(): void;
  /** From now on, memory is counted. */
  settle(): void;
  grownBytes(): number;
  stop(): void;
};

/**
 * Has another thread look at how long a reading takes, and how much memory. One that does not end
 * ends the process; its input is in the file.
 */
function watch(findingFile: string): Guard {
  const shared = new SharedArrayBuffer(16 + STRETCHED_BYTES);
  const [state, room] = [new Int32Array(shared, 0, 4), new Uint8Array(shared, 16)];
  const worker = new Worker(new URL('watchdog.mjs', import.meta.url), {
    workerData: { shared, hangMs: HANG_MS, findingFile },
  });
  let before = 0;
  return {
    begin: (input) => {
      room.set(input.subarray(0, room.length));
      Atomics.store(state, 1, Math.min(input.length, room.length));
      Atomics.add(state, 0, 1);
    },
    end: () => void Atomics.add(state, 0, 1),
    settle: () => {
      before = process.memoryUsage.rss();
      Atomics.store(state, 2, 0);
    },
    grownBytes: () => Math.max(0, Atomics.load(state, 2) * 1024 - before),
    stop: () => void worker.terminate(),
  };
}
