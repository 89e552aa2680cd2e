import { isReadable } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { type GeomSystem, type PointInSystem, parsePoint } from './place/geometry.ts';

/** Type of an element's value, by the kind of the element (S-TYPE-1). */
type ValueByKind = {
  text: string;
  /** In the field's `unit`. */
  integer: number;
  /** YYYY-MM-DD */
  date: string;
  boolean: boolean;
  state: TargetState;
  'geom-system': GeomSystem;
  /**
   * A project, or a person who may have no identifier yet: the element holds the service's own
   * text.
   */
  reference: Reference;
  term: Reference;
  /** `POINT (longitude latitude)`, or `POINT (x y)`, both negative */
  point: string;
};

/**
 * A reference to a vocabulary entry, an organisation, a person or a project. The service reads `id`
 * only.
 */
export type Reference = { readonly id: string; readonly text: string };

/** Identifier of a person whom the service may not know yet (A-FIELD-16). */
export const NEW_PERSON = ':tba';

/**
 * Returns the text by which a cell of a table names a reference: a new person's name, else the
 * identifier.
 */
export function formatReferenceCell({ id, text }: Reference): string {
  return id === NEW_PERSON ? text : id;
}

/** State that an import requests: 1 registered, 2 submitted, 3 confirmed. */
export type TargetState = 1 | 2 | 3;

/**
 * A row of the table of elements: the only description of an element, for documents, table
 * columns, questions, forms, exports and reports.
 */
type FieldRow = {
  readonly name: string;
  readonly kind: keyof ValueByKind;
  /** English column name. Points have none: their columns are `lon`, `lat` and others. */
  readonly alias?: string;
  /** Set of the harvesting interface that has the identifiers of the element. */
  readonly set?: string;
  /**
   * Lowest target state that requires the element. A point is required only in the element that
   * `geom_system` selects.
   */
  readonly requiredFrom?: TargetState;
  /** Parent element; absent for children of `samostatny_nalez`. */
  readonly parent?: 'chranene_udaje';
  /** A point's coordinate system. */
  readonly epsg?: GeomSystem;
  readonly unit?: 'cm';
  readonly gloss: Message;
  /** Name of the element for people; absent: the gloss. */
  readonly label?: Message;
  /**
   * Museums' names of the element, folded: Czech and English, full and abbreviated. The first name
   * is the usual one.
   */
  readonly called?: string;
  /** Question of `pas add`, in the order of `at`; absent: asked last, on request. */
  readonly ask?: OrderedQuestion;
  /**
   * Position among the facts of a find in the report; absent: at the end, null: shown elsewhere.
   */
  readonly reportedAt?: number | null;
  /** Width in the report of a text that may be long; absent: single. */
  readonly shape?: 'double' | 'wide';
  /**
   * The text may reveal the location, so it is omitted where locations are. Children of
   * `chranene_udaje` always are.
   */
  readonly revealsLocation?: true;
};

/** How `pas add` and forms for phones ask for an element, and what the next find takes over. */
export type FieldQuestion = {
  /**
   * `frame`: constant for most finds of a day, confirmed with one key once it is known; `find`:
   * asked for each find; `handing-over`: for state 3 only; `more`: on request.
   */
  readonly when: 'find' | 'frame' | 'handing-over' | 'more';
  /**
   * `carried`: also suggested for the next find; `copied`: taken by a copy only; absent: belongs to
   * one find.
   */
  readonly stays?: 'carried' | 'copied';
  /** Permitted answers, where the label does not state them. */
  readonly hint?: Message;
};
type OrderedQuestion = FieldQuestion & { readonly at: number };

/**
 * Elements that a client fills, in the order of the schema. Documents, tables, questions, exports,
 * reports and rules are derived from this list. Requirements and sets are those of the contract
 * (A-FIELD-5 to A-FIELD-25). `ident_cely`, the first element, is always `:tba` and not in the list.
 */
