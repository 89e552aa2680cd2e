import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { expectEnded } from '../support/run-pas.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

beforeEach(({ skip }) => skip(whyNoTerminal !== undefined, whyNoTerminal));

const TALL = { columns: 100, rows: 60 };

test('in English: a column is changed, a unit and a missing value are asked for, and the map is written, by which the table is imported', async () => {
  home.file(
    'bags.csv',
    'bag;what;made of;depth;weight\n1;brooch;bronze;0.15;12\n2;coin;silver;0.3;3\n3;odd thing;iron;0.4;7\n',
  );
  await using terminal = await startTerminal(['import', 'bags.csv', '--wizard'], home, TALL);
  await answer(terminal, 'Accept all', 'weight', '❯ weight → poznamka');
  await answer(terminal, 'What is "weight"?', 'poznamka', '❯ poznamka');
  await answer(terminal, 'Accept all', 'what', '❯ what → poznamka');
  await answer(terminal, 'What is "what"?', 'druh_nalezu', '❯ druh_nalezu');
  await answer(terminal, 'Accept all', '', '❯ Accept all');
  await answer(terminal, 'Measured in', 'm', '❯ m');
  await answer(terminal, 'projekt of every find', 'C-202400101', '❯ C-202400101');
  await answer(terminal, 'geom_system of every find', '4326');
  await terminal.expect('pristupnost of every find', '❯ leave it for later');
  await answer(terminal, 'pristupnost of every find', 'archaeo', '❯ archaeologist');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain('0.15–0.40. Which unit are they in?');
  expect(screen).toContain('✓ bag → local_id');
  expect(screen).toContain('pas vocab map suggest bags.terms.csv');
  expect(readFileSync(join(home.folder, 'bags.map.toml'), 'utf8')).toContain(
    '"depth" = { element = "hloubka", unit = "m" }',
  );
  await expectEnded(home.pas('import', 'bags.csv', '--map', 'bags.map.toml'), 3);
  expect(await home.json('list')).toHaveLength(2);
});

test('in Czech: every proposal is accepted with Enter', async () => {
  home.file(
    'nalezy.csv',
    'inv. č.;předmět;X;Y;pozn.\n7;spona;1076185,62;694201,69;\n8;mince;1076190,10;694198,12;zlomek\n',
  );
  await using terminal = await startTerminal(
    ['import', 'nalezy.csv', '--wizard'],
    home.with({ PAS_LANG: 'cs' }),
    TALL,
  );
  await answer(terminal, 'Převzít všechno', '', '❯ Převzít všechno');
  await answer(terminal, 'projekt u všech nálezů', 'C-202400101', '❯ C-202400101');
  await answer(terminal, 'pristupnost u všech nálezů', 'arche', '❯ archeolog');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain('Zapsáno: nalezy.map.toml');
  expect(screen).toContain('✓ Y → geom_x (−)');
  const map = readFileSync(join(home.folder, 'nalezy.map.toml'), 'utf8');
  expect(map).toContain('"Y" = { element = "geom_x", sign = "minus" }');
  expect(map).toContain('pristupnost = ');
});

test('which of two columns is the number of the find is asked, and the other one is kept', async () => {
  home.file('both.csv', 'č.;inv. č.;předmět\n7;A 1;spona\n8;A 2;mince\n');
  const given = ['projekt=C-202400101', 'pristupnost=badatel', 'geom_system=4326'];
  const flags = given.flatMap((each) => ['--set', each]);
  await using terminal = await startTerminal(
    ['import', 'both.csv', '--wizard', ...flags],
    home,
    TALL,
  );
  await answer(terminal, 'Accept all', '', '❯ Accept all');
  await answer(terminal, 'Which column is local_id?', 'inv', '❯ inv. č.');
  expect((await terminal.ended()).code).toBe(0);
  const map = readFileSync(join(home.folder, 'both.map.toml'), 'utf8');
  expect(map).toContain('"inv. č." = "local_id"');
  expect(map).toContain('"č." = { element = "poznamka", label = "č." }');
});

test('the header row below a title is found and shown, and another row can be chosen', async () => {
  home.file('titled.csv', 'Sezóna 2024;\nVýkop u brodu;\nsáček;předmět\n7;spona\n8;mince\n');
  await using found = await startTerminal(['import', 'titled.csv', '--wizard'], home, TALL);
  await found.expect(
    'The names of the columns are read from row 3 (sáček, předmět',
    '? Accept all',
  );
  await found.press('C-c');
  expect((await found.ended()).code).toBe(130);
  await using named = await startTerminal(
    ['import', 'titled.csv', '--wizard', '--header-row', '4'],
    home,
    TALL,
  );
  await named.expect('spona', '? Accept all');
  await named.press('C-c');
  expect((await named.ended()).code).toBe(130);
});

test('interrupted or killed midway, nothing is written', async () => {
  home.file('third.csv', 'inv. č.;předmět\n7;spona\n');
  const before = readdirSync(home.folder);
  await using interrupted = await startTerminal(['import', 'third.csv', '--wizard'], home, TALL);
  await interrupted.expect('? Accept all');
  await interrupted.press('C-c');
  expect((await interrupted.ended()).code).toBe(130);
  await using killed = await startTerminal(['import', 'third.csv', '--wizard'], home, TALL);
  await answer(killed, 'Accept all', '', '❯ Accept all');
  await killed.expect('? projekt of every find');
  await killed.kill();
  expect(readdirSync(home.folder)).toEqual(before);
  expect(existsSync(join(home.folder, 'third.map.toml'))).toBe(false);
});
