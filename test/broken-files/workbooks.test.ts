import { describe, expect, test } from 'vitest';
import { FileError } from '../../src/base/errors.ts';
import { parseTableBytes } from '../../src/tables/readers.ts';
import { makeWorkbook, type WorkbookCell, type WorkbookSheet, workbookParts } from '../support/make-workbook.ts';
import { makeZip } from '../support/make-zip.ts';
import { readFinds } from '../unit/tables/read-finds.ts';

const HEADER = ['local_id', 'projekt', 'hloubka', 'datum_nalezu', 'poznamka', 'pocet'];
/** 1 June 2024. */
const DAY = 45444;

function row(id: string, changes: Partial<Record<string, WorkbookCell>> = {}): WorkbookCell[] {
  const cells: Record<string, WorkbookCell> = {
    local_id: id,
    projekt: 'C-1',
    hloubka: 25,
    datum_nalezu: { day: DAY },
    poznamka: 'nález',
    pocet: '1',
  };
  return HEADER.map((name) => changes[name] ?? (name in changes ? null : (cells[name] ?? null)));
}

const read = (sheets: readonly WorkbookSheet[], sheet?: string) =>
  readFinds('season.xlsx', makeWorkbook(sheets), { sheet });
const makeSheet = (rows: readonly (readonly WorkbookCell[])[], more: Partial<WorkbookSheet> = {}): WorkbookSheet[] => [
  { name: 'Nálezy', rows: [HEADER, ...rows], ...more },
];

describe('the cells of a workbook', () => {
  test('dates are days, numbers have no noise, formulas have their saved result', async () => {
    const { finds, issues } = await read(
      makeSheet([
        row('A-1'),
        row('A-2', {
          hloubka: { xml: '<c r="@"><f>10+15</f><v>25</v></c>' },
          pocet: { xml: '<c r="@"><v>0.30000000000000004</v></c>' },
        }),
        row('A-3', { pocet: '0,5', poznamka: { xml: '<c r="@" t="str"><f>"a"</f><v>a</v></c>' } }),
        row('A-4', { pocet: { xml: '<c r="@"><v>1E-7</v></c>' }, datum_nalezu: '1. 6. 2024' }),
      ]),
    );
    expect(issues).toEqual([]);
    expect(finds.map(({ elements }) => [elements.datum_nalezu, elements.hloubka, elements.pocet, elements.poznamka])).toEqual([
      ['2024-06-01', 25, '1', 'nález'],
      ['2024-06-01', 25, '0.3', 'nález'],
      ['2024-06-01', 25, '0,5', 'a'],
      ['2024-06-01', 25, '0.0000001', 'nález'],
    ]);
    expect(finds[1]?.source).toEqual({ file: 'season.xlsx', sheet: 'Nálezy', row: 3 });
  });

  test('a day number without a date format, an error and a formula without a result are reported with their cells', async () => {
    const { finds, issues } = await read(
      makeSheet([
        row('A-1'),
        row('A-2', { datum_nalezu: DAY }),
        row('A-3', { datum_nalezu: { day: DAY + 0.5 } }),
        row('A-4', { hloubka: { xml: '<c r="@" t="e"><f>1/0</f><v>#DIV/0!</v></c>' } }),
        row('A-5', { hloubka: { xml: '<c r="@"><f>SUM(A1:A2)</f></c>' } }),
        row('A-6', { poznamka: 'zvonek\u0085' }),
      ]),
    );
    expect(finds.map(({ localId }) => localId)).toEqual(['A-1', 'A-3']);
    expect(issues.map(({ rule, row: at, column }) => `${rule} ${at} ${column}`).sort()).toEqual([
      'date 3 datum_nalezu',
      'table-control-character 7 poznamka',
      'table-formula 5 hloubka',
      'table-formula 6 hloubka',
    ]);
  });

  test('cells merged over rows count in each row, cells merged over columns are an error of their rows', async () => {
    const { finds, issues } = await read(
      makeSheet([row('A-1', { projekt: 'C-7' }), row('A-2', { projekt: null }), row('A-3', { pocet: null }), row('A-4')], {
        merged: ['B2:B3', 'E4:F4', 'B5:B9'],
      }),
    );
    expect(finds.map(({ localId, elements }) => [localId, elements.projekt?.id])).toEqual([
      ['A-1', 'C-7'],
      ['A-2', 'C-7'],
      ['A-4', 'C-1'],
    ]);
    expect(issues).toMatchObject([{ rule: 'table-merged', row: 4, sheet: 'Nálezy', message: expect.stringContaining('E4:F4') }]);
  });

  test('hidden rows are read with a message; a value beyond the header and a repeated local id are errors', async () => {
    const { finds, issues } = await read(
      makeSheet([row('A-1'), row('A-2'), row('A-3'), row('A-3'), [...row('A-4'), 'navíc']], { hiddenRows: [3] }),
    );
    expect(finds.map(({ localId }) => localId)).toEqual(['A-1', 'A-2']);
    expect(issues.map(({ rule, severity, row: at }) => [rule, severity, at])).toEqual([
      ['table-hidden-rows', 'warning', undefined],
      ['table-cells', 'error', 6],
      ['local-id-twice', 'error', 5],
    ]);
  });
});

