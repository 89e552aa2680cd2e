import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getField } from '../../../src/finds/fields.ts';
import { makeReferenceResolver } from '../../../src/finds/resolve-references.ts';
import { makePhotoResolver } from '../../../src/photos/photograph.ts';
import { omitRowsWithoutFinds } from '../../../src/tables/columns/map-table.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import { makeWorkbook, type WorkbookCell, workbookParts } from '../../support/make-workbook.ts';
import { makeZip } from '../../support/make-zip.ts';
import { PROJECT } from '../../support/run-pas.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { lookupTerm } from '../finds/a-find.ts';
import { readFinds } from './read-finds.ts';

const FORMATS = ['General', 'd.m.yyyy', 'mmm-yy', '00000', '0.00', '0%'];
const styled = (format: string, value: number): WorkbookCell => ({
  xml: `<c r="@" s="${FORMATS.indexOf(format)}"><v>${value}</v></c>`,
});
const DAY = 45_444;

/** Value read from one cell of a workbook. */
async function readCell(column: string, cell: WorkbookCell) {
  const rows = [
    ['local_id', column, ...(column === 'lon' ? ['lat'] : [])],
    ['A', cell, ...(column === 'lon' ? [49.8] : [])],
  ];
  const styles = `<styleSheet><numFmts>${FORMATS.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs>${FORMATS.map((_, index) => `<xf numFmtId="${164 + index}"/>`).join('')}</cellXfs></styleSheet>`;
  const parts = workbookParts([{ name: 'A', rows }]).map((part) =>
    part.name.endsWith('styles.xml') ? { ...part, content: styles } : part,
  );
  return summary(await readFinds('a.xlsx', makeZip(parts), { checked: true }), column);
}

async function readText(column: string, text: string) {
  return summary(
    await readFinds('a.csv', Buffer.from(`local_id;${column}\nA;${text}\n`), { checked: true }),
    column,
  );
}

/** The value, or the rule of the error; with `!` behind it where it is warned of. */
function summary(
  { finds, issues }: Awaited<ReturnType<typeof readFinds>>,
  column: string,
): unknown {
  const about = issues.filter(({ rule }) => !['required', 'local-id-missing'].includes(rule));
  const error = about.find(({ severity, column: at }) => severity === 'error' && at === column);
  if (error !== undefined) return `error ${error.rule}`;
  const [find] = finds;
  const value = column === 'lon' ? find?.elements.geom_wkt : find?.elements[column as 'poznamka'];
  return about.some(({ severity }) => severity === 'warning') ? `${value} !` : value;
}

