import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findStates } from '../support/find-states.ts';
import { type RunningMock, startMockProcess } from '../support/mock-process.ts';
import { getOutboxId } from '../support/outbox-files.ts';
import {
  addressFlags,
  expectDone,
  type Home,
  makeHome,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

let mock: RunningMock;
let home: Home;
let earlier: string;

beforeAll(async () => {
  mock = await startMockProcess('--min-interval', '0');
});
afterAll(() => mock.stop());

async function signIn(): Promise<void> {
  const account = ['--username', 'archaeologist', '--oai-auth', 'basic'];
  await expectDone(
    home.pas(
      'init',
      '--name',
      'mock',
      '--kind',
      'training',
      ...account,
      ...addressFlags(mock),
      ...WITHOUT_PAUSES,
    ),
  );
  await expectDone(home.pas('login'));
}

/**
 * A data home that was lost after two of three finds were sent; the journal of the machine is
 * there.
 */
beforeEach(async () => {
  await mock.control('POST', '/reset');
  home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  await signIn();
  await expectDone(home.pas('import', writeSeason(home, 3)));
  await expectDone(home.pas('push', 'K-1', 'K-2'));
  earlier = getOutboxId(home);
  rmSync(join(home.folder, 'pas'), { recursive: true });
  await signIn();
  await expectDone(home.pas('import', writeSeason(home, 3)));
});

test('a new outbox that continues an earlier one is asked about on a terminal, and sends the rest from there', async ({
  skip,
}) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  const { finds } = await mock.state();
  await using terminal = await startTerminal(['push'], home, { columns: 110 });
  await terminal.expect('Does this outbox continue the other one?', '❯ yes: move');
  await terminal.press('Enter');
  expect((await terminal.ended()).code).toBe(0);
  expect(getOutboxId(home)).toBe(earlier);
  expect(await findStates(home)).toEqual({
    'K-1': 'accepted',
    'K-2': 'accepted',
    'K-3': 'accepted',
  });
  expect((await mock.state()).finds).toBe(finds + 1);
});

test('a separate outbox is asked about once, and holds what the earlier one has sent', async ({
  skip,
}) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  const { finds } = await mock.state();
  await using terminal = await startTerminal(['push', '--only', 'import'], home, { columns: 110 });
  await terminal.expect('Does this outbox continue the other one?');
  await terminal.type('no, keep');
  await terminal.expect('❯ no, keep them separate');
  await terminal.press('Enter');
  for (const find of ['K-1', 'K-2']) {
    await terminal.expect(`import of ${find}`, '? Send it anyway?');
    await terminal.type('n');
    await terminal.expect('? Send it anyway? (y/N) n');
    await terminal.press('Enter');
  }
  expect((await terminal.ended()).code).toBe(6);
  expect(getOutboxId(home)).not.toBe(earlier);
  expect((await mock.state()).finds).toBe(finds + 1);
  const again = await home.pas('push');
  expect([again.code, again.stderr]).toEqual([6, expect.not.stringContaining('--separate')]);
});

test('an undecided outbox sends nothing, and names both commands', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['push'], home, { columns: 200 });
  await terminal.expect('Does this outbox continue the other one?');
  await terminal.type('decide');
  await terminal.expect('❯ decide later');
  await terminal.press('Enter');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(2);
  expect(screen).toContain(`pas outbox adopt --continue ${earlier} --yes`);
  expect(screen).toContain('pas outbox adopt --separate');
  await expectDone(home.pas('outbox', 'adopt', '--continue', earlier, '--yes'));
  await expectDone(home.pas('push'));
});