describe('the parts of a workbook that cells refer to', () => {
  const STYLES = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-405]d\\. mmmm yyyy;@"/><numFmt numFmtId="165" formatCode="0.00&quot; m&quot;"/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="15"/><xf numFmtId="22"/></cellXfs></styleSheet>`;
  const SHARED = `<sst><si><t xml:space="preserve"> nález </t></si><si><r><rPr><b/></rPr><t>tup</t></r><r><t>ý</t></r><rPh sb="0" eb="1"><t>x</t></rPh></si><si><t>a_x000A_b</t></si></sst>`;
  const noted = (properties: string, ...cells: readonly string[]) => {
    const rows = [HEADER, ...cells.map((xml, index) => row(`A-${index}`, { poznamka: { xml } }))];
    const parts = workbookParts([{ name: 'Nálezy', rows }]).map((part) => {
      const content = String(part.content);
      if (part.name.endsWith('styles.xml')) return { ...part, content: STYLES };
      const relation = '<Relationship Id="rId98" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/sharedStrings" Target="/xl/texts.xml"/>';
      if (part.name.endsWith('.rels')) return { ...part, content: content.replace('</Relationships>', `${relation}</Relationships>`) };
      return { ...part, content: content.replace('<sheets>', `<workbookPr ${properties}/><sheets>`) };
    });
    return parseTableBytes('season.xlsx', makeZip([...parts, { name: 'xl/texts.xml', content: SHARED }]));
  };
  const notes = async (properties: string, ...cells: readonly string[]) => [...(await noted(properties, ...cells)).rows].map((each) => each.cells[4]);

  test('are texts, including rich, phonetic and escaped ones', async () => {
    const cells = [0, 1, 2].map((shared) => `<c r="@" t="s"><v>${shared}</v></c>`);
    expect(await notes('', ...cells, '<c r="@" t="inlineStr"><is><r><t>a</t></r><r><t>b </t></r></is></c>', '<c r="@" t="b"><v>1</v></c>')).toEqual([
      'nález', 'tupý', 'a\nb', 'ab', 'true',
    ]);
  });

  test('are date formats, including custom ones', async () => {
    const cells = [0, 1, 2, 3, 4].map((style) => `<c r="@" s="${style}"><v>45444.5</v></c>`);
    expect(await notes('', ...cells)).toEqual(['45444.5', '2024-06-01', '45444.5', '2024-06-01', '2024-06-01']);
    expect(await notes('date1904="1"', ...cells.slice(1, 2))).toEqual(['2028-06-02']);
    // A spreadsheet shows no day for a negative number, so it is none of 1899.
    expect(await notes('', '<c r="@" s="1"><v>-1</v></c>')).toEqual(['-1']);
  });

  test('cause an error if a text is missing, or a cell is out of order or of an unknown kind', async () => {
    for (const cell of ['<c r="@" t="s"><v>7</v></c>', '<c r="A2"><v>1</v></c>', '<c r="@" t="x"><v>1</v></c>', '<c r="@"><v>x</v></c>'])
      await expect(noted('', cell)).rejects.toThrow('is damaged or cut short');
  });
});

