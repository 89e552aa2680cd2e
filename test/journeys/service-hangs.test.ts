import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/main.ts';
import { openConnections } from '../../src/service/http/send.ts';
import { manualClock } from '../support/manual-clock.ts';
import { type Listening, startRawServer } from '../support/raw-server.ts';
import { type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--page-size', '10');

/** Reads all and never answers. */
let deaf: Listening;
beforeAll(async () => {
  deaf = await startRawServer(() => {});
});
afterAll(() => deaf[Symbol.asyncDispose]());

const SEASON = {
  name: 'season',
  prepare: (made: Home) => importSeason(made, 30),
};
let home: Home;
beforeEach(async () => {
  home = await signedIn(mock.service, WITHOUT_PAUSES, 'archaeologist', SEASON);
});

const isOai = (url: string): boolean => url.includes('/oai?');
const isImport = (url: string): boolean => url.endsWith('/import-xml');
const isAny = (): boolean => true;

/**
 * Runs `pas` on a clock that moves only while nothing but time is waited for.
 * @param meant requests that get answers so often, and hang from then on
 */
async function runUntilGivenUp(
  args: readonly string[],
  meant: (url: string) => boolean,
  answered: number,
) {
  const { base_url } = mock.service;
  const clock = manualClock(Date.now());
  const startedMs = clock.monotonicMs();
  const connections = openConnections({ maxConnections: 8, clock });
  let asked = 0;
  let underWay = 0;
  let hangs = false;
  const send: typeof connections.send = async (request) => {
    if (meant(request.url)) asked += 1;
    if (asked > answered && meant(request.url)) {
      hangs = true;
      return connections.send({ ...request, url: request.url.replace(base_url, deaf.url) });
    }
    underWay += 1;
    return connections.send(request).finally(() => {
      underWay -= 1;
    });
  };
  const stdin = new PassThrough();
  stdin.end();
  const streams = { stdin, stdout: new PassThrough().resume(), stderr: new PassThrough().resume() };
  const overrides = { clock, openConnections: async () => ({ ...connections, send }) };
  let code: number | undefined;
  const running = runCommandLine(args, {
    environment: home.env,
    cwd: home.folder,
    streams: streams as never,
    overrides: overrides,
  }).then((ended) => {
    code = ended;
  });
  while (code === undefined) {
    await Promise.race([running, delay(5)]);
    if (hangs && underWay === 0) await clock.advance(5000);
  }
  return { code, minutes: (clock.monotonicMs() - startedMs) / 60_000 };
}

test.each<[string, readonly string[], (url: string) => boolean, number]>([
  [
    'a harvest whose second page hangs',
    ['harvest', 'samostatny_nalez', '--out', 'finds.jsonl'],
    isOai,
    1,
  ],
  ['a harvest after the account was told', ['harvest-vocab'], isAny, 1],
  ['a push whose look hangs', ['push'], isOai, 1],
  ['a push after the account was told', ['push'], isAny, 1],
  ['a pull after the account was told', ['pull'], isAny, 1],
])('%s is given up after five minutes', async (_name, args, meant, answered) => {
  if (args[0] === 'pull') await home.do('push');
  const { code, minutes } = await runUntilGivenUp(args, meant, answered);
  expect(code).toBe(5);
  expect(minutes).toBeGreaterThanOrEqual(4.9);
  expect(minutes).toBeLessThan(5.5);
});

test('a push whose imports hang after the first is given up within five minutes, with those uncertain', async () => {
  const { code, minutes } = await runUntilGivenUp(['push'], isImport, 1);
  expect(code).toBe(6);
  expect(minutes).toBeLessThan(5);
  const { accepted, queued, uncertain } = (await home.json('status')).entries.import;
  expect([accepted, queued + uncertain]).toEqual([1, 29]);
  expect(uncertain).toBeLessThan(12);
});
