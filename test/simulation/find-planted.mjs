// npm run simulate:planted -- [--seeds N] [--jobs J] [--known]: looks for each planted fault in so many stories, and says in which it
// was found. `--known`: only in the story in which it was found before, for those that were.
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { build, buildWith, plantedFaults, playStories } from './players.mjs';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    known: { type: 'boolean', default: false },
  },
});

build();
const { PLANTED, plant } = await plantedFaults();
const rows = values.known ? PLANTED.filter(({ seed }) => seed !== undefined) : PLANTED;
const left = [...rows];
let missed = 0;
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
process.stdout.write(`${rows.length - missed} of ${rows.length} planted faults were found\n`);
process.exitCode = missed === 0 ? 0 : 1;

async function work() {
  for (let row = left.shift(); row !== undefined; row = left.shift()) {
    const { name, file, seed = 1 } = row;
    const folder = buildWith(file, plant(row, readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')));
    const found = await playStories(values.known ? seed : 1, values.known ? 1 : Number(values.seeds), { jobs: 1, folder });
    rmSync(folder, { recursive: true });
    if (found === undefined) missed += 1;
    process.stdout.write(
      found === undefined
        ? `NOT FOUND in ${values.known ? `story ${seed}` : `${values.seeds} stories`}: ${name}\n`
        : `seed ${found.seed}, ${found.steps} steps: ${name} (${found.violation.split('\n')[0]})\n`,
    );
  }
}
