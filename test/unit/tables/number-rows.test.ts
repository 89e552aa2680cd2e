import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDitto } from '../../../src/finds/parse-cell.ts';
import { checkFindByRules } from '../../../src/finds/rules.ts';
import { enqueueNumber } from '../../../src/outbox/changes/enqueue-change.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { parseRegistrationNumbers } from '../../../src/tables/number-table.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';
import { aFind, lookupTerm } from '../finds/a-find.ts';

const NO_FINDS = { isFind: () => false, isIdent: () => false };

/**
 * C0, DEL, C1, half of a pair, format characters, the separators, the two that are no
 * characters.
 */
const unseen = fc
  .oneof(
    fc.integer({ min: 0, max: 0x1f }),
    fc.integer({ min: 0x7f, max: 0x9f }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.constantFrom(0xad, 0x200b, 0x202e, 0x2028, 0x2029, 0xfffe, 0xffff),
  )
  .map((code) => String.fromCharCode(code));
const spoilt = unseen.map((character) => `A 12${character}/2024`);
const sound = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((value) =>
    value.replace(
      /[\p{C}\p{M}\p{Z}\p{Pd}\p{Script=Cyrillic}\p{Script=Greek}\p{Default_Ignorable_Code_Point}\uff01-\uff5e\u2212]/gu,
      '',
    ),
  )
  .filter((value) => value !== '' && !isDitto(value));

function inTable(value: string) {
  const rows = [{ row: 2, cells: ['K-1', value] }];
  const header = ['local_id', 'evidencni_cislo'];
  const table = { file: 'a.csv', header, rows, rowCount: 1, issues: [] };
  return parseRegistrationNumbers(table, NO_FINDS);
}

function inFind(value: string): readonly string[] {
  return checkFindByRules(aFind({ evidencni_cislo: value }), {
    today: '2024-11-20',
    lookupTerm,
  }).map(({ rule, element, severity }) => `${severity} ${rule} ${element}`);
}

function queue(outbox: Outbox, value: string): string {
  return enqueueNumber(outbox, makeRecordSubject('C-202400101-N00001'), value) ?? '';
}

test('a number with an invisible character is accepted nowhere', () => {
  using outbox = tempOutbox();
  fc.assert(
    fc.property(spoilt, (value) => {
      expect(inTable(value)).toMatchObject({
        rows: [],
        issues: [{ severity: 'error', rule: 'number-form', row: 2 }],
      });
      expect(inFind(value)).toEqual([
        expect.stringMatching(/^error (number-form|text-characters) evidencni_cislo$/),
      ]);
      expect(() => queue(outbox, value)).toThrow(/Remove it|on one line/);
    }),
  );
});

test('any other number is accepted everywhere', () => {
  using outbox = tempOutbox();
  fc.assert(
    fc.property(sound, (value) => {
      expect(inTable(value).issues).toEqual([]);
      expect(inFind(value)).toEqual([]);
      expect(['queued', 'replaced', 'kept']).toContain(queue(outbox, value));
    }),
  );
});

test('blanks around a number are removed', () => {
  using outbox = tempOutbox();
  expect(inTable('\tA 1\n')).toMatchObject({ rows: [{ value: 'A 1' }], issues: [] });
  expect(inFind('\tA 1\r\n')).toEqual([]);
  expect(queue(outbox, '\tA 1\n')).toBe('queued');
});

const KNOWN_HERE = {
  isFind: (text: string): boolean => text.startsWith('T-'),
  isIdent: (text: string): boolean => /-N\d{5}$/.test(text),
};

/** The cells of the first row that are read, and what is said of the columns. */
function readFirst(...lines: string[]) {
  const table = parseCsvTable('t.csv', Buffer.from(lines.join('\n')));
  const { rows, issues } = parseRegistrationNumbers(table, KNOWN_HERE);
  const { localId = '', identCely = '', value = '' } = rows[0] ?? {};
  return { read: [localId, identCely, value], said: issues.map(({ message }) => message) };
}

test.each<[string, string[], string[]]>([
  [
    'the finds that are here, whatever the columns are called',
    ['Inv. č.;Terénní číslo', '1;T-1', '2;T-2', '3;X'],
    ['T-1', '', '1'],
  ],
  [
    'the finds that are here, unless the column is of another element',
    ['Inv. č.;Terénní číslo;Cílový stav', '1;T-1;T-2'],
    ['T-1', '', '1'],
  ],
  [
    'the identifiers of the service',
    ['záznam;ev. č.', 'C-202400101-N00012;E 1'],
    ['', 'C-202400101-N00012', 'E 1'],
  ],
  [
    'their own names before all',
    ['č. nálezu;local_id;evidencni_cislo;ev. č.', 'T-1;T-2;A 1;E 1'],
    ['T-2', '', 'A 1'],
  ],
])('the columns of a table of numbers are decided by %s', (_, lines, read) => {
  expect(readFirst(...lines)).toEqual({ read, said: [] });
});

test.each<[string, string[], string]>([
  [
    'two numbers may be the registration number',
    ['č. nálezu;inv. č.;ev. č.', 'T-1;A 1;E 1'],
    'inv. č., ev. č.: only one column can be evidencni_cislo.',
  ],
  [
    'two columns name finds',
    ['první;druhý;ev. č.', 'T-1;T-2;E 1'],
    'první, druhý: only one column can be local_id.',
  ],
  [
    'no name says that a column is a number',
    ['nález;popis', 'T-1;A 1'],
    'no column evidencni_cislo. The columns are: nález, popis.',
  ],
  [
    'no column names a find that is here, whatever it is called',
    ['č. nálezu;ev. č.', 'X 1;A 1'],
    'no column local_id or ident_cely. The columns are: č. nálezu, ev. č.',
  ],
])('the columns of a table of numbers are left to a person where %s', (_, lines, problem) => {
  expect(readFirst(...lines)).toEqual({
    read: ['', '', ''],
    said: [expect.stringContaining(problem)],
  });
});
