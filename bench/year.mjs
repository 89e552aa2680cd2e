import { statSync } from 'node:fs';
import { fillOutbox, makePlaces } from './fill-outbox.mjs';
import { measured, PAS } from './measure.mjs';

export const title =
  'memory and disk of a year of daily use: 40 finds with 3 photographs each, on 200 days';

const FINDS = 200 * 40;
const PHOTOS_EACH = 3;
const MAX_BYTES = 150 * 2 ** 20;
const MAX_MIB = { status: 100, list: 200 };

export async function run(bench) {
  const mock = await bench.startMock();
  const env = bench.makeHome('year', mock);
  mock.stop();
  const places = makePlaces(env, mock.base_url);
  fillOutbox(places, FINDS, PHOTOS_EACH);
  const bytes = statSync(places.file).size + statSync(places.ledgerFile).size;
  const mebibytes = (of) => `${Math.round(of / 2 ** 20)} MiB`;
  bench.verdict(
    `outbox and ledger of ${FINDS} finds and ${PHOTOS_EACH * FINDS} photographs by name, on disk`,
    {
      figure: mebibytes(bytes),
      against: `the permitted ${mebibytes(MAX_BYTES)}`,
      ratio: bytes / MAX_BYTES,
      target: 1,
      better: 'less',
    },
  );
  for (const [command, maxMiB] of Object.entries(MAX_MIB)) {
    const { peakMiB } = await measured({ argv: [process.execPath, PAS, command], env });
    bench.verdict(`the same: memory of pas ${command}`, {
      figure: `${Math.round(peakMiB)} MiB`,
      against: `the permitted ${maxMiB} MiB`,
      ratio: peakMiB / maxMiB,
      target: 1,
      better: 'less',
    });
  }
}