const ROWS = [
  {
    name: 'evidencni_cislo',
    kind: 'text',
    alias: 'registration_number',
    requiredFrom: 3,
    gloss: msg`museum registration number`,
    label: msg`Registration number`,
    called:
      'evidencni cislo, ev cislo, ev c, evid c, evid cislo, evc, e c, registration number, reg no, ' +
      'registration no, museum number, museum no',
    ask: { at: 150, when: 'handing-over' },
    reportedAt: 160,
  },
  {
    name: 'projekt',
    kind: 'reference',
    alias: 'project',
    requiredFrom: 1,
    gloss: msg`survey project`,
    label: msg`Project`,
    called:
      'projekt, cislo projektu, c projektu, id projektu, project, project id, project no, survey, akce, ' +
      'c akce',
    ask: { at: 10, when: 'frame', stays: 'carried' },
    reportedAt: 150,
  },
  {
    name: 'hloubka',
    kind: 'integer',
    alias: 'depth_cm',
    requiredFrom: 2,
    gloss: msg`depth in whole centimetres`,
    label: msg`Depth`,
    called:
      'hloubka, hl, hloub, hloubka ulozeni, hl nalezu, hloubka nalezu, hl pod povrchem, depth, find depth, ' +
      'depth below surface',
    ask: { at: 120, when: 'find' },
    reportedAt: 80,
    unit: 'cm',
  },
  {
    name: 'okolnosti',
    kind: 'term',
    alias: 'context',
    set: 'heslo:nalezove_okolnosti',
    requiredFrom: 2,
    gloss: msg`find context`,
    label: msg`Context`,
    called:
      'okolnosti, nalezove okolnosti, okolnosti nalezu, okol, nal okol, nal okolnosti, zpusob nalezu, ' +
      'zp nalezu, zpusob ziskani, zpusob, jak nalezeno, jak nalezen, jak, context, circumstances, find circumstances, how found, method',
    ask: { at: 90, when: 'find', stays: 'carried' },
    reportedAt: 70,
  },
  {
    name: 'obdobi',
    kind: 'term',
    alias: 'period',
    set: 'heslo:obdobi',
    requiredFrom: 2,
    gloss: msg`period`,
    label: msg`Period`,
    called:
      'obdobi, obd, epocha, pravek, kultura, kult, datace, datovani, dat, period, culture, age, dating',
    ask: { at: 80, when: 'find', stays: 'carried' },
    reportedAt: 10,
  },
  {
    name: 'presna_datace',
    kind: 'text',
    alias: 'dating',
    gloss: msg`dating in detail, free text`,
    label: msg`Dating in detail`,
    called:
      'presna datace, datace presna, datace, datovani, dat, chronologie, stupen, stoleti, presne datovani, ' +
      'dating, exact dating, precise dating, date range, century, phase',
    ask: { at: 180, when: 'more', stays: 'copied' },
    reportedAt: 15,
  },
  {
    name: 'druh_nalezu',
    kind: 'term',
    alias: 'object_type',
    set: 'heslo:predmet_druh',
    requiredFrom: 2,
    gloss: msg`object type`,
    label: msg`Object`,
    called:
      'druh nalezu, druh predmetu, druh, predmet, urceni, nazev, nazev predmetu, typ, typ predmetu, artefakt, ' +
      'nalez, co, co to je, co je to, object type, object, object name, type, find type, artefact, artifact, name, identification',
    ask: { at: 60, when: 'find', stays: 'carried' },
    reportedAt: 20,
  },
  {
    name: 'specifikace',
    kind: 'term',
    alias: 'specification',
    set: 'heslo:predmet_specifikace',
    requiredFrom: 2,
    gloss: msg`object specification, as a rule the material`,
    label: msg`Material`,
    called:
      'specifikace, material, mat, mater, surovina, sur, hmota, specification, raw material, fabric',
    ask: { at: 70, when: 'find', stays: 'carried' },
    reportedAt: 30,
  },
  {
    name: 'pocet',
    kind: 'text',
    alias: 'count',
    gloss: msg`number of items, free text`,
    label: msg`Number of items`,
    called:
      'pocet, poc, pocet kusu, pocet ks, ks, kusu, mnozstvi, count, quantity, qty, number of items, pieces, ' +
      'pcs',
    ask: { at: 170, when: 'more' },
    reportedAt: 40,
  },
  {
    name: 'poznamka',
    kind: 'text',
    alias: 'note',
    gloss: msg`note`,
    label: msg`Note`,
    called:
      'poznamka, pozn, poznamky, popis, note, notes, remark, remarks, comment, comments, description',
    ask: { at: 190, when: 'more' },
    reportedAt: 180,
    shape: 'wide',
    revealsLocation: true,
  },
  {
    name: 'nalezce',
    kind: 'reference',
    alias: 'finder',
    set: 'osoba',
    requiredFrom: 2,
    gloss: msg`finder`,
    label: msg`Finder`,
    called:
      'nalezce, nal, nalezl, nasel, kdo, kdo nasel, who, nalez ucinil, jmeno nalezce, sberatel, odevzdal, finder, found by, ' +
      'collector, name of finder, detectorist',
    ask: {
      at: 30,
      when: 'frame',
      stays: 'carried',
      hint: msg`Surname, Given name`,
    },
    reportedAt: 60,
    revealsLocation: true,
  },
  {
    name: 'datum_nalezu',
    kind: 'date',
    alias: 'found_on',
    requiredFrom: 2,
    gloss: msg`date of the find`,
    label: msg`Date of the find`,
    called:
      'datum nalezu, datum, dat nalezu, dat, dat nal, den nalezu, nalezeno, nalezeno dne, dne, rok nalezu, ' +
      'rok, kdy, kdy nalezeno, kdy nalezen, when, when found, date found, found on, date, find date, date of find, date of discovery, year, year found, ' +
      'time, timestamp, cas, datum a cas',
    ask: { at: 40, when: 'frame', stays: 'carried' },
    reportedAt: 50,
  },
  {
    name: 'stav',
    kind: 'state',
    alias: 'target_state',
    requiredFrom: 1,
    gloss: msg`target state: 1, 2 or 3`,
    label: msg`Target state`,
    called: 'cilovy stav, stav zaznamu, stav, target state, record state, state',
    ask: { at: 20, when: 'frame', stays: 'carried' },
    reportedAt: null,
  },
  {
    name: 'predano',
    kind: 'boolean',
    alias: 'handed_over',
    requiredFrom: 3,
    gloss: msg`handed over to the organisation`,
    label: msg`Handed over`,
    called: 'predano, odevzdano, predano muzeu, handed over, deposited',
    ask: { at: 130, when: 'handing-over', stays: 'carried' },
    reportedAt: null,
  },
  {
    name: 'predano_organizace',
    kind: 'term',
    alias: 'receiving_organisation',
    set: 'organizace',
    requiredFrom: 3,
    gloss: msg`receiving organisation`,
    label: msg`Receiving organisation`,
    called:
      'predano organizace, organizace, muzeum, instituce, ulozeno, ulozeni, misto ulozeni, sbirka, ' +
      'receiving organisation, organisation, museum, institution, repository, held by',
    ask: { at: 140, when: 'handing-over', stays: 'carried' },
    reportedAt: null,
  },
  {
    name: 'geom_system',
    kind: 'geom-system',
    alias: 'crs',
    requiredFrom: 1,
    gloss: msg`coordinate system: 4326 or 5514`,
    label: msg`Coordinate system`,
    called: 'souradnicovy system, sour system, system, crs, srs, epsg, coordinate system',
    revealsLocation: true,
    reportedAt: null,
  },
  {
    name: 'pristupnost',
    kind: 'term',
    alias: 'accessibility',
    set: 'heslo:pristupnost',
    requiredFrom: 1,
    gloss: msg`accessibility`,
    label: msg`Accessibility`,
    called: 'pristupnost, pristup, accessibility, access',
    ask: { at: 50, when: 'frame', stays: 'carried' },
    reportedAt: 140,
  },
  {
    name: 'lokalizace',
    kind: 'text',
    alias: 'location',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    gloss: msg`description of the place`,
    label: msg`Place in words`,
    called:
      'lokalizace, lok, lokalita, poloha, kde, kde nalezeno, where, misto nalezu, misto, nazev lokality, trat, nalezova situace, ' +
      'nal misto, popis mista, popis lokality, popis polohy, popis naleziste, location, site, findspot, find spot, place, locality, provenance',
    ask: { at: 110, when: 'find', stays: 'carried' },
    reportedAt: 110,
    shape: 'double',
  },
  {
    name: 'geom_wkt',
    kind: 'point',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    epsg: '4326',
    gloss: msg`point, longitude and latitude`,
    reportedAt: null,
  },
  {
    name: 'geom_sjtsk_wkt',
    kind: 'point',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    epsg: '5514',
    gloss: msg`point, S-JTSK x and y`,
    reportedAt: null,
  },
] as const satisfies readonly FieldRow[];