const CASES: Readonly<Record<string, () => Promise<void> | void>> = {
  'a number with a format': async () => {
    expect(await readCell('poznamka', styled('00000', 12))).toBe('00012');
    expect(await readCell('evidencni_cislo', styled('0.00', 12.1))).toBe('12.10');
    expect(await readCell('poznamka', styled('0%', 0.5))).toBe('50%');
    expect(await readCell('hloubka', styled('00000', 12))).toBe(12);
    expect(await readCell('lon', styled('0.00', 15.171_234))).toBe('POINT (15.171234 49.8)');
  },
  'a whole number above 2^53': async () => {
    expect(await readCell('poznamka', { xml: '<c r="@"><v>12345678901234567890</v></c>' })).toBe(
      '12345678901234567890 !',
    );
    expect(await readCell('poznamka', { xml: '<c r="@"><v>1.2345678901234567E+19</v></c>' })).toBe(
      'error table-number',
    );
    const feature =
      '{"type":"Feature","geometry":null,"properties":{"local_id":"G","poznamka":12345678901234567890}}';
    const { issues } = await readFinds(
      'a.geojson',
      Buffer.from(`{"type":"FeatureCollection","features":[${feature}]}`),
    );
    expect(issues).toMatchObject([
      { rule: 'table-number', severity: 'error', message: expect.stringContaining('poznamka') },
    ]);
  },
  'a date': async () =>
    expect(await readCell('datum_nalezu', styled('d.m.yyyy', DAY))).toBe('2024-06-01'),
  'a date that shows a month': async () =>
    expect(await readCell('datum_nalezu', styled('mmm-yy', DAY))).toBe('error date'),
  'a date in any other column': async () => {
    for (const column of ['poznamka', 'hloubka', 'lon'])
      expect(await readCell(column, styled('mmm-yy', DAY))).toBe('error cell-date');
  },
  'a day number without': async () =>
    expect(await readCell('datum_nalezu', DAY)).toBe('error date'),
  'yes or no': async () => {
    expect([await readText('predano', 'PRAVDA'), await readText('predano', 'NEPRAVDA')]).toEqual([
      true,
      false,
    ]);
    expect(await readCell('poznamka', { xml: '<c r="@" t="b"><v>1</v></c>' })).toBe('TRUE');
  },
  'a formula': async () => {
    expect(await readCell('poznamka', { xml: '<c r="@"><f>A1</f><v>7</v></c>' })).toBe('7');
    expect(await readCell('poznamka', { xml: '<c r="@"><f>A1</f><v></v></c>' })).toBe(
      'error table-formula',
    );
  },
  'an error such as': async () => {
    for (const text of '#N/A #HODNOTA! #ODKAZ! #NÁZEV? #DIV/0! #ČÍSLO! #WERT! #NV #REF! Err:502 #####'.split(
      ' ',
    ))
      expect(await readText('poznamka', text)).toMatch(/^error table-/);
    for (const text of [
      '#1',
      'č. #3',
      '# poznámka!',
      'je to nůž?',
      'Err',
      'https://example.org/a?b=c',
    ])
      expect(await readText('poznamka', text)).toBe(text);
  },
  'a moment in UTC': async () => {
    const moment = new Date('2024-05-31T22:00:00Z');
    const day = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()]
      .map((part) => `${part}`.padStart(2, '0'))
      .join('-');
    expect(await readText('datum_nalezu', '2024-05-31T22:00:00Z')).toBe(day);
    for (const offset of ['+02:00', '-11:00', '+1300'])
      expect(await readText('datum_nalezu', `2024-06-01T00:30:00${offset}`)).toBe('2024-06-01');
  },
  'a moment with its own offset': async () => {
    for (const text of ['2024-06-01T00:30:00+02:00', '2024-06-01 23:30:00.000-05'])
      expect(await readText('datum_nalezu', text)).toBe('2024-06-01');
    const stored: WorkbookCell = { xml: '<c r="@" t="d"><v>2024-06-01T00:30:00+02:00</v></c>' };
    expect(await readCell('datum_nalezu', stored)).toBe('2024-06-01');
  },
  'a year in a cell': async () => {
    expect(await readCell('datum_nalezu', styled('d.m.yyyy', 2005))).toBe('error date-plausible');
    expect(await readText('datum_nalezu', '2025-01-02')).toBe('error date-plausible');
    expect(await readText('datum_nalezu', '1. 5. 2000!')).toBe('2000-05-01');
    expect(await readText('datum_nalezu', '1905-06-27!')).toBe('1905-06-27 !');
  },
  'text partly struck through': async () => {
    const struck = (properties: string): string =>
      `<r><rPr>${properties}</rPr><t>12</t></r><r><t>15</t></r>`;
    const inline = (is: string): WorkbookCell => ({
      xml: `<c r="@" t="inlineStr"><is>${is}</is></c>`,
    });
    expect(await readCell('hloubka', inline(struck('<strike/>')))).toBe('15 !');
    expect(await readCell('hloubka', inline(struck('<strike val="0"/>')))).toBe(1215);
    const whole = inline('<r><rPr><strike/></rPr><t>12</t></r>');
    expect(await readCell('hloubka', whole)).toBe('undefined !');
  },
  'a superscript': async () => {
    const cell: WorkbookCell = {
      xml: '<c r="@" t="inlineStr"><is><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r></is></c>',
    };
    expect(await readCell('pocet', cell)).toBe('10^2 !');
  },
  'a mark or a word for the value above': async () => {
    for (const column of ['poznamka', 'hloubka', 'nalezce', 'obdobi', 'datum_nalezu', 'lokalizace'])
      for (const text of [
        '"',
        '-"-',
        '„',
        '〃',
        "''",
        '-//-',
        'dtto',
        'DTTO.',
        'idem',
        'viz výše',
      ]) {
        const table = `local_id;${column}\nA;2024\nB;"${text.replaceAll('"', '""')}"\n`;
        const { finds, issues } = await readFinds('a.csv', Buffer.from(table));
        const ofDitto = issues.filter(({ rule }) => rule === 'cell-ditto');
        expect([finds.filter(({ localId }) => localId === 'B'), ofDitto.length]).toEqual([[], 1]);
      }
    for (const text of ['idem sopor', 'A "B"', 'id', 'vizovice'])
      expect(await readText('poznamka', `"${text.replaceAll('"', '""')}"`)).toBe(text);
  },
  '`null`': async () => {
    for (const text of ['null', 'NULL', 'N/A', '-', '–', '[object Object]', '(prázdné)', 'NaN'])
      for (const column of ['poznamka', 'hloubka', 'nalezce', 'datum_nalezu'])
        expect(await readText(column, text)).toBe('undefined !');
    expect(await readText('poznamka', '- okraj')).toBe('- okraj');
  },
  'a depth with a fraction': async () => {
    for (const [text, wholes] of [
      ['12,5', '12 cm or 13 cm'],
      ['0.5', '0 cm or 1 cm'],
    ] as const) {
      const { finds, issues } = await readFinds(
        'a.csv',
        Buffer.from(`local_id;hloubka\nA;${text}\n`),
      );
      expect([finds, String(issues[0]?.message)]).toEqual([[], expect.stringContaining(wholes)]);
    }
  },
  'an id such as': async () => {
    for (const id of ['1,23E+11', '2.led', '01.05.2024'])
      expect(await readText('evidencni_cislo', id)).toBe(`${id} !`);
  },
  'a word with a': async () => expect(await readText('poznamka', 'st?edov?k')).toBe('st?edov?k !'),
  'HTML in a description': async () => {
    expect(await readText('poznamka', '<p>spona<br>z <b>bronzu</b></p>')).toBe('spona\nz bronzu !');
    expect(await readText('poznamka', 'a < b > c')).toBe('a < b > c');
    const gpx =
      '<gpx><wpt lat="49.8" lon="15"><name>A</name><desc>&lt;p&gt;spona&lt;img src="a.jpg"&gt;&lt;/p&gt;</desc></wpt></gpx>';
    expect((await readFinds('a.gpx', Buffer.from(gpx))).finds).toMatchObject([
      { elements: { poznamka: 'spona' }, photos: ['/season/a.jpg'] },
    ]);
  },
  "a `'` before": async () => {
    for (const text of ['- a', '=a', '+a', '@a'])
      expect(await readCell('poznamka', `'${text}`)).toBe(text);
  },
  'a term with a soft hyphen': () => {
    const resolve = makeReferenceResolver(lookupTerm);
    const plain = resolve(getField('obdobi'), 'doba bronzová');
    expect(plain).toHaveProperty('value');
    expect(resolve(getField('obdobi'), 'doba\u200b bron\u00adzová')).toEqual(plain);
  },
  'a cell merged over rows': async () => {
    const rows = [
      ['local_id', 'poznamka'],
      ['A', 'x'],
      ['B', null],
    ];
    const { finds } = await readFinds(
      'a.xlsx',
      makeWorkbook([{ name: 'A', rows, merged: ['B2:B3'] }]),
    );
    expect(finds.map(({ elements }) => elements.poznamka)).toEqual(['x', 'x']);
  },
  'hidden rows': async () => {
    const rows = [['local_id'], ['A'], ['B']];
    const { finds, issues } = await readFinds(
      'a.xlsx',
      makeWorkbook([{ name: 'A', rows, hiddenRows: [3] }]),
    );
    expect([finds.length, issues.map(({ rule }) => rule)]).toEqual([2, ['table-hidden-rows']]);
  },
  'totals, repeated names': async () => {
    const table = await parseTableBytes(
      'a.csv',
      Buffer.from(
        'local_id;druh_nalezu\nA-1;spona\nA-2;nůž\nCelkem;2\n---;---\nlocal_id;druh_nalezu\nZapsal Jan;\n',
      ),
    );
    const left = omitRowsWithoutFinds(table);
    expect([left.rowCount, left.issues.map(({ row }) => row)]).toEqual([2, [4, 5, 6, 7]]);
  },
  'a photograph with an absolute path': () => {
    const folder = join(tempFolder(), 'photos');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.png'), 'x');
    for (const path of ['C:\\elsewhere\\a.png', '/C:/elsewhere/a.png', '/storage/0/a.png'])
      expect(makePhotoResolver(folder)(path)).toHaveProperty('value');
  },
};

const section =
  readFileSync(join(PROJECT, 'docs/tables.md'), 'utf8')
    .split('## What is read of a cell')[1]
    ?.split('\n## ')[0] ?? '';
const lines = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| the table has'));

describe('a line of docs/tables.md about cells', () => {
  const findCase = (line: string): string | undefined =>
    Object.keys(CASES)
      .filter((start) => line.startsWith(`| ${start}`))
      .sort((a, b) => b.length - a.length)[0];

  test('is one of these, each of which exists', () => {
    expect(lines.map(findCase)).toEqual(Object.keys(CASES));
  });

  test.each(lines)('%s', async (line) => {
    await CASES[findCase(line) ?? '']?.();
  });
});
