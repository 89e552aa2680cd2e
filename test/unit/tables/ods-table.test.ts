import { describe, expect, test } from 'vitest';
import { FileError } from '../../../src/base/errors.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import { getDisplayedText } from '../../../src/tables/table.ts';
import { makeOds, type OdsSheet } from '../../support/make-ods.ts';
import { makeWorkbook } from '../../support/make-workbook.ts';
import { makeZip } from '../../support/make-zip.ts';

const HEADER = ['local_id', 'poznamka', 'hloubka'];
const sheet = (...rows: OdsSheet['rows']): Buffer =>
  makeOds([{ name: 'Nálezy', rows: [HEADER, ...rows] }]);
const cell = (xml: string): string =>
  `<table:table-row><table:table-cell office:value-type="string"><text:p>A-1</text:p></table:table-cell>${xml}</table:table-row>`;

async function splitCells(bytes: Buffer) {
  return [...(await parseTableBytes('season.ods', bytes)).rows].map(({ row, cells }) => [
    row,
    ...cells,
  ]);
}

describe('a cell of an OpenDocument sheet', () => {
  test.each([
    [
      'a number with its own digits',
      '<table:table-cell office:value-type="float" office:value="15.1712345677999991"><text:p>15,17</text:p></table:table-cell>',
      '15.1712345678',
    ],
    [
      'a whole number of any length',
      '<table:table-cell office:value-type="float" office:value="12345678901234567890"/>',
      '12345678901234567890',
    ],
    [
      'a share',
      '<table:table-cell office:value-type="percentage" office:value="0.125"><text:p>13 %</text:p></table:table-cell>',
      '0.125',
    ],
    [
      'a price',
      '<table:table-cell office:value-type="currency" office:currency="CZK" office:value="12.50"/>',
      '12.5',
    ],
    [
      'a day',
      '<table:table-cell office:value-type="date" office:date-value="2024-05-01"><text:p>1.5.24</text:p></table:table-cell>',
      '2024-05-01',
    ],
    [
      'a day with a midnight',
      '<table:table-cell office:value-type="date" office:date-value="2024-05-01T00:00:00"/>',
      '2024-05-01',
    ],
    [
      'the day of a moment whose time is not shown',
      '<table:table-cell office:value-type="date" office:date-value="2024-05-01T14:30:00"><text:p>1.5.24</text:p></table:table-cell>',
      '2024-05-01',
    ],
    [
      'a moment',
      '<table:table-cell office:value-type="date" office:date-value="2024-05-01T14:30:12.5"/>',
      '2024-05-01 14:30',
    ],
    [
      'a number that is shown in groups',
      '<table:table-cell office:value-type="float" office:value="1234.5"><text:p>1 234,5</text:p></table:table-cell>',
      '1234.5',
    ],
    [
      'a truth',
      '<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>PRAVDA</text:p></table:table-cell>',
      'true',
    ],
    [
      'a time, as it is shown',
      '<table:table-cell office:value-type="time" office:time-value="PT12H30M"><text:p>12:30</text:p></table:table-cell>',
      '12:30',
    ],
    [
      'a text of pieces, blanks, tabs and lines, without a comment on it',
      '<table:table-cell office:value-type="string"><office:annotation><text:p>poznámka</text:p></office:annotation><text:p>a<text:s text:c="3"/>b &lt; <text:span>c<text:line-break/></text:span>d<!-- e --></text:p><text:p>f</text:p></table:table-cell>',
      'a   b < c\nd\nf',
    ],
    [
      'a text that is stored otherwise',
      '<table:table-cell office:value-type="string" office:string-value="ano"><text:p>Ano!</text:p></table:table-cell>',
      'ano',
    ],
    [
      'more blanks than a cell has',
      '<table:table-cell office:value-type="string"><text:p>a<text:s text:c="999999999"/></text:p></table:table-cell>',
      'a',
    ],
  ])('with %s', async (_, xml, text) => {
    expect(await splitCells(sheet(cell(xml)))).toEqual([[2, 'A-1', text, '']]);
  });

  test.each([
    [
      'an error of a formula',
      '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>',
      '#DIV/0!',
    ],
    [
      'an error of a formula beside an empty text',
      '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>',
      '#DIV/0!',
    ],
    [
      'an error of a formula in a file of another program',
      '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value=""><text:p>#DIV/0!</text:p></table:table-cell>',
      '#DIV/0!',
    ],
    [
      'a formula whose result was not saved',
      '<table:table-cell table:formula="of:=1"/>',
      'was not saved',
    ],
  ])('with %s loses its row', async (_, xml, message) => {
    const table = await parseTableBytes('season.ods', sheet(cell(xml), ['A-2', 'b', 1]));
    expect([...table.rows].map(({ row }) => row)).toEqual([3]);
    expect(String(table.issues[0]?.message)).toContain(message);
  });
});

