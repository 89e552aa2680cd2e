import type { Polygon } from '../../base/polygons.ts';
import { filledTexts, flag, integer, object, optional, optionalTexts } from '../../base/shape.ts';
import type { Body } from '../records/record.ts';
import { gmlPoint, gmlPolygons, parsePosition, polygonsOfWkt, wktPoint, wktPolygons } from './geometry.ts';
import { makeLanguageText, type References } from './references.ts';
import { atRow, type SeedRow } from './seed-files.ts';

/** When a record was last changed or deleted; every row may say so. */
export const TIMES = optionalTexts('datestamp', 'deleted');

const WGS_84 = '4326';

const organisation = object({
  ...filledTexts('ident_cely', 'nazev', 'nazev_zkraceny', 'nazev_zkraceny_en', 'typ_organizace'),
  ...optionalTexts('nazev_en', 'zverejneni_pristupnost', 'email', 'telefon', 'adresa', 'ico', 'soucast', 'ror'),
  ...{ oao: optional(flag), zanikla: optional(flag), cteni_dokumentu: optional(flag) },
  mesicu_do_zverejneni: optional(integer({ min: 0 })),
  ...TIMES,
});

/** A licensed organisation that publishes after three years to archaeologists, unless the row says otherwise. */
export function organisationBody(row: SeedRow, references: References): Body {
  return atRow(row, () => {
    const { nazev_en, nazev_zkraceny_en, soucast, ...values } = organisation(row.value);
    return {
      ident_cely: values.ident_cely,
      nazev: makeLanguageText('cs', values.nazev),
      ...(nazev_en === undefined ? {} : { nazev_en: makeLanguageText('en', nazev_en) }),
      nazev_zkraceny: makeLanguageText('cs', values.nazev_zkraceny),
      nazev_zkraceny_en: makeLanguageText('en', nazev_zkraceny_en),
      typ_organizace: references.to(values.typ_organizace, 'typ_organizace'),
      oao: String(values.oao ?? true),
      mesicu_do_zverejneni: String(values.mesicu_do_zverejneni ?? 36),
      zverejneni_pristupnost: references.to(values.zverejneni_pristupnost ?? 'HES-000867', 'zverejneni_pristupnost'),
      ...withoutMissing(values, ['email', 'telefon', 'adresa', 'ico']),
      ...(soucast === undefined ? {} : { soucast: references.to(soucast, 'soucast') }),
      zanikla: String(values.zanikla ?? false),
      cteni_dokumentu: String(values.cteni_dokumentu ?? false),
      ...withoutMissing(values, ['ror']),
    };
  });
}

const person = object({
  ...filledTexts('ident_cely', 'jmeno', 'prijmeni'),
  ...optionalTexts('rodne_prijmeni', 'orcid', 'wikidata'),
  ...{ rok_narozeni: optional(integer({})), rok_umrti: optional(integer({})) },
  ...TIMES,
});

export function personBody(row: SeedRow): Body {
  return atRow(row, () => {
    const values = person(row.value);
    return {
      ...withoutMissing(values, ['ident_cely', 'jmeno', 'prijmeni']),
      vypis: `${values.prijmeni}, ${initials(values.jmeno)}`,
      vypis_cely: `${values.prijmeni}, ${values.jmeno}`,
      ...withoutMissing(values, ['rok_narozeni', 'rok_umrti', 'rodne_prijmeni', 'orcid', 'wikidata']),
    };
  });
}

/** One initial per given name; hyphenated names keep their hyphen: `J.-P.` (A-FINDER-3). */
function initials(givenName: string): string {
  const initial = (name: string): string => `${name.slice(0, 1)}.`;
  return givenName
    .split(/\s+/)
    .map((name) => name.split('-').map(initial).join('-'))
    .join(' ');
}

const PLACE = { ...filledTexts('kod', 'nazev', 'point', 'boundary'), ...TIMES };
const region = object({ ...PLACE, ...filledTexts('nazev_en', 'rada_id'), ...optionalTexts('email') });
const district = object({ ...PLACE, ...filledTexts('nazev_en', 'spz', 'kraj') });
const cadastralArea = object({ ...PLACE, ...filledTexts('okres'), ...optionalTexts('pian') });

export function regionBody(row: SeedRow): Body {
  return atRow(row, () => {
    const values = region(row.value);
    const names = { nazev: makeLanguageText('cs', values.nazev), nazev_en: makeLanguageText('en', values.nazev_en) };
    return {
      kod: values.kod,
      ...names,
      rada_id: values.rada_id,
      ...outline(values).elements,
      ...withoutMissing(values, ['email']),
    };
  });
}

export function districtBody(row: SeedRow, references: References): Body {
  return atRow(row, () => {
    const values = district(row.value);
    const names = { nazev: makeLanguageText('cs', values.nazev), nazev_en: makeLanguageText('en', values.nazev_en) };
    return { kod: values.kod, ...names, spz: values.spz, kraj: references.to(values.kraj, 'kraj'), ...outline(values).elements };
  });
}

export type Area = {
  readonly ident: string;
  readonly district: string;
  readonly polygons: readonly Polygon[];
};

export function cadastralAreaBody(row: SeedRow, references: References): { readonly body: Body; readonly area: Area } {
  return atRow(row, () => {
    const values = cadastralArea(row.value);
    const { elements, polygons } = outline(values);
    const body = {
      kod: values.kod,
      nazev: makeLanguageText('cs', values.nazev),
      okres: references.to(values.okres, 'okres'),
      ...(values.pian === undefined ? {} : { pian: references.to(values.pian, 'pian') }),
      ...elements,
    };
    return { body, area: { ident: values.kod, district: values.okres, polygons } };
  });
}

function outline(values: { readonly point: string; readonly boundary: string }): {
  readonly elements: Body;
  readonly polygons: readonly Polygon[];
} {
  const position = parsePosition((/^POINT *\(([^()]*)\)$/.exec(values.point)?.[1] ?? '').trim().split(/ +/).map(Number), 'point');
  const polygons = polygonsOfWkt(values.boundary, 'boundary');
  const elements = {
    definicni_bod_gml: gmlPoint(position, WGS_84),
    definicni_bod_wkt: wktPoint(position, WGS_84),
    hranice_gml: gmlPolygons(polygons, WGS_84),
    hranice_wkt: wktPolygons(polygons, WGS_84),
  };
  return { elements, polygons };
}

/** The named properties that are there, as text, in this order. */
export function withoutMissing<K extends string>(
  values: { readonly [key in K]?: string | number | boolean },
  names: readonly K[],
): Body {
  return Object.fromEntries(names.filter((name) => values[name] !== undefined).map((name) => [name, String(values[name])]));
}
