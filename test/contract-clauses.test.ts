import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from './support/run-pas.ts';

const CLAUSE_ID = /\b[ABS]-[A-Z]{2,}-\d+\b/g;
const TEXT_FILES = /\.(?:ts|js|mjs|json|md|sql)$/;
const TABLE_OF_TESTS = 'test/contract/README.md';

/** Files below a folder, by their paths from the project's. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => TEXT_FILES.test(path));
}

const readText = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
const idsIn = (text: string): string[] => text.match(CLAUSE_ID) ?? [];
const clausesIn = (text: string): string[] =>
  [...text.matchAll(/^\*\*([ABS]-[A-Z]+-\d+)\*\*/gm)].map(([, id = '']) => id);
const getArea = (id: string): string => id.slice(0, id.lastIndexOf('-'));

const PAGES = filesBelow('docs/contract').filter((path) => !path.endsWith('README.md'));
const CLAUSES = PAGES.flatMap((path) => clausesIn(readText(path)));
/** Files that can cite clauses. */
const CITING = ['src', 'mock-server', 'test', 'docs', 'scripts']
  .flatMap(filesBelow)
  .filter((path) => !PAGES.includes(path));
const [TESTED = '', UNTESTED = ''] = readText(TABLE_OF_TESTS).split('\n## Not tested\n');

test('each clause has its own id, and each area is on the page that the index names', () => {
  expect(CLAUSES.length).toBeGreaterThan(300);
  expect(CLAUSES.filter((id, at) => CLAUSES.indexOf(id) !== at)).toEqual([]);
  const rows = [
    ...readText('docs/contract/README.md').matchAll(/^\| \[[^\]]+\]\((\S+)\) \| (.+) \|$/gm),
  ];
  const indexed = Object.fromEntries(
    rows.map(([, page, areas = '']) => [`docs/contract/${page}`, areas.match(/[ABS]-[A-Z]+/g)]),
  );
  const there = PAGES.map((path) => [path, [...new Set(clausesIn(readText(path)).map(getArea))]]);
  expect(indexed).toEqual(Object.fromEntries(there));
});

test('each cited id is that of a clause', () => {
  const cited = [...CITING, ...PAGES].flatMap((path) =>
    idsIn(readText(path)).map((id) => ({ path, id })),
  );
  expect(cited.length).toBeGreaterThan(CLAUSES.length);
  expect(cited.filter(({ id }) => !CLAUSES.includes(id))).toEqual([]);
});

test('each clause is cited by a test, or has a reason why it is not tested', () => {
  const tests = CITING.filter((path) =>
    /^test\/.*\.test\.ts$|^test\/conformance\/checks\//.test(path),
  );
  const tested = new Set([TESTED, ...tests.map(readText)].flatMap(idsIn));
  const left = new Map(
    [...UNTESTED.matchAll(/^\| (.+) \| (.+) \|$/gm)].flatMap(([, ids = '', why = '']) =>
      idsIn(ids).map((id) => [id, why]),
    ),
  );
  expect(left.size).toBeGreaterThan(0);
  expect(CLAUSES.filter((id) => tested.has(id) === left.has(id))).toEqual([]);
});

test('each rule by which the mock server refuses belongs to a clause', () => {
  const messages = [
    ...readText('mock-server/base/messages.ts').matchAll(/^ {2}'?([a-z][a-z0-9-]*)'?: \[/gm),
  ].map(([, rule = '']) => rule);
  const view = readText('mock-server/state/contract-references.ts');
  const notes = [
    'imported-note',
    'number-label',
    'fault-other',
    'fault-failed',
    'fault-closed',
    'fault-throttled',
  ];
  expect(messages.length).toBeGreaterThan(50);
  expect(
    messages.filter(
      (rule) =>
        !notes.includes(rule) &&
        !new RegExp(`^ {4}'?${rule}'?: '|^ {2}'?${rule}'?: '`, 'm').test(view),
    ),
  ).toEqual([]);
});
