import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HarvestedElements } from '../../../src/find/fields.ts';
import { FIELDS, type FindElements } from '../../../src/find/fields.ts';
import { asFoundDigest } from '../../../src/find/harvested-find.ts';
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

describe('the digest of a found find', () => {
  test('is the same whatever the order of its elements', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(Object.entries(elements), { minLength: Object.keys(elements).length }),
        (entries) => {
          const shuffled = Object.fromEntries(entries) as FindElements;
          for (const form of ['full', 'open'] as const)
            expect(asFoundDigest(shuffled, form)).toBe(asFoundDigest(elements, form));
        },
      ),
    );
  });

  test.each(Object.keys(OTHER))(
    'depends on %s only if that was known when it was found',
    (name) => {
      const other = { ...elements, [name]: OTHER[name] } as FindElements;
      const differs = (form: 'full' | 'open'): boolean =>
        asFoundDigest(other, form) !== asFoundDigest(elements, form);
      expect(differs('full')).toBe(!LEFT_OUT.includes(name));
      expect(differs('open')).toBe(!LEFT_OUT.includes(name) && !PROTECTED.includes(name));
    },
  );

  test('equals that of the record created from it', () => {
    for (const form of ['full', 'open'] as const)
      expect(asFoundDigest(HARVESTED, form)).toBe(asFoundDigest(elements, form));
  });

  test('equals that of the record by the finder’s name if the finder got an identifier there', () => {
    const record: HarvestedElements = {
      ...HARVESTED,
      nalezce: { id: 'OS-000001', text: 'Nováková,  Žofie' },
    };
    expect(asFoundDigest(record, 'full')).not.toBe(asFoundDigest(elements, 'full'));
    const byName: HarvestedElements = {
      ...record,
      nalezce: { id: ':tba', text: 'Nováková,  Žofie' },
    };
    expect(asFoundDigest(byName, 'full')).toBe(asFoundDigest(elements, 'full'));
  });

  test('in its open form equals that of a record whose place is withheld', () => {
    const open = Object.fromEntries(
      Object.entries(HARVESTED).filter(([name]) => !PROTECTED.includes(name)),
    );
    expect(asFoundDigest(open, 'open')).toBe(asFoundDigest(elements, 'open'));
  });

  test('treats empty values as absent', () => {
    const { poznamka: _note, ...without } = elements;
    expect(asFoundDigest({ ...elements, poznamka: '  ' }, 'full')).toBe(
      asFoundDigest(without, 'full'),
    );
  });

  test('covers each element of the contract', () => {
    expect([...Object.keys(OTHER), 'geom_sjtsk_wkt'].sort()).toEqual(
      FIELDS.map(({ name }) => name).sort(),
    );
  });
});
