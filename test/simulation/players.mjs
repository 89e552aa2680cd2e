import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside of the project, where its packages and schemas are found. */
const BUILT = join(PROJECT, '.simulation', String(process.pid));
const WHOLE = join(BUILT, 'whole');
/** All processors play, so what V8 does beside costs as much, and what is compiled simply is compiled soon. */
const V8_FLAGS = ['--single-threaded', '--always-sparkplug', '--max-semi-space-size=64'];
/** So many stories are played between two reports. */
const PART = 20;

/** @typedef {{ seed: number, steps: number, violation: string, text: string }} Found */
/** @typedef {{ stories: number, steps: number, sent: number, left: number, digest: string, processorMs: number, found?: Found }} Played */
/** @typedef {{ name: string, file: string, from: string, to: string, seed?: number, themes?: readonly string[] }} Planted */

/** Makes JavaScript of all that stories need: nothing then stands between them and Node. */
export function build() {
  process.once('exit', () => rmSync(BUILT, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  compile(['-p', join(PROJECT, 'test/simulation'), '--outDir', WHOLE]);
}

/** @returns {Promise<{ PLANTED: readonly Planted[], plant: (planted: Planted, text: string) => string }>} */
export function plantedFaults() {
  return import(join(WHOLE, 'test/simulation/planted.js'));
}

/**
 * What was built, as often as there are files that are other, each with one of them.
 * @param {readonly { file: string, text: string }[]} others
 * @returns for each of them where its copy is made once that is asked for
 */
export function buildWith(others) {
  const sources = join(BUILT, 'sources');
  const written = others.map(({ file, text }, nth) => {
    const source = join(sources, String(nth), file);
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(source, text);
    return source;
  });
  const flags = '--ignoreConfig --noCheck --noResolve --target es2023 --module nodenext --verbatimModuleSyntax';
  const compiled = join(BUILT, 'compiled');
  compile([...flags.split(' '), '--rewriteRelativeImportExtensions', '--rootDir', sources, '--outDir', compiled, ...written]);
  return others.map((_, nth) => () => {
    const folder = join(BUILT, `other-${nth}`);
    cpSync(WHOLE, folder, { recursive: true });
    cpSync(join(compiled, String(nth)), folder, { recursive: true });
    return folder;
  });
}

/** @param {string[]} args */
function compile(args) {
  const { status } = spawnSync(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc'), ...args], {
    stdio: 'inherit',
    cwd: PROJECT,
  });
  if (status !== 0) throw new Error('the sources cannot be built');
}

/**
 * Plays stories part by part, in as many processes as there are jobs: a story is the same whoever plays it.
 * @param {number} from the first seed
 * @param {number} count
 * @param {{ jobs: number, folder?: string, themes?: readonly string[] }} how `themes`: only stories about one of these
 * @param {(played: Played, from: number) => void} [onPart]
 * @returns {Promise<Found | undefined>} the first story that went wrong; no part is begun after it
 */
export async function playStories(from, count, { jobs, folder = WHOLE, themes }, onPart = () => {}) {
  let next = from;
  /** @type {Found | undefined} */
  let found;
  const playSome = async () => {
    const player = fork(join(folder, 'test/simulation/player.js'), { execArgv: V8_FLAGS });
    const exit = once(player, 'exit').then(() => {
      throw new Error(`a process that plays stories has ended, somewhere from seed ${next - PART * jobs} to ${next}`);
    });
    exit.catch(() => {});
    await Promise.race([once(player, 'message'), exit]);
    while (next < from + count && found === undefined) {
      const part = { from: next, until: Math.min(next + PART, from + count), themes };
      next = part.until;
      player.send(part);
      const [played] = /** @type {[Played]} */ (await Promise.race([once(player, 'message'), exit]));
      onPart(played, part.from);
      if (played.found !== undefined && (found === undefined || played.found.seed < found.seed)) found = played.found;
    }
    player.disconnect();
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, Math.ceil(count / PART))) }, playSome));
  return found;
}
