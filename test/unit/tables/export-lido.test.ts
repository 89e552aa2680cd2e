import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { FindElements } from '../../../src/find/fields.ts';
import { exportLido, type LidoSource } from '../../../src/tables/export-lido.ts';
import type { ExportedFind } from '../../../src/tables/exported-find.ts';
import { lidoValidator } from '../../support/lido-schema.ts';
import { faults } from '../../support/schema-validators.ts';

const validator = await lidoValidator();
afterAll(() => validator[Symbol.dispose]());

const OPEN = 'HES-000865';
const SOURCE: LidoSource = {
  isOpen: (accessibility) => accessibility?.id === OPEN,
  recordBase: 'http://oai.example.org',
  organisation: 'Muzeum <města> & okolí',
};
const NOW = '2026-11-23T10:00:00.000Z';

const renderLido = (finds: readonly ExportedFind[], source = SOURCE): string =>
  [...exportLido(finds, source, NOW)].join('');

/** Also what XML cannot hold. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('\u0000', ']]>', ' \r\n ', '<a href="&amp;">', 'žluťoučký\tkůň', '\ud800'),
);
const id = fc.oneof(fc.constantFrom('HES-000253', ':tba', ''), text);
const reference = fc.record({ id, text });
const number = fc
  .double({ min: -2_000_000, max: 2_000_000, noNaN: true })
  .map((value) => value.toFixed(5));
const placed = fc.oneof(
  fc
    .tuple(number, number)
    .map(([x, y]) => ({ geom_system: '5514', geom_sjtsk_wkt: `POINT (${x} ${y})` }) as const),
  fc
    .tuple(
      fc.double({ min: 12, max: 18, noNaN: true }),
      fc.double({ min: 48, max: 51, noNaN: true }),
    )
    .map(
      ([x, y]) =>
        ({ geom_system: '4326', geom_wkt: `POINT (${x.toFixed(6)} ${y.toFixed(6)})` }) as const,
    ),
  fc.constant({}),
);
const place = fc
  .tuple(
    placed,
    fc.record({ lokalizace: text, poznamka: text, nalezce: reference }, { requiredKeys: [] }),
  )
  .map((parts): FindElements => Object.assign({}, ...parts));
const others: fc.Arbitrary<FindElements> = fc.record(
  {
    projekt: reference,
    okolnosti: reference,
    obdobi: reference,
    druh_nalezu: reference,
    specifikace: reference,
    predano_organizace: reference,
    presna_datace: text,
    pocet: text,
    evidencni_cislo: text,
    hloubka: fc.nat(300),
    datum_nalezu: fc.constantFrom('2024-06-01', '1910-01-31'),
  },
  { requiredKeys: [] },
);
const photos = fc.array(text, { maxLength: 3 });
const find = fc.record({
  elements: others,
  place,
  photos,
  identCely: fc.constantFrom(undefined, 'C-202400101-N00001'),
});
type Made = typeof find extends fc.Arbitrary<infer T> ? T : never;

const findMade = (
  { elements, place: where, photos: names, identCely }: Made,
  accessibility?: string,
): ExportedFind => ({
  localId: 'K-1',
  ...(identCely === undefined ? {} : { identCely }),
  elements: {
    ...elements,
    ...where,
    ...(accessibility === undefined ? {} : { pristupnost: { id: accessibility, text: '' } }),
  },
  photos: names,
  getLabels: (entry) =>
    entry === 'HES-000253' ? { cs: 'paleolit', en: 'Palaeolithic' } : undefined,
});

describe('a LIDO record', () => {
  test('is valid, whatever a find has and lacks', () => {
    const accessibility = fc.constantFrom(OPEN, 'HES-000867', undefined);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(find, accessibility), { minLength: 1, maxLength: 3 }),
        (cases) => {
          const document = renderLido(cases.map(([each, level]) => findMade(each, level)));
          expect(faults(validator, document)).toEqual([]);
          expect(document.split('<lido:lido>')).toHaveLength(cases.length + 1);
        },
      ),
    );
  });

  test('is the same byte for byte wherever a find with a hidden place was found', () => {
    fc.assert(
      fc.property(
        find,
        place,
        photos,
        fc.constantFrom('HES-000866', 'HES-000867', 'HES-000868', '', undefined),
        (content, elsewhere, names, level) => {
          expect(renderLido([findMade(content, level)])).toBe(
            renderLido([findMade({ ...content, place: elsewhere, photos: names }, level)]),
          );
        },
      ),
    );
  });

  test('withholds a place that the service withholds by now, or does not show', () => {
    const open = {
      geom_system: '4326',
      geom_wkt: 'POINT (14.4123 50.0876)',
      lokalizace: 'pole',
    } as const;
    const exported = findMade(
      { elements: {}, place: open, photos: [], identCely: 'C-202400101-N00001' },
      OPEN,
    );
    const shownAs = (id?: string): string =>
      renderLido([
        {
          ...exported,
          accessibilities: [
            exported.elements.pristupnost,
            id === undefined ? undefined : { id, text: '' },
          ],
        },
      ]);
    expect(shownAs(OPEN)).toBe(renderLido([exported]));
    for (const keptText of [shownAs('HES-000867'), shownAs()])
      expect(keptText).not.toMatch(/14\.4123|pole/);
  });

  test('has the place of a public find, latitude first, and the measured metres', () => {
    const measured = {
      geom_system: '5514',
      geom_sjtsk_wkt: 'POINT (-744429.730 -1043627.83)',
      lokalizace: 'pole',
    } as const;
    const document = renderLido([
      findMade({ elements: {}, place: measured, photos: ['a.jpg'], identCely: undefined }, OPEN),
    ]);
    expect(document).toContain('<gml:pos>-744429.730 -1043627.83</gml:pos>');
    expect(document).toMatch(/EPSG::4326">\s*<gml:pos>50\.0800000 14\.4000000<\/gml:pos>/);
    expect(document).toContain('<lido:displayPlace>pole</lido:displayPlace>');
    expect(document).toContain('>a.jpg</lido:resourceID>');
  });

  test('computes no degrees from a point outside the system', () => {
    const nowhere = { geom_system: '5514', geom_sjtsk_wkt: 'POINT (0 0)' } as const;
    const document = renderLido([
      findMade({ elements: {}, place: nowhere, photos: [], identCely: undefined }, OPEN),
    ]);
    expect(document.match(/<gml:pos>.*<\/gml:pos>/g)).toEqual(['<gml:pos>0 0</gml:pos>']);
  });

  test('is invalid for the schema if something is missing or out of order', () => {
    const document = renderLido([
      findMade({ elements: { pocet: '3' }, place: {}, photos: [], identCely: undefined }, OPEN),
    ]);
    expect(faults(validator, document)).toEqual([]);
    expect(
      faults(validator, document.replace(/<lido:titleWrap>.*<\/lido:titleWrap>/s, '')),
    ).not.toEqual([]);
    expect(faults(validator, document.replaceAll(' lido:type=', ' lido:kind='))).not.toEqual([]);
    expect(faults(validator, document.replaceAll('lido:lidoRecID', 'lido:recordID'))).not.toEqual(
      [],
    );
  });
});
