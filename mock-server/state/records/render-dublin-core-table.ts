import type { Entity } from './record.ts';

type DublinCoreElement =
  | 'title'
  | 'creator'
  | 'subject'
  | 'description'
  | 'publisher'
  | 'contributor'
  | 'date'
  | 'type'
  | 'identifier'
  | 'language'
  | 'relation'
  | 'coverage'
  | 'rights';

/** One row of the mapping from a path below the entity to a Dublin Core element. */
export type Mapping = {
  readonly to: DublinCoreElement;
  readonly path: string;
  /**
   * `text`: unchanged; `address`: the persistent address of the referenced record; `coordinates`:
   * of GML.
   */
  readonly as: 'text' | 'address' | 'coordinates';
  /** Precedes the text. */
  readonly label?: string;
  /** The deployed service's own spelling of the label. */
  readonly deployedLabel?: string;
};

type EntityMapping = {
  readonly title: string;
  readonly subject: string;
  readonly mappings: readonly Mapping[];
};

const text = (to: DublinCoreElement, path: string, label?: string): Mapping =>
  label === undefined ? { to, path, as: 'text' } : { to, path, as: 'text', label };
const addresses = (to: DublinCoreElement, ...paths: readonly string[]): Mapping[] =>
  paths.map((path) => ({ to, path, as: 'address' }));
const coordinates = (...paths: readonly string[]): Mapping[] =>
  paths.map((path) => ({ to: 'coverage', path, as: 'coordinates' }));

const entity = (name: string, ...mappings: readonly Mapping[]): EntityMapping => ({
  title: `Archiv - ${name}`,
  subject: name,
  mappings,
});

const PROTECTED_GML = ['chranene_udaje/geom_gml', 'chranene_udaje/geom_sjtsk_gml'] as const;

/**
 * Mapping of finds and vocabulary entries as on the deployed service (B-DC-1, B-DC-2); others in
 * the same manner.
 */
