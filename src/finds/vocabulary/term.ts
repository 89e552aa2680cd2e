import type { Clock } from '../../base/clock.ts';
import type { Statement } from '../../base/disk/database.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  type XmlElement,
} from '../../base/xml/element.ts';

/**
 * Kinds of records in the vocabulary, by the service's names, which are those of its sets: what
 * finds contain, and the areas and projects with which they are checked.
 */
export const TERM_KINDS = [
  'heslo',
  'organizace',
  'osoba',
  'ruian_kraj',
  'ruian_okres',
  'ruian_katastr',
  'projekt',
] as const;
type TermKind = (typeof TERM_KINDS)[number];

/** Years, negative before our era. */
export type Dating = {
  readonly fromMin: number | null;
  readonly fromMax: number | null;
  readonly toMin: number | null;
  readonly toMax: number | null;
  readonly note: string | null;
};

/** Facts that only some kinds of entries have; stored as JSON. */
export type TermDetails = {
  readonly dating?: Dating;
  /** Further elements of the record, by the contract's name. */
  readonly facts?: Readonly<Record<string, string>>;
  /** True for a project that is a survey, into which finds may be imported. */
  readonly survey?: boolean;
  /** The record exists, but its content is hidden from this account. */
  readonly hidden?: true;
};

/**
 * Returns district and organisation of a project, for lists where others have a name; the empty
 * text for terms of other kinds.
 */
export function describeProject({ facts = {} }: TermDetails): string {
  const { typ_projektu: type, okres, organizace } = facts;
  if (type === undefined) return '';
  return [okres, organizace].filter((part) => part !== undefined).join(', ');
}

/** A superior entry and the kind of the relation, from the record. */
type Superior = { readonly ident: string; readonly kind: string };

type TermContent = {
  readonly ident: string;
  readonly setSpec: string;
  readonly label: string;
  readonly labelEn: string | null;
  readonly abbreviation: string | null;
  readonly description: string | null;
  readonly descriptionEn: string | null;
  readonly sortOrder: number | null;
  readonly details: TermDetails;
};

/** A term as parsed from a record, before it is stored. */
export type TermDraft = TermContent & {
  /** Further names, under which the entry is also found. */
  readonly otherNames: readonly string[];
  readonly superiors: readonly Superior[];
  /** WKT in WGS 84. */
  readonly boundary: string | null;
};

/**
 * A stored vocabulary entry. `goneAtMs` and `datestampMs` are milliseconds since 1970 UTC;
 * `vanished`: a complete harvest did not list it any more.
 */
export type Term = TermContent & {
  readonly datestampMs: number;
  readonly gone: 'deleted' | 'vanished' | null;
  readonly goneAtMs: number | null;
};

/** One source of the vocabulary file; the other modules of this folder work on it. */
export type Vocabulary = {
  readonly path: string;
  readonly clock: Clock;
  /** Row id of the source. */
  readonly source: number;
  /** Address of the harvesting interface. */
  readonly oaiBase: string;
  /** Ids of the words that the transaction under way has met. */
  readonly wordIds: Map<string, number>;
  /** Returns the prepared statement of a text. */
  sql(text: string): Statement;
  /** Runs `work` in a transaction; a failure of the disk is thrown as DatabaseError. */
  change<T>(work: () => T): T;
};

/**
 * Parses the entity of a harvested record into a term (S-ENTITY-2 to S-ENTITY-6). Elements are read
 * in the namespace of the entity, so it may be of any schema version.
 * @param setSpec of the record's header, used for a `heslo` that does not name its vocabulary
 * @returns undefined where the entity is of none of {@link TERM_KINDS}, or lacks its identifier,
 * its name or its set
 */
export function parseTerm(entity: XmlElement, setSpec: string | undefined): TermDraft | undefined {
  const kind = TERM_KINDS.find((each) => each === entity.name);
  if (kind === undefined) return undefined;
  // In the three kinds of area, `kod` is the identifier.
  const ident = getChildText(entity, 'ident_cely') ?? getChildText(entity, 'kod');
  const content = READERS[kind](entity);
  const set = content?.setSpec ?? (kind === 'heslo' ? setSpec : kind);
  if (ident === undefined || !content?.label || set === undefined) return undefined;
  return { ...NOTHING_MORE, ...content, ident, label: content.label, setSpec: set };
}

/** Without `setSpec` where the set has the name of the kind. */
type Content = Partial<Omit<TermDraft, 'ident'>>;

const READERS: Readonly<Record<TermKind, (entity: XmlElement) => Content | undefined>> = {
  heslo: parseHeslo,
  organizace: parseOrganisation,
  osoba: parsePerson,
  ruian_kraj: (entity) => parsePlace(entity, []),
  ruian_okres: (entity) => parsePlace(entity, ['kraj']),
  ruian_katastr: (entity) => parsePlace(entity, ['okres']),
  projekt: parseProject,
};

