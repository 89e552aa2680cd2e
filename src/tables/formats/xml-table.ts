import { posix } from 'node:path';
import { parseHtml } from '../../base/characters.ts';
import { FileError } from '../../base/errors.ts';
import { isReadable, makeUnreadable, type Reading } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  makeLineCounter,
  type XmlElement,
} from '../../base/xml/element.ts';
import { walkXml, XmlSyntaxError, type XmlWalk } from '../../base/xml/parse.ts';
import { makeStrayTextMessage, walkStrayTexts } from '../../base/xml/source-text.ts';
import { NEW_PERSON } from '../../finds/field.ts';
import { FIELDS, type Field } from '../../finds/fields.ts';
import { FORBIDDEN_TEXT } from '../../finds/harvested-find.ts';
import {
  makePointCountFault,
  makeShapeFault,
  type PointInSystem,
} from '../../finds/place/geometry.ts';
import {
  addUnreadWarning,
  collectDeviceValues,
  collectOtherElement,
  type UnreadNames,
} from '../device-values.ts';
import { FINDS_NAMESPACE } from '../exports/exported-find.ts';
import { makeSyntaxError, makeTableOfRecords, type ReadRecord, type Table } from '../table.ts';
import { type ArchiveSource, assertNotNested, openAttachments } from './zip-entries.ts';

/** A document, and the folder in its archive to which its links are relative. */
export type XmlPart = { readonly document: XmlWalk; readonly folder?: string };

/** An element that is a record, and its ancestors from the root. */
type RecordElement = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

/** How a kind of XML holds records. */
type XmlDialect = {
  readonly unit: 'feature' | 'waypoint' | 'find';
  /** Elements that are parsed; those that are no records are skipped, one at a time. */
  readonly names: ReadonlySet<string>;
  isRecord(part: RecordElement, root: XmlElement): boolean;
  /** Returns the point, or the fault that keeps the record from being read. */
  parsePlace(record: XmlElement): Reading<PointInSystem | undefined>;
  /** Elements of a record between whose children no text may stand. */
  listParts(record: XmlElement): readonly XmlElement[];
  collectValues(part: RecordElement, folder: string): Map<string, string>;
};

/**
 * Reads the records of documents as a table. A fault names the record, since its number among
 * hundreds is hard to find on a device.
 * @param parts several where an archive has more documents; then lines have no meaning
 * @param none error of documents without records
 * @throws XmlSyntaxError where a document is not well-formed; `none` where there are no records
 */
function readXmlRecords(
  file: string,
  parts: readonly XmlPart[],
  dialect: XmlDialect,
  none: FileError,
): Table {
  const { unit } = dialect;
  const readRecords = function* (): Generator<ReadRecord> {
    let row = 0;
    for (const { document, folder = '' } of parts) {
      const countLine = makeLineCounter(document);
      const findLine = (at: number) => (parts.length > 1 ? undefined : countLine(at));
      for (const part of document.readParts(dialect.names)) {
        if (!dialect.isRecord(part, document.root)) continue;
        row += 1;
        const { element } = part;
        const line = findLine(element.start);
        const find = getChildText(element, 'name');
        const point = dialect.parsePlace(element);
        const [stray] = dialect
          .listParts(element)
          .flatMap((each) => [...walkStrayTexts(document, each)]);
        if (!isReadable(point)) yield { row, line, find, ...point };
        else if (stray !== undefined)
          yield {
            row,
            line: findLine(stray.start),
            find,
            ...makeUnreadable('stray-text', makeStrayTextMessage(stray)),
          };
        else yield { row, line, values: dialect.collectValues(part, folder), point: point.value };
      }
    }
  };
  return makeTableOfRecords({ file, unit }, readRecords, [], none);
}

const KML_NAMESPACE = /^(?:https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml\/2\.\d)?$/;

/** Tells if the root of a document is that of KML, of any version. */
function isKml({ name, namespace }: XmlElement): boolean {
  return name === 'kml' && KML_NAMESPACE.test(namespace);
}

const PLACEMARKS = new Set(['Placemark']);
const GEOMETRIES = new Set([
  'Point',
  'LineString',
  'LinearRing',
  'Polygon',
  'MultiGeometry',
  'Model',
  'Track',
  'MultiTrack',
]);
/** Elements that are read, or only concern the display. */
const KNOWN = new Set([
  ...GEOMETRIES,
  'name',
  'description',
  'ExtendedData',
  'TimeStamp',
  'styleUrl',
  'Style',
  'StyleMap',
  'visibility',
  'balloonVisibility',
  'open',
  'LookAt',
  'Camera',
  'Region',
]);

