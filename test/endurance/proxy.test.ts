import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { startCuttingWire, startPageProxy } from '../support/faulty-network.ts';
import { freePort } from '../support/free-port.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { expectDone, type Home, jsonLines, type Service, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const FINDS = 4;

const mock = useMock('--min-interval', '10');

async function homeAt(address: Service, photos = false): Promise<Home> {
  const home = await signedIn(address, 'archaeologist', settledAfter(0, 20));
  await expectDone(home.pas('import', writeSeason(home, FINDS, { photos })));
  return home;
}

type Status = { entries: Record<'import' | 'number' | 'photo', Record<string, number>> };
const entries = async (home: Home) => (await home.json<Status>('status')).entries;

/** Reconciles and pushes, as a person does who comes back after a while, until nothing more can be sent. */
async function finish(home: Home, service = mock.service): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) {
    await home.pas('reconcile');
    const { code } = await home.pas('push');
    if (code === 0) return;
    await service.control('POST', '/clock', { advance_ms: 1100 });
  }
}

test('a server that is killed in the middle and comes back has every find and photograph once', async () => {
  const data = join(mkdtempSync(join(tmpdir(), 'pas-server-')), 'mock.sqlite');
  const port = String(await freePort());
  const start = (): Promise<MockProcess> =>
    startMockProcess('--data', data, '--port', port, '--min-interval', '10', '--latency', '80');
  let server = await start();
  const empty = await server.state();
  const home = await homeAt(server, true);
  const running = home.start('push', '--json');
  await running.until(({ stdout }) => jsonLines(stdout).filter(({ state }) => state === 'accepted').length >= 3);
  const gone = new Promise((resolve) => server.child.once('exit', resolve));
  server.child.kill('SIGKILL');
  await gone;
  server = await start();
  await running.ended;
  await finish(home, server);
  const { finds, photos } = await server.state();
  await server.stop();
  expect({ finds: finds - empty.finds, photos: photos - empty.photos }).toEqual({ finds: FINDS, photos: FINDS });
  expect(await entries(home)).toMatchObject({ import: { accepted: FINDS }, photo: { accepted: FINDS } });
});

test('a photograph that is cut off in the middle goes back to the queue and arrives once', async () => {
  await using wire = await startCuttingWire(mock.service, { head: '/upload-foto', afterBytes: 300_000, times: 2 });
  const home = await homeAt(wire.service);
  await expectDone(home.pas('push'));
  // More than the buffers of the system hold: else all of it has left, and nobody can tell what arrived.
  const large = Buffer.concat([tinyPng(7), randomBytes(20_000_000)]);
  await expectDone(home.pas('photo', 'add', 'K-1', home.file('large.png', large)));
  const run = await home.pas('push', '--json');
  const lines = jsonLines(run.stdout).filter(({ kind }) => kind === 'photo');
  expect(lines.filter(({ type }) => type === 'settled').map(({ state }) => state)).toEqual(['queued', 'queued', 'accepted']);
  expect(wire.cuts()).toBe(2);
  expect(run.code).toBe(0);
  expect(await mock.made()).toEqual({ finds: FINDS, photos: 1 });
});

test('an import that is cut off in its middle may have arrived for all pas knows, and still is made once', async () => {
  await using wire = await startCuttingWire(mock.service, { head: '/import-xml', afterBytes: 700, times: 2 });
  const home = await homeAt(wire.service);
  await home.pas('push');
  expect(wire.cuts()).toBe(2);
  await finish(home);
  expect(await mock.made()).toMatchObject({ finds: FINDS });
});

const PAGE = '<html><head><title>Bad Gateway</title></head><body><h1>502</h1>nginx</body></html>';

describe('a proxy that answers an import in place of the service', () => {
  test.each([
    ['502 after the service saved it', 502, true],
    ['504 after the service saved it', 504, true],
    ['a page with status 200 after the service saved it', 200, true],
    ['a page with status 409 after the service saved it', 409, true],
    ['502 before the service got it', 502, false],
    ['504 before the service got it', 504, false],
  ])('with %s leaves it uncertain, and it is made once', async (_name, status, passOn) => {
    await using proxy = await startPageProxy(mock.service, { path: '/import-xml', status, body: PAGE, passOn, times: 1 });
    const home = await homeAt(proxy.service);
    const run = await home.pas('push', '--json');
    const doubted = jsonLines(run.stdout).filter(({ type, state }) => type === 'settled' && state === 'uncertain');
    expect(doubted).toHaveLength(1);
    expect(await mock.made()).toMatchObject({ finds: passOn ? FINDS : FINDS - 1 });
    await finish(home);
    expect(await mock.made()).toMatchObject({ finds: FINDS });
    expect((await entries(home)).import).toMatchObject({ accepted: FINDS, uncertain: 0 });
  });

  test('leaves what a later push proves absent at its end and sends in the same run', async () => {
    const rule = { path: '/import-xml', status: 502, body: PAGE, passOn: false, times: 1 };
    await using proxy = await startPageProxy(mock.service, rule);
    const home = await homeAt(proxy.service);
    await home.pas('push');
    // The service's clock counts whole seconds, and the attempt must lie behind it.
    await mock.service.control('POST', '/clock', { advance_ms: 2100 });
    await expectDone(home.pas('push'));
    expect(await mock.made()).toMatchObject({ finds: FINDS });
    expect((await entries(home)).import).toMatchObject({ accepted: FINDS, queued: 0, uncertain: 0 });
  });

  test('with 413 is a refusal that says why, and nothing was made', async () => {
    const rule = { path: '/import-xml', status: 413, body: '<html><h1>413 Request Entity Too Large</h1></html>', passOn: false };
    await using proxy = await startPageProxy(mock.service, { ...rule, times: FINDS });
    const home = await homeAt(proxy.service);
    const run = await home.pas('push');
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('413');
    expect((await entries(home)).import).toMatchObject({ refused: FINDS });
    expect(await mock.made()).toMatchObject({ finds: 0 });
  });
});

describe('a proxy that answers a photograph in place of the service', () => {
  test.each([
    ['502 after the service saved it', 502, true],
    ['504 before the service got it', 504, false],
  ])('with %s leaves it uncertain, and it is attached once', async (_name, status, passOn) => {
    await using proxy = await startPageProxy(mock.service, { path: '/upload-foto', status, body: PAGE, passOn, times: 1 });
    const home = await homeAt(proxy.service, true);
    await home.pas('push');
    await finish(home);
    expect(await mock.made()).toEqual({ finds: FINDS, photos: FINDS });
  });

  test('with 413 is a refusal', async () => {
    await using proxy = await startPageProxy(mock.service, {
      path: '/upload-foto',
      status: 413,
      body: PAGE,
      passOn: false,
      times: 1,
    });
    const home = await homeAt(proxy.service, true);
    const run = await home.pas('push');
    expect(run.code).toBe(3);
    expect((await entries(home)).photo).toMatchObject({ refused: 1, accepted: FINDS - 1 });
    expect(await mock.made()).toEqual({ finds: FINDS, photos: FINDS - 1 });
  });
});

test('a proxy that answers a number with 502 changes nothing: it is sent again until the service has it', async () => {
  const rule = { path: '/evidencni-cislo', status: 502, body: PAGE, passOn: true };
  await using proxy = await startPageProxy(mock.service, { ...rule, times: 1 });
  const home = await homeAt(proxy.service);
  await expectDone(home.pas('push'));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1/2024'));
  await expectDone(home.pas('push'));
  expect((await entries(home)).number).toMatchObject({ accepted: 1, uncertain: 0 });
});
