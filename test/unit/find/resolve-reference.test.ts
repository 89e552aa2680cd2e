import { describe, expect, test } from 'vitest';
import { resolveFinder, resolveProject, resolveTerm } from '../../../src/find/resolve-reference.ts';
import { DELETED, lookupTerm, nothingHarvested } from './a-find.ts';

const problemOf = (reading: object): string => ('problem' in reading ? String(reading.problem) : 'none');
const period = (cell: string) => resolveTerm('heslo:obdobi', cell, lookupTerm);

describe('a vocabulary cell', () => {
  test.each([
    ['HES-000253', 'the identifier'],
    ['hes-000253', 'the identifier in small letters'],
    ['paleolit', 'the Czech label'],
    ['Palaeolithic', 'the English label'],
    ['https://api.example.org/id/HES-000253', 'the address'],
  ])('%s is taken as %s', (cell) => {
    expect(period(cell)).toEqual({ value: { id: 'HES-000253', text: 'paleolit' } });
  });

  test('an ambiguous label lists its candidates', () => {
    const problem = problemOf(resolveTerm('heslo:predmet_druh', 'jehla', lookupTerm));
    expect(problem).toContain('jehla (HES-000692), jehla (HES-000693)');
  });

  test('an unknown label names the nearest', () => {
    expect(problemOf(period('palelit'))).toBe(
      'Nothing in periods (heslo:obdobi) is called "palelit". Nearest: paleolit (HES-000253), doba bronzová (HES-000300).',
    );
  });

  test('an entry of another vocabulary and a deleted one are told apart', () => {
    expect(problemOf(period('HES-000691'))).toContain('lahev (HES-000691) is an entry of object types (heslo:predmet_druh)');
    expect(problemOf(period(DELETED.id))).toContain('was deleted');
  });

  test('before the first harvest an identifier is taken and a label is not', () => {
    expect(resolveTerm('heslo:obdobi', 'HES-000253', nothingHarvested)).toEqual({ value: { id: 'HES-000253', text: '' } });
    expect(problemOf(resolveTerm('heslo:obdobi', 'paleolit', nothingHarvested))).toContain('Run pas harvest-vocab');
  });
});

describe('the finder', () => {
  test.each([
    ['Novák, Jan', 'Novák, Jan'],
    ['Novák,Jan', 'Novák, Jan'],
    [' Novák ,  Jan   Maria ', 'Novák, Jan Maria'],
    ['p. Eva Dvořáková', 'Dvořáková, Eva'],
    ['Dvořáková Eva', 'Dvořáková, Eva'],
    ['Mgr. Eva Dvořáková, Ph.D.', 'Dvořáková, Eva'],
    ['Dvořáková, Mgr. Eva', 'Dvořáková, Eva'],
    ['Dvořáková, Eva, Ph.D.', 'Dvořáková, Eva'],
    ['paní Zdeňka Kolářová', 'Kolářová, Zdeňka'],
    ['J. Kolář', 'Kolář, J.'],
    ['Komenský Jan Amos', 'Komenský, Jan Amos'],
    ['Simon, Thierry', 'Simon, Thierry'],
  ])('the name %s goes as :tba', (cell, text) => {
    expect(resolveFinder(cell, lookupTerm)).toEqual({ value: { id: ':tba', text } });
  });

  test('a person by identifier keeps the identifier', () => {
    expect(resolveFinder('OS-001507', lookupTerm)).toEqual({ value: { id: 'OS-001507', text: 'Novák, Jan' } });
  });

  test.each([
    ['Kolář Hrubý', 'no finder'],
    ['Pavel Ctibor', 'no finder'],
    ['Eva, Dvořáková', 'looks turned round: before the comma stands the surname. Write Dvořáková, Eva.'],
    ['Jan, Novák', 'looks turned round'],
    ['Novák,', 'no finder'],
    [', Jan', 'no finder'],
    [':tba', 'no finder'],
    ['Novák, Jan; Dvořák, Petr', 'one person'],
    ['Novák, Jan, ml.', 'without titles'],
    [`Novák, ${'J'.repeat(101)}`, 'at most 100'],
    ['OS-999999', 'Nothing in people (osoba)'],
    ['HES-000253', 'is an entry of periods (heslo:obdobi)'],
  ])('%s is refused', (cell, advice) => {
    expect(problemOf(resolveFinder(cell, lookupTerm))).toContain(advice);
  });
});

test('a project is its identifier, in one word', () => {
  expect(resolveProject('C-202400101')).toEqual({ value: { id: 'C-202400101', text: 'C-202400101' } });
  expect(problemOf(resolveProject('Sběry na Kutnohorsku'))).toContain('no identifier of a project');
});
