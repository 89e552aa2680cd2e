import fc from 'fast-check';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { FindsRead } from './read-finds.ts';

/** The columns of a table of random cells, and what each of them means. */
export const COLUMNS = [
  'evidencni_cislo',
  'poznamka',
  'hloubka',
  'datum_nalezu',
  'predano',
  'lon',
] as const;
export type Column = (typeof COLUMNS)[number];

/** A cell of a spreadsheet, as its author meant it. */
export type RandomCell = {
  readonly stored:
    | { readonly kind: 'text' | 'error'; readonly text: string }
    | { readonly kind: 'number'; readonly value: number }
    /** Number of the day since 30 December 1899. */
    | { readonly kind: 'day'; readonly days: number; readonly iso: string }
    | { readonly kind: 'truth'; readonly isTrue: boolean }
    | { readonly kind: 'unsaved' };
  /** As workbooks write it. */
  readonly format: string;
  /** With a decimal point, and months in Czech. */
  readonly shown: string;
  /** Undefined where the cell has to be named in an issue. */
  readonly means: string | number | boolean | undefined;
};

export type RandomRow = Readonly<Record<Column, RandomCell>>;

const word = fc.constantFrom(
  'spona',
  'nůž',
  'U brodu',
  'Čtvrť Šárka',
  '00012',
  '12.10',
  'A 12/24',
  '1-2',
  '½',
  'x',
  '007',
  "d'Or",
);
const plainNumber = fc.integer({ min: 1, max: 99_999 });

function textCell(text: string, means: RandomCell['means']): RandomCell {
  return { stored: { kind: 'text', text }, format: 'General', shown: text, means };
}

function numberCell(
  value: number,
  format: string,
  shown: string,
  means: RandomCell['means'],
): RandomCell {
  return { stored: { kind: 'number', value }, format, shown, means };
}

/**
 * Numbers with what their formats show of them, computed from the digits and not from the number.
 */
