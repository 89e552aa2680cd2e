import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { type PageRule, startPageProxy } from '../support/faulty-network.ts';
import { findStates } from '../support/find-states.ts';
import { expectDone, type Home, jsonLines, type Run, type Service, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const PAGE: Omit<PageRule, 'passOn'> = {
  path: '/import-xml',
  status: 502,
  body: '<html><h1>502 Bad Gateway</h1></html>',
  times: 1,
};

const mock = useMock('--min-interval', '10');

/** So slow that a second is over when the last answer is there: the service's clock shows only whole ones. */
async function homeAt(address: Service, settleMs = 0): Promise<Home> {
  const home = await signedIn(address, 'archaeologist', settledAfter(settleMs, 900));
  await expectDone(home.pas('import', writeSeason(home, 4)));
  return home;
}

const settled = (run: Run) =>
  jsonLines(run.stdout)
    .filter(({ type }) => type === 'settled')
    .map(({ find, state }) => `${find} ${state}`);

test.each([
  ['a 502 of a proxy', PAGE],
  ['a success that names no record', { ...PAGE, status: 201, body: '<svc/>', contentType: 'application/xml' }],
])('%s to an import that was not made ends the push with 15, and the next push makes it', async (_name, page) => {
  await using proxy = await startPageProxy(mock.service, { ...page, passOn: false });
  const home = await homeAt(proxy.service);
  const run = await home.pas('push', '--json');
  expect(run.code).toBe(15);
  expect(settled(run)).toEqual(['K-1 uncertain', 'K-2 accepted', 'K-3 accepted', 'K-4 accepted']);
  expect(jsonLines(run.stdout).at(-1)).toMatchObject({ type: 'summary', accepted: 3, uncertain: 0, queued: 1, refused: 0 });
  expect(jsonLines(run.stderr).at(-1)).toMatchObject({
    type: 'exit',
    code: 15,
    message: expect.stringContaining('outside its contract'),
  });
  expect(run.stderr).toContain('1 entry got an answer outside the contract and is still queued. Run pas push again;');
  expect(await findStates(home)).toEqual({ 'K-1': 'queued', 'K-2': 'accepted', 'K-3': 'accepted', 'K-4': 'accepted' });
  const next = await home.pas('push');
  expect([next.code, next.stderr]).toEqual([0, expect.not.stringContaining('outside')]);
  expect(await mock.made()).toMatchObject({ finds: 4 });
});

test('a 502 of a proxy to an import that was made is settled by the harvest, and the push ends well', async () => {
  await using proxy = await startPageProxy(mock.service, { ...PAGE, passOn: true });
  const home = await homeAt(proxy.service);
  const run = await home.pas('push', '--why');
  expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/K-1.*502/s)]);
  expect(Object.values(await findStates(home))).toEqual(Array(4).fill('accepted'));
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 4 });
});

test('a 502 that the harvest cannot settle yet ends the push with 6, and the next push sends nothing twice', async () => {
  await using proxy = await startPageProxy(mock.service, { ...PAGE, passOn: false });
  const home = await homeAt(proxy.service, 600_000);
  const run = await home.pas('push', '--json');
  expect(run.code).toBe(6);
  expect(jsonLines(run.stderr).at(-1)).toMatchObject({ type: 'exit', code: 6 });
  expect((await home.pas('push')).code).toBe(6);
  expect(await findStates(home)).toMatchObject({ 'K-1': 'uncertain' });
  expect(await mock.made()).toMatchObject({ finds: 3 });
});
