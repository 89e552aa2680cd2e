import type { Polygon } from '../../base/polygons.ts';
import { filledTexts, flag, integer, object, optional, optionalTexts } from '../../base/shape.ts';
import { orderChildren } from '../records/child-order.ts';
import type { Body } from '../records/record.ts';
import {
  makeGmlPoint,
  makeGmlPolygons,
  makeWktPoint,
  makeWktPolygons,
  parsePolygonsOfWkt,
  parsePosition,
} from './geometry.ts';
import { makeLanguageText, type References } from './references.ts';
import { runAtRow, type SeedRow } from './seed-files.ts';

/** Time of the last change or deletion of a record, in any row. */
export const TIMES = optionalTexts('datestamp', 'deleted');

const WGS_84 = '4326';

const organisation = object({
  ...filledTexts('ident_cely', 'nazev', 'nazev_zkraceny', 'nazev_zkraceny_en', 'typ_organizace'),
  ...optionalTexts(
    'nazev_en',
    'zverejneni_pristupnost',
    'email',
    'telefon',
    'adresa',
    'ico',
    'soucast',
    'ror',
  ),
  oao: optional(flag),
  zanikla: optional(flag),
  cteni_dokumentu: optional(flag),
  mesicu_do_zverejneni: optional(integer({ min: 0 })),
  ...TIMES,
});

/**
 * Makes the body of an organisation: licensed, and public for archaeologists after three years,
 * unless the row differs.
 */
export function makeOrganisationBody(row: SeedRow, references: References): Body {
  return runAtRow(row, () => {
    const { nazev_en, nazev_zkraceny_en, soucast, ...values } = organisation(row.value);
    return orderChildren('organizace', {
      ...withoutMissing(values, ['ident_cely', 'email', 'telefon', 'adresa', 'ico', 'ror']),
      nazev: makeLanguageText('cs', values.nazev),
      nazev_en: nazev_en && makeLanguageText('en', nazev_en),
      nazev_zkraceny: makeLanguageText('cs', values.nazev_zkraceny),
      nazev_zkraceny_en: makeLanguageText('en', nazev_zkraceny_en),
      typ_organizace: references.to(values.typ_organizace, 'typ_organizace'),
      oao: String(values.oao ?? true),
      mesicu_do_zverejneni: String(values.mesicu_do_zverejneni ?? 36),
      zverejneni_pristupnost: references.to(
        values.zverejneni_pristupnost ?? 'HES-000867',
        'zverejneni_pristupnost',
      ),
      soucast: references.toOptional(soucast, 'soucast'),
      zanikla: String(values.zanikla ?? false),
      cteni_dokumentu: String(values.cteni_dokumentu ?? false),
    });
  });
}

const person = object({
  ...filledTexts('ident_cely', 'jmeno', 'prijmeni'),
  ...optionalTexts('rodne_prijmeni', 'orcid', 'wikidata'),
  rok_narozeni: optional(integer({})),
  rok_umrti: optional(integer({})),
  ...TIMES,
});

/**
 * Makes the body of a person; `vypis` and `vypis_cely` are made of surname and given name.
 * @throws SeedError for an invalid value
 */
export function makePersonBody(row: SeedRow): Body {
  return runAtRow(row, () => {
    const values = person(row.value);
    return orderChildren('osoba', {
      ...withoutMissing(values, [
        'ident_cely',
        'jmeno',
        'prijmeni',
        'rok_narozeni',
        'rok_umrti',
        'rodne_prijmeni',
        'orcid',
        'wikidata',
      ]),
      vypis: `${values.prijmeni}, ${makeInitials(values.jmeno)}`,
      vypis_cely: `${values.prijmeni}, ${values.jmeno}`,
    });
  });
}

/** Returns one initial per given name; hyphenated names keep their hyphen: `J.-P.` (A-FINDER-3). */
function makeInitials(givenName: string): string {
  const makeInitial = (name: string): string => `${name.slice(0, 1)}.`;
  return givenName
    .split(/\s+/)
    .map((name) => name.split('-').map(makeInitial).join('-'))
    .join(' ');
}

const PLACE = { ...filledTexts('kod', 'nazev', 'point', 'boundary'), ...TIMES };
const region = object({
  ...PLACE,
  ...filledTexts('nazev_en', 'rada_id'),
  ...optionalTexts('email'),
});
const district = object({ ...PLACE, ...filledTexts('nazev_en', 'spz', 'kraj') });
const cadastralArea = object({ ...PLACE, ...filledTexts('okres'), ...optionalTexts('pian') });

/**
 * Makes the body of a region.
 * @throws SeedError for an invalid value
 */
export function makeRegionBody(row: SeedRow): Body {
  return runAtRow(row, () => {
    const values = region(row.value);
    const names = {
      nazev: makeLanguageText('cs', values.nazev),
      nazev_en: makeLanguageText('en', values.nazev_en),
    };
    return {
      kod: values.kod,
      ...names,
      rada_id: values.rada_id,
      ...makeOutline(values).elements,
      ...withoutMissing(values, ['email']),
    };
  });
}

/**
 * Makes the body of a district, with its region.
 * @throws SeedError for an invalid value
 */
export function makeDistrictBody(row: SeedRow, references: References): Body {
  return runAtRow(row, () => {
    const values = district(row.value);
    const names = {
      nazev: makeLanguageText('cs', values.nazev),
      nazev_en: makeLanguageText('en', values.nazev_en),
    };
    return {
      kod: values.kod,
      ...names,
      spz: values.spz,
      kraj: references.to(values.kraj, 'kraj'),
      ...makeOutline(values).elements,
    };
  });
}

/** A cadastral area, by which points are placed; `polygons` in longitude and latitude. */
export type Area = {
  readonly ident: string;
  readonly district: string;
  readonly polygons: readonly Polygon[];
};

/**
 * Makes the body of a cadastral area with its district, and the area by which points are placed.
 * @throws SeedError for an invalid value
 */
export function makeCadastralAreaBody(
  row: SeedRow,
  references: References,
): { readonly body: Body; readonly area: Area } {
  return runAtRow(row, () => {
    const values = cadastralArea(row.value);
    const { elements, polygons } = makeOutline(values);
    const body = orderChildren('ruian_katastr', {
      kod: values.kod,
      nazev: makeLanguageText('cs', values.nazev),
      okres: references.to(values.okres, 'okres'),
      pian: references.toOptional(values.pian, 'pian'),
      ...elements,
    });
    return { body, area: { ident: values.kod, district: values.okres, polygons } };
  });
}

function makeOutline(values: { readonly point: string; readonly boundary: string }): {
  readonly elements: Body;
  readonly polygons: readonly Polygon[];
} {
  const position = parsePosition(
    (/^POINT *\(([^()]*)\)$/.exec(values.point)?.[1] ?? '').trim().split(/ +/).map(Number),
    'point',
  );
  const polygons = parsePolygonsOfWkt(values.boundary, 'boundary');
  const elements = {
    definicni_bod_gml: makeGmlPoint(position, WGS_84),
    definicni_bod_wkt: makeWktPoint(position, WGS_84),
    hranice_gml: makeGmlPolygons(polygons, WGS_84),
    hranice_wkt: makeWktPolygons(polygons, WGS_84),
  };
  return { elements, polygons };
}

/** Returns the existing named properties as text, in this order. */
export function withoutMissing<K extends string>(
  values: { readonly [key in K]?: string | number | boolean },
  names: readonly K[],
): Body {
  return Object.fromEntries(
    names.filter((name) => values[name] !== undefined).map((name) => [name, String(values[name])]),
  );
}