/** An element that a client may send, in the spelling of the contract. */
export type ElementName = (typeof ROWS)[number]['name'];

/**
 * Elements of `samostatny_nalez` that a client may send. The point is in the element that
 * `geom_system` selects.
 */
export type FindElements = {
  readonly [R in (typeof ROWS)[number] as R['name']]?: ValueByKind[R['kind']];
};

/** Elements of a record as the service shows them. */
export type HarvestedElements = { readonly [Name in ElementName]?: string | Reference };

/** Elements of a find (typed values), or of a harvested record (all as texts or references). */
export type Elements = FindElements | HarvestedElements;

/**
 * Returns a copy without the elements that are undefined; the caller vouches for the types of the
 * others.
 */
export function omitAbsentElements(
  elements: {
    readonly [Name in ElementName]?: unknown;
  },
): FindElements {
  return Object.fromEntries(Object.entries(elements).filter(([, value]) => value !== undefined));
}

/** Returns elements with this registration number; without one, as they are. */
export function replaceNumber(elements: FindElements, number: string | undefined): FindElements {
  return number === undefined ? elements : { ...elements, evidencni_cislo: number };
}

/** A row of the table, whose name the compiler knows. */
export type Field = FieldRow & { readonly name: ElementName };

/** All elements, in the order of the schema. */
export const FIELDS: readonly Field[] = ROWS;

