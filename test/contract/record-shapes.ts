import type { SchemaVersion } from './schema-validators.ts';

/**
 * Children of each element, in order: a second typing of S-TYPE, S-FIND and S-ENTITY, to hold the
 * schemas against. `name` occurs once, `name?` at most once, `name+` and `name*` any number of
 * times; `:type` is `string` where it is not said; `@2.1` was added in 2.1, `<2.1` was given up in
 * 2.1. `(a|b)` is a choice: either must be there, and `(a|b)?`, at most one.
 */
const SHAPES: Readonly<Record<string, string>> = {
  samostatny_nalez: `ident_cely evidencni_cislo? igsn?@2.1 projekt:ref okres?:vocab hloubka?:integer okolnosti?:vocab obdobi?:vocab
    presna_datace? druh_nalezu?:vocab specifikace?:vocab pocet? poznamka? nalezce?:ref datum_nalezu?:date stav:integer
    predano?:boolean predano_organizace?:vocab geom_system geom_updated_at?:dateTime<2.1 geom_sjtsk_updated_at?:dateTime<2.1
    pristupnost:vocab chranene_udaje?:group historie*:group soubor*:group`,
  'samostatny_nalez/chranene_udaje':
    'katastr?:vocab lokalizace? geom_gml?:gml geom_wkt?:wkt geom_sjtsk_gml?:gml geom_sjtsk_wkt?:wkt',

  projekt: `ident_cely stav:integer typ_projektu:vocab okres?:vocab podnet? planovane_zahajeni? vedouci_projektu?:ref organizace?:vocab
    uzivatelske_oznaceni? oznaceni_stavby? kulturni_pamatka?:vocab datum_zahajeni?:date datum_ukonceni?:date
    termin_odevzdani_nz?:date pristupnost_pom:vocab geom_system@2.1 chranene_udaje?:group historie*:group oznamovatel?:group
    soubor*:group archeologicky_zaznam*:ref samostatny_nalez*:ref dokument*:ref`,
  'projekt/chranene_udaje': `hlavni_katastr:vocab dalsi_katastr*:vocab lokalizace? parcelni_cislo? geom_gml?:gml geom_wkt?:wkt
    geom_sjtsk_gml?:gml@2.1 geom_sjtsk_wkt?:wkt@2.1 kulturni_pamatka_cislo? kulturni_pamatka_popis?`,
  'projekt/oznamovatel': 'oznamovatel odpovedna_osoba adresa telefon email poznamka?',

  archeologicky_zaznam: `ident_cely stav:integer okres?:vocab pristupnost:vocab chranene_udaje?:group (akce|lokalita):group historie*:group
    dokumentacni_jednotka*:group ext_odkaz*:group dokument*:ref`,
  'archeologicky_zaznam/chranene_udaje':
    'hlavni_katastr:vocab dalsi_katastr*:vocab uzivatelske_oznaceni?',
  akce: `projekt?:ref typ je_nz:boolean odlozena_nz:boolean hlavni_vedouci?:ref organizace?:vocab vedouci_akce_ostatni*:group
    specifikace_data:vocab datum_zahajeni?:date datum_ukonceni?:date hlavni_typ?:vocab vedlejsi_typ?:vocab ulozeni_nalezu?
    ulozeni_dokumentace? chranene_udaje?:group`,
  vedouci_akce_ostatni: 'id vedouci:ref organizace:vocab',
  'akce/chranene_udaje': 'lokalizace_okolnosti? souhrn_upresneni?',
  lokalita:
    'igsn?@2.1 typ_lokality:vocab druh:vocab zachovalost?:vocab jistota?:vocab chranene_udaje?:group',
  'lokalita/chranene_udaje': 'nazev popis? poznamka?',
  'archeologicky_zaznam/dokumentacni_jednotka':
    'ident_cely pian?:ref typ:vocab negativni_jednotka:boolean nazev? adb?:ref komponenta*:group',
  'archeologicky_zaznam/ext_odkaz': 'id ext_zdroj:ref paginace?',

  komponenta: `ident_cely obdobi?:vocab jistota?:boolean presna_datace? areal?:vocab aktivita*:vocab poznamka? nalez_objekt*:group
    nalez_predmet*:group`,
  nalez_objekt: 'id druh:vocab specifikace?:vocab pocet? poznamka?',
  nalez_predmet: 'id druh:vocab specifikace?:vocab pocet? poznamka?',
  historie: 'id datum_zmeny:dateTime uzivatel:ref poznamka? typ_zmeny',
  soubor:
    'id path nazev mimetype rozsah?:integer size_mb:decimal sha_512 url:anyURI historie*:group',

  let: `ident_cely datum?:date hodina_zacatek? hodina_konec? pozorovatel?:ref organizace?:vocab fotoaparat? pilot? typ_letounu?
    ucel_letu? letiste_start?:vocab letiste_cil?:vocab pocasi?:vocab dohlednost?:vocab uzivatelske_oznaceni? dokument*:ref`,

  adb: `ident_cely dokumentacni_jednotka:ref stav_pom:integer typ_sondy?:vocab podnet?:vocab stratigraficke_jednotky? autor_popisu:ref
    rok_popisu:integer autor_revize?:ref rok_revize?:integer sm5 pristupnost_pom:vocab chranene_udaje?:group`,
  'adb/chranene_udaje':
    'uzivatelske_oznaceni_sondy? trat? cislo_popisne? parcelni_cislo? poznamka? vyskovy_bod*:group',
  vyskovy_bod: 'ident_cely typ:vocab geom_gml:gml geom_wkt:wkt',

  dokument: `ident_cely doi?@2.1 let?:ref stav:integer typ_dokumentu:vocab material_originalu:vocab rada:vocab posudek*:vocab autor*:autor
    rok_vzniku?:integer organizace:vocab pristupnost?:vocab datum_zverejneni?:date jazyk_dokumentu*:vocab ulozeni_originalu?:vocab
    oznaceni_originalu? popis? poznamka? licence:vocab osoba*:ref historie*:group soubor*:group extra_data?:group tvar*:group
    dokument_cast*:group`,
  extra_data: `cislo_objektu? format?:vocab meritko? vyska?:integer sirka?:integer zachovalost?:vocab nahrada?:vocab
    pocet_variant_originalu?:integer odkaz? datum_vzniku?:date udalost_typ?:vocab udalost? zeme?:vocab region? rok_od?:integer
    rok_do?:integer duveryhodnost?:integer geom_system@2.1 geom_gml?:gml geom_wkt?:wkt geom_sjtsk_gml?:gml@2.1 geom_sjtsk_wkt?:wkt@2.1`,
  'dokument/tvar': 'id tvar:vocab poznamka?',
  dokument_cast:
    'ident_cely (archeologicky_zaznam|projekt)?:ref poznamka? komponenta*:group neident_akce?:group',
  neident_akce: `okres?:vocab katastr?:vocab vedouci*:ref rok_zahajeni?:integer rok_ukonceni?:integer lokalizace? popis? poznamka? pian?`,

  ext_zdroj: `ident_cely doi?@2.1 stav:integer typ:vocab autor*:autor nazev? edice_rada? rok_vydani_vzniku? isbn? issn? vydavatel?
    editor*:autor sbornik_nazev? misto? casopis_denik_nazev? casopis_rocnik? datum_rd?:date paginace_titulu? link?
    typ_dokumentu?:vocab organizace? poznamka? historie*:group ext_odkaz*:group`,
  'ext_zdroj/ext_odkaz': 'id archeologicky_zaznam:ref paginace?',

  pian: `ident_cely stav:integer typ:vocab presnost:vocab geom_system geom_updated_at?:dateTime<2.1 geom_sjtsk_updated_at?:dateTime<2.1
    pristupnost_pom:vocab chranene_udaje?:group historie*:group dokumentacni_jednotka*:ref`,
  'pian/chranene_udaje': 'zm10 geom_gml:gml geom_wkt:wkt geom_sjtsk_gml?:gml geom_sjtsk_wkt?:wkt',

  uzivatel: `ident_cely jmeno prijmeni email osoba?:ref orcid?:anyURI@2.1 organizace:vocab jazyk? telefon? aktivni:boolean admin:boolean
    superadmin:boolean skupina+:langstring notifikace* hlidaci_pes*:vocab datum_registrace:dateTime historie*:group
    spoluprace_nadrizeni*:group spoluprace_podrizeni*:group`,
  spoluprace_nadrizeni: 'id vedouci:ref stav:integer historie*:group',
  spoluprace_podrizeni: 'id spolupracovnik:ref stav:integer historie*:group',

  heslo: `ident_cely nazev_heslare:langstring heslo:langstring heslo_en:langstring popis?:langstring popis_en?:langstring
    zkratka?:langstring razeni?:integer hierarchie_vyse*:group hierarchie_nize*:group dokument_typ_material_rada*:group
    datace?:group odkaz*:group`,
  hierarchie_vyse: 'id heslo_nadrazene:vocab typ:langstring',
  hierarchie_nize: 'id heslo_podrazene:vocab typ:langstring',
  dokument_typ_material_rada: 'id dokument_typ:vocab dokument_material:vocab',
  datace: 'rok_od_min:integer rok_od_max:integer rok_do_min:integer rok_do_max:integer poznamka?',
  'heslo/odkaz': 'id zdroj nazev_kodu kod uri? scheme_uri?@2.1 skos_mapping_relation',

  ruian_kraj: `kod nazev:langstring nazev_en:langstring rada_id definicni_bod_gml?:gml definicni_bod_wkt?:wkt hranice_gml?:gml
    hranice_wkt?:wkt email?@2.2`,
  ruian_okres: `kod nazev:langstring nazev_en:langstring spz kraj:vocab definicni_bod_gml?:gml definicni_bod_wkt?:wkt
    hranice_gml?:gml hranice_wkt?:wkt`,
  ruian_katastr:
    'kod nazev:langstring okres:vocab pian?:ref definicni_bod_gml:gml definicni_bod_wkt:wkt hranice_gml:gml hranice_wkt:wkt',

  organizace: `ident_cely nazev:langstring nazev_en?:langstring nazev_zkraceny:langstring nazev_zkraceny_en:langstring typ_organizace:vocab
    oao:boolean mesicu_do_zverejneni:integer zverejneni_pristupnost:vocab email? telefon? adresa? ico? soucast?:vocab
    zanikla:boolean cteni_dokumentu:boolean ror?@2.1`,

  osoba: `ident_cely jmeno prijmeni vypis vypis_cely rok_narozeni?:integer rok_umrti?:integer rodne_prijmeni? orcid?:anyURI@2.1
    wikidata?:anyURI@2.1`,
};

