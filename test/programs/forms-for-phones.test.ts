import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTable } from '../../src/tables/csv-table.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { expectDone, type Home, signedIn } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { hasPyxform, loadForm, type OpenForm, type Submission, toXForm } from './filled-forms.ts';
import { centralExport, centralParts, koboSheets, koboWorkbook } from './form-servers.ts';

const FINDS = 500;
/** The engine fills in some ten forms a second, and far fewer where the machine is busy. */
const FILLING_LIMIT_MS = 1_200_000;
const PHOTOS_EACH = 2;

type Report = {
  rows: number;
  added: number;
  updated: number;
  unchanged: number;
  photos: number;
  drafts: number;
  issues: { rule: string }[];
};

/** Answers of the person with the phone about one find, by question. */
function makeAnswers(index: number): Record<string, string> {
  return {
    'frame/projekt': ':tba',
    'frame/projekt_cislo': 'C-202400101',
    'frame/stav': '2',
    ...(index % 3 === 0
      ? { 'frame/nalezce': ':tba', 'frame/nalezce_jmeno': 'Čermáková, Žofie' }
      : { 'frame/nalezce': 'OS-001507' }),
    'frame/datum_nalezu': `2024-06-${String((index % 28) + 1).padStart(2, '0')}`,
    'frame/pristupnost': 'HES-000867',
    'find/druh_nalezu': index % 2 === 0 ? 'HES-000605' : 'HES-000691',
    'find/specifikace': 'HES-000988',
    'find/obdobi': 'HES-000253',
    'find/okolnosti': 'HES-000560',
    'find/point': `50.0800${String(1000 + index)} ${(14.4 + index * 0.0004).toFixed(9)} 251.5 4.${index % 10}`,
    'find/lokalizace': `Pole „Na hlinách“, řádek ${index}; vedle "cesty", u ČOV`,
    'find/hloubka': String(index % 60),
    'more/pocet': index % 5 === 0 ? 'asi 3' : '',
    'more/poznamka': index % 4 === 0 ? `první řádek ${index}\nšíp, hrot; 100 % Cu` : '',
  };
}

function makePhotograph(index: number, number: number): readonly [name: string, bytes: Buffer] {
  return [
    `17179${String(index).padStart(5, '0')}${number}.png`,
    tinyPng(index * PHOTOS_EACH + number),
  ];
}

async function fill(form: OpenForm, index: number): Promise<Submission> {
  for (const [path, value] of Object.entries(makeAnswers(index)))
    if (value !== '') form.answer(path, value);
  for (let number = 0; number < PHOTOS_EACH; number += 1)
    form.addPhotograph(...makePhotograph(index, number));
  return form.submit();
}

/** Expected values of the find, by the columns of an export. */
function getExpected(index: number): Record<string, string> {
  const answers = Object.entries(makeAnswers(index)).map(
    ([path, value]) => [path.split('/')[1] ?? '', value] as const,
  );
  const {
    projekt_cislo: projekt = '',
    nalezce_jmeno: name,
    nalezce = '',
    point = '',
    ...rest
  } = Object.fromEntries(answers);
  const [lat = '', lon = ''] = point.split(' ');
  const photos = Array.from(
    { length: PHOTOS_EACH },
    (_, number) => makePhotograph(index, number)[0],
  ).join(';');
  return {
    ...rest,
    projekt,
    nalezce: name ?? nalezce,
    geom_x: plain(lon),
    geom_y: plain(lat),
    geom_system: '4326',
    photos,
  };
}

/**
 * The engine takes numbers, which have no zeros at their end; exported tables have decimal commas.
 */
function plain(text: string): string {
  return String(Number(text)).replace('.', ',');
}

