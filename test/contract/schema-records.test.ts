import { describe, expect, test } from 'vitest';
import { asVersion, ENTITIES, type Entity, record, without, withText } from '../support/hand-typed-records.ts';
import { check, SCHEMA_VERSIONS } from '../support/schema-validators.ts';

// Harvested records of every kind (service facts, sections 8.1 to 8.7).

const REFUSAL = 'HTTP/1.1 403 Forbidden';

describe.each(ENTITIES)('%s', (entity) => {
  test.each(SCHEMA_VERSIONS)('is valid in %s without what came later', (version) => {
    expect(check(asVersion(entity, version), version)).toEqual([]);
  });

  test('keeps the order of its elements', () => {
    const lines = record(entity).split('\n');
    const direct = lines.flatMap((line, index) => (/^ {4}<svc:.*<\/svc:/.test(line) ? [index] : []));
    for (const index of direct) {
      const [line, next] = [lines[index] ?? '', lines[index + 1] ?? ''];
      const repeats = next.trim().startsWith(line.trim().split(/[ >]/)[0] ?? '');
      if (!direct.includes(index + 1) || repeats) continue;
      expect(
        check(
          lines
            .with(index, next)
            .with(index + 1, line)
            .join('\n'),
        ),
        `${next} before ${line}`,
      ).not.toEqual([]);
    }
  });

  test('refuses an element that nobody knows, at its start and at its end', () => {
    const document = record(entity);
    expect(check(document.replace(`<svc:${entity}>`, `<svc:${entity}><svc:neznamy/>`))).not.toEqual([]);
    expect(check(document.replace(new RegExp(`(</svc:${entity}>\\s*</svc:svc>)`), '<svc:neznamy/>$1'))).not.toEqual([]);
  });
});

describe('what a record must have', () => {
  test.each<[Entity, string[]]>([
    [
      'projekt',
      ['typ_projektu', 'pristupnost_pom', 'geom_system', 'hlavni_katastr', 'odpovedna_osoba', 'adresa', 'telefon', 'email'],
    ],
    [
      'archeologicky_zaznam',
      [
        'stav',
        'pristupnost',
        'akce',
        'je_nz',
        'odlozena_nz',
        'specifikace_data',
        'negativni_jednotka',
        'ext_zdroj',
        'hlavni_katastr',
      ],
    ],
    [
      'adb',
      ['dokumentacni_jednotka', 'stav_pom', 'autor_popisu', 'rok_popisu', 'sm5', 'pristupnost_pom', 'geom_gml', 'geom_wkt'],
    ],
    ['dokument', ['stav', 'typ_dokumentu', 'material_originalu', 'rada', 'licence', 'geom_system']],
    ['ext_zdroj', ['ident_cely', 'stav', 'typ', 'archeologicky_zaznam']],
    ['pian', ['stav', 'typ', 'presnost', 'geom_system', 'pristupnost_pom', 'zm10', 'geom_gml', 'geom_wkt']],
    [
      'uzivatel',
      [
        'jmeno',
        'prijmeni',
        'email',
        'organizace',
        'aktivni',
        'admin',
        'superadmin',
        'datum_registrace',
        'vedouci',
        'spolupracovnik',
      ],
    ],
    [
      'heslo',
      [
        'ident_cely',
        'nazev_heslare',
        'heslo',
        'heslo_en',
        'heslo_nadrazene',
        'heslo_podrazene',
        'dokument_typ',
        'rok_od_min',
        'rok_do_max',
        'zdroj',
        'skos_mapping_relation',
      ],
    ],
    ['ruian_kraj', ['kod', 'nazev', 'nazev_en', 'rada_id']],
    ['ruian_okres', ['kod', 'nazev', 'nazev_en', 'spz', 'kraj']],
    ['ruian_katastr', ['kod', 'nazev', 'okres', 'definicni_bod_gml', 'definicni_bod_wkt', 'hranice_gml', 'hranice_wkt']],
    [
      'organizace',
      [
        'ident_cely',
        'nazev',
        'nazev_zkraceny',
        'nazev_zkraceny_en',
        'typ_organizace',
        'oao',
        'mesicu_do_zverejneni',
        'zverejneni_pristupnost',
        'zanikla',
        'cteni_dokumentu',
      ],
    ],
    ['osoba', ['ident_cely', 'jmeno', 'prijmeni', 'vypis', 'vypis_cely']],
  ])('%s: %s', (entity, elements) => {
    for (const element of elements) expect(check(without(record(entity), element)), element).not.toEqual([]);
  });

  test.each<[Entity, string[]]>([
    [
      'projekt',
      [
        'okres',
        'podnet',
        'planovane_zahajeni',
        'vedouci_projektu',
        'kulturni_pamatka',
        'termin_odevzdani_nz',
        'chranene_udaje',
        'dokument',
        'parcelni_cislo',
        'geom_wkt',
      ],
    ],
    ['let', ['datum', 'hodina_zacatek', 'pozorovatel', 'organizace', 'letiste_start', 'pocasi', 'dokument']],
    ['ruian_kraj', ['definicni_bod_gml', 'definicni_bod_wkt', 'hranice_gml', 'hranice_wkt', 'email']],
    ['ruian_okres', ['definicni_bod_gml', 'definicni_bod_wkt', 'hranice_gml', 'hranice_wkt']],
    ['ruian_katastr', ['pian']],
    [
      'heslo',
      [
        'popis',
        'popis_en',
        'zkratka',
        'razeni',
        'hierarchie_vyse',
        'hierarchie_nize',
        'dokument_typ_material_rada',
        'datace',
        'odkaz',
        'uri',
        'scheme_uri',
      ],
    ],
    ['organizace', ['nazev_en', 'email', 'telefon', 'adresa', 'ico', 'soucast', 'ror']],
    ['osoba', ['rok_narozeni', 'rok_umrti', 'rodne_prijmeni', 'orcid', 'wikidata']],
    ['uzivatel', ['osoba', 'orcid', 'jazyk', 'telefon', 'hlidaci_pes', 'spoluprace_nadrizeni', 'spoluprace_podrizeni']],
    ['pian', ['chranene_udaje', 'historie', 'dokumentacni_jednotka', 'geom_sjtsk_gml', 'geom_sjtsk_wkt']],
  ])('but not %s: %s', (entity, elements) => {
    for (const element of elements) expect(check(without(record(entity), element)), element).toEqual([]);
  });

  test('is a fieldwork event or a site, not both and not neither', () => {
    const event = record('archeologicky_zaznam');
    const site = `<svc:lokalita><svc:igsn>10.5072/y</svc:igsn><svc:typ_lokality id="a" xml:lang="cs"/><svc:druh id="b" xml:lang="cs"/>
      <svc:chranene_udaje><svc:nazev>Býčí skála</svc:nazev></svc:chranene_udaje></svc:lokalita>`;
    const asSite = without(event, 'akce').replace('<svc:historie>', `${site}<svc:historie>`);
    expect(check(asSite)).toEqual([]);
    expect(check(asSite, '2.1')).toEqual([]);
    expect(check(asSite, '2.0').join()).toContain('igsn');
    expect(check(without(asSite, 'igsn'), '2.0')).toEqual([]);
    expect(check(asSite.replaceAll('svc:nazev>', 'svc:popis>'))).not.toEqual([]);
    expect(check(event.replace('<svc:historie>', `${site}<svc:historie>`))).not.toEqual([]);
    expect(check(without(event, 'akce'))).not.toEqual([]);
  });

  test('has at least one role if it is an account', () => {
    expect(check(record('uzivatel').replaceAll(/<svc:skupina.*/g, ''))).not.toEqual([]);
  });
});

