import { type AddressInfo, connect, createServer as createWire, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { page, startOddService } from '../support/odd-service.ts';
import {
  addressFlags,
  expectDone,
  type Home,
  jsonLines,
  makeHome,
  type Run,
  type Service,
  settledAfter,
  signedIn,
} from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';
import { startPageProxy } from './faulty-network.ts';

const FINDS = 12;
const PORTAL = '<html><head><title>Hotel</title></head><body>Welcome to our network</body></html>';

const mock = useMock('--min-interval', '10');

async function homeAt(address: Service): Promise<Home> {
  const home = await signedIn(address, 'archaeologist', settledAfter(600_000));
  await expectDone(home.pas('import', writeSeason(home, FINDS)));
  return home;
}

const summary = (run: Run) => jsonLines(run.stdout).findLast(({ type }) => type === 'summary');

describe('a wall of pages in place of the service', () => {
  test.each([
    ['with status 200', 200],
    ['with status 302', 302],
    ['with status 502', 502],
    ['with status 511', 511],
  ])('%s leaves one find in doubt and ends the push', async (_name, status) => {
    await using portal = await startPageProxy(mock.service, {
      path: '/import-xml',
      status,
      body: PORTAL,
      passOn: false,
      times: 1e9,
    });
    const home = await homeAt(portal.service);
    const run = await home.pas('push', '--json');
    expect(run.code).toBe(6);
    expect(summary(run)).toMatchObject({ accepted: 0, uncertain: 1, queued: FINDS - 1, requests: 1 });
    expect(run.stderr).toContain('the answers may not come from the service');
    expect(await mock.made()).toMatchObject({ finds: 0 });
  });

  test.each([
    ['a closed service', 503, 5, { queued: FINDS, uncertain: 0, refused: 0 }],
    // That all are refused alike is no fault of theirs.
    ['a proxy that takes no such request', 413, 5, { queued: FINDS, uncertain: 0, refused: 0 }],
  ])('that stands for %s is taken at its status', async (_name, status, code, left) => {
    await using proxy = await startPageProxy(mock.service, {
      path: '/import-xml',
      status,
      body: PORTAL,
      passOn: false,
      times: 1e9,
    });
    const home = await homeAt(proxy.service);
    const run = await home.pas('push', '--json');
    expect(run.code).toBe(code);
    expect(summary(run)).toMatchObject({ accepted: 0, ...left });
    expect(await mock.made()).toMatchObject({ finds: 0 });
  });
});

test('an answer before the answer, which nobody asked for, does no harm', async () => {
  const target = new URL(mock.service.base_url);
  const sockets = new Set<Socket>();
  const wire = createWire((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      if (chunk.subarray(0, 5).toString() === 'HTTP/')
        client.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n');
      client.write(chunk);
    });
    upstream.on('end', () => client.end());
  });
  await new Promise<void>((done) => wire.listen(0, '127.0.0.1', done));
  const home = await homeAt({ ...mock.service, base_url: `http://127.0.0.1:${(wire.address() as AddressInfo).port}` });
  const run = await home.pas('push', '--json');
  for (const socket of sockets) socket.destroy();
  wire.close();
  expect(run.code).toBe(0);
  expect(summary(run)).toMatchObject({ accepted: FINDS, uncertain: 0, requests: FINDS });
});

test('a number that is answered with another record is looked up at its own, and is there', async () => {
  const other =
    '<svc:svc xmlns:svc="urn:s"><svc:samostatny_nalez><svc:ident_cely>C-202400101-N99999</svc:ident_cely></svc:samostatny_nalez></svc:svc>';
  const rule = { path: '/evidencni-cislo', status: 200, body: other, contentType: 'application/xml', passOn: true, times: 1 };
  await using proxy = await startPageProxy(mock.service, rule);
  const home = await homeAt(proxy.service);
  await expectDone(home.pas('push'));
  const own = (await home.json<{ local_id: string; ident_cely: string }[]>('list')).find(({ local_id }) => local_id === 'K-1');
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1/2024'));
  const run = await home.pas('push', '--json');
  expect([run.code, summary(run)]).toMatchObject([6, { uncertain: 1, queued: 0, requests: 1 }]);
  expect(jsonLines(run.stdout).filter(({ type }) => type === 'settled')).toMatchObject([
    { state: 'uncertain', reason: expect.stringContaining(`not about ${own?.ident_cely}`) },
  ]);
  await mock.service.control('POST', '/clock', { advance_ms: 30 * 60_000 });
  expect(await home.json('reconcile')).toMatchObject({ reconciled: [{ find: 'K-1', kind: 'number', verdict: 'found' }] });
});

test('a harvest whose token runs out asks for a new one, once, and goes on', async () => {
  await using service = await startOddService();
  const idents = Array.from({ length: 6 }, (_, index) => `M-20240000${index}`);
  const seen: string[] = [];
  let valid = 'Bearer old';
  service.odd((response, _page, request) => {
    if (request.method === 'POST') {
      const token = seen.includes('signed in') ? 'new' : 'old';
      valid = `Bearer ${token}`;
      seen.push('signed in');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }));
      return;
    }
    const start = Number(
      new URL(request.url ?? '', service.base_url).searchParams.get('resumptionToken')?.replace(/\D/g, '') ?? 0,
    );
    if (start === 2) valid = valid === 'Bearer old' ? 'nobody' : valid;
    seen.push(request.headers.authorization ?? '');
    if (request.headers.authorization !== valid) {
      response.writeHead(401).end('Invalid credentials');
      return;
    }
    const next = start + 2 < idents.length ? `at-${start + 2}` : '';
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(page(idents.slice(start, start + 2), { size: idents.length, next }));
  });
  const home = makeHome({ PAS_PASSWORD: 'secret word' });
  const init = ['init', '--name', 'odd', '--kind', 'training', '--username', 'eva@example.org', '--oai-auth', 'bearer'];
  await expectDone(home.pas(...init, ...addressFlags(service)));
  const run = await home.pas('harvest', 'projekt', '--out', home.file('records.jsonl', ''));
  expect([run.code, run.stderr]).toEqual([0, expect.any(String)]);
  expect(seen.filter((what) => what === 'signed in')).toHaveLength(2);
  // Asked before the pages: what the account may see.
  expect(seen.slice(0, 6)).toEqual(['signed in', 'Bearer old', 'Bearer old', 'Bearer old', 'signed in', 'Bearer new']);
});