/**
 * Reads the placemarks of KML in all folders: the name is the local id, the description the note,
 * fields are columns, pictures in the description and attachments are photographs, and the day of
 * the time stamp is the day of the find. Heights are not read.
 * @throws FileError where there are no placemarks; XmlSyntaxError
 */
function parseKml(file: string, parts: readonly XmlPart[]): Table {
  const unread: UnreadNames = new Set();
  const dialect: XmlDialect = {
    unit: 'feature',
    names: PLACEMARKS,
    isRecord: ({ element }, root) => element.namespace === root.namespace,
    parsePlace,
    listParts: (placemark) => [placemark],
    collectValues: ({ element }, folder) => collectPlacemarkValues(element, folder, unread),
  };
  return addUnreadWarning(readXmlRecords(file, parts, dialect, makeNoPointsError(file)), unread);
}

function makeNoPointsError(file: string): FileError {
  return new FileError(file, msg`${file} has no placemarks or waypoints. Lines are not finds.`, {
    hint: msg`Mark each find as a point, and export the points.`,
  });
}

function collectPlacemarkValues(
  placemark: XmlElement,
  folder: string,
  unread: UnreadNames,
): Map<string, string> {
  const { text, pictures } = parseHtml(getChildText(placemark, 'description') ?? '');
  const stamp = placemark.children.find(({ name }) => name === 'TimeStamp');
  for (const { name } of placemark.children) if (!KNOWN.has(name)) unread.add(name);
  const fields: [string, string][] = [];
  const attachments: string[] = [];
  for (const field of getChild(placemark, 'ExtendedData')?.children ?? []) {
    const named = getAttribute(field, 'name') ?? field.name;
    const value = getChildText(field, 'value') ?? '';
    if (field.name === 'SchemaData') {
      for (const simple of field.children)
        fields.push([getAttribute(simple, 'name') ?? simple.name, simple.text.trim()]);
    } else if (field.name !== 'Data') collectOtherElement(field, fields, attachments, unread);
    else if (named === MAP_PICTURES) attachments.push(...(value.match(/\S+/g) ?? []));
    else fields.push([named, value]);
  }
  const links = [...pictures, ...attachments].map((link) => resolveLink(folder, link));
  return collectDeviceValues(
    {
      name: getChildText(placemark, 'name') ?? '',
      notes: [text],
      time: (stamp && getChildText(stamp, 'when', placemark.namespace)) ?? '',
      links,
      fields,
    },
    unread,
  );
}

/** Field in which Google My Maps lists addresses of pictures. */
const MAP_PICTURES = 'gx_media_links';

/** Makes a link, which is relative to its document, relative to the archive's root. */
function resolveLink(folder: string, link: string): string {
  return /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(link) ? link : posix.join(folder, link);
}

function parsePlace(placemark: XmlElement): Reading<PointInSystem | undefined> {
  const geometries = listGeometries(placemark);
  const [geometry, another] = geometries;
  if (geometry === undefined) return { value: undefined };
  if (another !== undefined && geometries.every(({ name }) => name === 'Point'))
    return makePointCountFault(geometries.length);
  const named = another === undefined ? geometry.name : 'MultiGeometry';
  if (named !== 'Point') return makeShapeFault(named);
  const coordinates = getChildText(geometry, 'coordinates') ?? '';
  if (coordinates === '') return { value: undefined };
  const [, x, y] =
    /^(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?:\s*,\s*[-+\d.eE]+)?$/.exec(
      coordinates.slice(0, MAX_CHARACTERS),
    ) ?? [];
  if (x === undefined || y === undefined) {
    return makeUnreadable('geometry-form', msg`The coordinates of the point are not two numbers.`);
  }
  return { value: { system: '4326', x, y } };
}

/** Limit for the coordinates of one point. */
const MAX_CHARACTERS = 200;

/** Lists the geometries of a placemark, also those in groups. */
function listGeometries({ children }: XmlElement): readonly XmlElement[] {
  return children
    .filter(({ name }) => GEOMETRIES.has(name))
    .flatMap((each) => (each.name === 'MultiGeometry' ? listGeometries(each) : [each]));
}

/** Limit for the nodes of a find, waypoint or placemark, and of the document around them. */
const MAX_NODES = 1_000_000;

/**
 * Reads XML: waypoints of GPX, placemarks of KML, or finds in the service's own form. A DTD is
 * refused and nothing is fetched.
 * @throws FileError where the document is not well-formed, or of another kind
 */
