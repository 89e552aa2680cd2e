import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expectDone, measured, PAS } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title =
  'import of a table of 100,000 rows: read, checked against vocabularies and schema, queued';

const ROWS = 100_000;
/**
 * A row becomes a find that is judged by some hundred rules, an intent with its validated
 * document, a fact and an entry, with three digests.
 */
const MAX_TIMES_BARE = 12;
const MAX_MIB = 280;
const BARE = join(import.meta.dirname, 'bare-import.mjs');

export async function run(bench) {
  const mock = await bench.startMock('--min-interval', '0');
  const env = bench.makeHome('import', mock);
  expectDone([PAS, 'harvest-vocab', '--quiet'], env);
  mock.stop();
  const table = writeSeason(join(bench.folder, 'season'), ROWS, 0);
  const ownResult = await measured({
    argv: [process.execPath, PAS, 'import', table, '--quiet'],
    env,
  });
  const bare = await measured({
    argv: [process.execPath, BARE, table, join(bench.folder, 'rows.sqlite')],
  });
  const again = spawnSync(process.execPath, [PAS, 'import', table, '--dry-run', '--json'], {
    env,
    encoding: 'utf8',
  });
  const { unchanged } = JSON.parse(again.stdout);
  if (unchanged !== ROWS)
    throw new Error(
      `of ${ROWS} rows only ${unchanged} are unchanged the second time: ${again.stderr}`,
    );
  bench.verdict(`import of ${ROWS} rows, processor time`, {
    figure: `${ownResult.cpuSeconds.toFixed(1)} s`,
    against: `csv-parse into bare SQLite ${bare.cpuSeconds.toFixed(1)} s`,
    ratio: ownResult.cpuSeconds / bare.cpuSeconds,
    target: MAX_TIMES_BARE,
    better: 'less',
  });
  bench.verdict(`import of ${ROWS} rows, memory`, {
    figure: `${Math.round(ownResult.peakMiB)} MiB`,
    against: `the permitted ${MAX_MIB} MiB`,
    ratio: ownResult.peakMiB / MAX_MIB,
    target: 1,
    better: 'less',
  });
}
