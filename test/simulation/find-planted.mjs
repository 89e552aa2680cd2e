// npm run simulate:planted -- [--seeds N] [--jobs J] [--only TEXT] [--known|--missing] [--every N]
// [--write]: looks for each planted fault in so many scenarios, of these in those whose themes
// concern it, and prints a table of where each was found. `--known`: only in the scenario in which
// it was found before. `--missing`: only those that have no such scenario. `--every N`: only one
// row of N. `--write`: keeps these scenarios in planted.ts.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { build, buildWith, plantedFaults, playScenarios } from './players.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    only: { type: 'string', default: '' },
    known: { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
    missing: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
/** Without a theme every story qualifies: fewer are searched. */
const OF_ALL = 500;

build();
const { PLANTED, plant } = await plantedFaults();
const rows = PLANTED.filter(
  ({ name, seed }, nth) =>
    name.includes(values.only) &&
    (!values.known || seed !== undefined) &&
    !(values.missing && seed !== undefined) &&
    nth % Number(values.every) === 0,
);
const sources = rows.map((row) => ({
  file: row.file,
  text: plant(row, readFileSync(new URL(`../../${row.file}`, import.meta.url), 'utf8')),
}));
const builds = buildWith(sources);
const left = rows.map((row, nth) => ({ row, built: builds[nth] ?? (() => '') }));
/** @type {Map<string, import('./players.mjs').Found>} */
const finds = new Map();
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.stdout.write(`\n| fault | scenario | steps |\n|---|---|---|\n`);
for (const { name } of rows) {
  const finding = finds.get(name);
  process.stdout.write(`| ${name} | ${finding?.seed ?? 'none'} | ${finding?.steps ?? ''} |\n`);
}
process.stdout.write(`${finds.size} of ${rows.length} planted faults were found\n`);
process.exitCode = finds.size === rows.length ? 0 : 1;

async function work() {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { row, built } = next;
    const { name } = row;
    const folder = built();
    const finding = await lookFor(row, folder);
    rmSync(folder, { recursive: true, force: true });
    if (finding !== undefined) finds.set(name, finding);
    if (finding !== undefined && values.write) keep(name, finding.seed);
    process.stdout.write(
      finding === undefined
        ? `NOT FOUND in ${values.known ? `scenario ${row.seed}` : `${values.seeds} scenarios`}: ${name}\n`
        : `scenario ${finding.seed}, ${finding.steps} steps: ${name} (${finding.violation.slice(0, 150)})\n`,
    );
  }
}

/**
 * @param {import('./players.mjs').Planted} row
 * @param {string} folder
 */
async function lookFor({ seed = 1, themes, anonymous }, folder) {
  const how = { jobs: 1, folder, anonymous };
  if (values.known) return playScenarios(seed, 1, how);
  if (themes !== undefined || anonymous !== undefined)
    return playScenarios(1, Number(values.seeds), {
      ...how,
      themes,
    });
  return playScenarios(1, Math.min(OF_ALL, Number(values.seeds)), how);
}

/**
 * @param {string} name
 * @param {number} seed
 */
function keep(name, seed) {
  const path = new URL('planted.ts', import.meta.url);
  const begin = `    name: '${name}',\n`;
  const [before = '', after = ''] = readFileSync(path, 'utf8').split(begin);
  writeFileSync(
    path,
    `${before}${begin}    seed: ${seed},\n${after.replace(/^ {4}seed: \d+,\n/, '')}`,
  );
}
