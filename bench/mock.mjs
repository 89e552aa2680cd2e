import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { CLEAN_ENVIRONMENT, median, readCpuSeconds } from './measure.mjs';

export const title = 'the mock server';

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 8;
const MANY_RECORDS = 100_000;
const MAX_SEED_SECONDS = 5;
const MAX_RESET_MS = 20;
/** So many that hundredths of a second, in which processor time is counted, tell. */
const RESETS = 200;
const TENANTS = 20;

export async function run(bench) {
  await startTime(bench);
  const mock = await bench.startMock(
    '--min-interval',
    '0',
    '--records',
    '2000',
    '--page-size',
    '100',
  );
  await answersPerSecond(bench, mock);
  mock.stop();
  await manyRecords(bench);
}

/**
 * Cost of the records at start, at a reset and for a new tenant, in processor time, which other
 * work does not change.
 */
async function manyRecords(bench) {
  const plain = await bench.startMock('--min-interval', '0');
  const mock = await bench.startMock('--min-interval', '0', '--records', String(MANY_RECORDS));
  const seeded = readCpuSeconds(mock.pid);
  bench.verdict(`mock: ${MANY_RECORDS} records seeded, processor time of the whole start`, {
    figure: `${seeded.toFixed(2)} s`,
    against: `the permitted ${MAX_SEED_SECONDS} s`,
    ratio: seeded / MAX_SEED_SECONDS,
    target: 1,
    better: 'less',
  });
  const started = readCpuSeconds(plain.pid);
  plain.stop();

  const cycle = await measureCpuMs(mock, RESETS, async () => {
    await ask(mock, 'POST', '/records', { ident: 'HES-000253', changes: { zkratka: null } });
    await ask(mock, 'POST', '/reset');
  });
  bench.verdict(`mock: change and reset among ${MANY_RECORDS} records, processor time`, {
    figure: `${cycle.toFixed(1)} ms`,
    against: `the permitted ${MAX_RESET_MS} ms`,
    ratio: cycle / MAX_RESET_MS,
    target: 1,
    better: 'less',
  });
  const tenant = await measureCpuMs(mock, TENANTS, () => ask(mock, 'POST', '/tenants', {}));
  mock.stop();
  bench.verdict('mock: a tenant more, processor time', {
    figure: `${Math.round(tenant)} ms`,
    against: `a server more ${Math.round(started * 1000)} ms`,
    ratio: tenant / (started * 1000),
    target: 0.25,
    better: 'less',
  });
}

async function ask({ control_url }, method, path, body) {
  const answer = await fetch(control_url + path, {
    method,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
}

/** Server time for one of them. */
async function measureCpuMs({ pid }, times, run) {
  await run();
  const before = readCpuSeconds(pid);
  for (let time = 0; time < times; time++) await run();
  return ((readCpuSeconds(pid) - before) * 1000) / times;
}

/** From nothing to the first answer, against a bare server of Node. */
async function startTime(bench) {
  const times = [];
  const bareTimes = [];
  for (let round = 0; round < ROUNDS; round++) {
    let startedMs = performance.now();
    const mock = await bench.startMock();
    await (await fetch(`${mock.control_url}/health`)).arrayBuffer();
    times.push(performance.now() - startedMs);
    mock.stop();
    startedMs = performance.now();
    const bare = await bareServer(Buffer.from('{}'), 'application/json');
    await (await fetch(bare.url)).arrayBuffer();
    bareTimes.push(performance.now() - startedMs);
    bare.close();
  }
  const ms = median(times);
  const bareMs = median(bareTimes);
  bench.verdict('mock: start to first answer', {
    figure: `${Math.round(ms)} ms`,
    against: `bare http ${Math.round(bareMs)} ms`,
    ratio: ms / bareMs,
    target: 6,
    better: 'less',
  });
}

/** Small answers of the mock against those of a bare server of Node that says the same. */
async function answersPerSecond(bench, mock) {
  const asked = [
    ['health', `${mock.control_url}/health`],
    ['Identify', `${mock.oai_base}/2.2/oai?verb=Identify`],
  ];
  for (const [what, url] of asked) {
    const answer = await fetch(url);
    const body = Buffer.from(await answer.arrayBuffer());
    const bare = await bareServer(body, answer.headers.get('content-type'));
    const rates = [];
    const bareRates = [];
    for (let round = 0; round < 3; round++) {
      rates.push(await measureRate(url));
      bareRates.push(await measureRate(bare.url));
    }
    bare.close();
    const rate = median(rates);
    const bareRate = median(bareRates);
    bench.verdict(`mock: answers a second, ${what}`, {
      figure: `${Math.round(rate)}/s`,
      against: `bare http ${Math.round(bareRate)}/s`,
      ratio: rate / bareRate,
      target: 0.3,
    });
  }
}

/** In a process of its own, as the mock is. */
async function bareServer(body, contentType) {
  const child = fork(
    new URL('./bare-server.mjs', import.meta.url),
    [contentType ?? 'text/plain', body.toString('base64')],
    {
      env: CLEAN_ENVIRONMENT,
    },
  );
  const [url] = await once(child, 'message');
  return { url, close: () => child.kill() };
}

async function measureRate(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const endMs = performance.now() + SECONDS * 1000;
  let answered = 0;
  const ask = async () => {
    while (performance.now() < endMs) {
      await new Promise((resolve, reject) => {
        request(url, { agent }, (response) => response.resume().on('end', resolve))
          .on('error', reject)
          .end();
      });
      answered++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  agent.destroy();
  return answered / SECONDS;
}
