import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FIELDS, getField, isElementName } from '../../../src/finds/fields.ts';
import { COLUMN_NAMES } from '../../../src/tables/columns/column-meaning.ts';

const schema = readFileSync('schemas/svc/2.2/svc.xsd', 'utf8');

/** Names of the elements that a complex type of the schema lists, in its order. */
function getSequence(type: string): string[] {
  const body =
    new RegExp(`<xs:complexType name="${type}"[^>]*>([\\s\\S]*?)</xs:complexType>`).exec(
      schema,
    )?.[1] ?? '';
  return [...body.matchAll(/<xs:element name="(\w+)"/g)].map(([, name = '']) => name);
}

test('the table has the order of the schema', () => {
  const names = FIELDS.filter((field) => field.parent === undefined).map(
    (field) => field.name as string,
  );
  expect(getSequence('samostatny_nalezType').filter((name) => names.includes(name))).toEqual(names);
  expect(names).toHaveLength(17);
});

test('the elements inside chranene_udaje follow last, in the order of the schema', () => {
  const names = FIELDS.filter((field) => field.parent === 'chranene_udaje').map(
    (field) => field.name as string,
  );
  expect(FIELDS.slice(-names.length).map((field) => field.name)).toEqual(names);
  expect(
    getSequence('samostatny_nalez-chranene_udajeType').filter((name) => names.includes(name)),
  ).toEqual(names);
});

test('every element has a column under its own name and under its English alias', () => {
  const aliases = FIELDS.flatMap((field) => field.alias ?? []);
  expect(new Set(aliases).size).toBe(18);
  for (const name of [...FIELDS.map((field) => field.name), ...aliases])
    expect(COLUMN_NAMES).toContain(name);
});

test('the states that need an element match the contract', () => {
  const from = (state: number) =>
    FIELDS.filter((field) => field.requiredFrom === state).map((field) => field.name);
  expect(from(1)).toEqual(['projekt', 'stav', 'geom_system', 'pristupnost']);
  expect(from(3)).toEqual(['evidencni_cislo', 'predano', 'predano_organizace']);
  expect(
    FIELDS.filter((field) => field.requiredFrom === undefined).map((field) => field.name),
  ).toEqual(['presna_datace', 'pocet', 'poznamka']);
});

test('a name that is not an element is recognised', () => {
  expect(isElementName('hloubka')).toBe(true);
  expect(isElementName('toString')).toBe(false);
  expect(getField('hloubka').kind).toBe('integer');
});
