import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseCsvTable } from '../../src/tables/formats/csv-table.ts';
import { readTable } from '../../src/tables/readers.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { type Home, withVocabularies } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { shareMock } from '../support/use-mock.ts';

type Row = Readonly<Record<string, string>>;
/** A question of the made form, with the names of the groups around it. */
type Question = { readonly row: Row; readonly name: string; readonly groups: readonly Row[] };

const CS = 'label::Čeština (cs)';
const EN = 'label::English (en)';
const COUNT = 5;
const NONE_ADDED = { added: 0, updated: 0, unchanged: COUNT, photos: 0, issues: [] };

const mock = shareMock();
let prepared: Home;
let survey: readonly Row[];
let choices: readonly Row[];
let questions: readonly Question[];

beforeAll(async () => {
  prepared = await withVocabularies(mock.service);
  await prepared.do('harvest-vocab', 'projekt', '--quiet');
  prepared.file('form/.keep', '');
  const path = join(prepared.folder, 'form/finds.xlsx');
  await prepared.do('field', 'make', path, '--for', 'odk');
  survey = await readSheet(path, 'survey');
  choices = await readSheet(path, 'choices');
  questions = listQuestions();
});

async function readSheet(path: string, sheet: string): Promise<Row[]> {
  const { header, rows } = await readTable(path, { sheet, headerRows: { first: 1, last: 1 } });
  return [...rows].map(({ cells }) =>
    Object.fromEntries(header.map((column, index) => [column, cells[index] ?? ''])),
  );
}

/** Questions outside of the repeated group. */
function listQuestions(): Question[] {
  const found: Question[] = [];
  const groups: Row[] = [];
  for (const row of survey) {
    const { type = '', name = '' } = row;
    if (/^begin_/.test(type)) groups.push(row);
    else if (/^end_/.test(type)) groups.pop();
    else if (!groups.some((group) => group['type'] === 'begin_repeat'))
      found.push({ row, name, groups: [...groups] });
  }
  return found;
}

const makeKey = (index: number): string => `uuid:00000000-0000-4000-8000-00000000000${index}`;
/** The form makes a UUID. */
const makeLocalId = (index: number): string => `00000000-0000-4000-9000-00000000000${index}`;
const makePhotoNames = (index: number): string[] => [`1717${index}0.png`, `1717${index}1.png`];

/** Answers of the person with the phone, by question. */
function makeAnswers(index: number): Row {
  return {
    local_id: makeLocalId(index),
    projekt: ':tba',
    projekt_cislo: 'C-202400101',
    stav: '2',
    nalezce: index % 2 === 0 ? ':tba' : 'OS-001507',
    nalezce_jmeno: index % 2 === 0 ? 'Čermáková, Žofie' : '',
    datum_nalezu: `2024-06-0${index + 1}`,
    pristupnost: 'HES-000867',
    druh_nalezu: 'HES-000605',
    specifikace: 'HES-000988',
    obdobi: 'HES-000253',
    okolnosti: 'HES-000560',
    point: `50.080010${index}1 14.400004${index}1 251.5 4.${index}`,
    lokalizace: `Pole „Na hlinách“, řádek ${index}; vedle "cesty", u ČOV`,
    hloubka: String(index),
    pocet: 'asi 3',
    poznamka: `první řádek ${index}\nšíp, hrot; 100 % Cu`,
  };
}

/** Expected values of the find, by the columns of an export. */
function getExpected(index: number): Row {
  const answers = makeAnswers(index);
  const [lat = '', lon = ''] = (answers['point'] ?? '').split(' ');
  const { projekt_cislo, nalezce, nalezce_jmeno, point, ...rest } = answers;
  return {
    ...rest,
    projekt: projekt_cislo ?? '',
    nalezce: nalezce_jmeno || (nalezce ?? ''),
    geom_x: lon.replace('.', ','),
    geom_y: lat.replace('.', ','),
    geom_system: '4326',
    photos: makePhotoNames(index).join(';'),
  };
}

const listIndexes = (): number[] => Array.from({ length: COUNT }, (_, index) => index);

