import { describe, expect, test } from 'vitest';
import { parseXml } from '../../../src/base/xml/parse.ts';
import { parseTerm } from '../../../src/finds/vocabulary/term.ts';

function term(xml: string, setSpec?: string) {
  return parseTerm(parseXml(Buffer.from(xml)).root, setSpec);
}

const HESLO = `<h:heslo xmlns:h="urn:svc/2.2/"><h:ident_cely>HES-000253</h:ident_cely><h:nazev_heslare xml:lang="cs">obdobi</h:nazev_heslare>
  <h:heslo xml:lang="cs"> paleolit </h:heslo><h:heslo_en xml:lang="en">Palaeolithic</h:heslo_en><h:popis xml:lang="cs">Starší doba kamenná</h:popis>
  <h:zkratka xml:lang="cs">PAL</h:zkratka><h:razeni>10</h:razeni>
  <h:hierarchie_vyse><h:id>hier-1</h:id><h:heslo_nadrazene id="HES-000100" xml:lang="cs">pravěk</h:heslo_nadrazene><h:typ xml:lang="cs">podřízenost</h:typ></h:hierarchie_vyse>
  <h:hierarchie_nize><h:id>hier-2</h:id><h:heslo_podrazene id="HES-000300" xml:lang="cs">nižší</h:heslo_podrazene><h:typ xml:lang="cs">podřízenost</h:typ></h:hierarchie_nize>
  <h:datace><h:rok_od_min>-800000</h:rok_od_min><h:rok_od_max>-700000</h:rok_od_max><h:rok_do_min>-10000</h:rok_do_min><h:rok_do_max>-9000</h:rok_do_max></h:datace>
  </h:heslo>`;

describe('an entry of a vocabulary', () => {
  test('is read completely', () => {
    expect(term(HESLO)).toEqual({
      ident: 'HES-000253',
      setSpec: 'heslo:obdobi',
      label: 'paleolit',
      labelEn: 'Palaeolithic',
      otherNames: [],
      abbreviation: 'PAL',
      description: 'Starší doba kamenná',
      descriptionEn: null,
      sortOrder: 10,
      superiors: [{ ident: 'HES-000100', kind: 'podřízenost' }],
      details: {
        dating: { fromMin: -800000, fromMax: -700000, toMin: -10000, toMax: -9000, note: null },
      },
      boundary: null,
    });
  });

  test('is read in any version of the schema and with any prefix', () => {
    const older =
      '<heslo xmlns="urn:svc/2.0/"><ident_cely>HES-000001</ident_cely><heslo>čeština</heslo></heslo>';
    expect(term(older, 'heslo:jazyk')).toMatchObject({ setSpec: 'heslo:jazyk', label: 'čeština' });
    expect(term(HESLO.replaceAll('h:', 'zz:').replace('xmlns:h=', 'xmlns:zz='))?.label).toBe(
      'paleolit',
    );
  });
});

test('an organisation is also found by its short names', () => {
  expect(
    term(`<organizace xmlns="urn:s"><ident_cely>ORG-000091</ident_cely><nazev>Muzeum města Brna</nazev><nazev_en>Brno City Museum</nazev_en>
      <nazev_zkraceny>MMB</nazev_zkraceny><nazev_zkraceny_en>BCM</nazev_zkraceny_en><typ_organizace id="HES-1">muzeum</typ_organizace><oao>true</oao><zanikla>false</zanikla></organizace>`),
  ).toMatchObject({
    setSpec: 'organizace',
    label: 'Muzeum města Brna',
    labelEn: 'Brno City Museum',
    otherNames: ['MMB', 'BCM'],
    details: { facts: { typ_organizace: 'muzeum', oao: 'true', zanikla: 'false' } },
  });
});

test('a person is found by the full name, in both orders', () => {
  expect(
    term(
      '<osoba xmlns="urn:s"><ident_cely>OS-001507</ident_cely><jmeno>Jan</jmeno><prijmeni>Novák</prijmeni><vypis>Novák, J.</vypis><vypis_cely>Novák, Jan</vypis_cely></osoba>',
    ),
  ).toMatchObject({
    setSpec: 'osoba',
    label: 'Novák, Jan',
    otherNames: ['Jan Novák'],
    abbreviation: 'Novák, J.',
  });
});

test('a place is found by its code, and has its boundary in WGS 84 alone', () => {
  const place = (epsg: string): string =>
    `<ruian_katastr xmlns="urn:s"><kod>ruian-676730</kod><nazev xml:lang="cs">Křtiny</nazev><okres id="ruian-3701" xml:lang="cs">Blansko</okres><hranice_wkt EPSG="${epsg}">POLYGON ((16 49, 17 49, 17 50, 16 49))</hranice_wkt></ruian_katastr>`;
  expect(term(place('4326'))).toMatchObject({
    ident: 'ruian-676730',
    setSpec: 'ruian_katastr',
    label: 'Křtiny',
    superiors: [{ ident: 'ruian-3701', kind: 'okres' }],
    boundary: 'POLYGON ((16 49, 17 49, 17 50, 16 49))',
  });
  expect(term(place('5514'))?.boundary).toBeNull();
});

test.each([
  [
    'a record of another kind',
    '<projekt xmlns="urn:s"><ident_cely>C-202400101</ident_cely></projekt>',
  ],
  ['a name of JavaScript', '<constructor xmlns="urn:s"/>'],
  [
    'an entry without a name',
    '<heslo xmlns="urn:s"><ident_cely>HES-000001</ident_cely><nazev_heslare>x</nazev_heslare></heslo>',
  ],
  [
    'an entry without an identifier',
    '<osoba xmlns="urn:s"><vypis_cely>Novák, Jan</vypis_cely></osoba>',
  ],
  ['what may not be shown', '<organizace xmlns="urn:s">HTTP/1.1 403 Forbidden</organizace>'],
])('%s is not a term', (_, xml) => {
  expect(term(xml)).toBeUndefined();
});