const shownNumber = fc.oneof(
  plainNumber.map((value) => ({ value, format: 'General', shown: `${value}` })),
  fc.tuple(plainNumber, fc.integer({ min: 1, max: 8 })).map(([value, width]) => ({
    value,
    format: '0'.repeat(width),
    shown: `${value}`.padStart(width, '0'),
  })),
  fc
    .tuple(plainNumber, fc.integer({ min: 1, max: 4 }), fc.boolean())
    .map(([digits, decimals, isNegative]) => {
      const text = `${digits}`.padStart(decimals + 1, '0');
      const shown = `${isNegative ? '-' : ''}${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
      return { value: Number(shown), format: `0.${'0'.repeat(decimals)}`, shown };
    }),
  fc
    .integer({ min: 0, max: 300 })
    .map((percent) => ({ value: percent / 100, format: '0%', shown: `${percent}%` })),
  fc
    .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 99 }))
    .map(([number, year]) => ({
      value: number * 100 + year,
      format: '0"/"00',
      shown: `${number}/${`${year}`.padStart(2, '0')}`,
    })),
  plainNumber.map((value) => ({ value, format: '"A "0', shown: `A ${value}` })),
);

const SHORT_MONTHS = [
  'led',
  'úno',
  'bře',
  'dub',
  'kvě',
  'čvn',
  'čvc',
  'srp',
  'zář',
  'říj',
  'lis',
  'pro',
];
const two = (value: number): string => `${value}`.padStart(2, '0');
type DayFormat = readonly [
  format: string,
  shown: (year: number, month: number, day: number) => string,
];

const WHOLE_DAYS: readonly DayFormat[] = [
  ['yyyy-mm-dd', (year, month, day) => `${year}-${two(month)}-${two(day)}`],
  ['d.m.yyyy', (year, month, day) => `${day}.${month}.${year}`],
  ['d\\. m\\. yyyy', (year, month, day) => `${day}. ${month}. ${year}`],
  ['yyyymmdd', (year, month, day) => `${year}${two(month)}${two(day)}`],
  ['ddmmyy', (year, month, day) => `${two(day)}${two(month)}${two(year % 100)}`],
  ['dd/mm/yy', (year, month, day) => `${two(day)}/${two(month)}/${two(year % 100)}`],
  ['[$-405]d. mmm yyyy', (year, month, day) => `${day}. ${SHORT_MONTHS[month - 1]} ${year}`],
];
const PARTS_OF_DAYS: readonly DayFormat[] = [
  ['[$-405]mmm-yy', (year, month) => `${SHORT_MONTHS[month - 1]}-${two(year % 100)}`],
  ['yyyy', (year) => `${year}`],
  ['m/yyyy', (year, month) => `${month}/${year}`],
  ['d.m.', (_, month, day) => `${day}.${month}.`],
];

function dayCell(meansDay: boolean) {
  const formats = [
    ...WHOLE_DAYS.map((format) => [format, true] as const),
    ...PARTS_OF_DAYS.map((format) => [format, false] as const),
  ];
  return fc
    .tuple(fc.integer({ min: 29_221, max: 45_600 }), fc.constantFrom(...formats))
    .map(([days, [[format, shown], isWhole]]) => {
      const iso = new Date(Date.UTC(1899, 11, 30 + days)).toISOString().slice(0, 10);
      const [year = 0, month = 0, day = 0] = iso.split('-').map(Number);
      const means = meansDay && isWhole ? iso : undefined;
      return {
        stored: { kind: 'day', days, iso },
        format,
        shown: shown(year, month, day),
        means,
      } satisfies RandomCell;
    });
}

const faulty = fc.oneof(
  fc.constantFrom('#N/A', '#REF!', '#DIV/0!', '#VALUE!', '#NAME?', '#NUM!').map(
    (text): RandomCell => ({
      stored: { kind: 'error', text },
      format: 'General',
      shown: text,
      means: undefined,
    }),
  ),
  fc
    .constantFrom(
      '#HODNOTA!',
      '#ODKAZ!',
      '#NÁZEV?',
      '#ČÍSLO!',
      '#WERT!',
      '#BEZUG!',
      '#NV',
      'Err:502',
      'Chyba:522',
      '########',
    )
    .map((text) => textCell(text, undefined)),
  fc.constant<RandomCell>({
    stored: { kind: 'unsaved' },
    format: 'General',
    shown: '',
    means: undefined,
  }),
);
const truth = fc.boolean();
const truthCell = (means: (isTrue: boolean) => RandomCell['means']) =>
  truth.map(
    (isTrue): RandomCell => ({
      stored: { kind: 'truth', isTrue },
      format: 'General',
      shown: isTrue ? 'TRUE' : 'FALSE',
      means: means(isTrue),
    }),
  );

const ofTexts = fc.oneof(
  { weight: 3, arbitrary: word.map((text) => textCell(text, text)) },
  {
    weight: 6,
    arbitrary: shownNumber.map(({ value, format, shown }) =>
      numberCell(value, format, shown, shown),
    ),
  },
  { weight: 1, arbitrary: dayCell(false) },
  { weight: 1, arbitrary: faulty },
  { weight: 1, arbitrary: truthCell((isTrue) => (isTrue ? 'TRUE' : 'FALSE')) },
);

const CELLS: Readonly<Record<Column, fc.Arbitrary<RandomCell>>> = {
  evidencni_cislo: ofTexts,
  poznamka: ofTexts,
  hloubka: fc.oneof(
    {
      weight: 8,
      arbitrary: shownNumber.map(({ value, format, shown }) =>
        numberCell(value, format, shown, Number.isInteger(value) ? value : undefined),
      ),
    },
    { weight: 2, arbitrary: plainNumber.map((value) => textCell(`${value}`, value)) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        dayCell(false),
        faulty,
        truthCell(() => undefined),
      ),
    },
  ),
  datum_nalezu: fc.oneof(
    { weight: 8, arbitrary: dayCell(true) },
    { weight: 1, arbitrary: fc.constant(textCell('1. 6. 2024', '2024-06-01')) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('čvn-24', '6/2024', 'jaro')
        .map((text) => textCell(text, undefined)),
    },
    {
      weight: 1,
      arbitrary: fc
        .integer({ min: 40_000, max: 45_000 })
        .map((value) => numberCell(value, 'General', `${value}`, undefined)),
    },
    { weight: 1, arbitrary: faulty },
  ),
  predano: fc.oneof(
    { weight: 4, arbitrary: truthCell((isTrue) => isTrue) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('ano', 'PRAVDA', '1').map((text) => textCell(text, true)),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom('ne', 'NEPRAVDA', '0').map((text) => textCell(text, false)),
    },
    { weight: 1, arbitrary: fc.oneof(faulty, dayCell(false)) },
  ),
  lon: fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(
          fc.integer({ min: 14_000_000, max: 16_000_000 }),
          fc.constantFrom('General', '0.00', '0.0000000'),
        )
        .map(([millionths, format]) => {
          const value = millionths / 1_000_000;
          const shown = format === 'General' ? `${value}` : value.toFixed(format.length - 2);
          return numberCell(value, format, shown, `POINT (${value} 49.84)`);
        }),
    },
    { weight: 1, arbitrary: fc.oneof(faulty, dayCell(false)) },
  ),
};

/** Most cells of a row are sound, so that whole finds are compared as well. */
export const randomRow: fc.Arbitrary<RandomRow> = fc.record(CELLS);

const ELEMENTS: Readonly<Record<Column, keyof FindElements>> = {
  evidencni_cislo: 'evidencni_cislo',
  poznamka: 'poznamka',
  hloubka: 'hloubka',
  datum_nalezu: 'datum_nalezu',
  predano: 'predano',
  lon: 'geom_wkt',
};

/**
 * Errors of the rows that were read; the first of them is row 2 of the table, and the id of each is
 * `R-` and its number.
 */
export function wrongCells(
  rows: readonly RandomRow[],
  { finds, issues }: FindsRead,
  plain = (text: string): string => text,
): string[] {
  return rows.flatMap((cells, index) => {
    const row = index + 2;
    const find = finds.find(({ localId }) => localId === `R-${row}`);
    const isSound = COLUMNS.every((column) => cells[column].means !== undefined);
    const ofRow = issues.filter((each) => each.severity === 'error' && each.row === row);
    return COLUMNS.flatMap((column) => {
      const { means, shown } = cells[column];
      const issue = ofRow.find((each) => each.column === column);
      const value = find?.elements[ELEMENTS[column]];
      const same = (one: unknown): unknown => (typeof one === 'string' ? plain(one) : one);
      // A cell without any value is said first: the others of its row are not looked at.
      const isLeft = find === undefined && ofRow.some(({ rule }) => rule.startsWith('table-'));
      const isRight =
        means === undefined
          ? find === undefined && (issue !== undefined || isLeft)
          : issue === undefined && (!isSound || same(value) === same(means));
      return isRight
        ? []
        : [
            `row ${row}, ${column}: "${shown}" means ${means}, is ${value}; ${issue?.message ?? 'no issue'}`,
          ];
    });
  });
}
