/** Identifiers that a find refers to, by element, with the project and a text for the note. */
export type Terms = Readonly<
  Record<
    | 'project'
    | 'note'
    | 'okolnosti'
    | 'obdobi'
    | 'druh_nalezu'
    | 'specifikace'
    | 'pristupnost'
    | 'predano_organizace'
    | 'nalezce',
    string
  >
>;

/**
 * Typed elements by name; null leaves one out. Names of the contract's table, those in
 * `chranene_udaje` without it.
 */
export type Lines = Readonly<Record<string, string | null>>;

export type SchemaPlace = { readonly base: string; readonly version: string };

/** A place in Bohemia in both systems, as the service computes one from the other. */
export const PLACE = { wgs84: 'POINT (15.1700002 49.84)', sjtsk: 'POINT (-693174.81 -1077354.27)' };

const SMALLEST = ['ident_cely', 'projekt', 'stav', 'geom_system', 'pristupnost', 'poznamka'];
/**
 * In the order of the contract's table, with what the service ignores where the schema wants it.
 */
const ORDER = (
  'ident_cely evidencni_cislo igsn projekt okres hloubka okolnosti obdobi presna_datace druh_nalezu specifikace pocet poznamka nalezce ' +
  'datum_nalezu stav predano predano_organizace geom_system pristupnost chranene_udaje historie soubor'
).split(' ');
const GUARDED = [
  'katastr',
  'lokalizace',
  'geom_gml',
  'geom_wkt',
  'geom_sjtsk_gml',
  'geom_sjtsk_wkt',
];

export function term(name: string, id: string, text = 'x'): string {
  return `<svc:${name} id="${id}" xml:lang="cs">${text}</svc:${name}>`;
}

export function wkt(text: string, epsg = '4326'): string {
  const name = epsg === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
  return `<svc:${name} EPSG="${epsg}">${text}</svc:${name}>`;
}

function makeLines(terms: Terms, stav: number): Lines {
  const complete: Lines = {
    ident_cely: '<svc:ident_cely>:tba</svc:ident_cely>',
    evidencni_cislo: '<svc:evidencni_cislo>A 12/2024</svc:evidencni_cislo>',
    projekt: `<svc:projekt id="${terms.project}">${terms.project}</svc:projekt>`,
    hloubka: '<svc:hloubka>15</svc:hloubka>',
    okolnosti: term('okolnosti', terms.okolnosti),
    obdobi: term('obdobi', terms.obdobi),
    presna_datace: '<svc:presna_datace>starší část</svc:presna_datace>',
    druh_nalezu: term('druh_nalezu', terms.druh_nalezu),
    specifikace: term('specifikace', terms.specifikace),
    pocet: '<svc:pocet>cca 3</svc:pocet>',
    poznamka: `<svc:poznamka>${terms.note}</svc:poznamka>`,
    nalezce: `<svc:nalezce id="${terms.nalezce}">x</svc:nalezce>`,
    datum_nalezu: '<svc:datum_nalezu>2024-05-06</svc:datum_nalezu>',
    stav: `<svc:stav>${stav}</svc:stav>`,
    predano: '<svc:predano>true</svc:predano>',
    predano_organizace: term('predano_organizace', terms.predano_organizace),
    geom_system: '<svc:geom_system>4326</svc:geom_system>',
    pristupnost: term('pristupnost', terms.pristupnost),
    lokalizace: '<svc:lokalizace>Pole u lesa</svc:lokalizace>',
    geom_wkt: wkt(PLACE.wgs84),
  };
  if (stav !== 1) return complete;
  return Object.fromEntries(Object.entries(complete).filter(([name]) => SMALLEST.includes(name)));
}

/**
 * An import document: in state 1 only what that state needs, in states 2 and 3 all that state 3
 * needs.
 */
export function findDocument(
  { base, version }: SchemaPlace,
  terms: Terms,
  stav: 1 | 2 | 3,
  changes: Lines,
): string {
  const lines: Lines = { ...makeLines(terms, stav), ...changes };
  const getText = (names: readonly string[]): string[] =>
    names.map((name) => lines[name] ?? '').filter((line) => line !== '');
  const guarded = getText(GUARDED);
  const block =
    guarded.length === 0 ? '' : `<svc:chranene_udaje>${guarded.join('')}</svc:chranene_udaje>`;
  const before = getText(ORDER.slice(0, ORDER.indexOf('chranene_udaje'))).join('\n');
  const after = getText(ORDER.slice(ORDER.indexOf('chranene_udaje') + 1)).join('\n');
  const text =
    `<svc:svc xmlns:svc="${base}/${version}/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
    `xsi:schemaLocation="${base}/${version}/ ${base}/${version}/svc.xsd">\n` +
    `<svc:samostatny_nalez>\n${before}\n${block}\n${after}</svc:samostatny_nalez>\n</svc:svc>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}`;
}

/** A deployment names prefix, root and schema file after itself. */
export function inPrefix(text: string, prefix: string): string {
  if (prefix === 'svc') return text;
  return text
    .replace(/(<\/?)svc:svc\b/g, `$1svc:${prefix}`)
    .replace(/(<\/?|xmlns:)svc(?=[:=])/g, `$1${prefix}`)
    .replaceAll('/svc.xsd', `/${prefix}.xsd`);
}
