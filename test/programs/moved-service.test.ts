import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningMock, startMockProcess } from '../support/mock-process.ts';
import {
  accountFlags,
  expectEnded,
  findStates,
  type Home,
  initArgs,
  makeHome,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

let mock: RunningMock;
let home: Home;
let moved: string;

beforeAll(async () => {
  mock = await startMockProcess('--min-interval', '0');
  moved = mock.base_url.replace('127.0.0.1', 'localhost');
});
afterAll(() => mock.stop());

const initFlags = (name: string): string[] => [
  ...initArgs(mock),
  '--name',
  name,
  ...accountFlags(),
  ...WITHOUT_PAUSES,
];

/** Two of three finds were sent before the service moved. */
beforeEach(async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await mock.control('POST', '/reset');
  home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  await home.do(...initFlags('mock'));
  await home.do('login');
  await importSeason(home, 3);
  await home.do('push', 'K-1', 'K-2');
});

/** Answers the one question of a command on a terminal with yes. */
async function sayYes(...words: string[]): Promise<void> {
  await using terminal = await startTerminal(words, home, { columns: 200 });
  await terminal.expect('the same service, at a new address?');
  await terminal.type('y');
  await terminal.expect('(y/N) y');
  await terminal.press('Enter');
  expect((await terminal.ended()).code).toBe(0);
}

test.each([
  ['once a person says that it is the same service', sayYes],
  ['as advised, with --yes', (...words: string[]) => home.do(...words, '--yes')],
])('a profile with a new address goes on with its outbox, %s', async (_, confirm) => {
  const { finds } = await mock.state();
  await expectEnded(
    home.pas('profile', 'set', `base_url=${moved}`),
    2,
    'at a new address? (For another service, make a new profile.)\n     If so, add --yes.',
  );
  await confirm('profile', 'set', `base_url=${moved}`);
  await home.do('push');
  expect(await findStates(home)).toEqual({
    'K-1': 'accepted',
    'K-2': 'accepted',
    'K-3': 'accepted',
  });
  expect((await mock.state()).finds).toBe(finds + 1);
});

test.each([
  ['at once', undefined],
  ['after a sign-in', 'login'],
])(
  'a new profile at a new address is asked about at its first push, %s, and what was sent comes with a yes',
  async (_, before) => {
    const { finds } = await mock.state();
    const flags = initFlags('new').map((flag) => (flag === mock.base_url ? moved : flag));
    await home.do(...flags, '--oai-base', mock.oai_base);
    if (before !== undefined) await home.do(before, '--profile', 'new');
    await home.do('import', writeSeason(home, 3), '--profile', 'new');
    await expectEnded(home.pas('push', '--profile', 'new'), 2, 'Push once on a terminal');
    await sayYes('push', '--profile', 'new');
    expect((await mock.state()).finds).toBe(finds + 1);
  },
);
