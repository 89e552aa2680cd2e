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

test('an import asks once which of several people is meant, and leaves out unknown people', async () => {
  const home = started.copy();
  home.file('finds.csv', makeTable('Kučera, Pavel', 'J. Novák', 'Kučera, Pavel'));
  await using terminal = await startTerminal(['import', 'finds.csv'], home);
  await answer(
    terminal,
    'Who is the finder "Kučera, Pavel"?',
    '1989',
    '❯ Kučera, Pavel (OS-000305, 1989)',
  );
  await answer(terminal, 'Who is the finder "J. Novák"?', 'none', '❯ none of them');
  expect((await terminal.ended()).code).toBe(3);
  expect(await readFinders(home)).toEqual({ R0: 'OS-000305', R2: 'OS-000305' });
});

test('a push asks about each new person, and follows the answers', async () => {
  const home = started.copy();
  await home.do(
    'import',
    home.file('finds.csv', makeTable('Novak, Jam', 'Kolář, Jan', 'Novak, Jam')),
  );
  const getQuestion = (finder: string): string =>
    `The service does not know the finder "${finder}"`;
  const stopped = await startTerminal(['push'], home);
  await answer(stopped, getQuestion('Novak, Jam'), 'send', '❯ send nothing now');
  expect((await stopped.ended()).code).toBe(3);
  await stopped.end();

  await using terminal = await startTerminal(['push'], home);
  await answer(terminal, getQuestion('Novak, Jam'), '', '❯ Novák, Jan (OS-001507, 1961)');
  await answer(terminal, getQuestion('Kolář, Jan'), 'new', '❯ a new person');
  expect((await terminal.ended()).code).toBe(0);
  expect(await readFinders(home)).toEqual({ R0: 'OS-001507', R1: ':tba', R2: 'OS-001507' });
});
