/**
 * Children of a find as typed text, by name, in the order of the contract's table. undefined leaves
 * an element out.
 */
export type FindLines = Readonly<Record<string, string | undefined>>;

/**
 * A find that state 3 accepts, in the project of the demo seed that the archaeologist may import
 * into.
 */
export const COMPLETE_FIND: FindLines = {
  ident_cely: '<svc:ident_cely>:tba</svc:ident_cely>',
  evidencni_cislo: '<svc:evidencni_cislo>A 12/2024</svc:evidencni_cislo>',
  projekt: '<svc:projekt id="C-202400101">C-202400101</svc:projekt>',
  hloubka: '<svc:hloubka>15</svc:hloubka>',
  okolnosti: '<svc:okolnosti id="HES-000560" xml:lang="cs">x</svc:okolnosti>',
  obdobi: '<svc:obdobi id="HES-000253" xml:lang="cs">x</svc:obdobi>',
  presna_datace: '<svc:presna_datace>starší část</svc:presna_datace>',
  druh_nalezu: '<svc:druh_nalezu id="HES-000691" xml:lang="cs">x</svc:druh_nalezu>',
  specifikace: '<svc:specifikace id="HES-000979" xml:lang="cs">x</svc:specifikace>',
  pocet: '<svc:pocet>cca 3</svc:pocet>',
  poznamka: '<svc:poznamka>u cesty</svc:poznamka>',
  nalezce: '<svc:nalezce id="OS-001507">x</svc:nalezce>',
  datum_nalezu: '<svc:datum_nalezu>2024-05-06</svc:datum_nalezu>',
  stav: '<svc:stav>3</svc:stav>',
  predano: '<svc:predano>true</svc:predano>',
  predano_organizace:
    '<svc:predano_organizace id="ORG-000091" xml:lang="cs">x</svc:predano_organizace>',
  geom_system: '<svc:geom_system>4326</svc:geom_system>',
  pristupnost: '<svc:pristupnost id="HES-000867" xml:lang="cs">x</svc:pristupnost>',
  lokalizace: '<svc:lokalizace>Pole u lesa</svc:lokalizace>',
  geom_wkt: '<svc:geom_wkt EPSG="4326">POINT (15.1700002 49.84)</svc:geom_wkt>',
};

const GUARDED = [
  'katastr',
  'lokalizace',
  'geom_gml',
  'geom_wkt',
  'geom_sjtsk_gml',
  'geom_sjtsk_wkt',
];
const SMALLEST = ['ident_cely', 'projekt', 'geom_system', 'pristupnost'];

/**
 * A find for a state with some lines changed; order follows the keys, protected parts go into
 * `chranene_udaje`.
 */
export function findLines(stav: 1 | 2 | 3, changes: FindLines = {}): string {
  const lines: FindLines = { ...COMPLETE_FIND, stav: `<svc:stav>${stav}</svc:stav>`, ...changes };
  return listChildren(lines);
}

/** Only what every state needs, in state 1. */
export function smallestFind(changes: FindLines = {}): string {
  const keptLines = Object.entries(COMPLETE_FIND).map(([name, line]) => [
    name,
    SMALLEST.includes(name) ? line : undefined,
  ]);
  return listChildren({
    ...Object.fromEntries(keptLines),
    stav: '<svc:stav>1</svc:stav>',
    ...changes,
  });
}

function listChildren(lines: FindLines): string {
  const open = Object.entries(lines).filter(([name]) => !GUARDED.includes(name));
  const guarded = GUARDED.map((name) => lines[name]).filter((line) => line !== undefined);
  const text = open.map(([, line]) => line).filter((line) => line !== undefined);
  const block =
    guarded.length === 0 ? [] : ['<svc:chranene_udaje>', ...guarded, '</svc:chranene_udaje>'];
  return ['<svc:samostatny_nalez>', ...text, ...block, '</svc:samostatny_nalez>'].join('\n');
}

/** Line 1 is the declaration, line 2 the root's start tag, line 3 the first line of `content`. */
export function makeDocument(
  mock: { readonly server: { readonly schema_base: string } },
  content: string,
): string {
  const base = mock.server.schema_base;
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<svc:svc xmlns:svc="${base}/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${base}/2.2/ ${base}/2.2/svc.xsd">\n` +
    `${content}\n</svc:svc>\n`
  );
}
