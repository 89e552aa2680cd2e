import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expectDone, measured, PAS } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title = 'import of a table of 100,000 rows: read, checked against vocabularies and schema, queued';

const ROWS = 100_000;
const MOST_SECONDS = 30;
const MOST_MEBIBYTES = 400;

export async function run(bench) {
  const mock = await bench.startMock('--min-interval', '0');
  const env = bench.makeHome('import', mock);
  expectDone([PAS, 'harvest-vocab', '--quiet'], env);
  mock.stop();
  const table = writeSeason(join(bench.folder, 'season'), ROWS, 0);
  const { seconds, peakMiB } = await measured({ argv: [process.execPath, PAS, 'import', table, '--quiet'], env });
  const again = spawnSync(process.execPath, [PAS, 'import', table, '--dry-run', '--json'], { env, encoding: 'utf8' });
  const { unchanged } = JSON.parse(again.stdout);
  if (unchanged !== ROWS) throw new Error(`of ${ROWS} rows only ${unchanged} are unchanged the second time: ${again.stderr}`);
  bench.verdict(`import of ${ROWS} rows, time`, {
    figure: `${seconds.toFixed(1)} s`,
    against: `${MOST_SECONDS} s`,
    ratio: seconds / MOST_SECONDS,
    target: 1,
    better: 'less',
  });
  bench.verdict(`import of ${ROWS} rows, memory`, {
    figure: `${Math.round(peakMiB)} MiB`,
    against: `${MOST_MEBIBYTES} MiB`,
    ratio: peakMiB / MOST_MEBIBYTES,
    target: 1,
    better: 'less',
  });
}