describe('rows and columns of an OpenDocument sheet', () => {
  test('that are repeated count as often, and blank ones to the end of the sheet use no memory', async () => {
    const bytes = sheet(
      '<table:table-row table:number-rows-repeated="2"><table:table-cell office:value-type="string" table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16382"/></table:table-row>',
      '<table:table-row table:number-rows-repeated="3"/>',
      ['A-9', 'z', 5],
      '<table:table-row table:number-rows-repeated="1048568"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>',
    );
    expect(await splitCells(bytes)).toEqual([
      [2, 'x', 'x', ''],
      [3, 'x', 'x', ''],
      [7, 'A-9', 'z', '5'],
    ]);
  });

  test('that are merged downwards count in each row, and sideways are an error of the row', async () => {
    const covered =
      '<table:covered-table-cell office:value-type="string"><text:p>pod</text:p></table:covered-table-cell>';
    const span = (columns: number, rows: number): string =>
      `<table:table-cell table:number-columns-spanned="${columns}" table:number-rows-spanned="${rows}" office:value-type="string"><text:p>společné</text:p></table:table-cell>`;
    const row = (id: string, rest: string): string => cell(rest).replace('A-1', id);
    const table = await parseTableBytes(
      'season.ods',
      sheet(row('A-1', span(1, 2)), row('A-2', covered), row('A-3', span(2, 1) + covered)),
    );
    expect([...table.rows].map(({ cells }) => cells.slice(0, 2))).toEqual([
      ['A-1', 'společné'],
      ['A-2', 'společné'],
    ]);
    expect(table.issues).toMatchObject([{ rule: 'table-merged', row: 4 }]);
    expect(String(table.issues[0]?.message)).toContain('B4:C4');
  });

  test('that are hidden or grouped are read, with a message about hidden ones', async () => {
    const hidden = cell('').replace(
      '<table:table-row>',
      '<table:table-row table:visibility="filter">',
    );
    const table = await parseTableBytes(
      'season.ods',
      sheet(`<table:table-row-group>${hidden}</table:table-row-group>`),
    );
    expect(table).toMatchObject({ rowCount: 1, issues: [{ rule: 'table-hidden-rows' }] });
  });

  test('that are hidden columns are read and named, in every workbook', async () => {
    const columns =
      '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column table:number-columns-repeated="16382"/>';
    const ods = sheet(columns, ['A-1', 'x', 3]);
    const xlsx = makeWorkbook([
      {
        name: 'a',
        rows: [
          ['local_id', 'poznamka', 'hloubka'],
          ['A-1', 'x', 3],
        ],
        hiddenColumns: [2],
      },
    ]);
    for (const [file, bytes] of [
      ['season.ods', ods],
      ['season.xlsx', xlsx],
    ] as const) {
      const { rowCount, issues } = await parseTableBytes(file, bytes);
      expect([rowCount, issues.map(({ rule, message }) => [rule, message])]).toEqual([
        1,
        [['table-hidden-columns', expect.stringContaining('poznamka')]],
      ]);
    }
  });

  test('below a title are read as in every workbook', async () => {
    const bytes = makeOds([
      {
        name: 'a',
        rows: [['Nálezy sezóny 2024'], ['local_id', 'poznamka', 'hloubka'], ['A-1', 'x', 3]],
      },
    ]);
    expect(await parseTableBytes('season.ods', bytes)).toMatchObject({ headerRow: 2, rowCount: 1 });
    expect(
      await parseTableBytes('season.ods', bytes, { headerRows: { first: 1, last: 1 } }),
    ).toMatchObject({ headerRow: 1 });
  });
});