describe.skipIf(!hasPyxform())(
  'a form for ODK, converted by pyxform and opened by the ODK engine',
  () => {
    let service: RunningMock;
    let prepared: Home;
    let madeForm: Awaited<ReturnType<typeof toXForm>>;
    let open: () => OpenForm;
    let filled: readonly Submission[] = [];

    beforeAll(async () => {
      service = await serveMock('--min-interval', '0');
      prepared = await signedIn(service, 'archaeologist', ['--min-interval-ms', '0']);
      await expectDone(prepared.pas('harvest-vocab', '--quiet'));
      await expectDone(prepared.pas('harvest-vocab', 'projekt', '--quiet'));
      prepared.file('form/.keep', '');
      await expectDone(
        prepared.pas('field', 'make', join(prepared.folder, 'form/finds.xlsx'), '--for', 'odk'),
      );
      madeForm = await toXForm(join(prepared.folder, 'form/finds.xlsx'));
      const submissions: Submission[] = [];
      open = await loadForm(madeForm.xml, join(prepared.folder, 'form'));
      for (let index = 0; index < FINDS; index += 1) submissions.push(await fill(open(), index));
      filled = submissions;
    }, FILLING_LIMIT_MS);
    afterAll(() => service.stop());

    async function expectExact(
      home: Home,
      count: number,
      getLocalId: (submission: Submission) => string = getOwnId,
    ): Promise<void> {
      const path = join(home.folder, 'exported.csv');
      await expectDone(home.pas('export', '--out', path, '--force'));
      const { header, rows } = parseTable(path, readFileSync(path));
      const found = new Map(
        [...rows].map(({ cells }) => [cells[header.indexOf('local_id')] ?? '', cells]),
      );
      expect(found.size).toBe(count);
      for (const [index, submission] of filled.slice(0, count).entries()) {
        const expected = getExpected(index);
        const cells = found.get(getLocalId(submission)) ?? [];
        expect(
          Object.fromEntries(
            Object.keys(expected).map((name) => [name, cells[header.indexOf(name)] ?? '']),
          ),
        ).toEqual(expected);
      }
    }

    test('is accepted without warnings, except that photographs are not resized', () => {
      expect(madeForm.warnings.filter((warning) => !warning.includes('max-pixels'))).toEqual([]);
    });

    test('has Czech first and English, starts with the day and the state, and asks for what the state needs', async () => {
      const form = open();
      expect(form.root.languages.map(({ language }) => language)).toEqual(
        expect.arrayContaining(['Čeština (cs)', 'English (en)']),
      );
      expect(form.question('find/hloubka').currentState.label?.asString).toBe('Hloubka (cm)');
      expect(form.question('frame/stav').currentState.value).toEqual(['2']);
      expect(String(form.question('frame/datum_nalezu').currentState.value)).toMatch(
        /^\d{4}-\d\d-\d\d$/,
      );
      await expect(form.submit()).rejects.toThrow(/frame\/projekt, .*find\/hloubka/);
      expect(form.question('find/hloubka').currentState.required).toBe(true);
      expect(form.question('handing_over/evidencni_cislo').currentState.relevant).toBe(false);
      form.answer('frame/stav', '1');
      expect(form.question('find/hloubka').currentState.required).toBe(false);
      expect(form.question('frame/projekt').currentState.required).toBe(true);
      form.answer('frame/stav', '3');
      expect(form.question('handing_over/evidencni_cislo').currentState).toMatchObject({
        relevant: true,
        required: true,
      });
      const english = form.root.languages.find(({ language }) => language === 'English (en)');
      form.root.setLanguage(english);
      expect(form.question('find/hloubka').currentState.label?.asString).toBe('Depth (cm)');
    });

    test.each([
      ['find/hloubka', '-1', '30', /celých centimetrech/],
      ['find/point', '48.1 11.5 500 4', '50.08 14.4 250 4', /mimo Česko/],
      ['frame/datum_nalezu', '2999-01-01', '2024-06-01', /v budoucnosti/],
      ['frame/datum_nalezu', '1204-06-01', '2024-06-01', /v budoucnosti, nebo velmi dávno/],
      ['frame/nalezce_jmeno', 'Žofie Čermáková', 'Čermáková, Žofie', /čárku/],
      ['frame/projekt_cislo', 'C-202400101, Praha', 'C-202400101', /samotný identifikátor/],
      ['handing_over/predano', 'false', 'true', /musí být předán/],
      ['handing_over/evidencni_cislo', 'x'.repeat(256), 'x'.repeat(255), /255/],
    ])('refuses %s = %s', async (path, wrong, right, says) => {
      const form = open();
      form.answer('frame/stav', '3');
      form.answer('frame/nalezce', ':tba');
      form.answer('frame/projekt', ':tba');
      form.answer(path, wrong);
      expect(form.getViolation(path)).toMatch(says);
      form.answer(path, right);
      expect(form.getViolation(path)).toBeUndefined();
    });

    test('filters a long list by its group, with both languages in each choice', async () => {
      const form = open();
      const choices = () => form.question('find/druh_nalezu').currentState.valueOptions ?? [];
      const all = choices().length;
      expect(choices().map(({ label }) => label.asString)).toContain('spona · brooch');
      form.answer('find/druh_nalezu_skupina', 'HES-000590');
      expect(choices().length).toBeGreaterThan(1);
      expect(choices().length).toBeLessThan(all);
      expect(choices().map(({ value }) => value)).toContain('HES-000605');
    });

    test('500 finds with 1000 photographs return from ODK Central unedited, and a second import changes nothing', async () => {
      const home = prepared.copy();
      const archive = home.file('finds.zip', centralExport(madeForm.xml, filled));
      const first = await home.json<Report>('import', archive);
      expect(first).toMatchObject({
        added: FINDS,
        drafts: 0,
        photos: FINDS * PHOTOS_EACH,
        issues: [],
      });
      await expectExact(home, FINDS);
      expect(await home.json<Report>('import', archive)).toMatchObject({
        added: 0,
        updated: 0,
        unchanged: FINDS,
        photos: 0,
        issues: [],
      });
      const folder = join(home.folder, 'unpacked');
      for (const { name, content } of centralParts(madeForm.xml, filled))
        write(join(folder, name), content);
      for (const way of [folder, join(folder, 'pas_finds.csv')]) {
        expect(await home.json<Report>('import', way)).toMatchObject({
          added: 0,
          updated: 0,
          unchanged: FINDS,
          photos: 0,
          issues: [],
        });
      }
    });

    test.each([
      [FINDS, 'names', {}],
      [10, 'names with groups', { groups: true }],
      [10, 'Czech labels', { labels: 'cs' }],
      [10, 'English labels with groups', { labels: 'en', groups: true }],
    ] as const)(
      '%i return from KoboToolbox with %s, photographs beside',
      async (count, _, options) => {
        const home = prepared.copy();
        const submissions = filled.slice(0, count);
        const workbook = home.file(
          'kobo/finds.xlsx',
          koboWorkbook(koboSheets(madeForm.xml, submissions, options)),
        );
        for (const { xml, files } of submissions) {
          const uuid = /<instanceID>uuid:([^<]+)/.exec(xml)?.[1] ?? '';
          for (const [name, bytes] of files)
            home.file(`kobo/attachments/form/${uuid}/${name}`, bytes);
        }
        expect(await home.json<Report>('import', workbook)).toMatchObject({
          added: count,
          drafts: 0,
          photos: count * PHOTOS_EACH,
          issues: [],
        });
        await expectExact(home, count);
        expect(await home.json<Report>('import', workbook)).toMatchObject({
          added: 0,
          updated: 0,
          unchanged: count,
          photos: 0,
          issues: [],
        });
      },
    );

    test('a correction updates an unsent find, and a missing photograph is named with its find', async () => {
      const home = prepared.copy();
      const [one, two] = filled as [Submission, Submission];
      await expectDone(
        home.pas('import', home.file('finds.zip', centralExport(madeForm.xml, [one, two]))),
      );
      const oldId = /<instanceID>([^<]+)/.exec(one.xml)?.[1] ?? '';
      const corrected = one.xml
        .replace(oldId, 'uuid:00000000-0000-4000-8000-000000000001')
        .replace(/<hloubka>\d+/, '<hloubka>77');
      const archive = home.file(
        'again.zip',
        centralExport(madeForm.xml, [{ ...one, xml: corrected, rootId: oldId }, two]),
      );
      expect(await home.json<Report>('import', archive)).toMatchObject({
        added: 0,
        updated: 1,
        unchanged: 1,
      });
      const shown = await home.pas('show', getOwnId(one));
      expect(shown.stdout).toContain('77');

      const [lost] = makePhotograph(1, 0);
      const without = { ...two, files: new Map([...two.files].filter(([name]) => name !== lost)) };
      const other = prepared.copy();
      const run = await other.pas(
        'import',
        other.file('finds.zip', centralExport(madeForm.xml, [one, without])),
      );
      expect(run.stdout).toContain(lost);
      expect(run.stdout).toContain(getOwnId(two));
    });
  },
);

function getOwnId({ xml }: Submission): string {
  return /<local_id>([^<]+)/.exec(xml)?.[1] ?? '';
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