export function parseXmlTable(file: string, bytes: Buffer): Table {
  return walkTable(file, (walk) => {
    const document = walk(bytes);
    if (isKml(document.root)) return parseKml(file, [{ document }]);
    if (isGpx(document.root)) return parseGpx(file, document);
    const { name, namespace } = document.root;
    const root = namespace === '' ? name : `${name} (${namespace})`;
    const none = new FileError(
      file,
      msg`${file} is XML with the root ${root}, and contains no GPX waypoints, KML placemarks or finds of the service.`,
    );
    return readXmlRecords(file, [{ document }], FINDS, none);
  });
}

/**
 * Reads a table from documents.
 * @throws FileError where one of them is not well-formed
 */
function walkTable(file: string, read: (walk: (bytes: Buffer) => XmlWalk) => Table): Table {
  try {
    return read((bytes) => walkXml(withDeclarationFirst(bytes), MAX_NODES));
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw makeSyntaxError(file, 'XML', thrown.says, thrown);
  }
}

/** Moves blank lines before the XML declaration behind it, so that the line numbers stay. */
function withDeclarationFirst(bytes: Buffer): Buffer {
  const head = bytes.toString('latin1', 0, 1024);
  const [whole = '', mark = '', blanks = '', declaration = ''] =
    /^(\u00ef\u00bb\u00bf)?(\s+)(<\?xml\s[^>]*\?>)/.exec(head) ?? [];
  if (whole === '') return bytes;
  return Buffer.concat([
    Buffer.from(mark + declaration + blanks, 'latin1'),
    bytes.subarray(whole.length),
  ]);
}

/** Some programs omit the namespace, or write it as the address of a page. */
const GPX_NAMESPACE = /^(?:https?:\/\/(?:www\.)?topografix\.com\/gpx\/1\/[01]\/?)?$/i;

function isGpx({ name, namespace }: XmlElement): boolean {
  return name === 'gpx' && GPX_NAMESPACE.test(namespace);
}

/** Points of tracks and routes are skipped, so that a long track is not held in memory. */
const POINTS = new Set(['wpt', 'trkpt', 'rtept']);

/**
 * Reads the waypoints of GPX: the name is the local id, description and comment are the note, the
 * local day of the time is the day of the find, links to pictures are photographs. Extensions with
 * the name of a column fill it, others are named in a warning. Tracks, routes and heights are not
 * read.
 * @throws FileError where there are no waypoints; XmlSyntaxError
 */
function parseGpx(file: string, document: XmlWalk): Table {
  const unread: UnreadNames = new Set();
  const dialect: XmlDialect = {
    unit: 'waypoint',
    names: POINTS,
    isRecord: ({ element: { name, namespace }, around }, root) =>
      name === 'wpt' && namespace === root.namespace && around.length === 1,
    parsePlace: parsePosition,
    listParts: (waypoint) => [waypoint],
    collectValues: ({ element }) => collectWaypointValues(element, unread),
  };
  return addUnreadWarning(
    readXmlRecords(file, [{ document }], dialect, makeNoPointsError(file)),
    unread,
  );
}

function parsePosition(waypoint: XmlElement): Reading<PointInSystem> {
  const lon = getAttribute(waypoint, 'lon')?.trim() ?? '';
  const lat = getAttribute(waypoint, 'lat')?.trim() ?? '';
  if (isDecimal(lon) && isDecimal(lat)) return { value: { system: '4326', x: lon, y: lat } };
  return makeUnreadable('geometry-form', msg`The coordinates of the point are not two numbers.`);
}

/** Elements that are read; heights and satellite data are ignored without a warning. */
const READ = new Set([
  'name',
  'desc',
  'cmt',
  'time',
  'link',
  'url',
  'urlname',
  'extensions',
  'ele',
]);

function collectWaypointValues(waypoint: XmlElement, unread: UnreadNames): Map<string, string> {
  for (const { name } of waypoint.children) if (!READ.has(name)) unread.add(name);
  const fields: [string, string][] = [];
  const attachments: string[] = [];
  const extensions = getChild(waypoint, 'extensions')?.children ?? [];
  for (const leaf of extensions.flatMap(listLeaves))
    collectOtherElement(leaf, fields, attachments, unread);
  const notes = ['desc', 'cmt'].map((name) => parseHtml(getChildText(waypoint, name) ?? ''));
  return collectDeviceValues(
    {
      name: getChildText(waypoint, 'name') ?? '',
      notes: notes.map(({ text }) => text),
      time: getChildText(waypoint, 'time') ?? '',
      links: [...notes.flatMap(({ pictures }) => pictures), ...listLinks(waypoint), ...attachments],
      fields,
    },
    unread,
  );
}