async function expectExact(home: Home): Promise<void> {
  const path = join(home.folder, 'exported.csv');
  await home.do('export', path, '--codes', '--yes');
  const { header, rows } = parseCsvTable(path, readFileSync(path));
  const exported = [...rows].map(({ cells }) =>
    Object.fromEntries(header.map((column, index) => [column, cells[index] ?? ''])),
  );
  expect(exported).toHaveLength(COUNT);
  for (const index of listIndexes())
    expect(exported).toContainEqual(expect.objectContaining(getExpected(index)));
}

function makeCsv(rows: readonly (readonly string[])[]): string {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return `${rows.map((cells) => cells.map(quote).join(',')).join('\n')}\n`;
}

/** Writes what is in the archive of Central's "Download submissions (.zip)". */
function writeCentralExport(home: Home, getAnswers = makeAnswers, shade = 0): string {
  const header = questions.flatMap(({ row, name, groups }) => {
    const path = [...groups.map((group) => group['name'] ?? ''), name].join('-');
    if (row['type'] !== 'geopoint') return [path];
    return ['Latitude', 'Longitude', 'Altitude', 'Accuracy'].map((part) => `${path}-${part}`);
  });
  const rows = listIndexes().map((index) => {
    const answers = getAnswers(index);
    const cells = questions.flatMap(({ row, name }) =>
      row['type'] === 'geopoint' ? (answers[name] ?? '').split(' ') : [answers[name] ?? ''],
    );
    return ['2024-06-02T18:30:00.000Z', ...cells, makeKey(index), '12', '2', ''];
  });
  const about = ['KEY', 'SubmitterID', 'AttachmentsPresent', 'ReviewState'];
  const photographs = listIndexes().flatMap((index) =>
    makePhotoNames(index).map((photo, at) => [
      photo,
      makeKey(index),
      `${makeKey(index)}/more/photos[${at + 1}]`,
    ]),
  );
  const forms = [['SubmissionDate', ...header, ...about], ...rows];
  const parts = [['photo', 'PARENT_KEY', 'KEY'], ...photographs];
  home.file('central/pas_finds.csv', makeCsv(forms));
  home.file('central/pas_finds-photos.csv', makeCsv(parts));
  for (const index of listIndexes())
    for (const [at, photo] of makePhotoNames(index).entries())
      home.file(`central/media/${photo}`, tinyPng(index * 2 + at + shade));
  return 'central';
}

/** A workbook of KoboToolbox with names, or the labels of a language, and its groups if wanted. */
function makeKoboWorkbook(label: string, withGroups: boolean): Buffer {
  const getTitle = (row: Row): string => row[label] || (row['name'] ?? '');
  const header = questions.flatMap(({ row, groups }) => {
    const before = withGroups ? groups.map((group) => `${getTitle(group)}/`).join('') : '';
    const title = `${before}${getTitle(row)}`;
    if (row['type'] !== 'geopoint') return [title];
    const parts = ['latitude', 'longitude', 'altitude', 'precision'];
    return [title, ...parts.map((part) => `_${title}_${part}`)];
  });
  const getShown = ({ row, name }: Question, value: string): string => {
    const list = (row['type'] ?? '').replace('select_one ', '');
    const choice = choices.find((each) => each['list_name'] === list && each['name'] === value);
    return name === 'stav' && choice !== undefined ? getTitle(choice) : value;
  };
  const rows = listIndexes().map((index) => {
    const answers = makeAnswers(index);
    const cells = questions.flatMap((question) => {
      const value = answers[question.name] ?? '';
      if (question.row['type'] !== 'geopoint') return [getShown(question, value)];
      return [value, ...value.split(' ')];
    });
    return [...cells, 700 + index, makeKey(index).slice(5), '2024-06-02T18:30:00', '', index + 1];
  });
  const photo = withGroups ? 'more/photos/photo' : 'photo';
  const photographs = listIndexes().flatMap((index) =>
    makePhotoNames(index).map((name) => [name, `https://kobo.example/${name}`, index + 1]),
  );
  return makeWorkbook([
    {
      name: 'Nálezy',
      rows: [[...header, '_id', '_uuid', '_submission_time', '_status', '_index'], ...rows],
    },
    {
      name: 'photos',
      rows: [
        [photo, `${photo}_URL`, '_parent_table_name', '_parent_index'],
        ...photographs.map(([name, url, parent]) => [name ?? '', url ?? '', 'Nálezy', parent ?? 0]),
      ],
    },
  ]);
}

