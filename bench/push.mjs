import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectDone, PAS, prefer } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title =
  'push of 1,000 finds with 2,000 photographs to a service that takes 500 ms for each';

const FINDS = 1000;
const PHOTOS_EACH = 2;
const LATENCY_MS = 500;
const INTERVAL_MS = 100;
/** The sequential script's rate does not depend on how long it runs. */
const SEQUENTIAL_REQUESTS = 20;

export async function run(bench) {
  const mock = await bench.startMock('--latency', String(LATENCY_MS));
  prefer(mock.pid);
  const env = bench.makeHome('push', mock);
  expectDone([PAS, 'import', writeSeason(join(bench.folder, 'season'), FINDS, PHOTOS_EACH)], env);
  const perRequestMs = await sequentialScript(bench, env, mock);
  const output = expectDone([PAS, 'push', '--json'], env);
  mock.stop();
  const summary = JSON.parse(output.trim().split('\n').at(-1));
  const requests = FINDS * (1 + PHOTOS_EACH);
  if (summary.accepted !== requests)
    throw new Error(`not all was accepted: ${JSON.stringify(summary)}`);
  const limitMs = (requests - 1) * INTERVAL_MS;
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
  bench.say(
    `  ${summary.requests} requests, ${summary.throttled} throttled, ${summary.locked} locked`,
  );
  bench.verdict(`push of ${FINDS} finds and ${FINDS * PHOTOS_EACH} photographs`, {
    figure: seconds(summary.elapsed_ms),
    against: `the permitted ${seconds(limitMs)}`,
    ratio: summary.elapsed_ms / limitMs,
    target: 1.04,
    better: 'less',
  });
  bench.verdict('the same against a script that sends one after another', {
    figure: seconds(summary.elapsed_ms),
    against: `${seconds(perRequestMs * requests)}, from ${SEQUENTIAL_REQUESTS} requests`,
    ratio: (perRequestMs * requests) / summary.elapsed_ms,
    target: 4,
  });
}

/**
 * A hand-written client: a document, its answer, a pause, the next. It sends to the same server
 * before the push.
 */
async function sequentialScript(bench, env, { base_url }) {
  const document = expectDone([PAS, 'show', 'B-1', '--xml'], env);
  const signedIn = await fetch(`${base_url}/api/token-auth/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: env.PAS_USERNAME, password: env.PAS_PASSWORD }),
  });
  const { token } = /** @type {{ token: string }} */ (await signedIn.json());
  const digest = createHash('sha512').update(document).digest('base64');
  const headers = { authorization: `Bearer ${token}`, 'content-digest': `sha-512=:${digest}:` };
  const startedMs = performance.now();
  for (let n = 0; n < SEQUENTIAL_REQUESTS; n++) {
    const body = new FormData();
    body.append('file', new Blob([document], { type: 'application/xml' }), 'find.xml');
    const answer = await fetch(`${base_url}/api/pas/import-xml`, { method: 'POST', headers, body });
    if (answer.status !== 201)
      throw new Error(`the sequential script was refused: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    await sleep(INTERVAL_MS);
  }
  const perRequestMs = (performance.now() - startedMs) / SEQUENTIAL_REQUESTS;
  bench.say(`  one after another: ${Math.round(perRequestMs)} ms for each request`);
  return perRequestMs;
}
