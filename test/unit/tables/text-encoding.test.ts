import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { convertToUtf8 } from '../../../src/tables/input-file.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';

const WORDS = (
  'přeslička střep hrnčířská hlína šípka žárové pohřebiště Hradiště Žďár Čáslav Říčany úlomek kůl mince stříbrná těžba důl ' +
  'okraj nádoby zdobený vlnicí středověk raný Dvořáková Eva Šťastný Jiří nůž železný délka šířka výška Ústí nad Orlicí člověk'
).split(' ');
/** As a field table has it: words between separators, and a few numbers. */
const text = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...WORDS), fc.nat(400)), {
    minLength: 3,
    maxLength: 40,
  })
  .map(
    (rows) =>
      `local_id;lokalizace;poznamka;hloubka\n${rows.map(([a, b, n], index) => `K-${index};${a};${b} ${a};${n}`).join('\n')}\n`,
  )
  .filter((table) => /[šťžŠŤŽ]/.test(table) && (table.match(/[^\0-\x7f]/g) ?? []).length > 7);

const ENCODINGS = [
  ['Windows-1250', 'win1250'],
  ['ISO 8859-2', 'iso88592'],
  ['Mac-CE', 'maccenteuro'],
  ['CP852', 'cp852'],
  ['UTF-16', 'utf16le'],
  ['UTF-16', 'utf16be'],
] as const;

describe('a table in another encoding than UTF-8', () => {
  test.each(ENCODINGS)(
    'is recognised and read as %s (%s), letter by letter',
    async (name, codec) => {
      await fc.assert(
        fc.asyncProperty(text, async (table) => {
          const { text: read, issues } = await convertToUtf8(
            'season.csv',
            iconv.encode(table, codec),
          );
          expect(read.toString()).toBe(table);
          expect(issues).toMatchObject([
            { rule: 'table-encoding', severity: 'warning', message: expect.stringContaining(name) },
          ]);
        }),
      );
    },
  );

  test('is not read in an encoding whose letters never occur together in Czech', async () => {
    const table =
      'a;b\nK-0;mince;železný mince;0\nK-1;Šťastný;raný Šťastný;0\nK-2;raný;výška raný;0\n';
    expect(
      (await convertToUtf8('season.csv', iconv.encode(table, 'maccenteuro'))).text.toString(),
    ).toBe(table);
  });

  test.each([
    ['Windows-1250', Buffer.from([0x61, 0x0a, 0x9e, 0xef, 0xe1, 0x72]), 'a\nžďár'],
    ['ISO 8859-2', Buffer.from([0x61, 0x0a, 0xbe, 0xef, 0xe1, 0x72]), 'a\nžďár'],
    ['UTF-16', Buffer.from('\uFEFFa;ž\n', 'utf16le'), 'a;ž\n'],
    ['UTF-16', Buffer.from('\uFEFFa;ž\n', 'utf16le').swap16(), 'a;ž\n'],
  ])('is read as %s if it has few words to recognise it by', async (_, bytes, expected) => {
    expect((await convertToUtf8('season.csv', bytes)).text.toString().replace('\uFEFF', '')).toBe(
      expected,
    );
  });

  test('is read as a person says, whatever it looks like', async () => {
    const bytes = iconv.encode('a;b\n1;příliš žluťoučký kůň\n', 'cp852');
    expect((await convertToUtf8('season.csv', bytes, 'CP852')).text.toString()).toContain(
      'příliš žluťoučký kůň',
    );
    await expect(convertToUtf8('season.csv', bytes, 'klingon')).rejects.toThrow(
      'is not in klingon',
    );
    await expect(convertToUtf8('season.csv', bytes, 'utf-8')).rejects.toThrow('is not in utf-8');
  });

  test('is reported with two of its words', async () => {
    const { issues } = await parseTableBytes(
      'season.csv',
      iconv.encode('a;b\nstřep;Hradiště\n', 'win1250'),
    );
    expect(issues.map(({ message }) => message)).toEqual([
      'season.csv is read as Windows-1250, with words such as střep, Hradiště. If they are wrong, save it as UTF-8; pas import has --encoding for it.',
    ]);
  });

  test('is reported without words where all are in ASCII', async () => {
    const { issues } = await convertToUtf8('season.csv', Buffer.from('a;b\n', 'utf16le'));
    expect(issues.map(({ message }) => message)).toEqual(['season.csv is read as UTF-16LE.']);
  });

  test('is read even with a quarter of a million letters without a gap, in linear time', async () => {
    const { issues } = await convertToUtf8(
      'season.csv',
      iconv.encode(`ž\n${'e'.repeat(250_000)}\n`, 'win1250'),
    );
    expect(issues.map(({ message }) => message)).toEqual([
      expect.stringContaining('season.csv is read as Windows-1250'),
    ]);
  });
});

test('a table in UTF-8 is read as it is, and a damaged one is refused', async () => {
  await fc.assert(
    fc.asyncProperty(text, fc.nat(), async (table, place) => {
      const bytes = Buffer.from(table);
      expect(await convertToUtf8('season.csv', bytes)).toEqual({ text: bytes, issues: [] });
      const letters = [...bytes.keys()].filter(
        (at) => (bytes[at] ?? 0) >= 0xc3 && (bytes[at + 1] ?? 0) >= 0x80,
      );
      const cut = letters[place % letters.length] ?? 0;
      const broken = Buffer.concat([bytes.subarray(0, cut + 1), bytes.subarray(cut + 2)]);
      await expect(parseTableBytes('season.csv', broken)).rejects.toThrow('is not a text in UTF-8');
    }),
  );
});