const ALL_ADDED = { added: COUNT, drafts: 0, photos: COUNT * 2, issues: [] };

test('finds of a form return from ODK Central unedited, and a second import changes nothing', async () => {
  const home = prepared.copy();
  const folder = writeCentralExport(home);
  expect(await home.json('import', folder)).toMatchObject(ALL_ADDED);
  await expectExact(home);
  expect(await home.json('import', folder)).toMatchObject(NONE_ADDED);
  rmSync(join(home.folder, folder, 'pas_finds-photos.csv'));
  const { issues } = await home.json('import', folder);
  expect(issues.filter(({ rule }) => rule === 'form-files-unnamed')).toHaveLength(COUNT);
});

test('a question about a row is answered with the photographs of its form', async () => {
  const home = prepared.copy();
  await home.do('import', writeCentralExport(home));
  await home.do('edit', makeLocalId(1), '--set', 'hloubka=55');
  const changed = writeCentralExport(
    home,
    (index) => ({ ...makeAnswers(index), hloubka: index === 1 ? '77' : String(index) }),
    50,
  );
  const imported = await home.pas('import', changed);
  expect(imported.stdout).toContain('1 skipped until you decide');
  await home.do('resolve', makeLocalId(1), '--answer', 'table');
  const { stdout } = await home.pas('show', makeLocalId(1), '--json');
  expect(stdout).toContain(
    createHash('sha512')
      .update(tinyPng(2 + 50))
      .digest('hex'),
  );
});

describe('finds of a form return from KoboToolbox', () => {
  test.each([
    ['names', 'name', false],
    ['names with groups', 'name', true],
    ['Czech labels', CS, false],
    ['English labels with groups', EN, true],
  ])('with %s', async (_, label, withGroups) => {
    const home = prepared.copy();
    const workbook = home.file('kobo/finds.xlsx', makeKoboWorkbook(label, withGroups));
    for (const index of listIndexes())
      for (const [at, name] of makePhotoNames(index).entries())
        home.file(
          `kobo/attachments/form/${makeKey(index).slice(5)}/${name}`,
          tinyPng(index * 2 + at),
        );
    expect(await home.json('import', workbook)).toMatchObject(ALL_ADDED);
    await expectExact(home);
    expect(await home.json('import', workbook)).toMatchObject(NONE_ADDED);
  });
});

test('a form refuses what the service would refuse', () => {
  const constraints = survey
    .filter((row) => row['constraint'] !== '')
    .map((row) => [row['name'], row['constraint']]);
  expect(Object.fromEntries(constraints)).toEqual({
    projekt_cislo: String.raw`regex(., '^[^\s,;]+$')`,
    nalezce_jmeno: "regex(., '^[^,;]{1,100}, *[^,;]{1,100}$')",
    datum_nalezu: ". <= today() and . >= date('1700-01-01')",
    point:
      'selected-at(., 0) >= 48.5 and selected-at(., 0) <= 51.1 and selected-at(., 1) >= 12 and selected-at(., 1) <= 18.95',
    hloubka: '. >= 0 and . <= 2147483647',
    predano: ". = 'true'",
    evidencni_cislo: 'string-length(normalize-space(.)) > 0 and string-length(.) <= 255',
  });
});

test('a form starts with the day and state 2, and asks for what the state needs', () => {
  const get = (name: string): Row => survey.find((row) => row['name'] === name) ?? {};
  expect(get('datum_nalezu')['default']).toBe('today()');
  expect(get('stav')['default']).toBe(`coalesce(\${last-saved#stav}, '2')`);
  expect(get('projekt')['required']).toBe('yes');
  expect(get('hloubka')['required']).toBe(`\${stav} >= 2`);
  expect(get('handing_over')['relevant']).toBe(`\${stav} = 3`);
  expect(get('evidencni_cislo')['required']).toBe('yes');
  expect(get('projekt_cislo')['relevant']).toBe(`\${projekt} = ':tba'`);
});