test('of an OpenDocument workbook the first visible sheet with content is read, or the named one', async () => {
  const bytes = makeOds([
    { name: 'skrytý', hidden: true, rows: [HEADER, ['A-1', 'skrytý', 1]] },
    { name: 'prázdný', rows: ['<table:table-row><table:table-cell/></table:table-row>'] },
    { name: 'Nálezy', rows: [HEADER, ['A-2', 'b', 1]] },
  ]);
  expect(await parseTableBytes('season.ods', bytes)).toMatchObject({
    sheet: 'Nálezy',
    rowCount: 1,
  });
  expect(await parseTableBytes('season.ods', bytes, { sheet: 'skrytý' })).toMatchObject({
    sheet: 'skrytý',
    rowCount: 1,
  });
  await expect(parseTableBytes('season.ods', bytes, { sheet: 'jiný' })).rejects.toMatchObject({
    hint: expect.stringContaining('skrytý, prázdný, Nálezy'),
  });
});

describe('an OpenDocument file without a table is one clear error:', () => {
  const wide = (repeated: string): string =>
    cell(
      `<table:table-cell table:number-columns-repeated="${repeated}" office:value-type="string"><text:p>x</text:p></table:table-cell>`,
    );
  const long = (repeated: string): string =>
    cell('').replace(
      '<table:table-row>',
      `<table:table-row table:number-rows-repeated="${repeated}">`,
    );
  test.each([
    ['a value in every column', sheet(wide('16384')), 'is larger than pas reads'],
    ['a value in every row', sheet(long('1048574')), 'is larger than pas reads'],
    [
      'more cells than are read',
      sheet(
        ...Array.from({ length: 4 }, () =>
          wide('900').replace(
            '<table:table-row>',
            '<table:table-row table:number-rows-repeated="20000">',
          ),
        ),
      ),
      'is larger than pas reads',
    ],
    ['a count that is none', sheet(wide('-1')), 'is damaged or cut short'],
    ['rows beyond every sheet', sheet(long('99999999')), 'is larger than pas reads'],
    [
      'a document',
      makeZip([
        { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
        { name: 'content.xml', content: '<a/>' },
      ]),
      'pas does not read: OpenDocument',
    ],
    [
      'one with a password',
      makeZip([
        { name: 'content.xml', content: 'x' },
        { name: 'META-INF/manifest.xml', content: '<manifest:encryption-data/>' },
      ]),
      'password',
    ],
    [
      'one that is cut short',
      makeZip([
        {
          name: 'content.xml',
          content:
            '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"><office:body>',
        },
      ]),
      'is not valid XML',
    ],
    [
      'one with a DTD',
      makeZip([{ name: 'content.xml', content: '<!DOCTYPE a [<!ENTITY b "c">]><a/>' }]),
      'DTD',
    ],
  ])('%s', async (_, bytes, message) => {
    const thrown: unknown = await parseTableBytes('season.ods', bytes).catch(
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(FileError);
    expect((thrown as FileError).message).toContain(message);
  });
});

describe('a number displayed in an OpenDocument sheet has no thousands separators', () => {
  test.each([
    ['1234.5', '1 234,50', '1234,50'],
    ['1234.5', '1.234,50', '1234,50'],
    ['1234.5', '1,234.50', '1234.50'],
    ['1234567', "1'234'567", '1234567'],
    ['1234', '1.234', '1234'],
    ['1.234', '1.234', '1.234'],
    ['0.001', '0,001', '0,001'],
    ['12.345', '1.234,5%', '1234,5%'],
    ['1200', '1 200 Kč', '1200 Kč'],
  ])('%s as %s', async (value, shown, text) => {
    const xml = `<table:table-cell office:value-type="float" office:value="${value}"><text:p>${shown}</text:p></table:table-cell>`;
    const table = await parseTableBytes('season.ods', sheet(cell(xml)));
    const [row] = [...table.rows];
    expect(row && getDisplayedText(row, 1)).toBe(text);
  });
});
