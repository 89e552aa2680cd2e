import { beforeEach, describe, expect, test } from 'vitest';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { eventually } from '../support/eventually.ts';
import { findStates } from '../support/find-states.ts';
import { expectDone, type Home, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', settledAfter(1000));
});

type Reconciled = { reconciled: { find: string; kind: string; verdict: string; reason: string; ident_cely: string | null }[] };

const states = (): Promise<Record<string, string>> => findStates(home);

/** Lets the time pass in which the service may still be working on a request; its clock shows whole seconds. */
function settleTime(): Promise<unknown> {
  return mock.service.control('POST', '/clock', { advance_ms: 2500 });
}

test('a find that was saved behind a 500 is found at the end of the same push, which then sends what waited for it', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  await mock.service.faults({ endpoint: 'import', when: { nth: 2 }, times: 1, fault: '500-after-save' });
  await expectDone(home.pas('push'));
  expect(await states()).toEqual({ 'K-1': 'accepted', 'K-2': 'accepted', 'K-3': 'accepted' });
  expect(await mock.made()).toEqual({ finds: 3, photos: 3 });
});

test('a find that was not saved is sent again once its absence proves something, and only then', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await mock.service.faults({ endpoint: 'import', when: { nth: 2 }, times: 1, fault: '500-before-save' });
  expect((await home.pas('push')).code).toBe(6);
  expect((await states())['K-2']).toBe('uncertain');
  await settleTime();
  const { reconciled } = await home.json<Reconciled>('reconcile');
  expect(reconciled).toMatchObject([{ find: 'K-2', verdict: 'absent' }]);
  await expectDone(home.pas('push'));
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

test('absence proves nothing where no find of this account is known to be visible', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await mock.service.faults({ endpoint: 'import', fault: '500-before-save' });
  await home.pas('push');
  await settleTime();
  const run = await home.pas('reconcile', '--json');
  expect(run.code).toBe(6);
  const { reconciled } = JSON.parse(run.stdout) as Reconciled;
  expect(reconciled).toMatchObject([{ verdict: 'undecided' }]);
  expect(reconciled[0]?.reason).toMatch(/proves nothing/);
});

test('an anonymous harvest cannot decide, and says why', async () => {
  const anonymous = await signedIn(mock.service, 'archaeologist', [...settledAfter(0), '--oai-auth', 'none']);
  await expectDone(anonymous.pas('import', writeSeason(anonymous, 3)));
  await mock.service.faults({ endpoint: 'import', when: { nth: 2 }, times: 1, fault: '500-after-save' });
  await anonymous.pas('push');
  const run = await anonymous.pas('reconcile');
  expect(run.code).toBe(6);
  expect(run.stdout).toMatch(/not shown.*pas resolve K-2/s);
});

describe('a photograph of which no answer came', () => {
  beforeEach(async () => {
    await expectDone(home.pas('import', writeSeason(home, 2)));
    await expectDone(home.pas('push'));
    await expectDone(home.pas('photo', 'add', 'K-1', home.file('a.png', tinyPng(1)), home.file('b.png', tinyPng(2))));
  });

  test('but that is there is found by its digest', async () => {
    await mock.service.faults({ endpoint: 'photo', when: { nth: 1 }, times: 1, fault: 'reset-after-save' });
    await expectDone(home.pas('push'));
    expect(await mock.made()).toMatchObject({ photos: 2 });
  });

  test('and that is not there is sent again later, once', async () => {
    await mock.service.faults({ endpoint: 'photo', when: { nth: 1 }, times: 1, fault: '500-before-save' });
    expect((await home.pas('push')).code).toBe(6);
    await settleTime();
    await expectDone(home.pas('reconcile'));
    await expectDone(home.pas('push'));
    expect(await mock.made()).toMatchObject({ photos: 2 });
  });
});

test('what was decided, and from what, is shown with the find', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await mock.service.faults({ endpoint: 'import', when: { nth: 2 }, times: 1, fault: 'hang-after-save' });
  const running = home.start('push');
  await eventually(mock.made).toMatchObject({ finds: 2 });
  running.child.kill('SIGKILL');
  await running.ended;
  await mock.service.faults();
  await expectDone(home.pas('push'));
  const shown = await expectDone(home.pas('show', 'K-2'));
  expect(shown.stdout).toMatch(/lost/);
  expect(shown.stdout).toMatch(/evidence: found; C-202400101-N\d+ appeared since the attempt/);
  expect(await mock.made()).toMatchObject({ finds: 2 });
});
