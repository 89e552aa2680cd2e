import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {{ seed: number, steps: number, violation: string, text: string }} Found */
/**
 * @typedef {{ scenarios: number, steps: number, sent: number, left: number, digest: string,
 * processorMs: number, found?: Found }} Played
 */
/**
 * @typedef {{ name: string, file: string, from: string, to: string, seed?: number, themes?:
 * readonly string[], anonymous?: true }} Planted
 */

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside of the project, where its packages and schemas are found. */
const BUILT = join(PROJECT, '.simulation', String(process.pid));
/** Folder of the build. */
const WHOLE = join(BUILT, 'whole');
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

/** Makes JavaScript of all that is played: nothing then stands between it and Node. */
export function build() {
  process.once('exit', () => rmSync(BUILT, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  compile('-p', import.meta.dirname, '--outDir', WHOLE);
}

/** @param {string[]} args */
function compile(...args) {
  const compiler = join(PROJECT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [compiler, ...args], {
    stdio: 'inherit',
    cwd: PROJECT,
  });
  if (status !== 0) throw new Error('the sources cannot be built');
}

/**
 * @returns {Promise<{ PLANTED: readonly Planted[], plant: (planted: Planted, text: string) =>
 * string }>}
 */
export function plantedFaults() {
  return import(join(WHOLE, 'test/simulation/planted.js'));
}

/**
 * Copies of the build, one for each file that differs.
 * @param {readonly { file: string, text: string }[]} otherFiles
 * @returns for each of them where its copy is made once that is asked for
 */
export function buildWith(otherFiles) {
  const sources = join(BUILT, 'sources');
  const written = otherFiles.map(({ file, text }, nth) => {
    const source = join(sources, String(nth), file);
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(source, text);
    return source;
  });
  const flags =
    '--ignoreConfig --noCheck --noResolve --target es2023 --module nodenext --verbatimModuleSyntax';
  const compiled = join(BUILT, 'compiled');
  compile(
    ...flags.split(' '),
    '--rewriteRelativeImportExtensions',
    '--rootDir',
    sources,
    '--outDir',
    compiled,
    ...written,
  );
  return otherFiles.map((_, nth) => () => {
    const folder = join(BUILT, `other-${nth}`);
    cpSync(WHOLE, folder, { recursive: true });
    cpSync(join(compiled, String(nth)), folder, { recursive: true });
    return folder;
  });
}

/**
 * Plays scenarios part by part, in as many processes as there are jobs: a seed is the same scenario
 * in any process.
 * @param {number} from the first seed
 * @param {number} count
 * @param {{ jobs: number, folder?: string, themes?: readonly string[], anonymous?: true }} how
 * `themes`: only scenarios about one of these; `anonymous`: only those without lookups
 * @param {(played: Played, from: number) => void} [onPart]
 * @returns {Promise<Found | undefined>} the first scenario that went wrong; no part is begun after
 * it
 */
export async function playScenarios(
  from,
  count,
  { jobs, folder = WHOLE, themes, anonymous },
  onPart = () => {},
) {
  let next = from;
  /** @type {Found | undefined} */
  let found;
  const playSome = async () => {
    const child = fork(join(folder, 'test/simulation/player.js'), { execArgv: V8_FLAGS });
    const exit = once(child, 'exit').then(() => {
      throw new Error(
        `a process that plays has ended, somewhere from seed ${next - PART * jobs} to ${next}`,
      );
    });
    exit.catch(() => {});
    await Promise.race([once(child, 'message'), exit]);
    while (next < from + count && found === undefined) {
      const part = { themes, anonymous, from: next, until: Math.min(next + PART, from + count) };
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
