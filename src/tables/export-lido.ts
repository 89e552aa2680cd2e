import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { normalizeXmlText } from '../find/build-document.ts';
import { NEW_PERSON, type Reference } from '../find/field.ts';
import { getPoint, redactLocation } from '../find/fields.ts';
import { renderElement, type XmlNode } from '../xml/write-xml.ts';
import { type ExportedFind, type LabelsOf, toBothSystems } from './exported-find.ts';

/** LIDO 1.1 (ICOM CIDOC), the format in which museums deliver to portals. */
const LIDO = 'http://www.lido-schema.org';
const HEAD =
  `<?xml version="1.0" encoding="UTF-8"?>\n<lido:lidoWrap xmlns:lido="${LIDO}" xmlns:gml="http://www.opengis.net/gml" ` +
  `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${LIDO} ${LIDO}/schema/v1.1/lido-v1.1.xsd">\n`;

const EN = { 'xml:lang': 'en' };

const TERMINOLOGY = 'http://terminology.lido-schema.org';
const URI = `${TERMINOLOGY}/lido00099`;
const LOCAL_IDENTIFIER = `${TERMINOLOGY}/lido00100`;
const HUMAN_MADE_OBJECT = makeConcept(
  'http://www.cidoc-crm.org/crm-concepts/E22',
  'Human-Made Object',
);
const ITEM = makeConcept(`${TERMINOLOGY}/lido00141`, 'Item-level record');
const FINDING = makeConcept(`${TERMINOLOGY}/lido00002`, 'Finding');
const PRODUCTION = makeConcept(`${TERMINOLOGY}/lido00007`, 'Production');

export type LidoSource = {
  /**
   * Tells if the location of a find with this accessibility is public. Otherwise the export omits
   * everything that reveals it.
   */
  readonly isOpen: (accessibility: Reference | undefined) => boolean;
  /**
   * Base address of the service's records and vocabulary entries; undefined where it is not known.
   */
  readonly recordBase: string | undefined;
  /** Organisation that delivers the records. */
  readonly organisation: string;
};

type Told = ExportedFind & LidoSource & { readonly nowIso: string };

/**
 * Yields a `lido:lidoWrap` with a record for each find. @throws UsageError where there is no find:
 * LIDO has no empty list
 */
export function* exportLido(
  finds: Iterable<ExportedFind>,
  source: LidoSource,
  nowIso: string,
): Generator<string> {
  let count = 0;
  for (const find of finds) {
    if (count === 0) yield HEAD;
    count += 1;
    const isOpen = (find.accessibilities ?? [find.elements.pristupnost]).every(source.isOpen);
    const record = renderRecord({ ...(isOpen ? find : withholdLocation(find)), ...source, nowIso });
    if (record !== undefined) yield renderElement(record, 1);
  }
  if (count === 0)
    throw new UsageError(t`There is no find to write.`, { hint: t`LIDO needs at least one.` });
  yield '</lido:lidoWrap>\n';
}

/** Photographs are omitted together with the location, since people type their names. */
function withholdLocation(find: ExportedFind): ExportedFind {
  return { ...find, elements: redactLocation(find.elements), photos: [] };
}

function renderRecord(find: Told): XmlNode | undefined {
  const { localId, identCely } = find;
  const language = { 'xml:lang': 'cs' };
  return wrap('lido', [
    identifier('lidoRecID', identCely ?? localId),
    record(find, 'objectPublishedID'),
    lido('category', HUMAN_MADE_OBJECT),
    wrap(
      'descriptiveMetadata',
      [classification(find), identification(find), events(find)],
      language,
    ),
    wrap('administrativeMetadata', [aboutRecord(find), photographs(find)], language),
  ]);
}

function classification(find: Told): XmlNode | undefined {
  const type =
    term(find, 'objectWorkType', 'druh_nalezu') ?? lido('objectWorkType', HUMAN_MADE_OBJECT);
  return wrap('objectClassificationWrap', [wrap('objectWorkTypeWrap', [type])]);
}

