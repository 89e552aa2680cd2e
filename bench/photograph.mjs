import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashSha512 } from '../dist/src/base/disk/files.js';
import { openVerifiedFile } from '../dist/src/service/http/request-body.js';
import { expectDone, measured, median, onPath, PAS, ROOT } from './measure.mjs';

export const title = 'one photograph of 250 MiB';

const MIB = 1024 * 1024;
/** As large as it may be once the form's own bytes are added. */
const LARGE_BYTES = 250 * MIB - 1000;
const LARGE = { name: 'large.jpg', mediaType: 'image/jpeg', sizeBytes: LARGE_BYTES };
const ROUNDS = 5;
/** A moment longer than it takes, so that its memory is seen. */
const READ_WHOLE =
  'const bytes = fs.readFileSync(process.argv[1]); setTimeout(() => bytes.length, 300)';

export async function run(bench) {
  const png = readFileSync(join(ROOT, 'examples', 'photos', 'KH24-003.png'));
  const small = join(bench.folder, 'small.png');
  const large = join(bench.folder, 'large.png');
  writeFileSync(small, png);
  writeFileSync(large, png);
  truncateSync(large, LARGE_BYTES);
  await digestRate(bench, large);
  await memoryOfUpload(bench, small, large);
}

/** The digest that a push computes while the bytes leave, against programs that do nothing else. */
async function digestRate(bench, path) {
  const sha512 = hashSha512(readFileSync(path));
  const programs = /** @type {[string, string[]][]} */ ([
    ['sha512sum', [path]],
    ['openssl', ['dgst', '-sha512', path]],
  ]);
  const installed = programs.filter(([name]) => onPath(name));
  const ownSeconds = [];
  const otherTimes = installed.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    ownSeconds.push(await timeMs(() => throughVerified(path, sha512)));
    for (const [index, [name, args]] of installed.entries())
      otherTimes[index].push(await timeMs(() => spawnSync(name, args)));
  }
  const rate = (times) => LARGE_BYTES / MIB / (median(times) / 1000);
  for (const [index, [name]] of installed.entries()) {
    bench.verdict(`digest of a photograph while it is read, against ${name}`, {
      figure: `${Math.round(rate(ownSeconds))} MiB/s`,
      against: `${Math.round(rate(otherTimes[index]))} MiB/s`,
      ratio: rate(ownSeconds) / rate(otherTimes[index]),
      target: 0.9,
    });
  }
}

async function throughVerified(path, sha512) {
  for await (const _ of openVerifiedFile(path, { ...LARGE, sha512 }));
}

async function memoryOfUpload(bench, small, large) {
  const mock = await bench.startMock();
  const env = bench.makeHome('photograph', mock);
  const ident = await importOne(bench, env);
  const measurePeak = async (path) => {
    expectDone([PAS, 'photo', 'add', ident, path], env);
    return measured({ argv: [process.execPath, PAS, 'push'], env });
  };
  const first = await measurePeak(small);
  const second = await measurePeak(large);
  mock.stop();
  const moreMiB = second.peakMiB - first.peakMiB;
  const measureWhole = (path) => measured({ argv: [process.execPath, '-e', READ_WHOLE, path] });
  const wholeMiB = (await measureWhole(large)).peakMiB - (await measureWhole(small)).peakMiB;
  bench.verdict('memory that a push of 250 MiB takes over one of a small photograph', {
    figure: `${Math.round(moreMiB)} MiB, ${second.seconds.toFixed(1)} s`,
    against: `reading it whole ${Math.round(wholeMiB)} MiB`,
    ratio: moreMiB / wholeMiB,
    target: 0.25,
    better: 'less',
  });
}

/** A find on the server, to hang photographs on. @returns its local id */
async function importOne(bench, env) {
  const { writeSeason } = await import('./season.mjs');
  expectDone([PAS, 'import', writeSeason(bench.folder, 1, 0)], env);
  expectDone([PAS, 'push'], env);
  return 'B-1';
}

async function timeMs(work) {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
