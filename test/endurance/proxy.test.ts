import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectEnded } from '../support/expect-ended.ts';
import { type Home, jsonLines, type Service, settledAfter, signedIn } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';
import { startCuttingWire, startPageProxy } from './faulty-network.ts';

const FINDS = 4;

const mock = useMock('--min-interval', '10');

async function homeAt(address: Service): Promise<Home> {
  const home = await signedIn(address, settledAfter(0, 20));
  await importSeason(home, FINDS);
  return home;
}

/**
 * Reconciles and pushes, as a person does who comes back after a while, until nothing more can be
 * sent.
 */
async function finish(home: Home): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) {
    await home.pas('reconcile');
    const { code } = await home.pas('push');
    if (code === 0) return;
    await mock.service.clock({ advance_ms: 1100 });
  }
}

test('a photograph that is cut off returns to the queue and arrives once', async () => {
  await using wire = await startCuttingWire(mock.service, {
    head: '/upload-foto',
    afterBytes: 300_000,
    times: 2,
  });
  const home = await homeAt(wire.service);
  await home.do('push');
  // More than the buffers of the system hold: otherwise all of it has left, and what arrived is
  // unknown.
  const large = Buffer.concat([tinyPng(7), randomBytes(20_000_000)]);
  await home.do('photo', 'add', 'K-1', home.file('large.png', large));
  const run = await home.pas('push', '--json');
  const lines = jsonLines(run.stdout).filter(({ kind }) => kind === 'photo');
  expect(lines.filter(({ type }) => type === 'settled').map(({ state }) => state)).toEqual([
    'queued',
    'queued',
    'accepted',
  ]);
  expect(wire.cuts()).toBe(2);
  await expectEnded(run, 0);
  expect(await mock.made()).toEqual({ finds: FINDS, photos: 1 });
});

test('an import that is cut off may have arrived, and is still created once', async () => {
  await using wire = await startCuttingWire(mock.service, {
    head: '/import-xml',
    afterBytes: 700,
    times: 2,
  });
  const home = await homeAt(wire.service);
  await home.pas('push');
  expect(wire.cuts()).toBe(2);
  await finish(home);
  expect(await mock.made()).toMatchObject({ finds: FINDS });
});

test('a proxy that answers an import with 413 refuses it, with the reason, and nothing is created', async () => {
  const rule = {
    path: '/import-xml',
    status: 413,
    body: '<html><h1>413 Request Entity Too Large</h1></html>',
    passOn: false,
  };
  await using proxy = await startPageProxy(mock.service, { ...rule, times: FINDS });
  const home = await homeAt(proxy.service);
  await expectEnded(home.pas('push'), 3, '413');
  const { entries } = await home.json<{ entries: { import: Record<string, number> } }>('status');
  expect(entries.import).toMatchObject({ refused: FINDS });
  expect(await mock.made()).toMatchObject({ finds: 0 });
});