function identification(find: Told): XmlNode | undefined {
  const { elements, localId } = find;
  const {
    predano_organizace: museum,
    evidencni_cislo: number,
    pocet: count,
    poznamka: note,
  } = elements;
  const type = labelsIn(find, elements.druh_nalezu);
  const titles = [
    text('appellationValue', type.cs || localId, { 'xml:lang': 'cs' }),
    text('appellationValue', type.en, EN),
  ];
  return wrap('objectIdentificationWrap', [
    wrap('titleWrap', [wrap('titleSet', titles)]),
    wrap('repositoryWrap', [
      wrap('repositorySet', [
        museum && legalBody(find, 'repositoryName', museum),
        text('workID', number),
      ]),
    ]),
    wrap('objectDescriptionWrap', [
      wrap('objectDescriptionSet', [text('descriptiveNoteValue', note)]),
    ]),
    wrap('objectMeasurementsWrap', [
      wrap('objectMeasurementsSet', [
        text('displayObjectMeasurements', count, { 'lido:label': 'pocet' }),
      ]),
    ]),
    wrap('objectMaterialsTechWrap', [
      wrap('objectMaterialsTechSet', [
        wrap('materialsTech', [term(find, 'termMaterialsTech', 'specifikace')]),
      ]),
    ]),
  ]);
}

function events(find: Told): XmlNode | undefined {
  const { nalezce, datum_nalezu: day, projekt, hloubka, presna_datace: dating } = find.elements;
  const exactDay = wrap('date', [text('earliestDate', day), text('latestDate', day)]);
  const depth = hloubka === undefined ? undefined : `${hloubka} cm`;
  const finding = [
    nalezce && wrap('eventActor', [wrap('actorInRole', [actor(find, nalezce)])]),
    wrap('eventDate', [exactDay]),
    place(find),
    term(find, 'eventMethod', 'okolnosti'),
    wrap('relatedEventSet', [
      wrap('relatedEvent', [text('displayEvent', projekt?.id, { 'lido:label': 'projekt' })]),
    ]),
    wrap('eventDescriptionSet', [text('descriptiveNoteValue', depth, { 'lido:label': 'hloubka' })]),
  ];
  const making = [
    wrap('eventDate', [text('displayDate', dating)]),
    term(find, 'periodName', 'obdobi'),
  ];
  return wrap('eventWrap', [eventSet(FINDING, finding), eventSet(PRODUCTION, making)]);
}

function eventSet(type: XmlNode['content'], parts: readonly LidoPart[]): XmlNode | undefined {
  if (parts.every((part) => part === undefined)) return undefined;
  return wrap('eventSet', [wrap('event', [lido('eventType', type), ...parts])]);
}

/** Coordinates have the axis order of their system: latitude first in WGS 84, x first in S-JTSK. */
function place({ elements }: Told): XmlNode | undefined {
  const point = getPoint(elements);
  const both = point === undefined ? {} : toBothSystems(point);
  const [degrees, metres] = [both['4326'], point?.system === '5514' ? both['5514'] : undefined];
  return wrap('eventPlace', [
    text('displayPlace', elements.lokalizace),
    wrap('place', [
      degrees && gmlPoint('4326', `${degrees.y} ${degrees.x}`),
      metres && gmlPoint('5514', `${metres.x} ${metres.y}`),
    ]),
  ]);
}

function gmlPoint(epsg: string, position: string): XmlNode | undefined {
  const attributes = { srsName: `urn:ogc:def:crs:EPSG::${epsg}` };
  return wrap('gml', [
    { name: 'gml:Point', attributes, content: [{ name: 'gml:pos', content: position }] },
  ]);
}

