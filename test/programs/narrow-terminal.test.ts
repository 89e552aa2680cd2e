import { beforeEach, expect, test } from 'vitest';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

test('an issue with an answer wraps between words on a narrow terminal', async () => {
  await using terminal = await startTerminal(['add'], home, { columns: 44, rows: 40 });
  await answer(terminal, 'Number of the find (001)', 'N-1');
  await answer(terminal, 'Project', 'C-202400101', '❯ C-202400101');
  await answer(terminal, 'Target state', '2', '❯ 2 submitted');
  await answer(terminal, 'Finder', 'novak', '❯ Novák, Jan');
  await answer(terminal, 'Date of the find', '31. 2. 2024');
  await terminal.expect(
    /does not exist in the\s*\n\s*calendar\. Write the right date as\s*\n\s*YYYY-MM-DD\./,
  );
  await terminal.press('C-c');
});

test('the wizard asks for the unit of contradicting depths', async () => {
  home.file('deep.csv', 'č.;hloubka\nA1;"0,3"\nA2;35\n');
  await using terminal = await startTerminal(
    [
      'import',
      'deep.csv',
      '--wizard',
      '--set',
      'projekt=C-202400101',
      '--set',
      'pristupnost=badatel',
      '--set',
      'geom_system=4326',
    ],
    home,
    { columns: 100, rows: 60 },
  );
  await terminal.expect('Which unit are they in?');
  await answer(terminal, 'Accept all', '', '❯ Accept all');
  await answer(terminal, 'Measured in', 'm', '❯ mm');
  await answer(terminal, 'Continue?', '', '❯ Write the column map');
  expect((await terminal.ended()).code).toBe(0);
});
