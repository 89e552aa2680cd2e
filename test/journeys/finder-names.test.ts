import { beforeAll, expect, test } from 'vitest';
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

const TABLE = ['local_id;nalezce', ...NAMES.map(([name], index) => `N-${index};${name}`)].join(
  '\n',
);

test('names in mixed orders are read correctly, and an ambiguous order is left to a person', async () => {
  const other = home.copy();
  const run = await home.pas('import', home.file('season.csv', TABLE), '--json');
  expect(run.code).toBe(3);
  const report = JSON.parse(run.stdout) as Report;
  const listed = await home.json<Listed>('list');
  expect(
    NAMES.map(
      (_, index) =>
        listed.find(({ local_id }) => local_id === `N-${index}`)?.elements.nalezce?.text,
    ),
  ).toEqual(NAMES.map(([, name]) => name));
  expect(report.issues.filter(({ rule }) => rule === 'finder-name').map(({ row }) => row)).toEqual([
    8, 9,
  ]);
  expect(report.new_people).toEqual([
    { name: 'Dvořáková, Eva', finds: 4 },
    { name: 'Kolář, Jan', finds: 2 },
  ]);
  expect((await other.pas('import', other.file('season.csv', TABLE))).stderr).toContain(
    'Dvořáková, Eva (4); Kolář, Jan (2)',
  );
});
