import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

let service: RunningMock;
let started: Home;

beforeAll(async () => {
  if (whyNoTerminal !== undefined) return;
  service = await serveMock();
  started = await signedIn(service);
  await started.do('harvest-vocab', 'heslo', 'organizace', 'osoba', 'ruian_katastr', '--quiet');
});
afterAll(() => service?.stop());
beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

const HEADER = 'local_id;nalezce;projekt;stav;geom_system;pristupnost';
const makeTable = (...finders: string[]): string =>
  [
    HEADER,
    ...finders.map((finder, index) => `R${index};"${finder}";C-202400101;1;4326;badatel`),
  ].join('\n');

async function readFinders(home: Home): Promise<Record<string, string | undefined>> {
  const listed =
    await home.json<{ local_id: string; elements: { nalezce?: { id: string } } }[]>('list');
  return Object.fromEntries(
    listed.map(({ local_id, elements: { nalezce } }) => [local_id, nalezce?.id]),
  );
}

test('a push asks if new people may be created, after it has named them', async () => {
  const home = started.copy();
  await home.do(
    'import',
    home.file('finds.csv', makeTable('Novak, Jam', 'Kolář, Jan', 'Novak, Jam')),
  );
  const stopped = await startTerminal(['push'], home);
  await stopped.expect('Nearest: Novák, Jan (OS-001507, 1961).');
  await answer(stopped, 'Let the service create them?', 'n');
  expect((await stopped.ended()).code).toBe(3);
  await stopped.end();

  await using terminal = await startTerminal(['push'], home);
  await answer(terminal, 'Let the service create them?', 'y');
  expect((await terminal.ended()).code).toBe(0);
  expect(await readFinders(home)).toEqual({ R0: ':tba', R1: ':tba', R2: ':tba' });
});
