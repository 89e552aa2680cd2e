import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Imported, Issue } from '../support/json-output.ts';
import { type WorkbookCell, workbookParts } from '../support/make-workbook.ts';
import { makeZip } from '../support/make-zip.ts';
import { type Home, setFlags } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

const mock = useMock();
const home = useVocabularies(mock);

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog', 'geom_system=4326');

/** Styles: 1 a day, 2 five digits, 3 two decimals, 4 a month with its year, 5 a year, 6 metres. */
const STYLES = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="yyyy"/><numFmt numFmtId="166" formatCode="0&quot; m&quot;"/></numFmts><cellStyleXfs><xf/></cellStyleXfs>
<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="2"/><xf numFmtId="17"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>`;
const styled = (style: number, value: number): WorkbookCell => ({
  xml: `<c r="@" s="${style}"><v>${value}</v></c>`,
});

function workbook(...rows: readonly (readonly WorkbookCell[])[]): Buffer {
  const parts = workbookParts([{ name: 'List1', rows }]);
  return makeZip(
    parts.map((part) => (part.name.endsWith('styles.xml') ? { ...part, content: STYLES } : part)),
  );
}

async function imported(homeCopy: Home, name: string, bytes: Buffer | string, ...more: string[]) {
  const run = await homeCopy.pas('import', homeCopy.file(name, bytes), ...SET, ...more, '--json');
  const { issues, ...counts } = JSON.parse(run.stdout) as Imported;
  const finds = new Map(
    (await homeCopy.json('list')).map(({ local_id, elements }) => [local_id, elements]),
  );
  return {
    code: run.code,
    ...counts,
    issues,
    finds,
    named: issues.map(({ rule, row, column }) => [rule, row, column]),
  };
}

describe('texts are what a cell shows, numbers and days what it stores', () => {
  test('also through a column map, where a day may go to the note under its column name', async () => {
    const homeCopy = home.copy();
    homeCopy.file(
      'map.toml',
      [
        'version = 1\n[columns]\n"inv." = "local_id"\n"text" = "poznamka"',
        '"revize" = { element = "poznamka", label = "revize" }',
      ].join('\n'),
    );
    const bytes = workbook(
      ['inv.', 'text', 'revize'],
      [styled(2, 7), styled(3, 1.5), styled(1, 45_444)],
      ['b', styled(4, 45_444), null],
    );
    const { finds, named } = await imported(
      homeCopy,
      'museum.xlsx',
      bytes,
      '--map',
      join(homeCopy.folder, 'map.toml'),
    );
    expect(finds.get('00007')).toMatchObject({ poznamka: '1.50; revize: 1.6.2024' });
    expect(named).toEqual([['cell-date', 3, 'text']]);
  });

  test('but a depth has the unit of its format', async () => {
    const bytes = workbook(['local_id', 'hloubka'], ['M-1', styled(6, 2)]);
    const { finds } = await imported(home.copy(), 'depths.xlsx', bytes);
    expect(finds.get('M-1')).toMatchObject({ hloubka: 200 });
  });

  test('also for registration numbers, own terms and a copy with issues', async () => {
    const homeCopy = home.copy();
    await imported(homeCopy, 'finds.csv', 'local_id;druh_nalezu\n00012;\nR-3;\n');
    const numbers = homeCopy.file(
      'numbers.xlsx',
      workbook(
        ['local_id', 'evidencni_cislo'],
        [styled(2, 12), styled(2, 345)],
        ['R-3', styled(4, 45_627)],
      ),
    );
    const run = await homeCopy.pas('number', 'import', numbers, '--json');
    expect(run.code).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({
      issues: [{ rule: 'cell-date', row: 3, column: 'evidencni_cislo' }],
    });
    expect(run.stdout).toContain('"00345"');

    const terms = homeCopy.file(
      'terms.xlsx',
      workbook(
        ['set', 'term', 'id', 'confirmed'],
        ['heslo:obdobi', styled(2, 7), '', null],
        ['heslo:obdobi', styled(4, 45_627), '', null],
      ),
    );
    const mapped = JSON.parse(
      (await homeCopy.pas('vocab', 'map', 'import', terms, '--json')).stdout,
    ) as { issues: Issue[] };
    expect(mapped.issues).toMatchObject([
      { row: 3, message: expect.stringContaining('contains a date, "XII-24"') },
    ]);

    const table = workbook(
      ['local_id', 'poznamka', 'hloubka', 'lon', 'lat'],
      [styled(2, 7), styled(3, 1.5), 'deep', styled(3, 15.171_234), 49.8],
    );
    const copy = join(homeCopy.folder, 'to-mend.csv');
    await homeCopy.pas('import', homeCopy.file('bad.xlsx', table), '--issues-to', copy);
    expect(
      (
        await imported(homeCopy, 'mended.csv', readFileSync(copy, 'utf8').replace(';deep;', ';5;'))
      ).finds.get('00007'),
    ).toMatchObject({
      poznamka: '1.50',
      geom_wkt: 'POINT (15.171234 49.8)',
    });
  });
});

test('a moment at the offset zero is one in UTC', async () => {
  const inPrague = home.copy().with({ TZ: 'Europe/Prague' });
  const table = 'local_id;datum_nalezu\nU-1;2024-05-31 22:00:00+00\n';
  const { finds } = await imported(inPrague, 'moments.csv', table);
  expect(finds.get('U-1')).toMatchObject({ datum_nalezu: '2024-06-01' });
});

test('cell formatting that carries meaning is counted with its place', async () => {
  const fonts = '<fonts><font/><font><strike/></font></fonts>';
  const styles = `<styleSheet>${fonts}<cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs></styleSheet>`;
  const struck = (text: string): WorkbookCell => ({
    xml: `<c r="@" s="1" t="inlineStr"><is><t>${text}</t></is></c>`,
  });
  const parts = workbookParts([
    {
      name: 'A',
      rows: [
        ['local_id', 'poznamka'],
        ['A-1', 'x'],
        [struck('A-2'), struck('y')],
      ],
    },
  ]);
  const bytes = makeZip(
    parts.map((part) => (part.name.endsWith('styles.xml') ? { ...part, content: styles } : part)),
  );
  const { issues, added } = await imported(home.copy(), 'seen.xlsx', bytes);
  expect(added).toBe(2);
  expect(
    issues.map(({ rule, severity, message }) => [rule, severity, message.split('.')[0]]),
  ).toEqual([
    ['table-hidden-rows', 'warning', 'Rows hidden or struck through: 1, the first is row 3'],
  ]);
});
