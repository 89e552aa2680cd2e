import { describe, expect, test } from 'vitest';
import {
  type Home,
  jsonLines,
  type Run,
  type Service,
  settledAfter,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';
import { startPageProxy } from './faulty-network.ts';

const FINDS = 12;
const PORTAL = '<html><head><title>Hotel</title></head><body>Welcome to our network</body></html>';

const mock = useMock('--min-interval', '10');

async function homeAt(address: Service): Promise<Home> {
  const home = await signedIn(address, settledAfter(600_000));
  await importSeason(home, FINDS);
  return home;
}

const summary = (run: Run) => jsonLines(run.stdout).findLast(({ type }) => type === 'summary');

describe('a portal whose pages replace the service’s answers', () => {
  test.each([
    ['a closed service', 503, 5, { queued: FINDS, uncertain: 0, refused: 0 }],
    // Five equal refusals end the project for this push.
    ['a proxy that takes no such request', 413, 3, { queued: FINDS - 5, uncertain: 0, refused: 5 }],
  ])('with the status of %s is judged by that status', async (_name, status, code, left) => {
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

test('a number answered with another record is looked up at its own record, and is found', async () => {
  const other =
    '<svc:svc xmlns:svc="urn:s"><svc:samostatny_nalez><svc:ident_cely>C-202400101-N99999</svc:ident_cely></svc:samostatny_nalez></svc:svc>';
  const rule = {
    path: '/evidencni-cislo',
    status: 200,
    body: other,
    contentType: 'application/xml',
    passOn: true,
    times: 1,
  };
  await using proxy = await startPageProxy(mock.service, rule);
  const home = await homeAt(proxy.service);
  await home.do('push');
  const own = (await home.json<{ local_id: string; ident_cely: string }[]>('list')).find(
    ({ local_id }) => local_id === 'K-1',
  );
  await home.do('number', 'set', 'K-1', 'A 1/2024');
  const run = await home.pas('push', '--json');
  expect([run.code, summary(run)]).toMatchObject([6, { uncertain: 1, queued: 0, requests: 1 }]);
  expect(jsonLines(run.stdout).filter(({ type }) => type === 'settled')).toMatchObject([
    { state: 'uncertain', reason: expect.stringContaining(`not about ${own?.ident_cely}`) },
  ]);
  await mock.service.clock({ advance_ms: 30 * 60_000 });
  expect(await home.json('reconcile')).toMatchObject({
    reconciled: [{ find: 'K-1', kind: 'number', verdict: 'found' }],
  });
});
