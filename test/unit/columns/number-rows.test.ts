import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseNumbers } from '../../../src/columns/number-rows.ts';
import { checkRules } from '../../../src/find/rules.ts';
import { enqueueNumber } from '../../../src/flows/queue/enqueue-change.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';
import { aFind, lookupTerm } from '../find/a-find.ts';

/**
 * C0, DEL, C1, half of a pair, the separators of lines and paragraphs, the two that are no
 * characters.
 */
const unseen = fc
  .oneof(
    fc.integer({ min: 0, max: 0x1f }),
    fc.integer({ min: 0x7f, max: 0x9f }),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.constantFrom(0x2028, 0x2029, 0xfffe, 0xffff),
  )
  .map((code) => String.fromCharCode(code));
const spoilt = unseen.map((character) => `A 12${character}/2024`);
const sound = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map((value) => value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu, '').trim())
  .filter((value) => value !== '');

function inTable(value: string) {
  const rows = [{ row: 2, cells: ['K-1', value] }];
  return parseNumbers({
    file: 'a.csv',
    header: ['local_id', 'evidencni_cislo'],
    rows,
    rowCount: 1,
    issues: [],
  });
}

function inFind(value: string): readonly string[] {
  return checkRules(aFind({ evidencni_cislo: value }), { today: '2024-11-20', lookupTerm }).map(
    ({ rule, element, severity }) => `${severity} ${rule} ${element}`,
  );
}

function queue(outbox: Outbox, value: string): string {
  return enqueueNumber(outbox, { findId: null, identCely: 'C-202400101-N00001' }, value);
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
