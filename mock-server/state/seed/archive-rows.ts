import { ShapeError } from '../../base/shape.ts';
import type { Body } from '../records/record.ts';
import type { Places } from './places.ts';
import type { References } from './references.ts';
import { isObject, runAtRow, type SeedRow } from './seed-files.ts';

/** Keys that are converted to a geometry in both systems, anywhere in a row. */
const POINT = 'point';
const POLYGON = 'polygon';
/** Keys of a row that are no elements. */
const TIMES = new Set(['datestamp', 'deleted']);

/**
 * Makes the body of a row that has the record's elements in the order of the schema, with `point`
 * (longitude and latitude) or `polygon` (WKT) for a geometry.
 * @throws SeedError
 */
export function makeElementsBody(row: SeedRow, references: References, places: Places): Body {
  return runAtRow(row, () => {
    const elements = Object.entries(row.value).filter(([key]) => !TIMES.has(key));
    const expanded = expand(Object.fromEntries(elements), places, '');
    return references.makeBody(expanded);
  });
}

function expand(
  value: Readonly<Record<string, unknown>>,
  places: Places,
  at: string,
): Record<string, unknown> {
  const expanded: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const place = at === '' ? key : `${at}.${key}`;
    if (key === POINT) Object.assign(expanded, places.locatePoint(item, place).geometry);
    else if (key === POLYGON) Object.assign(expanded, places.makeGeometryOfPolygon(item, place));
    else if (Array.isArray(item))
      expanded[key] = item.map((one) => (isObject(one) ? expand(one, places, place) : one));
    else expanded[key] = isObject(item) ? expand(item, places, place) : item;
  }
  return expanded;
}

/**
 * Facts about a project from the seed's finds: their identifiers and the resulting accessibility.
 */
export type ProjectFinds = {
  readonly idents: readonly string[];
  readonly accessibility: string | undefined;
};

const PROTECTED = [
  'lokalizace',
  'parcelni_cislo',
  'kulturni_pamatka_cislo',
  'kulturni_pamatka_popis',
] as const;
const PROJECT_ORDER = [
  ['ident_cely', 'stav', 'typ_projektu'],
  [
    'podnet',
    'planovane_zahajeni',
    'vedouci_projektu',
    'organizace',
    'uzivatelske_oznaceni',
    'oznaceni_stavby',
    'kulturni_pamatka',
  ],
  ['datum_zahajeni', 'datum_ukonceni', 'termin_odevzdani_nz'],
] as const;
const PROJECT_KEYS = new Set<string>([
  ...PROJECT_ORDER.flat(),
  ...PROTECTED,
  'pristupnost_pom',
  'geom_system',
  'point',
  'dalsi_katastr',
  'historie',
  'oznamovatel',
  'archeologicky_zaznam',
  'dokument',
  ...TIMES,
]);

/**
 * Makes the body of an entry of `projects.json`; areas follow from `point`, the list of finds from
 * the finds.
 */
export function makeProjectBody(
  row: SeedRow,
  references: References,
  places: Places,
  finds: ProjectFinds,
): Body {
  return runAtRow(row, () => {
    const { value } = row;
    const unknown = Object.keys(value).find((key) => !PROJECT_KEYS.has(key));
    if (unknown !== undefined) throw new ShapeError('', `has an unknown key "${unknown}"`);
    const place = places.locatePoint(value[POINT], POINT);
    if (place.area === undefined || place.district === undefined) {
      throw new ShapeError(POINT, 'lies in no cadastral area of this seed');
    }
    const pickBody = (keys: readonly string[]): Body =>
      references.makeBody(
        Object.fromEntries(
          keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]),
        ),
      );
    const accessibility = value['pristupnost_pom'] ?? finds.accessibility;
    return {
      ...pickBody(PROJECT_ORDER[0]),
      okres: references.to(place.district, POINT),
      ...pickBody(PROJECT_ORDER[1]),
      ...pickBody(PROJECT_ORDER[2]),
      ...references.makeBody({
        pristupnost_pom: accessibility,
        geom_system: value['geom_system'] ?? '5514',
      }),
      chranene_udaje: {
        hlavni_katastr: references.to(place.area, POINT),
        ...pickBody(['dalsi_katastr', 'lokalizace', 'parcelni_cislo']),
        ...place.geometry,
        ...pickBody(['kulturni_pamatka_cislo', 'kulturni_pamatka_popis']),
      },
      ...pickBody(['historie', 'oznamovatel', 'archeologicky_zaznam']),
      ...(finds.idents.length === 0
        ? {}
        : { samostatny_nalez: finds.idents.map((ident) => references.to(ident, '')) }),
      ...pickBody(['dokument']),
    };
  });
}