describe('the sheets of a workbook', () => {
  const sheets: readonly WorkbookSheet[] = [
    { name: 'Prázdný' },
    { name: 'Skrytý', state: 'hidden', rows: [HEADER, row('S-1')] },
    { name: 'Nálezy', rows: [HEADER, row('A-1'), [null], [null, null]] },
    { name: '2023', rows: [HEADER, row('B-1')] },
  ];

  test('the first visible one with content is read, or the named one', async () => {
    expect((await read(sheets)).finds.map(({ localId }) => localId)).toEqual(['A-1']);
    expect((await read(sheets, '2023')).finds.map(({ localId }) => localId)).toEqual(['B-1']);
    expect((await read(sheets, 'Skrytý')).finds.map(({ localId }) => localId)).toEqual(['S-1']);
  });

  test('one that is empty or missing is reported', async () => {
    expect((await read(sheets, 'Prázdný')).issues).toMatchObject([{ rule: 'table-no-rows', sheet: 'Prázdný' }]);
    await expect(read(sheets, 'Nic')).rejects.toThrow('has no sheet or layer "Nic"');
    await expect(read([{ name: 'Prázdný' }])).rejects.toThrow('has no sheet or layer with content');
  });
});

describe('a workbook that cannot be read as a whole', () => {
  const good = makeWorkbook(makeSheet([row('A-1')]));
  const bomb = makeZip(
    workbookParts(makeSheet([row('A-1')])).map((part) =>
      part.name.includes('sheet1') ? { ...part, content: Buffer.alloc(8_000_000, 0x20), claimedBytes: 600 * 1024 * 1024 } : part,
    ),
  );
  const liar = makeZip([
    ...workbookParts(makeSheet([row('A-1')])),
    { name: 'xl/more.xml', content: Buffer.alloc(4_000_000), claimedBytes: 10 },
  ]);
  const encrypted = Buffer.concat([
    Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    Buffer.alloc(600),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
  const doctype = makeZip(
    workbookParts(makeSheet([row('A-1')])).map((part) =>
      part.name === 'xl/styles.xml' ? { ...part, content: '<!DOCTYPE x [<!ENTITY e "x">]><x/>' } : part,
    ),
  );
  const brokenXml = makeZip(
    workbookParts(makeSheet([])).map((part) =>
      part.name === 'xl/workbook.xml' ? { ...part, content: '<workbook><sheets>' } : part,
    ),
  );

  test.each([
    ['cut short', good.subarray(0, good.length - 200), 'damaged or cut short'],
    ['damaged inside', Buffer.concat([good.subarray(0, 100), Buffer.alloc(40, 7), good.subarray(140)]), 'damaged or cut short'],
    ['a bomb', bomb, 'is larger than pas reads'],
    ['larger inside than it says', liar, 'damaged or cut short'],
    ['encrypted', encrypted, 'protected by a password'],
    ['of the old format', Buffer.concat([encrypted.subarray(0, 8), Buffer.alloc(600)]), '.xls'],
    ['encrypted as a ZIP', makeZip([{ name: 'xl/workbook.xml', content: 'x', flags: 1 }]), 'protected by a password'],
    ['with a name that climbs', makeWorkbook(makeSheet([row('A-1')]), [{ name: '../../a.xml', content: 'a' }]), 'damaged or cut short'],
    ['with a DTD', doctype, 'xl/styles.xml is not valid XML: a DTD is not allowed'],
    ['with broken XML', brokenXml, 'xl/workbook.xml'],
    ['an archive of something else', makeZip([{ name: 'a.txt', content: 'a' }]), 'pas does not read'],
  ])('%s', async (_, bytes, message) => {
    const reading = readFinds('season.xlsx', bytes);
    await expect(reading).rejects.toThrow(FileError);
    await expect(reading).rejects.toThrow(message);
  });
});