function aboutRecord(find: Told): XmlNode | undefined {
  const { localId, identCely, organisation, nowIso } = find;
  return wrap('recordWrap', [
    identifier('recordID', localId),
    identCely === undefined ? undefined : identifier('recordID', identCely),
    lido('recordType', ITEM),
    wrap('recordSource', [wrap('legalBodyName', [text('appellationValue', organisation)])]),
    wrap('recordRights', [term(find, 'rightsType', 'pristupnost')]),
    wrap('recordInfoSet', [
      text('recordInfoLink', makeAddress(find, identCely)),
      text('recordMetadataDate', nowIso),
    ]),
  ]);
}

function photographs({ photos }: Told): XmlNode | undefined {
  return wrap(
    'resourceWrap',
    photos.map((name) => wrap('resourceSet', [identifier('resourceID', name)])),
  );
}

type LidoPart = XmlNode | undefined;

/** Wraps parts in an element; undefined where there are none. */
function wrap(
  name: string,
  parts: readonly LidoPart[],
  attributes?: XmlNode['attributes'],
): XmlNode | undefined {
  const content = parts.filter((part) => part !== undefined);
  return content.length === 0 ? undefined : lido(name, content, attributes);
}

/** Makes a text element; undefined for an empty text. */
function text(
  name: string,
  children: string | undefined,
  attributes?: XmlNode['attributes'],
): XmlNode | undefined {
  const content = normalizeXmlText(children ?? '');
  return content === '' ? undefined : lido(name, content, attributes);
}

function lido(
  name: string,
  content: XmlNode['content'],
  attributes?: XmlNode['attributes'],
): XmlNode {
  return { name: `lido:${name}`, ...(content && { content }), ...(attributes && { attributes }) };
}

function makeConcept(uri: string, word: string): XmlNode['content'] {
  return [lido('conceptID', uri, { 'lido:type': URI }), lido('term', word, EN)];
}

function identifier(name: string, id: string): XmlNode | undefined {
  return text(name, id, { 'lido:type': LOCAL_IDENTIFIER });
}

/** Returns the service's address of a record or entry. */
function makeAddress({ recordBase }: LidoSource, id: string | undefined): string | undefined {
  const text = normalizeXmlText(id ?? '');
  return recordBase === undefined || text === ''
    ? undefined
    : `${recordBase}/id/${encodeURIComponent(text)}`;
}

function record(find: Told, name: string, id = find.identCely): XmlNode | undefined {
  if (id === undefined || id === NEW_PERSON) return undefined;
  const address = makeAddress(find, id);
  return address === undefined ? identifier(name, id) : text(name, address, { 'lido:type': URI });
}

function labelsIn(
  { getLabels }: Told,
  { id, text }: Reference = { id: '', text: '' },
): NonNullable<ReturnType<LabelsOf>> {
  const labels = getLabels?.(id);
  return { cs: normalizeXmlText(labels?.cs || text), en: labels?.en ?? '' };
}

function term(find: Told, name: string, element: TermElement): XmlNode | undefined {
  const reference = find.elements[element];
  if (reference === undefined) return undefined;
  const { cs, en } = labelsIn(find, reference);
  return wrap(name, [
    record(find, 'conceptID', reference.id),
    text('term', cs, { 'xml:lang': 'cs' }),
    text('term', en, EN),
  ]);
}

type TermElement = 'druh_nalezu' | 'specifikace' | 'obdobi' | 'okolnosti' | 'pristupnost';

function legalBody(find: Told, name: string, reference: Reference): XmlNode | undefined {
  const { cs } = labelsIn(find, reference);
  return wrap(name, [
    record(find, 'legalBodyID', reference.id),
    wrap('legalBodyName', [text('appellationValue', cs)]),
  ]);
}

/**
 * Makes an actor with the required name; a person who was not harvested has only the identifier.
 */
function actor(find: Told, reference: Reference): XmlNode | undefined {
  const { id } = reference;
  const name = labelsIn(find, reference).cs || (id === NEW_PERSON ? '' : id);
  return wrap('actor', [
    record(find, 'actorID', id),
    wrap('nameActorSet', [text('appellationValue', name)]),
  ]);
}
