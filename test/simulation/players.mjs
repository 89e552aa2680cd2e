import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILT, build as buildProject, compile, playSeeds, WHOLE } from './built-players.mjs';

/** @typedef {{ seed: number, steps: number, violation: string, text: string }} Found */
/**
 * @typedef {{ scenarios: number, steps: number, sent: number, left: number, digest: string,
 * processorMs: number, found?: Found }} Played
 */
/**
 * @typedef {{ name: string, file: string, from: string, to: string, seed?: number, themes?:
 * readonly string[], anonymous?: true }} Planted
 */

export function build() {
  buildProject('test/simulation');
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
  compile([
    ...flags.split(' '),
    '--rewriteRelativeImportExtensions',
    '--rootDir',
    sources,
    '--outDir',
    compiled,
    ...written,
  ]);
  return otherFiles.map((_, nth) => () => {
    const folder = join(BUILT, `other-${nth}`);
    cpSync(WHOLE, folder, { recursive: true });
    cpSync(join(compiled, String(nth)), folder, { recursive: true });
    return folder;
  });
}

/**
 * @param {number} from the first seed
 * @param {number} count
 * @param {{ jobs: number, folder?: string, themes?: readonly string[], anonymous?: true }} how
 * `themes`: only scenarios about one of these; `anonymous`: only those without lookups
 * @param {(played: Played, from: number) => void} [onPart]
 * @returns {Promise<Found | undefined>} the first scenario that went wrong
 */
export function playScenarios(
  from,
  count,
  { jobs, folder = WHOLE, themes, anonymous },
  onPart = () => {},
) {
  return playSeeds(
    join(folder, 'test/simulation/player.js'),
    from,
    count,
    { jobs, more: { themes, anonymous } },
    onPart,
  );
}