const NOTHING_MORE = {
  labelEn: null,
  otherNames: [],
  abbreviation: null,
  description: null,
  descriptionEn: null,
  sortOrder: null,
  superiors: [],
  details: {},
  boundary: null,
} as const;

function parseHeslo(entity: XmlElement): Content {
  const list = getChildText(entity, 'nazev_heslare');
  const datace = getChild(entity, 'datace');
  return {
    setSpec: list && `heslo:${list}`,
    label: getChildText(entity, 'heslo'),
    labelEn: getChildText(entity, 'heslo_en') ?? null,
    abbreviation: getChildText(entity, 'zkratka') ?? null,
    description: getChildText(entity, 'popis') ?? null,
    descriptionEn: getChildText(entity, 'popis_en') ?? null,
    sortOrder: parseInteger(getChildText(entity, 'razeni')),
    superiors: getChildren(entity, 'hierarchie_vyse').flatMap((above) =>
      getSuperior(above, 'heslo_nadrazene', getChildText(above, 'typ')),
    ),
    details: { dating: datace && parseDating(datace) },
  };
}

function parseOrganisation(entity: XmlElement): Content {
  const short = getChildText(entity, 'nazev_zkraceny');
  const shortEn = getChildText(entity, 'nazev_zkraceny_en');
  return {
    label: getChildText(entity, 'nazev'),
    labelEn: getChildText(entity, 'nazev_en') ?? null,
    otherNames: [short, shortEn].filter((name) => name !== undefined),
    abbreviation: short ?? null,
    superiors: getSuperior(entity, 'soucast', 'soucast'),
    details: getDetails(entity, [
      'typ_organizace',
      'oao',
      'zanikla',
      'adresa',
      'email',
      'telefon',
      'ico',
      'ror',
    ]),
  };
}

function parsePerson(entity: XmlElement): Content {
  const givenName = getChildText(entity, 'jmeno');
  const surname = getChildText(entity, 'prijmeni');
  const name = [surname, givenName].filter((part) => part !== undefined).join(', ');
  return {
    label: getChildText(entity, 'vypis_cely') ?? name,
    otherNames: givenName === undefined || surname === undefined ? [] : [`${givenName} ${surname}`],
    abbreviation: getChildText(entity, 'vypis') ?? null,
    details: getDetails(entity, [
      'jmeno',
      'prijmeni',
      'rodne_prijmeni',
      'rok_narozeni',
      'rok_umrti',
      'orcid',
      'wikidata',
    ]),
  };
}

function parsePlace(entity: XmlElement, superiors: readonly string[]): Content {
  const boundary = getChild(entity, 'hranice_wkt');
  const wgs84 =
    boundary !== undefined && (getAttribute(boundary, 'EPSG') ?? '4326').trim() === '4326';
  return {
    label: getChildText(entity, 'nazev'),
    labelEn: getChildText(entity, 'nazev_en') ?? null,
    superiors: superiors.flatMap((name) => getSuperior(entity, name, name)),
    details: getDetails(entity, ['rada_id', 'spz', 'definicni_bod_wkt', 'email']),
    boundary: wgs84 ? boundary.text.trim() : null,
  };
}

/** Entry of the project types for surveys, and its label (A-PROJECT-3). */
const SURVEY_TYPE = 'HES-001138';
const SURVEY_LABEL = 'průzkum';

/** A project has no public name, so its identifier is the label. */
function parseProject(entity: XmlElement): Content | undefined {
  const type = getChild(entity, 'typ_projektu');
  if (type === undefined) return undefined;
  const survey = getAttribute(type, 'id') === SURVEY_TYPE || type.text.trim() === SURVEY_LABEL;
  return {
    label: getChildText(entity, 'ident_cely'),
    details: {
      ...getDetails(entity, ['stav', 'typ_projektu', 'organizace', 'okres', 'podnet']),
      survey,
    },
  };
}

function getSuperior(element: XmlElement, name: string, kind: string | undefined): Superior[] {
  const superior = getChild(element, name);
  const ident = superior === undefined ? '' : (getAttribute(superior, 'id') ?? '').trim();
  return ident === '' ? [] : [{ ident, kind: kind ?? name }];
}

function parseDating(datace: XmlElement): Dating {
  return {
    fromMin: parseInteger(getChildText(datace, 'rok_od_min')),
    fromMax: parseInteger(getChildText(datace, 'rok_od_max')),
    toMin: parseInteger(getChildText(datace, 'rok_do_min')),
    toMax: parseInteger(getChildText(datace, 'rok_do_max')),
    note: getChildText(datace, 'poznamka') ?? null,
  };
}

function getDetails(entity: XmlElement, names: readonly string[]): TermDetails {
  const facts = names.flatMap((name) => {
    const text = getChildText(entity, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return facts.length === 0 ? {} : { facts: Object.fromEntries(facts) };
}

function parseInteger(text: string | undefined): number | null {
  return text !== undefined && /^[+-]?\d{1,9}$/.test(text) ? Number(text) : null;
}
