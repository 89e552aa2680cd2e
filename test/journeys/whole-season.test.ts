import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { type Home, withVocabularies } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';
import { lines } from './whole-harvest.ts';

const mock = useMock();

/**
 * One value in the ways in which the people of a season write it, the first as the service has it.
 */
const TERMS = {
  druh_nalezu: ['mince', 'přezka', 'hrot šípu', 'nůž'],
  specifikace: ['stříbro', 'bronz', 'železo'],
  obdobi: ['doba bronzová', 'vrcholný středověk'],
  okolnosti: ['detektor kovů', 'sběr'],
};
const PEOPLE = [
  ['Dvořáková, Eva', 'p. Eva Dvořáková', 'Dvořáková Eva', 'Mgr. Eva  Dvořáková, Ph.D.'],
  ['Kolář, Jan', 'Jan Kolář', 'Kolář Jan'],
];
const ROMAN = ['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII'];
const GENITIVE =
  'ledna února března dubna května června července srpna září října listopadu prosince'.split(' ');
const DATES: readonly ((day: number, month: number) => string)[] = [
  (day, month) => `${day}. ${month}. 2023`,
  (day, month) => `${day}.${month}.2023`,
  (day, month) => `${day}. ${month}. 2023 0:00`,
  (day, month) => `${day}. ${ROMAN[month - 1]}. 2023`,
  (day, month) => `${day}. ${GENITIVE[month - 1]} 2023`,
  (day, month) => `2023-${two(month)}-${two(day)}`,
];

const two = (number: number): string => String(number).padStart(2, '0');

type Meant = Readonly<Record<string, string>>;

type MixedRow = { readonly cells: readonly string[]; readonly meant: Meant };

const HEADER =
  'č. nálezu;Předmět;Materiál;Období;Kdy;Nálezce;Jak nalezeno;Hloubka (cm);zem. délka;zem. šířka;Lokalita;Poznámka';

/** Rows as people write them, and what each means. */
function makeRows(count: number): MixedRow[] {
  const { between, pick: pickOne } = seededRandom(7);
  return Array.from({ length: count }, (_, index) => {
    const person = pickOne(PEOPLE);
    const day = between(1, 28);
    const month = between(1, 12);
    const lon = `15.1${two(between(5, 94))}${1 + (index % 9)}`;
    const lat = `49.84${two(between(5, 94))}1`;
    const meant = {
      druh_nalezu: pickOne(TERMS.druh_nalezu),
      specifikace: pickOne(TERMS.specifikace),
      obdobi: pickOne(TERMS.obdobi),
      datum_nalezu: `2023-${two(month)}-${two(day)}`,
      nalezce: person[0] ?? '',
      okolnosti: pickOne(TERMS.okolnosti),
      hloubka: String(between(0, 59)),
      geom_wkt: `POINT(${lon} ${lat})`,
      lokalizace: `pole č. ${index + 1} „Za řekou“ – mez`,
      poznamka: `řádek ${index + 2}: žluťoučký kůň`,
    };
    const cells = [
      `Z-${index + 1}`,
      meant.druh_nalezu,
      meant.specifikace,
      meant.obdobi,
      pickOne(DATES)(day, month),
      pickOne(person),
      meant.okolnosti,
      meant.hloubka,
      lon.replace('.', ','),
      lat.replace('.', ','),
      meant.lokalizace,
      meant.poznamka,
    ];
    return { cells, meant };
  });
}

/** Values that no row has. */
const OF_ALL = ['projekt=C-202400101', 'pristupnost=archeolog', 'stav=2'].flatMap((each) => [
  '--set',
  each,
]);

/** Writes a table with a title, in columns of its own and in Windows-1250. */
function writeMixedTable(home: Home, name: string, rows: readonly MixedRow[]): void {
  const written = rows.map(({ cells }) => cells.join(';'));
  const text = ['Nálezy detektorem, sezóna 2023', '', HEADER, ...written].join('\r\n');
  home.file(name, iconv.encode(text, 'windows-1250'));
}

/** Finds that the service shows, by their notes. */
async function readHeld(home: Home): Promise<ReadonlyMap<string, Meant>> {
  await home.do('harvest', 'samostatny_nalez', '--out', 'held.jsonl');
  return new Map(
    lines(readFileSync(join(home.folder, 'held.jsonl'), 'utf8')).flatMap(({ metadata }) => {
      const find = Object.fromEntries(listLeaves(metadata ?? {}).reverse());
      return find['poznamka'] === undefined ? [] : [[find['poznamka'], find] as const];
    }),
  );
}

/** Compares every cell. */
function expectHeld(
  held: ReadonlyMap<string, Meant>,
  rows: readonly Pick<MixedRow, 'meant'>[],
): void {
  for (const { meant } of rows) {
    const find = held.get(meant['poznamka'] ?? '');
    const shown = Object.fromEntries(
      Object.keys(meant).map((name) => [name, find?.[name]?.replace('POINT (', 'POINT(')]),
    );
    expect(shown).toEqual(meant);
  }
}

/**
 * Texts by the names of their elements, however deep they stand; the history, which has notes too,
 * comes last.
 */
function listLeaves(json: Record<string, unknown>): [string, string][] {
  return Object.entries(json).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[name, value]];
    if (typeof value !== 'object' || value === null) return [];
    const { '#text': text } = value as { '#text'?: unknown };
    return typeof text === 'string' ? [[name, text]] : listLeaves(value as Record<string, unknown>);
  });
}

test('forty rows with a title, custom columns, name orders and date formats arrive at the service correctly', async () => {
  const home = await withVocabularies(mock.service);
  const rows = makeRows(40);
  writeMixedTable(home, 'sezona.csv', rows);
  await home.do('import', 'sezona.csv', '--wizard', '--yes', ...OF_ALL);
  const report = await home.json('import', 'sezona.csv', '--map', 'sezona.map.toml');
  expect(report).toMatchObject({ added: 40, invalid: 0, drafts: 0 });
  await home.do('push', '--accept-new-people');
  expectHeld(await readHeld(home), rows);
});
