import { trimText } from '../base/characters.ts';
import { type Message, msg } from '../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  type XmlElement,
} from '../base/xml/element.ts';
import {
  type ElementName,
  type Elements,
  FIELDS,
  type Field,
  type FindElements,
  type HarvestedElements,
  NEW_PERSON,
  omitAbsentElements,
  POINT_ELEMENTS,
  type Reference,
} from './fields.ts';
import { getCanonicalPoint, isSamePoint, isSameValue } from './match-finds.ts';

/** Placeholder for content that the reader may not see (B-SEE-2). */
export const FORBIDDEN_TEXT = 'HTTP/1.1 403 Forbidden';

/** A photograph or another file of a record, as the service lists it. */
export type HarvestedFile = {
  /** Name from the service, such as `C202400101N00001F01.jpg`. */
  readonly name: string;
  readonly mediaType: string;
  /**
   * Lower-case hexadecimal digest of the stored bytes; they differ from those sent where a position
   * was removed.
   */
  readonly sha512Hex: string;
  readonly history: readonly HistoryEntry[];
};

/**
 * An event in the life of a record or file; all four texts as the service writes them, empty
 * where absent.
 */
export type HistoryEntry = {
  readonly type: string;
  readonly at: string;
  readonly user: string;
  readonly note: string;
};

/** Type of the event by which a record was made. */
export const CREATION = 'SN01';

/** A harvested `samostatny_nalez` record, in the shape of a find of pas. */
export type HarvestedFind = {
  readonly identCely: string;
  /** 1 to 4: includes archived, which no import can request; NaN where the record has none. */
  readonly stav: number;
  readonly elements: HarvestedElements;
  /** The reader may not see the location and its description. */
  readonly protectedWithheld: boolean;
  readonly area: Reference | undefined;
  readonly district: Reference | undefined;
  readonly files: readonly HarvestedFile[];
  readonly history: readonly HistoryEntry[];
};

/**
 * Parses the entity element of a harvested record, of any schema version; undefined where it is no
 * `samostatny_nalez`, or lacks `ident_cely`. `elements` has no texts that are absent or blank, and
 * no references without an `id`.
 */
export function parseHarvestedFind(entity: XmlElement): HarvestedFind | undefined {
  const identCely = getChildText(entity, 'ident_cely');
  if (entity.name !== 'samostatny_nalez' || identCely === undefined) return undefined;
  const guarded = getChild(entity, 'chranene_udaje');
  const elements: { [Name in ElementName]?: string | Reference } = {};
  for (const field of FIELDS) {
    const parent = field.parent === undefined ? entity : guarded;
    const value = parent === undefined ? undefined : parseField(parent, field);
    if (value !== undefined) elements[field.name] = value;
  }
  return {
    identCely,
    stav: Number(getChildText(entity, 'stav')),
    elements,
    protectedWithheld: guarded?.text.trim() === FORBIDDEN_TEXT,
    area: guarded && parseReference(guarded, 'katastr'),
    district: parseReference(entity, 'okres'),
    files: getChildren(entity, 'soubor').map(parseFile),
    history: getChildren(entity, 'historie').map(parseHistory),
  };
}

function parseField(parent: XmlElement, field: Field): string | Reference | undefined {
  return field.kind === 'reference' || field.kind === 'term'
    ? parseReference(parent, field.name)
    : getChildText(parent, field.name);
}

function parseReference(parent: XmlElement, name: string): Reference | undefined {
  const element = getChild(parent, name);
  const id = element && getAttribute(element, 'id');
  return id === undefined ? undefined : { id, text: trimText(element?.text ?? '') };
}

function parseFile(file: XmlElement): HarvestedFile {
  return {
    name: getChildText(file, 'nazev') ?? '',
    mediaType: getChildText(file, 'mimetype') ?? '',
    sha512Hex: getChildText(file, 'sha_512') ?? '',
    history: getChildren(file, 'historie').map(parseHistory),
  };
}

function parseHistory(entry: XmlElement): HistoryEntry {
  return {
    type: getChildText(entry, 'typ_zmeny') ?? '',
    at: getChildText(entry, 'datum_zmeny') ?? '',
    user: parseReference(entry, 'uzivatel')?.id ?? '',
    note: getChildText(entry, 'poznamka') ?? '',
  };
}