export const DUBLIN_CORE: Readonly<Record<Entity, EntityMapping>> = {
  samostatny_nalez: entity(
    'samostatný nález',
    text('identifier', 'igsn', 'doi:'),
    text('description', 'stav', 'Stav: '),
    {
      ...text('description', 'evidencni_cislo', 'Evidenční číslo: '),
      deployedLabel: 'Evideční číslo: ',
    },
    text('description', 'poznamka', 'Poznámka: '),
    ...addresses('type', 'pristupnost'),
    ...addresses('coverage', 'okres', 'chranene_udaje/katastr'),
    text('coverage', 'chranene_udaje/lokalizace'),
    ...coordinates(...PROTECTED_GML),
    text('coverage', 'datum_nalezu'),
    ...addresses('subject', 'okolnosti', 'obdobi', 'druh_nalezu', 'specifikace'),
    ...addresses('creator', 'nalezce'),
    ...addresses('contributor', 'predano_organizace'),
    ...addresses('relation', 'projekt'),
    text('relation', 'soubor/url'),
  ),
  heslo: entity(
    'heslo',
    text('title', 'heslo'),
    text('title', 'heslo_en'),
    text('title', 'zkratka'),
    text('subject', 'nazev_heslare'),
    text('description', 'popis'),
    text('description', 'popis_en'),
    text('relation', 'odkaz/uri'),
    ...addresses('relation', 'hierarchie_vyse/heslo_nadrazene', 'hierarchie_nize/heslo_podrazene'),
    ...addresses(
      'relation',
      'dokument_typ_material_rada/dokument_typ',
      'dokument_typ_material_rada/dokument_material',
    ),
  ),
  projekt: entity(
    'projekt',
    text('description', 'stav', 'Stav: '),
    text('description', 'podnet', 'Podnět: '),
    text('description', 'oznaceni_stavby', 'Označení stavby: '),
    ...addresses('type', 'pristupnost_pom'),
    ...addresses('subject', 'typ_projektu', 'kulturni_pamatka'),
    ...addresses(
      'coverage',
      'okres',
      'chranene_udaje/hlavni_katastr',
      'chranene_udaje/dalsi_katastr',
    ),
    text('coverage', 'chranene_udaje/lokalizace'),
    ...coordinates(...PROTECTED_GML),
    text('date', 'datum_zahajeni'),
    text('date', 'datum_ukonceni'),
    ...addresses('creator', 'vedouci_projektu'),
    ...addresses('contributor', 'organizace'),
    ...addresses('relation', 'archeologicky_zaznam', 'samostatny_nalez', 'dokument'),
    text('relation', 'soubor/url'),
  ),
  archeologicky_zaznam: entity(
    'archeologický záznam',
    text('title', 'lokalita/chranene_udaje/nazev'),
    text('identifier', 'lokalita/igsn', 'doi:'),
    text('description', 'stav', 'Stav: '),
    text('description', 'lokalita/chranene_udaje/popis', 'Popis: '),
    text('description', 'akce/chranene_udaje/souhrn_upresneni', 'Souhrn: '),
    ...addresses('type', 'pristupnost'),
    ...addresses(
      'coverage',
      'okres',
      'chranene_udaje/hlavni_katastr',
      'chranene_udaje/dalsi_katastr',
    ),
    text('coverage', 'akce/chranene_udaje/lokalizace_okolnosti'),
    ...addresses(
      'subject',
      'akce/hlavni_typ',
      'akce/vedlejsi_typ',
      'lokalita/typ_lokality',
      'lokalita/druh',
    ),
    ...addresses(
      'subject',
      'dokumentacni_jednotka/komponenta/obdobi',
      'dokumentacni_jednotka/komponenta/areal',
    ),
    text('date', 'akce/datum_zahajeni'),
    text('date', 'akce/datum_ukonceni'),
    ...addresses('creator', 'akce/hlavni_vedouci'),
    ...addresses('contributor', 'akce/organizace', 'akce/vedouci_akce_ostatni/vedouci'),
    ...addresses(
      'relation',
      'akce/projekt',
      'dokumentacni_jednotka/pian',
      'dokumentacni_jednotka/adb',
      'ext_odkaz/ext_zdroj',
      'dokument',
    ),
  ),
  let: entity(
    'let',
    text('date', 'datum'),
    text('description', 'ucel_letu', 'Účel letu: '),
    ...addresses('creator', 'pozorovatel'),
    ...addresses('contributor', 'organizace'),
    ...addresses('coverage', 'letiste_start', 'letiste_cil'),
    ...addresses('subject', 'pocasi', 'dohlednost'),
    ...addresses('relation', 'dokument'),
  ),
  adb: entity(
    'archeologický dokumentační bod',
    text('description', 'stav_pom', 'Stav: '),
    text('description', 'chranene_udaje/poznamka', 'Poznámka: '),
    ...addresses('type', 'pristupnost_pom'),
    ...addresses('subject', 'typ_sondy', 'podnet'),
    text('coverage', 'chranene_udaje/trat'),
    ...coordinates('chranene_udaje/vyskovy_bod/geom_gml'),
    text('date', 'rok_popisu'),
    ...addresses('creator', 'autor_popisu'),
    ...addresses('contributor', 'autor_revize'),
    ...addresses('relation', 'dokumentacni_jednotka'),
  ),
  dokument: entity(
    'dokument',
    text('identifier', 'doi', 'doi:'),
    text('description', 'stav', 'Stav: '),
    text('description', 'popis'),
    text('description', 'poznamka', 'Poznámka: '),
    ...addresses('type', 'pristupnost', 'typ_dokumentu', 'material_originalu'),
    ...addresses('subject', 'rada', 'posudek', 'tvar/tvar'),
    ...addresses('creator', 'autor'),
    ...addresses('contributor', 'organizace', 'osoba'),
    text('date', 'rok_vzniku'),
    text('date', 'datum_zverejneni'),
    ...addresses('language', 'jazyk_dokumentu'),
    ...addresses('rights', 'licence'),
    ...coordinates('extra_data/geom_gml', 'extra_data/geom_sjtsk_gml'),
    ...addresses('relation', 'let', 'dokument_cast/archeologicky_zaznam', 'dokument_cast/projekt'),
    text('relation', 'soubor/url'),
  ),
  ext_zdroj: entity(
    'externí zdroj',
    text('title', 'nazev'),
    text('identifier', 'doi', 'doi:'),
    text('identifier', 'isbn', 'ISBN '),
    text('identifier', 'issn', 'ISSN '),
    text('description', 'stav', 'Stav: '),
    text('description', 'poznamka', 'Poznámka: '),
    ...addresses('type', 'typ'),
    ...addresses('creator', 'autor'),
    ...addresses('contributor', 'editor'),
    text('publisher', 'vydavatel'),
    text('date', 'rok_vydani_vzniku'),
    text('relation', 'sbornik_nazev'),
    text('relation', 'casopis_denik_nazev'),
    text('relation', 'link'),
    ...addresses('relation', 'ext_odkaz/archeologicky_zaznam'),
  ),
  pian: entity(
    'prostorová jednotka',
    text('description', 'stav', 'Stav: '),
    ...addresses('type', 'pristupnost_pom'),
    ...addresses('subject', 'typ', 'presnost'),
    text('coverage', 'chranene_udaje/zm10'),
    ...coordinates(...PROTECTED_GML),
    ...addresses('relation', 'dokumentacni_jednotka'),
  ),
  uzivatel: entity(
    'uživatel',
    text('identifier', 'orcid'),
    text('subject', 'skupina'),
    ...addresses('contributor', 'organizace'),
    ...addresses('relation', 'osoba'),
  ),
  ruian_kraj: entity(
    'kraj',
    text('title', 'nazev'),
    text('title', 'nazev_en'),
    ...coordinates('definicni_bod_gml', 'hranice_gml'),
  ),
  ruian_okres: entity(
    'okres',
    text('title', 'nazev'),
    text('title', 'nazev_en'),
    ...addresses('relation', 'kraj'),
    ...coordinates('definicni_bod_gml', 'hranice_gml'),
  ),
  ruian_katastr: entity(
    'katastrální území',
    text('title', 'nazev'),
    ...addresses('relation', 'okres', 'pian'),
    ...coordinates('definicni_bod_gml', 'hranice_gml'),
  ),
  organizace: entity(
    'organizace',
    text('title', 'nazev'),
    text('title', 'nazev_en'),
    text('title', 'nazev_zkraceny'),
    text('identifier', 'ror'),
    ...addresses('subject', 'typ_organizace'),
    ...addresses('type', 'zverejneni_pristupnost'),
    text('coverage', 'adresa'),
    ...addresses('relation', 'soucast'),
  ),
  osoba: entity(
    'osoba',
    text('title', 'vypis_cely'),
    text('identifier', 'orcid'),
    text('identifier', 'wikidata'),
    text('date', 'rok_narozeni'),
  ),
};
