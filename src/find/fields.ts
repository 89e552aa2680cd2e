import { t } from '../base/language.ts';
import type { GeomSystem } from '../place/geometry.ts';
import type { FieldRow, ValueOf } from './field.ts';

/**
 * The elements that a client fills, in the order of the schema: the one list that documents, tables, questions, exports, reports
 * and rules are made from. Requirements are those of the contract's table, the sets those that the deployed service checks.
 * `ident_cely`, which comes first, always says `:tba` and is not a choice.
 */
const ROWS = [
  {
    name: 'evidencni_cislo',
    kind: 'text',
    alias: 'registration_number',
    requiredFrom: 3,
    gloss: () => t`museum registration number`,
    called:
      'evidencni cislo, ev cislo, ev c, evid c, evid cislo, evc, e c, registration number, reg no, ' +
      'registration no, museum number, museum no',
    ask: { at: 150, title: () => t`Registration number`, when: 'handing-over' },
    report: { at: 160, label: () => t`Registration number` },
  },
  {
    name: 'projekt',
    kind: 'reference',
    alias: 'project',
    requiredFrom: 1,
    gloss: () => t`survey project`,
    called: 'projekt, cislo projektu, c projektu, id projektu, project, project id, project no, survey, akce, ' + 'c akce',
    ask: { at: 10, title: () => t`Project`, when: 'frame', stays: 'carried' },
    report: { at: 150, label: () => t`Project` },
  },
  {
    name: 'hloubka',
    kind: 'integer',
    alias: 'depth_cm',
    requiredFrom: 2,
    gloss: () => t`depth in whole centimetres`,
    called:
      'hloubka, hl, hloub, hloubka ulozeni, hl nalezu, hloubka nalezu, hl pod povrchem, depth, find depth, ' +
      'depth below surface',
    ask: { at: 120, title: () => t`Depth (cm)`, when: 'find' },
    report: { at: 80, label: () => t`Depth` },
    unit: 'cm',
  },
  {
    name: 'okolnosti',
    kind: 'term',
    alias: 'context',
    set: 'heslo:nalezove_okolnosti',
    requiredFrom: 2,
    gloss: () => t`find context`,
    called:
      'okolnosti, nalezove okolnosti, okolnosti nalezu, okol, nal okol, nal okolnosti, zpusob nalezu, ' +
      'zp nalezu, zpusob ziskani, zpusob, context, circumstances, find circumstances, how found, method',
    ask: { at: 90, title: () => t`Context`, when: 'find', stays: 'carried' },
    report: { at: 70, label: () => t`Circumstances` },
  },
  {
    name: 'obdobi',
    kind: 'term',
    alias: 'period',
    set: 'heslo:obdobi',
    requiredFrom: 2,
    gloss: () => t`period`,
    called: 'obdobi, obd, epocha, pravek, kultura, kult, datace, datovani, dat, period, culture, age, dating',
    ask: { at: 80, title: () => t`Period`, when: 'find', stays: 'carried' },
    report: { at: 10, label: () => t`Period` },
  },
  {
    name: 'presna_datace',
    kind: 'text',
    alias: 'dating',
    gloss: () => t`dating in detail, free text`,
    called:
      'presna datace, datace presna, datace, datovani, dat, chronologie, stupen, stoleti, presne datovani, ' +
      'dating, exact dating, precise dating, date range, century, phase',
    ask: { at: 180, title: () => t`Dating in detail`, when: 'more', stays: 'copied' },
    report: { with: 'obdobi' },
  },
  {
    name: 'druh_nalezu',
    kind: 'term',
    alias: 'object_type',
    set: 'heslo:predmet_druh',
    requiredFrom: 2,
    gloss: () => t`object type`,
    called:
      'druh nalezu, druh predmetu, druh, predmet, urceni, nazev, nazev predmetu, typ, typ predmetu, artefakt, ' +
      'nalez, co, object type, object, object name, type, find type, artefact, artifact, name, identification',
    ask: { at: 60, title: () => t`Object`, when: 'find', stays: 'carried' },
    report: { at: 20, label: () => t`Object type` },
  },
  {
    name: 'specifikace',
    kind: 'term',
    alias: 'specification',
    set: 'heslo:predmet_specifikace',
    requiredFrom: 2,
    gloss: () => t`object specification, as a rule the material`,
    called: 'specifikace, material, mat, mater, surovina, sur, hmota, specification, raw material, fabric',
    ask: { at: 70, title: () => t`Material`, when: 'find', stays: 'carried' },
    report: { at: 30, label: () => t`Material` },
  },
  {
    name: 'pocet',
    kind: 'text',
    alias: 'count',
    gloss: () => t`number of items, free text`,
    called: 'pocet, poc, pocet kusu, pocet ks, ks, kusu, mnozstvi, count, quantity, qty, number of items, pieces, ' + 'pcs',
    ask: { at: 170, title: () => t`Number of items`, when: 'more' },
    report: { at: 40, label: () => t`Count` },
  },
  {
    name: 'poznamka',
    kind: 'text',
    alias: 'note',
    gloss: () => t`note`,
    called: 'poznamka, pozn, poznamky, popis, note, notes, remark, remarks, comment, comments, description',
    ask: { at: 190, title: () => t`Note`, when: 'more' },
    report: { at: 180, label: () => t`Note`, shape: 'wide' },
    tellsPlace: true,
  },
  {
    name: 'nalezce',
    kind: 'reference',
    alias: 'finder',
    set: 'osoba',
    requiredFrom: 2,
    gloss: () => t`finder`,
    called:
      'nalezce, nal, nalezl, nasel, nalez ucinil, jmeno nalezce, sberatel, odevzdal, finder, found by, ' +
      'collector, name of finder, detectorist',
    ask: { at: 30, title: () => t`Finder`, when: 'frame', stays: 'carried', hint: () => t`Surname, Given name` },
    report: { at: 60, label: () => t`Finder` },
    tellsPlace: true,
  },
  {
    name: 'datum_nalezu',
    kind: 'date',
    alias: 'found_on',
    requiredFrom: 2,
    gloss: () => t`date of the find`,
    called:
      'datum nalezu, datum, dat nalezu, dat, dat nal, den nalezu, nalezeno, nalezeno dne, dne, rok nalezu, ' +
      'rok, date found, found on, date, find date, date of find, date of discovery, year, year found',
    ask: { at: 40, title: () => t`Date of the find`, when: 'frame', stays: 'carried' },
    report: { at: 50, label: () => t`Found on` },
  },
  {
    name: 'stav',
    kind: 'state',
    alias: 'target_state',
    requiredFrom: 1,
    gloss: () => t`target state: 1, 2 or 3`,
    called: 'cilovy stav, stav zaznamu, stav, target state, record state, state',
    ask: { at: 20, title: () => t`Target state`, when: 'frame', stays: 'carried' },
    report: { elsewhere: true },
  },
  {
    name: 'predano',
    kind: 'boolean',
    alias: 'handed_over',
    requiredFrom: 3,
    gloss: () => t`handed over to the organisation`,
    called: 'predano, odevzdano, predano muzeu, handed over, deposited',
    ask: { at: 130, title: () => t`Handed over`, when: 'handing-over', stays: 'carried' },
    report: { elsewhere: true },
  },
  {
    name: 'predano_organizace',
    kind: 'term',
    alias: 'receiving_organisation',
    set: 'organizace',
    requiredFrom: 3,
    gloss: () => t`receiving organisation`,
    called:
      'predano organizace, organizace, muzeum, instituce, ulozeno, ulozeni, misto ulozeni, sbirka, ' +
      'receiving organisation, organisation, museum, institution, repository, held by',
    ask: { at: 140, title: () => t`Receiving organisation`, when: 'handing-over', stays: 'carried' },
    report: { elsewhere: true },
  },
  {
    name: 'geom_system',
    kind: 'geom-system',
    alias: 'crs',
    requiredFrom: 1,
    gloss: () => t`coordinate system: 4326 or 5514`,
    called: 'souradnicovy system, sour system, system, crs, srs, epsg, coordinate system',
    tellsPlace: true,
  },
  {
    name: 'pristupnost',
    kind: 'term',
    alias: 'accessibility',
    set: 'heslo:pristupnost',
    requiredFrom: 1,
    gloss: () => t`accessibility`,
    called: 'pristupnost, pristup, accessibility, access',
    ask: { at: 50, title: () => t`Accessibility`, when: 'frame', stays: 'carried' },
    report: { elsewhere: true },
  },
  {
    name: 'lokalizace',
    kind: 'text',
    alias: 'location',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    gloss: () => t`description of the place`,
    called:
      'lokalizace, lok, lokalita, poloha, misto nalezu, misto, nazev lokality, trat, nalezova situace, ' +
      'nal misto, location, site, findspot, find spot, place, locality, provenance',
    ask: { at: 110, title: () => t`Place in words`, when: 'find', stays: 'carried' },
    report: { at: 110, label: () => t`Place`, shape: 'double' },
  },
  {
    name: 'geom_wkt',
    kind: 'point',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    epsg: '4326',
    gloss: () => t`point, longitude and latitude`,
  },
  {
    name: 'geom_sjtsk_wkt',
    kind: 'point',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    epsg: '5514',
    gloss: () => t`point, S-JTSK x and y`,
  },
] as const satisfies readonly FieldRow[];

export type ElementName = (typeof ROWS)[number]['name'];

/** The elements of `samostatny_nalez` that a client may send. The point stands in the element that `geom_system` selects. */
export type FindElements = { readonly [R in (typeof ROWS)[number] as R['name']]?: ValueOf[R['kind']] };

export type Field = FieldRow & { readonly name: ElementName };

export const FIELDS: readonly Field[] = ROWS;

const byName = new Map(FIELDS.map((field) => [field.name, field]));

export function fieldOf(name: ElementName): Field {
  const field = byName.get(name);
  if (field === undefined) throw new Error(`the table of fields lacks ${name}`);
  return field;
}

export function isElementName(name: string): name is ElementName {
  return byName.has(name as ElementName);
}

/** The element that holds the point when `geom_system` says so. */
export function pointElement(system: GeomSystem): 'geom_wkt' | 'geom_sjtsk_wkt' {
  return system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
}

/** Whether what it says may tell where the find was made. */
export function tellsPlace(name: string): boolean {
  return FIELDS.some((field) => field.name === name && (field.parent !== undefined || field.tellsPlace === true));
}