/**
 * Returns the elements in which a record differs from what was sent, in the order of the schema.
 * Not compared: the state, which changes at the service; protected elements where the reader may
 * not see them; the point that the service computed. Points are compared by {@link isSamePoint},
 * other values by {@link isSameValue}.
 */
export function listDifferingElements(sent: Elements, harvested: HarvestedFind): ElementName[] {
  const { geom_system: system = sent.geom_system } = harvested.elements;
  const point = getCanonicalPoint({ ...harvested.elements, geom_system: system });
  return FIELDS.filter((field) => {
    if (field.kind === 'state') return false;
    if (field.parent !== undefined && harvested.protectedWithheld) return false;
    // The service computes the other representation of the point.
    if (field.kind === 'point')
      return field.epsg === sent.geom_system && !isSamePoint(getCanonicalPoint(sent), point);
    return !isSameValue(field, sent, harvested.elements);
  }).map((field) => field.name);
}

/**
 * Counts the {@link listDifferingElements} except the registration number, which a request of its
 * own may have changed since the import (A-NUMBER-1).
 */
export function countDifferencesBesideNumber(sent: Elements, harvested: HarvestedFind): number {
  return listDifferingElements(sent, harvested).filter((name) => name !== 'evidencni_cislo').length;
}

/** Names of the states of a find (A-STATE-1). */
const STATE_NAMES: Readonly<Record<number, Message>> = {
  1: msg`registered`,
  2: msg`submitted`,
  3: msg`confirmed`,
  4: msg`archived`,
};

/**
 * Formats the state of a record with its name: `4 archived`; an unknown one as its number alone.
 */
export function formatRecordState(stav: number): string {
  return STATE_NAMES[stav] === undefined ? String(stav) : `${stav} ${STATE_NAMES[stav]}`;
}

/** An element that differs from what was sent; null where it is absent. */
export type ChangeAtService = {
  readonly element: ElementName;
  readonly sent: string | null;
  readonly now: string | null;
};

/**
 * Returns the changes of a record since it was sent, in the order of the schema: those of
 * {@link listDifferingElements}, and of the state. Empty where there are none.
 */
export function listChangesAtService(sent: FindElements, record: HarvestedFind): ChangeAtService[] {
  const differing = new Set<ElementName>(listDifferingElements(sent, record));
  if (sent.stav !== record.stav) differing.add('stav');
  return FIELDS.filter(({ name }) => differing.has(name)).map(({ name }) => ({
    element: name,
    sent: formatWithIdentifier(sent[name]),
    now: name === 'stav' ? String(record.stav) : formatWithIdentifier(record.elements[name]),
  }));
}

/**
 * Formats the value of an element: a reference as `text (identifier)`, or the identifier alone
 * where it has no text; a new person as the name; any other value as text. Null for an absent
 * element.
 */
export function formatWithIdentifier(value: Elements[ElementName]): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (value.id === NEW_PERSON) return value.text;
  return value.text === '' || value.text === value.id ? value.id : `${value.text} (${value.id})`;
}

/**
 * Returns a copy of a find's elements in which the changed ones are those of the record; one that
 * the record lacks is left out. If one element of the point changed, all of them are the record's.
 * @param changes as from {@link listChangesAtService}; only their elements are read
 */
export function withRecordChanges(
  elements: FindElements,
  changes: readonly ChangeAtService[],
  record: HarvestedFind,
): FindElements {
  const names = new Set(changes.map(({ element }) => element));
  if (POINT_ELEMENTS.some((name) => names.has(name)))
    for (const name of POINT_ELEMENTS) names.add(name);
  const elementsNow = { ...record.elements, stav: String(record.stav) };
  const changed = FIELDS.filter(({ name }) => names.has(name)).map(
    (field) => [field.name, parseRecordValue(field, elementsNow[field.name])] as const,
  );
  return omitAbsentElements({ ...elements, ...Object.fromEntries(changed) });
}

/**
 * Parses the text of a record's element into the type of its field: a number for integers and
 * states (NaN where it is none), a boolean (true for `true` and `1`, else false), else the text
 * itself. References and undefined stay as they are.
 */
export function parseRecordValue(
  { kind }: Field,
  value: string | Reference | undefined,
): string | number | boolean | Reference | undefined {
  if (value === undefined || typeof value === 'object') return value;
  if (kind === 'integer' || kind === 'state') return Number(value);
  return kind === 'boolean' ? value === 'true' || value === '1' : value;
}
