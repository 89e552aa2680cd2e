import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FIELDS } from '../../src/finds/fields.ts';
import { readTable } from '../../src/tables/readers.ts';
import { expectEnded, homeWithoutNetwork } from '../support/run-pas.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

async function makeSheet(path: string, name: string): Promise<Record<string, string>[]> {
  const { header, rows } = await readTable(path, {
    sheet: name,
    headerRows: { first: 1, last: 1 },
  });
  return [...rows].map(({ cells }) =>
    Object.fromEntries(header.map((column, index) => [column, cells[index] ?? ''])),
  );
}

test('a form has every element of states 2 and 3, in Czech and English, and its lists beside it', async () => {
  home.file('first/.keep', '');
  const path = join(home.folder, 'first/finds.xlsx');
  const { files } = await home.json<{ files: string[] }>('field', 'make', path, '--for', 'odk');
  expect(files[0]).toBe(path);
  expect(files.every((file) => existsSync(file))).toBe(true);
  const survey = await makeSheet(path, 'survey');
  const questionNames = survey.map(({ name }) => name);
  const needed = FIELDS.filter(
    ({ kind, requiredFrom }) =>
      requiredFrom !== undefined && kind !== 'point' && kind !== 'geom-system',
  );
  expect(questionNames).toEqual(
    expect.arrayContaining([...needed.map(({ name }) => name), 'point', 'photos', 'photo']),
  );
  for (const row of survey) {
    for (const text of ['label', 'hint', 'required_message', 'constraint_message']) {
      const cs = row[`${text}::Čeština (cs)`] ?? '';
      const en = row[`${text}::English (en)`] ?? '';
      expect([row['name'], text, cs === '', cs === en && cs !== '']).toEqual([
        row['name'],
        text,
        en === '',
        false,
      ]);
    }
    expect([row['name'], row['constraint'] === '']).toEqual([
      row['name'],
      row['constraint_message::English (en)'] === '',
    ]);
    const [, list] = /^select_one_from_file (.+)$/.exec(row['type'] ?? '') ?? [];
    if (list !== undefined)
      expect(readFileSync(join(home.folder, 'first', list), 'utf8')).toMatch(/^name,label\n.+,/);
  }
  const names = new Set(questionNames);
  const named = survey.flatMap((row) =>
    [...JSON.stringify(row).matchAll(/\$\{(?:last-saved#)?(\w+)\}/g)].map(([, name = '']) => name),
  );
  expect(named.filter((name) => !names.has(name))).toEqual([]);
  const [settings] = await makeSheet(path, 'settings');
  expect(settings).toMatchObject({
    form_id: 'pas_finds',
    version: expect.stringMatching(/^\d{14}$/),
    default_language: 'Čeština (cs)',
  });
});

/** The answer of the find before. */
function last(name: string): string {
  return `\${last-saved#${name}}`;
}

test.each(['odk', 'qfield'])(
  'a form for %s is not made with an unreadable default value',
  async (tool) => {
    const path = join(home.folder, tool === 'odk' ? 'unread.xlsx' : 'unread');
    const { code, stderr } = await home.pas(
      'field',
      'make',
      path,
      '--for',
      tool,
      '--set',
      'depth_cm=deep',
    );
    expect([code, existsSync(path)]).toEqual([2, false]);
    expect(stderr).toContain('deep');
  },
);

test('a form starts with the defaults of the profile', async () => {
  const other = home.copy();
  const config = join(other.folder, 'pas', 'config.toml');
  other.file(
    'pas/config.toml',
    `${readFileSync(config, 'utf8')}\n[profiles.mock.defaults]\nprojekt = "C-202400101"\npristupnost = "archeolog"\nokolnosti = "HES-000560"\nnalezce = "O'Brien, Jan"\n`,
  );
  other.file('form/.keep', '');
  await other.do('field', 'make', join(other.folder, 'form/finds.xlsx'), '--for', 'odk');
  const defaults = new Map(
    (await makeSheet(join(other.folder, 'form/finds.xlsx'), 'survey')).map((row) => [
      row['name'],
      row['default'],
    ]),
  );
  expect(
    Object.fromEntries(
      [
        'projekt',
        'pristupnost',
        'okolnosti',
        'nalezce',
        'nalezce_jmeno',
        'stav',
        'datum_nalezu',
      ].map((name) => [name, defaults.get(name)]),
    ),
  ).toEqual({
    projekt: `coalesce(${last('projekt')}, 'C-202400101')`,
    pristupnost: `coalesce(${last('pristupnost')}, 'HES-000867')`,
    okolnosti: "string('HES-000560')",
    nalezce: `coalesce(${last('nalezce')}, ':tba')`,
    nalezce_jmeno: `coalesce(${last('nalezce_jmeno')}, "O'Brien, Jan")`,
    stav: `coalesce(${last('stav')}, '2')`,
    datum_nalezu: 'today()',
  });
});

test('no file is replaced without --yes, and none is written if one of them cannot be', async () => {
  const other = home.copy();
  other.file('form/obdobi.csv', 'mine');
  const path = join(other.folder, 'form/finds.xlsx');
  await expectEnded(
    other.pas('field', 'make', path, '--for', 'odk'),
    2,
    /already a file .*obdobi\.csv/,
  );
  expect(readdirSync(join(other.folder, 'form'))).toEqual(['obdobi.csv']);
  await other.do('field', 'make', path, '--for', 'odk', '--yes');
  expect(readFileSync(join(other.folder, 'form/obdobi.csv'), 'utf8')).toContain('HES-000253');
  mkdirSync(join(other.folder, 'folder/obdobi.csv'), { recursive: true });
  const folder = await other.pas(
    'field',
    'make',
    join(other.folder, 'folder/finds.xlsx'),
    '--for',
    'odk',
    '--yes',
  );
  await expectEnded(folder, 2, 'is a folder, not a file');
  expect(readdirSync(join(other.folder, 'folder'))).toEqual(['obdobi.csv']);
});

test('missing vocabularies, and a file name of another format, are reported once', async () => {
  const far = await homeWithoutNetwork();
  const run = await far.pas('field', 'make', join(far.folder, 'finds.xlsx'), '--for', 'odk');
  await expectEnded(run, 2, 'heslo:obdobi');
  expect(run.stderr).toContain('pas harvest-vocab');
  expect(run.stderr.split('\n').filter((line) => line.includes('harvested'))).toHaveLength(1);
  expect(existsSync(join(far.folder, 'finds.xlsx'))).toBe(false);
  await expectEnded(
    home.pas('field', 'make', join(home.folder, 'finds.csv'), '--for', 'odk'),
    2,
    '.xlsx',
  );
  await expectEnded(home.pas('field', 'make', 'finds.xlsx'), 2, '--for');
});
