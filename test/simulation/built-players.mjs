import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside of the project, where its packages and schemas are found. */
export const BUILT = join(PROJECT, '.simulation', String(process.pid));
/** Folder of the build. */
export const WHOLE = join(BUILT, 'whole');
/**
 * All processors play, so what V8 does beside costs as much, and what is compiled simply, or well,
 * is compiled soon.
 */
const V8_FLAGS = [
  '--single-threaded',
  '--always-sparkplug',
  '--no-lazy-feedback-allocation',
  '--max-semi-space-size=64',
];
/** So many are played between two reports. */
const PART = 20;

/**
 * Makes JavaScript of all that is played: nothing then stands between it and Node.
 * @param {string} project the folder of its tsconfig.json
 */
export function build(project) {
  process.once('exit', () => rmSync(BUILT, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  compile(['-p', join(PROJECT, project), '--outDir', WHOLE]);
}

/** @param {string[]} args */
export function compile(args) {
  const { status } = spawnSync(
    process.execPath,
    [join(PROJECT, 'node_modules/typescript/bin/tsc'), ...args],
    {
      stdio: 'inherit',
      cwd: PROJECT,
    },
  );
  if (status !== 0) throw new Error('the sources cannot be built');
}

/**
 * Plays seeds part by part, in as many processes as there are jobs: a seed is the same in any
 * process.
 * @template {{ seed: number }} Found
 * @template {{ found?: Found }} Played
 * @param {string} player the module that plays the parts which it is sent, and answers each
 * @param {number} from the first seed
 * @param {number} count
 * @param {{ jobs: number, more?: object }} how `more`: what each part says beside
 * @param {(played: Played, from: number) => void} onPart
 * @returns {Promise<Found | undefined>} the first that went wrong; no part is begun after it
 */
export async function playSeeds(player, from, count, { jobs, more = {} }, onPart) {
  let next = from;
  /** @type {Found | undefined} */
  let found;
  const playSome = async () => {
    const child = fork(player, { execArgv: V8_FLAGS });
    const exit = once(child, 'exit').then(() => {
      throw new Error(
        `a process that plays has ended, somewhere from seed ${next - PART * jobs} to ${next}`,
      );
    });
    exit.catch(() => {});
    await Promise.race([once(child, 'message'), exit]);
    while (next < from + count && found === undefined) {
      const part = { ...more, from: next, until: Math.min(next + PART, from + count) };
      next = part.until;
      child.send(part);
      const [played] = /** @type {[Played]} */ (await Promise.race([once(child, 'message'), exit]));
      onPart(played, part.from);
      if (played.found !== undefined && (found === undefined || played.found.seed < found.seed))
        found = played.found;
    }
    child.disconnect();
  };
  await Promise.all(
    Array.from({ length: Math.max(1, Math.min(jobs, Math.ceil(count / PART))) }, playSome),
  );
  return found;
}