/** Returns the links of a waypoint in GPX 1.1 or GPX 1.0. */
function listLinks(waypoint: XmlElement): string[] {
  const links = getChildren(waypoint, 'link').map(
    (link) => getAttribute(link, 'href')?.trim() ?? '',
  );
  return [...links, getChildText(waypoint, 'url') ?? ''].filter((link) => link !== '');
}

/** Returns the leaf elements of extensions, whose structure differs by program. */
function listLeaves(element: XmlElement): readonly XmlElement[] {
  return element.children.length === 0 ? [element] : element.children.flatMap(listLeaves);
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/** `{schema_base}/<x.y>/`; the base differs per deployment. */
const SERVICE_NAMESPACE = /\/\d+\.\d+\/$/;

/**
 * Finds in the service's own form anywhere in a document: an import document, a page of a harvest,
 * a file of harvested records, or the output of `pas export`, which adds local id and photographs.
 */
const FINDS: XmlDialect = {
  unit: 'find',
  names: new Set(['samostatny_nalez']),
  isRecord: ({ element: { namespace }, around }) =>
    SERVICE_NAMESPACE.test(namespace) && around.at(-1)?.namespace === namespace,
  parsePlace: (find) =>
    getGuarded(find)?.text.trim() === FORBIDDEN_TEXT
      ? makeUnreadable('place-withheld', PLACE_WITHHELD)
      : { value: undefined },
  listParts: (find) => [find, ...find.children, ...(getGuarded(find)?.children ?? [])],
  collectValues: ({ element, around }) =>
    collectTexts(
      element,
      around.findLast(({ name, namespace }) => namespace === FINDS_NAMESPACE && name === 'find'),
    ),
};

const PLACE_WITHHELD = msg`The location of the find is hidden in the harvested record, so the find is not read.`;

/** Returns the part of a find that the service hides from others. */
function getGuarded(find: XmlElement): XmlElement | undefined {
  return getChild(find, 'chranene_udaje');
}

function collectTexts(find: XmlElement, wrapper: XmlElement | undefined): Map<string, string> {
  const guarded = getGuarded(find);
  const values = new Map<string, string>();
  const take = (name: string, text: string | undefined): void => {
    if (text !== undefined && text !== '') values.set(name, text);
  };
  const getAdded = (name: string): string | undefined =>
    wrapper === undefined ? undefined : getAttribute(wrapper, name);
  take('local_id', getAdded('local_id'));
  // The import document itself always requests a new identifier.
  take('ident_cely', getAdded('ident_cely') ?? getChildText(find, 'ident_cely'));
  for (const field of FIELDS) {
    const parent = field.parent === undefined ? find : guarded;
    const element = parent === undefined ? undefined : getChild(parent, field.name);
    if (element !== undefined) take(field.name, getFieldText(field, element));
  }
  take('photos', getAdded('photos'));
  return values;
}

/** Returns the identifier of a reference, or the name of a new person. */
function getFieldText(field: Field, element: XmlElement): string {
  if (field.kind !== 'reference' && field.kind !== 'term') return element.text.trim();
  const id = getAttribute(element, 'id')?.trim() ?? '';
  return id === NEW_PERSON ? element.text.trim() : id;
}

/**
 * Reads the placemarks of an archive of KML (KMZ), those of `doc.kml` first. Photographs of the
 * archive are attachments of the table; they are unpacked on demand, so the archive may have any
 * size.
 * @throws FileError where the archive is damaged, a document of it is no KML, or there are no
 * placemarks
 */
export async function readKmz({ file, archive, bytes }: ArchiveSource): Promise<Table> {
  assertNotNested(file, archive.paths);
  const contents: { readonly name: string; readonly bytes: Buffer }[] = [];
  for (const name of findDocuments(archive.paths))
    contents.push({ name, bytes: await archive.read(name) });
  return walkTable(file, (walk) => {
    const parts = contents.map(({ name, bytes }) => {
      const document = walk(bytes);
      if (isKml(document.root)) return { document, folder: posix.dirname(name) };
      throw makeNoPointsError(`${file}/${name}`);
    });
    return { ...parseKml(file, parts), attachments: openAttachments(file, archive.paths, bytes) };
  });
}

/** Finds the documents of an archive, `doc.kml` first. */
function findDocuments(paths: readonly string[]): readonly string[] {
  return paths
    .filter((name) => /\.kml$/i.test(name) && !/(?:^|\/)(?:\.|__MACOSX\/)/.test(name))
    .sort((one, other) => Number(other === 'doc.kml') - Number(one === 'doc.kml'));
}
