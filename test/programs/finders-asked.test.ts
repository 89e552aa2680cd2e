import { beforeEach, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const home = useVocabularies(shareMock());

beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

const HEADER = 'local_id;nalezce;projekt;stav;geom_system;pristupnost';
const makeTable = (...finders: string[]): string =>
  [
    HEADER,
    ...finders.map((finder, index) => `R${index};"${finder}";C-202400101;1;4326;badatel`),
  ].join('\n');

test('a push asks if new people may be created, after it has named them', async () => {
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
  const listed = await home.json<Listed<{ id: string }>[]>('list');
  expect(listed.map(({ local_id, elements }) => [local_id, elements['nalezce']?.id])).toEqual([
    ['R0', ':tba'],
    ['R1', ':tba'],
    ['R2', ':tba'],
  ]);
});
