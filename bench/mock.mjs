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
  const mock = await bench.startMock('--min-interval', '0', '--records', '2000', '--page-size', '100');
  await answersPerSecond(bench, mock);
  mock.stop();
}

/** From nothing to the first answer, against a bare server of Node. */
async function startTime(bench) {
  const [times, bareTimes] = [[], []];
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
  const [ms, bareMs] = [median(times), median(bareTimes)];
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
