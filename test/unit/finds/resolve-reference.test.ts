import { describe, expect, test } from 'vitest';
import { type ElementName, getField } from '../../../src/finds/fields.ts';
import type { LookupTerm } from '../../../src/finds/find.ts';
import {
  makeReferenceResolver,
  parseProjectReference,
} from '../../../src/finds/resolve-references.ts';
import { lookupTerm } from './a-find.ts';

const getProblem = (reading: object): string =>
  'problem' in reading ? String(reading.problem) : 'none';
const resolveTerm = (element: ElementName, cell: string, lookup: LookupTerm) =>
  makeReferenceResolver(lookup)(getField(element), cell);
const period = (cell: string) => resolveTerm('obdobi', cell, lookupTerm);

describe('a vocabulary cell', () => {
  test.each([
    ['HES-000253', 'the identifier'],
    ['hes-000253', 'the identifier in small letters'],
    ['paleolit', 'the Czech label'],
    ['Palaeolithic', 'the English label'],
    ['https://api.example.org/id/HES-000253', 'the address'],
  ])('%s is resolved to %s', (cell) => {
    expect(period(cell)).toEqual({ value: { id: 'HES-000253', text: 'paleolit' } });
  });
});

test('a project is its identifier, in one word', () => {
  expect(parseProjectReference('C-202400101')).toEqual({
    value: { id: 'C-202400101', text: 'C-202400101' },
  });
  expect(getProblem(parseProjectReference('Sběry na Kutnohorsku'))).toContain(
    'not a project identifier',
  );
});