const byName = new Map(FIELDS.map((field) => [field.name, field]));

/**
 * Returns the field of an element.
 * @throws Error where the table of fields lacks it
 */
export function getField(name: ElementName): Field {
  const field = byName.get(name);
  if (field === undefined) throw new Error(`the table of fields lacks ${name}`);
  return field;
}

/** Tells if a text is exactly the name of an element that a client may send. */
export function isElementName(name: string): name is ElementName {
  return byName.has(name as ElementName);
}

/** Returns the element for a point in a coordinate system: each system has one (A-FIELD-24). */
export function getPointElement(system: GeomSystem): 'geom_wkt' | 'geom_sjtsk_wkt' {
  return system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
}

/**
 * Returns the point of the element that `geom_system` selects, with its digits as written;
 * undefined where the system or the point is absent, or {@link parsePoint} cannot read the point.
 */
export function getPoint(elements: FindElements): PointInSystem | undefined {
  const { geom_system: system } = elements;
  if (system === undefined) return undefined;
  const reading = parsePoint(elements[getPointElement(system)] ?? '');
  return isReadable(reading) ? { system, ...reading.value } : undefined;
}

/** Elements of the point, which change together. */
export const POINT_ELEMENTS = ['geom_system', 'geom_wkt', 'geom_sjtsk_wkt'] as const;

/** Tells if a name is one of {@link POINT_ELEMENTS}. */
export function isPointElement(name: string): boolean {
  return POINT_ELEMENTS.some((element) => element === name);
}

/**
 * Returns the label of an element in the language of the command; the gloss where it has none. The
 * unit is not part of it, since it is shown with the value.
 */
export function getElementLabel({ gloss, label = gloss }: Field): string {
  return String(label);
}

/**
 * Formats the name of an element for people, behind its label in the language of the command:
 * `Depth (hloubka)`. The name alone where it is no element, or one that no question asks for.
 */
export function formatElementWithLabel(element: string): string {
  const field = isElementName(element) ? getField(element) : undefined;
  return field?.ask === undefined ? element : `${getElementLabel(field)} (${element})`;
}
