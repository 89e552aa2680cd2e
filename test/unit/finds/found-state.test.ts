import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FIELDS, type FindElements, type HarvestedElements } from '../../../src/finds/fields.ts';
import { matchFinds, toComparableFind } from '../../../src/finds/match-finds.ts';
import { aFind } from './a-find.ts';

const { elements } = aFind();

const OTHER: Readonly<Record<string, unknown>> = {
  evidencni_cislo: 'B 1',
  projekt: { id: 'C-202400102', text: 'C-202400102' },
  hloubka: 26,
  okolnosti: { id: 'HES-000102', text: 'výkop' },
  obdobi: { id: 'HES-000254', text: 'paleolit' },
  presna_datace: '6. stol.',
  druh_nalezu: { id: 'HES-000692', text: 'lahev' },
  specifikace: { id: 'HES-000980', text: 'keramika' },
  pocet: '2',
  poznamka: 'celá',
  nalezce: { id: ':tba', text: 'Nováková, Žofie Anna' },
  datum_nalezu: '2024-06-18',
  stav: 2,
  predano: false,
  predano_organizace: { id: 'ORG-000092', text: 'Muzeum' },
  geom_system: '5514',
  pristupnost: { id: 'HES-000867', text: 'badatel' },
  lokalizace: 'les',
  geom_wkt: 'POINT (15.1713 49.8405)',
};
const LEFT_OUT = ['evidencni_cislo', 'stav', 'predano', 'predano_organizace'];
const PROTECTED = ['lokalizace', 'geom_wkt', 'geom_sjtsk_wkt'];
/** It says nothing without the point. */
const SYSTEM = ['geom_system'];

/** As the service gives it back: texts for numbers and flags, both points, labels of its own. */
const HARVESTED: HarvestedElements = {
  ...(elements as unknown as HarvestedElements),
  hloubka: '25',
  predano: 'true',
  stav: '4',
  obdobi: { id: 'HES-000253', text: 'Palaeolithic' },
  poznamka: ' hrdlo odlomeno\n',
  lokalizace: 'pole za mlýnem'.normalize('NFD'),
  geom_wkt: 'POINT(15.17120 49.8405)',
  geom_sjtsk_wkt: 'POINT (-700000 -1050000)',
};

/** @param isPlaceWithheld the reader may not see the place of the other one */
function isSame(other: FindElements | HarvestedElements, isPlaceWithheld = false): boolean {
  const compared = toComparableFind(other, undefined, isPlaceWithheld);
  return matchFinds(toComparableFind(elements, 'K-1'), compared, true) === 'same';
}

describe('a find is the same', () => {
  test('whatever the order of its elements', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.entries(elements), { minLength: Object.keys(elements).length }),
        (entries) => {
          expect(isSame(Object.fromEntries(entries) as FindElements)).toBe(true);
        },
      ),
    );
  });

  test.each(Object.keys(OTHER))(
    'with another %s only if that was not known when it was found',
    (name) => {
      const other = { ...elements, [name]: OTHER[name] } as FindElements;
      expect(isSame(other)).toBe(LEFT_OUT.includes(name));
      expect(isSame(other, true)).toBe([...LEFT_OUT, ...PROTECTED, ...SYSTEM].includes(name));
    },
  );

  test('as the record created from it', () => {
    expect(isSame(HARVESTED)).toBe(true);
  });

  test('as the record in which its finder got an identifier', () => {
    const nalezce = { id: 'OS-000001', text: 'Nováková,  Žofie' };
    expect(isSame({ ...HARVESTED, nalezce })).toBe(true);
    expect(isSame({ ...HARVESTED, nalezce: { ...nalezce, text: 'Nováková, Eva' } })).toBe(false);
  });

  test('as a record whose place is withheld', () => {
    const open = Object.fromEntries(
      Object.entries(HARVESTED).filter(([name]) => !PROTECTED.includes(name)),
    );
    expect(isSame(open, true)).toBe(true);
    expect(isSame(open)).toBe(false);
  });

  test('with empty values as without them', () => {
    const { pocet: _count, ...without } = elements;
    expect(isSame(without)).toBe(false);
    const plain = toComparableFind(without);
    expect(matchFinds(plain, toComparableFind({ ...without, pocet: '  ' }))).toBe('same');
  });

  test('by each element of the contract', () => {
    expect([...Object.keys(OTHER), 'geom_sjtsk_wkt'].sort()).toEqual(
      FIELDS.map(({ name }) => name).sort(),
    );
  });
});
