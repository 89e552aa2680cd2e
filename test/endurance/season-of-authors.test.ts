import { expect, test } from 'vitest';
import {
  expectHeld,
  type MixedRow,
  makeRows,
  OF_ALL,
  readHeld,
  writeMixedTable,
} from '../support/mixed-season.ts';
import { accountFlags, type Home, makeHome, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
const AUTHORS = 10;
const ROWS = 12;

type Counts = { readonly added: number; readonly updated: number; readonly already_sent: number };
type Status = { readonly needs_person: readonly unknown[] };

/** A laptop of its own, with nothing in common with the others but the account. */
async function openLaptop(): Promise<Home> {
  const home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  await home.init(mock.service, '--name', 'field', ...accountFlags(), ...WITHOUT_PAUSES);
  await home.do('login');
  await home.do('harvest-vocab');
  return home;
}

/** Returns the row with another note, as a person corrects it. */
function correctNote({ cells, meant }: MixedRow): MixedRow {
  const poznamka = `${meant['poznamka']}, opraveno`;
  return { cells: [...cells.slice(0, -1), poznamka], meant: { ...meant, poznamka } };
}

function replaceAt<T>(all: readonly T[], at: number, change: (one: T) => T): T[] {
  return all.map((one, index) => (index === at ? change(one) : one));
}

/**
 * One author's two tables, each saved again under another name, one before and one after its push,
 * with two photographs and two lists of numbers. Returns what the service must show, and how many
 * questions were asked.
 */
async function playAuthor(seed: number): Promise<{ rows: MixedRow[]; questions: number }> {
  const home = await openLaptop();
  const rows = makeRows(ROWS, seed).map(({ cells, meant }, index) => ({
    cells: [String(index + 1), ...cells.slice(1)],
    meant,
  }));
  const spring = rows.slice(0, ROWS / 2);
  const autumn = rows.slice(ROWS / 2);
  let questions = 0;
  const importTable = async (name: string, table: readonly MixedRow[]): Promise<Counts> => {
    writeMixedTable(home, name, table);
    const counts = await home.json<Counts>('import', name, '--map', 'jaro.map.toml');
    questions += (await home.json<Status>('status')).needs_person.length;
    return counts;
  };
  const setNumbers = async (name: string, from: number): Promise<void> => {
    const numbers = rows
      .slice(from, from + ROWS / 2)
      .map((_, index) => `${from + index + 1};PČ ${seed}-${from + index + 1}`);
    home.file(name, ['Terénní číslo;Př. č.', ...numbers].join('\n'));
    await home.do('number', 'import', name);
  };

  writeMixedTable(home, 'jaro.csv', spring);
  await home.do('import', 'jaro.csv', '--wizard', '--yes', ...OF_ALL);
  expect(await importTable('jaro.csv', spring)).toMatchObject({ added: ROWS / 2 });
  const corrected = replaceAt(spring, seed % 6, correctNote);
  expect(await importTable('jaro oprava.csv', corrected)).toMatchObject({ added: 0, updated: 1 });
  home.file('1.png', tinyPng(seed));
  await home.do('photo', 'add', '1', '1.png');
  await home.do('push', '--accept-new-people');

  expect(await importTable('podzim.csv', autumn)).toMatchObject({ added: ROWS / 2 });
  home.file('12.png', tinyPng(100 + seed));
  await home.do('photo', 'add', '12', '12.png');
  await setNumbers('cisla 1.csv', 0);
  await home.do('push', '--accept-new-people');
  const late = replaceAt(autumn, seed % 6, correctNote);
  expect(await importTable('podzim (2).csv', late)).toMatchObject({
    added: 0,
    updated: 0,
    already_sent: 1,
  });
  await setNumbers('cisla 2.csv', ROWS / 2);
  await home.do('push');
  const numbered = [...corrected, ...autumn].map(({ cells, meant }) => ({
    cells,
    meant: { ...meant, evidencni_cislo: `PČ ${seed}-${cells[0]}` },
  }));
  return { rows: numbered, questions };
}

test('ten authors with twenty tables, each saved again, reach the service once each with the last values before they were sent', async () => {
  const meant: MixedRow[] = [];
  let asked = 0;
  for (let author = 1; author <= AUTHORS; author += 1) {
    const { rows, questions } = await playAuthor(author);
    meant.push(...rows);
    asked += questions;
  }
  expect(await mock.made()).toMatchObject({ finds: AUTHORS * ROWS, photos: AUTHORS * 2 });
  expectHeld(await readHeld(await openLaptop()), meant);
  expect(asked).toBe(0);
});
