import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expectDone, measured, PAS } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title =
  'a push of a whole season: how it begins, beside a second laptop with the same finds, and how it is interrupted';

const FINDS = 2000;
const MOMENTS = 10;
const LAST_MS = 2500;
const WITHOUT_PAUSES = [
  '--set',
  'min_interval_ms=0',
  '--set',
  'index_allowance_ms=0',
  '--oai-auth',
  'basic',
];

export async function run(bench) {
  const mock = await bench.startMock('--min-interval', '0');
  const both = writeSeason(join(bench.folder, 'season-push'), 2 * FINDS, 0);
  const half = writeSeason(join(bench.folder, 'season-push'), FINDS, 0);
  const laptop = bench.makeHome('season-laptop', mock, ...WITHOUT_PAUSES);
  const second = bench.makeHome('season-second', mock, ...WITHOUT_PAUSES);
  expectDone([PAS, 'import', both], laptop);
  expectDone([PAS, 'push', '--limit', String(FINDS)], laptop);
  const { cpuSeconds } = await measured({
    argv: [process.execPath, PAS, 'push', '--limit', '1'],
    env: laptop,
  });
  judge(
    bench,
    `push beside ${FINDS} accepted and ${FINDS} waiting finds: processor time`,
    cpuSeconds,
    5,
  );

  expectDone([PAS, 'import', half], second);
  const held = await ended(start(second, 'push'));
  if (held.code !== 6)
    throw new Error(`equal finds of a second laptop were not held: ${held.code}`);
  judge(
    bench,
    `push of ${FINDS} finds that another laptop has sent: time until they are held`,
    held.seconds,
    10,
  );

  const heardMs = [];
  for (let part = 0; part < MOMENTS; part++)
    heardMs.push(await interrupted(laptop, (LAST_MS * (part + Math.random())) / MOMENTS));
  mock.stop();
  judge(
    bench,
    `Ctrl-C at ${MOMENTS} random moments of a push: the longest time until it is heard`,
    Math.max(...heardMs) / 1000,
    0.3,
  );
}

function judge(bench, what, seconds, maxSeconds) {
  bench.verdict(what, {
    figure: `${seconds.toFixed(2)} s`,
    against: `the permitted ${maxSeconds} s`,
    ratio: seconds / maxSeconds,
    target: 1,
    better: 'less',
  });
}

function start(env, ...args) {
  return spawn(process.execPath, [PAS, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

async function ended(child) {
  const startedMs = performance.now();
  child.stderr.resume();
  const code = await new Promise((over) => child.on('close', over));
  return { code, seconds: (performance.now() - startedMs) / 1000 };
}

/** Until it says that it ends, or has ended. */
async function interrupted(env, afterMs) {
  const child = start(env, 'push');
  let output = '';
  const over = new Promise((done) => child.on('close', done));
  const heard = new Promise((done) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (output.includes('Waiting for requests in progress')) done(undefined);
    });
  });
  await new Promise((done) => setTimeout(done, afterMs));
  const sentMs = performance.now();
  child.kill('SIGINT');
  await Promise.race([heard, over]);
  const heardMs = performance.now() - sentMs;
  await over;
  return heardMs;
}