export type Shape = {
  readonly name: string;
  readonly required: boolean;
  readonly repeats: boolean;
  readonly type: string;
  readonly since: SchemaVersion;
  /** First version that has it no more. */
  readonly until?: string;
};

const parsed = new Map(
  Object.entries(SHAPES).map(([parent, text]) => [parent, text.split(/\s+/).flatMap(parseShape)]),
);

export const allShapes: readonly Shape[] = [...parsed.values()].flat();

/**
 * The children that an element may have, found by its own and its parent's name
 * (`pian/chranene_udaje`), else by its own.
 */
export function getShape(parent: string, element: string): readonly Shape[] | undefined {
  return parsed.get(`${parent}/${element}`) ?? parsed.get(element);
}

function parseShape(text: string): Shape[] {
  const [, names = '', occurs = '', type = 'string', since = '2.0', until] =
    /^([a-z0-9_]+|\([a-z_|]+\))([?*+]?)(?::(\w+))?(?:@([\d.]+))?(?:<([\d.]+))?$/.exec(text) ?? [];
  if (names === '') throw new Error(`unreadable shape ${text}`);
  return names
    .split(/[(|)]/)
    .filter(Boolean)
    .map((name) => ({
      name,
      required: occurs === '' || occurs === '+',
      repeats: occurs === '*' || occurs === '+',
      type,
      since: since as SchemaVersion,
      until,
    }));
}
