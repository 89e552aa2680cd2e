import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { CLEAN_ENVIRONMENT, median } from './measure.mjs';

export const title = 'the mock server';

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 8;

export async function run(bench) {
  await startTime(bench);
  await resetTime(bench);
  const mock = await bench.startMock('--min-interval', '0', '--records', '2000', '--page-size', '100');
  await answersPerSecond(bench, mock);
  await pageTime(bench, mock);
  mock.stop();
}

async function startTime(bench) {
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const mock = await bench.startMock();
    await fetch(`${mock.control_url}/health`);
    times.push(performance.now() - startedMs);
    mock.stop();
  }
  const ms = median(times);
  bench.verdict('mock: start to first answer', {
    figure: `${Math.round(ms)} ms`,
    against: '400 ms',
    ratio: ms / 400,
    target: 1,
    better: 'less',
  });
}

/** As the server itself counts it: tests reset between any two cases. */
async function resetTime(bench) {
  const mock = await bench.startMock();
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const answer = await fetch(`${mock.control_url}/reset`, { method: 'POST' });
    times.push(/** @type {{ ms: number }} */ (await answer.json()).ms);
  }
  mock.stop();
  const ms = median(times);
  bench.verdict('mock: reset to the seed', {
    figure: `${Math.round(ms)} ms`,
    against: '100 ms',
    ratio: ms / 100,
    target: 1,
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
    const [rates, bareRates] = [[], []];
    for (let round = 0; round < 3; round++) {
      rates.push(await rateOf(url));
      bareRates.push(await rateOf(bare.url));
    }
    bare.close();
    const [rate, bareRate] = [median(rates), median(bareRates)];
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
  const child = fork(new URL('./bare-server.mjs', import.meta.url), [contentType ?? 'text/plain', body.toString('base64')], {
    env: CLEAN_ENVIRONMENT,
  });
  const [url] = await once(child, 'message');
  return { url, close: () => child.kill() };
}

async function rateOf(url) {
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

async function pageTime(bench, mock) {
  for (const format of ['oai_dc', 'oai_svc']) {
    const url = `${mock.oai_base}/2.2/oai?verb=ListRecords&set=samostatny_nalez&metadataPrefix=${format}`;
    const times = [];
    for (let round = 0; round < 60; round++) {
      const startedMs = performance.now();
      await (await fetch(url)).arrayBuffer();
      times.push(performance.now() - startedMs);
    }
    bench.say(`  page of 100 records, ${format}: ${median(times).toFixed(1)} ms`);
  }
}
