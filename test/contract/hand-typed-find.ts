/** Every element of a find, in the order of S-FIND-1. */
export const FIND = `<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="https://schemas.example/svc/2.2/" xmlns:gml="http://www.opengis.net/gml/3.2"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="https://schemas.example/svc/2.2/ https://schemas.example/svc/2.2/svc.xsd">
<svc:samostatny_nalez>
<svc:ident_cely>:tba</svc:ident_cely>
<svc:evidencni_cislo>A 123/2024</svc:evidencni_cislo>
<svc:igsn>10.5072/x</svc:igsn>
<svc:projekt id="C-202401234">Výzkum krajiny</svc:projekt>
<svc:okres id="ruian-3701" xml:lang="cs">Blansko</svc:okres>
<svc:hloubka>12</svc:hloubka>
<svc:okolnosti id="HES-000581" xml:lang="cs">povrch</svc:okolnosti>
<svc:obdobi id="HES-000253" xml:lang="cs">paleolit</svc:obdobi>
<svc:presna_datace>mladší část</svc:presna_datace>
<svc:druh_nalezu id="HES-000691" xml:lang="cs">lahev</svc:druh_nalezu>
<svc:specifikace id="HES-000979" xml:lang="cs">keramika</svc:specifikace>
<svc:pocet>cca 5</svc:pocet>
<svc:poznamka>U cesty</svc:poznamka>
<svc:nalezce id=":tba">Novák, Jan</svc:nalezce>
<svc:datum_nalezu>2024-05-06</svc:datum_nalezu>
<svc:stav>3</svc:stav>
<svc:predano>true</svc:predano>
<svc:predano_organizace id="ORG-000091" xml:lang="cs">Muzeum</svc:predano_organizace>
<svc:geom_system>4326</svc:geom_system>
<svc:pristupnost id="HES-000865" xml:lang="cs">anonym</svc:pristupnost>
<svc:chranene_udaje>
<svc:katastr id="ruian-676730" xml:lang="cs">Křtiny</svc:katastr>
<svc:lokalizace>Pole u lesa</svc:lokalizace>
<svc:geom_gml><gml:Point srsName="EPSG:4326"><gml:coordinates>14.42,50.08</gml:coordinates></gml:Point></svc:geom_gml>
<svc:geom_wkt EPSG="4326">POINT (14.42 50.08)</svc:geom_wkt>
<svc:geom_sjtsk_gml><gml:Point srsName="EPSG:5514"><gml:coordinates>-743011.72,-1043823.18</gml:coordinates></gml:Point></svc:geom_sjtsk_gml>
<svc:geom_sjtsk_wkt EPSG="5514">POINT (-743011.72 -1043823.18)</svc:geom_sjtsk_wkt>
</svc:chranene_udaje>
<svc:historie><svc:id>hist-1</svc:id><svc:datum_zmeny>2024-05-06T07:08:09.5+02:00</svc:datum_zmeny><svc:uzivatel id="U-000001">U-000001</svc:uzivatel><svc:poznamka>x</svc:poznamka><svc:typ_zmeny>SN01</svc:typ_zmeny></svc:historie>
<svc:soubor><svc:id>soub-1</svc:id><svc:path>rest/1</svc:path><svc:nazev>a.jpg</svc:nazev><svc:mimetype>image/jpeg</svc:mimetype><svc:rozsah>1</svc:rozsah><svc:size_mb>1.25</svc:size_mb><svc:sha_512>ab</svc:sha_512><svc:url>https://files.example/1</svc:url></svc:soubor>
</svc:samostatny_nalez>
</svc:svc>`;

/** Only what the schema requires. */
export const SMALLEST_FIND = `<svc:svc xmlns:svc="https://schemas.example/svc/2.2/"><svc:samostatny_nalez>
<svc:ident_cely>:tba</svc:ident_cely>
<svc:projekt id="C-202401234"/>
<svc:stav>1</svc:stav>
<svc:geom_system>4326</svc:geom_system>
<svc:pristupnost id="HES-000865" xml:lang="cs"/>
</svc:samostatny_nalez></svc:svc>`;

export const lines = FIND.split('\n');

/** Index into {@link lines}. */
export function getLine(element: string): number {
  const index = lines.findIndex(
    (line) => line.startsWith(`<svc:${element}>`) || line.startsWith(`<svc:${element} `),
  );
  if (index < 0) throw new Error(`no ${element} in the find`);
  return index;
}

/**
 * The full find with something else in the place of one element: nothing, other text, the element
 * twice.
 */
export function findWith(element: string, instead: string): string {
  return lines.with(getLine(element), instead).join('\n');
}
