import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { elementText, fetchToken } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';

const { mock, send } = await useMock();

/** Everything between two tags, without indentation. */
const flat = (xml: string) => xml.replace(/>\s+</g, '><').trim();

describe('Import answer (A-ANSWER-1 to A-ANSWER-8)', () => {
  test('the document declares its namespaces and names the schema of the service alone', async () => {
    const { text } = await send(smallestFind());
    const base = mock.server.schema_base;
    expect(text.startsWith("<?xml version='1.0' encoding='utf-8'?>\n<svc:svc ")).toBe(true);
    expect(text).toContain(`xmlns:svc="${base}/2.2/"`);
    expect(text).toContain('xmlns:gml="http://www.opengis.net/gml/3.2"');
    expect(text).toContain(`xsi:schemaLocation="${base}/2.2/ ${base}/2.2/svc.xsd"`);
  });

  test('values are returned in schema order, with the labels of the service', async () => {
    const { text } = await send(findLines(3));
    expect(flat(text)).toContain(
      '<svc:samostatny_nalez><svc:ident_cely>C-202400101-N00009</svc:ident_cely>' +
        '<svc:evidencni_cislo>A 12/2024</svc:evidencni_cislo>' +
        '<svc:projekt id="C-202400101">C-202400101</svc:projekt>' +
        '<svc:okres xml:lang="cs" id="ruian-3205">Kutná Hora</svc:okres>' +
        '<svc:hloubka>15</svc:hloubka>' +
        '<svc:okolnosti xml:lang="cs" id="HES-000560">povrch</svc:okolnosti>' +
        '<svc:obdobi xml:lang="cs" id="HES-000253">paleolit</svc:obdobi>' +
        '<svc:presna_datace>starší část</svc:presna_datace>' +
        '<svc:druh_nalezu xml:lang="cs" id="HES-000691">lahev</svc:druh_nalezu>' +
        '<svc:specifikace xml:lang="cs" id="HES-000979">keramika</svc:specifikace>' +
        '<svc:pocet>cca 3</svc:pocet><svc:poznamka>u cesty</svc:poznamka>',
    );
    expect(flat(text)).toMatch(
      /<svc:nalezce id="OS-001507">[^<]+, [^<]+<\/svc:nalezce><svc:datum_nalezu>2024-05-06<\/svc:datum_nalezu><svc:stav>3<\/svc:stav><svc:predano>true<\/svc:predano><svc:predano_organizace xml:lang="cs" id="ORG-000091">[^<]{4,}<\/svc:predano_organizace><svc:geom_system>4326<\/svc:geom_system><svc:pristupnost xml:lang="cs" id="HES-000867">archeolog<\/svc:pristupnost><svc:chranene_udaje>/,
    );
  });

  test('absent elements are omitted, and a find without a place has an empty chranene_udaje', async () => {
    const { text } = await send(smallestFind());
    for (const name of [
      'evidencni_cislo',
      'okres',
      'hloubka',
      'obdobi',
      'nalezce',
      'soubor',
      'lokalizace',
      'geom_wkt',
    ]) {
      expect(text).not.toContain(`<svc:${name}`);
    }
    expect(text).toMatch(/<svc:chranene_udaje\/>|<svc:chranene_udaje><\/svc:chranene_udaje>/);
    expect(elementText(text, 'predano')).toBe('false');
  });

  test('the caller sees the protected part in full, whatever its accessibility', async () => {
    const researcher = await fetchToken(mock, 'researcher');
    const { text, status } = await send(findLines(1), { token: researcher });
    expect(status).toBe(201);
    expect(elementText(text, 'lokalizace')).toBe('Pole u lesa');
    expect(text).not.toContain('403 Forbidden');
  });

  test('special characters survive a round trip', async () => {
    const { text } = await send(
      findLines(1, { poznamka: '<svc:poznamka>ž &lt;5 &amp; "x" \u{1F3FA}</svc:poznamka>' }),
    );
    expect(elementText(text, 'poznamka')).toBe('ž &lt;5 &amp; "x" \u{1F3FA}');
  });
});

