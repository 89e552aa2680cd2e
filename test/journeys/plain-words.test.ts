import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { expectDone, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

hostRuns();
const mock = useMock('--min-interval', '10');

test('of a find in doubt one sentence is said, and its evidence where it is asked for', async () => {
  const home = await signedIn(mock.service, 'archaeologist', settledAfter(3_600_000));
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await mock.service.faults({ endpoint: 'import', when: { nth: 2 }, times: 1, fault: '500-before-save' });
  const plain = /Nobody knows yet whether the service has this find; pas looks again after (\S+ )?\d\d:\d\d\./;
  const reason = /internal processing failed/;
  const pushed = await home.pas('push');
  expect(pushed).toMatchObject({ code: 6, stderr: expect.stringMatching(plain) });
  expect(pushed.stderr).not.toMatch(reason);
  for (const command of [['status'], ['show', 'K-2']]) {
    const [briefly, fully] = [await expectDone(home.pas(...command)), await expectDone(home.pas(...command, '--why'))];
    expect(briefly.stdout).toMatch(plain);
    expect(briefly.stdout).not.toMatch(reason);
    expect(fully.stdout).toMatch(plain);
    expect(fully.stdout).toMatch(reason);
  }
  await home.pas('reconcile');
  const shown = await home.json<{ entries: { reason: string; evidence: unknown[] }[] }>('show', 'K-2');
  expect(shown.entries[0]).toMatchObject({ reason: expect.stringMatching(reason), evidence: [{ verdict: 'undecided' }] });
});