describe('values', () => {
  test.each<[Entity, string, string]>([
    ['projekt', 'stav', 'archivovaný'],
    ['projekt', 'datum_zahajeni', '1. 3. 2024'],
    ['archeologicky_zaznam', 'je_nz', 'ne'],
    ['archeologicky_zaznam', 'jistota', 'snad'],
    ['let', 'datum', 'červen'],
    ['adb', 'rok_popisu', 'MMXXIV'],
    ['adb', 'stav_pom', ''],
    ['dokument', 'rok_vzniku', 'asi 2024'],
    ['dokument', 'datum_zverejneni', '2024'],
    ['dokument', 'duveryhodnost', '80 %'],
    ['dokument', 'vyska', '1.5'],
    ['ext_zdroj', 'datum_rd', '2024-01'],
    ['pian', 'stav', 'II'],
    ['uzivatel', 'aktivni', 'ANO'],
    ['uzivatel', 'datum_registrace', '2020-01-02'],
    ['heslo', 'razeni', '1a'],
    ['heslo', 'rok_od_min', '250 tis.'],
    ['organizace', 'mesicu_do_zverejneni', 'nikdy'],
    ['organizace', 'oao', 'x'],
    ['osoba', 'rok_narozeni', '1950?'],
    ['samostatny_nalez', 'size_mb', '1.5 MB'],
    ['samostatny_nalez', 'datum_zmeny', '2024-05-06 07:08:09'],
  ])('of %s/%s may not be "%s"', (entity, element, value) => {
    expect(check(withText(record(entity), element, value)).join()).toContain(element);
  });

  test.each<[Entity, string]>([
    ['heslo', 'xml:lang="en"'],
    ['organizace', 'xml:lang="cs"'],
    ['ruian_okres', 'xml:lang="en"'],
    ['ruian_katastr', 'xml:lang="cs"'],
    ['uzivatel', 'xml:lang="cs"'],
    ['dokument', 'poradi="2"'],
    ['pian', 'EPSG="5514"'],
    ['let', 'id="OS-001507"'],
  ])('of %s need their attribute %s', (entity, attribute) => {
    expect(record(entity)).toContain(` ${attribute}`);
    expect(check(record(entity).replace(` ${attribute}`, ''))).not.toEqual([]);
  });
});

describe('what may not be seen', () => {
  const masked = /\n( *)<svc:(chranene_udaje|oznamovatel)>\n.*?\n\1<\/svc:\2>/gs;

  test.each<[Entity, number]>([
    ['projekt', 2],
    ['archeologicky_zaznam', 2],
    ['adb', 1],
    ['pian', 1],
    ['samostatny_nalez', 1],
  ])('of %s is replaced by the 403 text in %i places', (entity, places) => {
    for (const version of SCHEMA_VERSIONS) {
      const complete = asVersion(entity, version);
      const hidden = complete.replaceAll(masked, `<svc:$2>${REFUSAL}</svc:$2>`);
      expect(hidden.split(REFUSAL)).toHaveLength(places + 1);
      expect(check(hidden, version)).toEqual([]);
      expect(check(complete.replaceAll(masked, '<svc:$2/>'), version)).toEqual([]);
    }
  });

  test.each(SCHEMA_VERSIONS)('can be a whole record of %s', (version) => {
    expect(check(`<svc:svc xmlns:svc="https://schemas.example/svc/2.2/"> ${REFUSAL} </svc:svc>`, version)).toEqual([]);
  });

  test('is never a plain element', () => {
    expect(check(withText(record('projekt'), 'datum_zahajeni', REFUSAL))).not.toEqual([]);
    expect(
      check(record('pian').replace(/<svc:historie>.*<\/svc:historie>/s, `<svc:historie>${REFUSAL}</svc:historie>`)),
    ).not.toEqual([]);
  });
});