describe('Derived place and geometry (A-POINT-2, A-POINT-7 to A-POINT-9)', () => {
  test('the area, the district and S-JTSK are derived from WGS 84', async () => {
    const { text } = await send(findLines(2));
    expect(text).toMatch(/<svc:katastr xml:lang="cs" id="ruian-672424">Všesoky<\/svc:katastr>/);
    expect(text).toMatch(/<svc:okres xml:lang="cs" id="ruian-3205">/);
    expect(flat(text)).toContain(
      '<svc:geom_gml><gml:Point srsName="EPSG:4326"><gml:coordinates>15.1700002,49.84</gml:coordinates></gml:Point></svc:geom_gml>' +
        '<svc:geom_wkt EPSG="4326">POINT (15.1700002 49.84)</svc:geom_wkt>' +
        '<svc:geom_sjtsk_gml><gml:Point srsName="EPSG:5514"><gml:coordinates>-693173.95,-1077353.76</gml:coordinates></gml:Point></svc:geom_sjtsk_gml>' +
        '<svc:geom_sjtsk_wkt EPSG="5514">POINT (-693173.95 -1077353.76)</svc:geom_sjtsk_wkt></svc:chranene_udaje>',
    );
  });

  const getPoint = (xml: string, name: string) =>
    (elementText(xml, name)?.match(/-?[\d.]+/g) ?? []).map(Number);

  // Most of what is left is the movement of the plate since 1989; the plain projection is off by
  // 0.00, 1.06, 1.15 and 0.96 m.
  test.each([
    { lon: 14.0667, lat: 50.0333, x: -768785.47, y: -1045458.6, offM: 0.06 },
    { lon: 13.2311182, lat: 49.9914407, x: -828708.49, y: -1041287.69, offM: 0.92 },
    { lon: 16.7494989, lat: 49.2941092, x: -586746.29, y: -1150904.89, offM: 1.09 },
    { lon: 15.1700002, lat: 49.84, x: -693174.81, y: -1077354.27, offM: 1.01 },
  ])(
    'the reference pair of the deployed service at $lon $lat is reproduced within $offM m in both directions',
    async ({ lon, lat, x, y, offM }) => {
      const fromDegrees = await send(
        smallestFind({
          geom_wkt: `<svc:geom_wkt EPSG="4326">POINT (${lon} ${lat})</svc:geom_wkt>`,
        }),
      );
      const [derivedX = 0, derivedY = 0] = getPoint(fromDegrees.text, 'geom_sjtsk_wkt');
      expect(Math.hypot(derivedX - x, derivedY - y)).toBeLessThan(offM);
      const fromMetres = await send(
        smallestFind({
          geom_system: '<svc:geom_system>5514</svc:geom_system>',
          geom_sjtsk_wkt: `<svc:geom_sjtsk_wkt EPSG="5514">POINT (${x} ${y})</svc:geom_sjtsk_wkt>`,
        }),
      );
      expect(elementText(fromMetres.text, 'geom_sjtsk_wkt')).toBe(`POINT (${x} ${y})`);
      const [derivedLon = 0, derivedLat = 0] = getPoint(fromMetres.text, 'geom_wkt');
      expect(Math.hypot((derivedLon - lon) * 72_000, (derivedLat - lat) * 111_200)).toBeLessThan(
        offM,
      );
    },
  );

  test.each([
    'point(15.17 49.84)',
    'POINT(15.17   49.84)',
    ' POINT  ( 15.17 49.84 ) ',
    'POINT (+15.17 4.984e1)',
  ])('the spelling "%s" is accepted', async (wkt) => {
    const { text, status } = await send(
      findLines(2, { geom_wkt: `<svc:geom_wkt EPSG="4326">${wkt}</svc:geom_wkt>` }),
    );
    expect(status, text).toBe(201);
    expect(elementText(text, 'geom_wkt')).toBe('POINT (15.17 49.84)');
    expect(elementText(text, 'geom_sjtsk_wkt')).toMatch(
      /^POINT \(-69\d{4}\.\d\d -107\d{4}\.\d\d\)$/,
    );
  });

  test('a history that is sent is ignored (A-FIELD-4)', async () => {
    const history =
      '<svc:historie><svc:id>hist-1</svc:id><svc:datum_zmeny>2001-01-01T00:00:00Z</svc:datum_zmeny><svc:uzivatel id="U-000001">x</svc:uzivatel><svc:typ_zmeny>SN34</svc:typ_zmeny></svc:historie>';
    const { text, status } = await send(
      findLines(2).replace('</svc:samostatny_nalez>', `${history}</svc:samostatny_nalez>`),
    );
    expect(status, text).toBe(201);
    expect(text).not.toContain('2001-01-01');
  });
});

describe('Values (A-VALUE-1, A-VALUE-5, A-VALUE-7, A-STATE-13)', () => {
  test('texts are trimmed and integers normalised', async () => {
    const number = 'A'.repeat(300);
    const { text } = await send(
      findLines(3, {
        evidencni_cislo: `<svc:evidencni_cislo> ${number} </svc:evidencni_cislo>`,
        hloubka: '<svc:hloubka> 0007 </svc:hloubka>',
        lokalizace: '<svc:lokalizace>\n  U  lesa \n</svc:lokalizace>',
      }),
    );
    expect(elementText(text, 'evidencni_cislo')).toBe(number);
    expect(elementText(text, 'hloubka')).toBe('7');
    expect(elementText(text, 'lokalizace')).toBe('U  lesa');
  });

  test('text after an inner comment is lost', async () => {
    const { text } = await send(
      findLines(2, { lokalizace: '<svc:lokalizace>Pole<!-- x --> u lesa</svc:lokalizace>' }),
    );
    expect(elementText(text, 'lokalizace')).toBe('Pole');
  });
});
