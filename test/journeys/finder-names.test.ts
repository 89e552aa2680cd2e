import { beforeAll, describe, expect, test } from 'vitest';
import { type Home, homeWithoutNetwork } from '../support/run-pas.ts';

let home: Home;

beforeAll(async () => {
  home = await homeWithoutNetwork();
});

type Report = {
  invalid: number;
  new_people: { name: string; finds: number }[];
  issues: { rule: string; row: number }[];
};
type Listed = { local_id: string; elements: { nalezce?: { id: string; text: string } } }[];

/** Eva and Jan in every way in which one column of a season has them, and two ambiguous names. */
const NAMES = [
  ['p. Eva Dvořáková', 'Dvořáková, Eva'],
  ['Dvořáková, Eva', 'Dvořáková, Eva'],
  ['Dvořáková Eva', 'Dvořáková, Eva'],
  ['Mgr. Eva  Dvořáková, Ph.D.', 'Dvořáková, Eva'],
  ['Jan Kolář', 'Kolář, Jan'],
  ['Kolář Jan', 'Kolář, Jan'],
  ['Kolář Hrubý', undefined],
  ['Eva, Dvořáková', undefined],
] as const;

const table = (column: string): string =>
  [`local_id;${column}`, ...NAMES.map(([written], index) => `${column}-${index};${written}`)].join(
    '\n',
  );

async function listFinders(column: string): Promise<(string | undefined)[]> {
  const listed = await home.json<Listed>('list');
  return NAMES.map(
    (_, index) =>
      listed.find(({ local_id }) => local_id === `${column}-${index}`)?.elements.nalezce?.text,
  );
}

describe('names in mixed orders', () => {
  test('are read correctly, and an ambiguous order is left to a person', async () => {
    const run = await home.pas('import', home.file('season.csv', table('nalezce')), '--json');
    expect(run.code).toBe(3);
    const report = JSON.parse(run.stdout) as Report;
    expect(await listFinders('nalezce')).toEqual(NAMES.map(([, name]) => name));
    expect(
      report.issues.filter(({ rule }) => rule === 'finder-name').map(({ row }) => row),
    ).toEqual([8, 9]);
    expect(report.new_people).toEqual([
      { name: 'Dvořáková, Eva', finds: 4 },
      { name: 'Kolář, Jan', finds: 2 },
    ]);
    expect((await home.pas('import', home.file('season.csv', table('nalezce')))).stderr).toContain(
      'Dvořáková, Eva (4); Kolář, Jan (2)',
    );
  });

  test.each([
    ['surname-first', 'Kolář, Hrubý'],
    ['given-first', 'Hrubý, Kolář'],
  ])(
    'are read correctly if a map says %s, which decides what the names do not show',
    async (order, undecided) => {
      const column = order.replace('-', '');
      const map = home.file(
        `${column}.toml`,
        `version = 1\n\n[columns]\nlocal_id = "local_id"\n"${column}" = { element = "nalezce", name = "${order}" }\n`,
      );
      const run = await home.pas('import', home.file(`${column}.csv`, table(column)), '--map', map);
      expect(run.code).toBe(3);
      expect(await listFinders(column)).toEqual(
        NAMES.map(([written, name]) => (written === 'Kolář Hrubý' ? undecided : name)),
      );
    },
  );
});
