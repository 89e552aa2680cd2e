import { parseHtml } from '../../base/characters.ts';
import { joinFileNames } from '../../base/csv.ts';
import { FileError } from '../../base/errors.ts';
import { isReadable, makeRuleProblem, type Reading } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { isPictureName } from '../../base/names.ts';
import {
  describeStrayText,
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  makeLineCounter,
  type XmlElement,
} from '../../base/xml/element.ts';
import { walkXml, XmlSyntaxError, type XmlWalk } from '../../base/xml/parse.ts';
import { FIELDS, type Field, NEW_PERSON } from '../../finds/fields.ts';
import { FORBIDDEN_TEXT } from '../../finds/harvested-find.ts';
import { parseDayOfMoment } from '../../finds/parse-cell.ts';
import type { PointInSystem } from '../../finds/place/geometry.ts';
import { FINDS_NAMESPACE } from '../exports/exported-find.ts';
import {
  makeSyntaxError,
  makeTableOfRecords,
  type ReadRecord,
  type Table,
  withUnreadNamesWarning,
} from '../table.ts';

/** An element that is a record, and its ancestors from the root. */
type RecordElement = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

/** How a kind of XML holds records. */
type XmlDialect = {
  readonly unit: 'waypoint' | 'find';
  /** Elements that are parsed; those that are no records are skipped, one at a time. */
  readonly names: ReadonlySet<string>;
  isRecord(part: RecordElement, root: XmlElement): boolean;
  /** Returns the point, or the fault that keeps the record from being read. */
  parsePoint(record: XmlElement): Reading<PointInSystem | undefined>;
  /** Elements of a record between whose children no text may stand. */
  listParts(record: XmlElement): readonly XmlElement[];
  /** Adds the names of what it does not read to `unread`. */
  collectValues(part: RecordElement, unread: Set<string>): Map<string, string>;
};

/**
 * Reads the records of a document as a table, with one warning that lists what was not read. A
 * fault names the record, since its number among hundreds is hard to find on a device.
 * @param none error of a document without records
 * @throws XmlSyntaxError where the document is not well-formed; `none` where there are no records
 */
function readXmlRecords(
  file: string,
  document: XmlWalk,
  dialect: XmlDialect,
  none: FileError,
): Table {
  const unread = new Set<string>();
  const readRecords = function* (): Generator<ReadRecord> {
    const countLine = makeLineCounter(document.bytes);
    let row = 0;
    for (const part of document.readParts(dialect.names)) {
      if (!dialect.isRecord(part, document.root)) continue;
      row += 1;
      const { element } = part;
      const line = countLine(element.start);
      const find = getChildText(element, 'name');
      const point = dialect.parsePoint(element);
      const [stray] = dialect.listParts(element).flatMap((each) => describeStrayText(each) ?? []);
      if (!isReadable(point)) yield { row, line, find, ...point };
      else if (stray !== undefined)
        yield { row, line, find, ...makeRuleProblem('stray-text', stray) };
      else yield { row, line, values: dialect.collectValues(part, unread), point: point.value };
    }
  };
  const table = makeTableOfRecords({ file, unit: dialect.unit }, readRecords, none);
  return withUnreadNamesWarning(table, unread);
}

/** Limit for the nodes of a find or waypoint, and of the document around them. */
const MAX_NODES = 1_000_000;

/**
 * Reads an XML document as a table: the waypoints of GPX, or the finds of a document in the
 * service's own form, such as an import document or a page of a harvest. A faulty one is an issue;
 * one warning names the elements that are not read. A document with a DTD is refused, and nothing
 * is fetched.
 * @param file its name for messages
 * @throws FileError where the document is not well-formed, of another kind, or without finds
 */
export function parseXmlTable(file: string, bytes: Buffer): Table {
  try {
    const document = walkXml(bytes, MAX_NODES);
    const { name, namespace } = document.root;
    // Programs write the namespace of GPX in several ways, or omit it.
    if (name === 'gpx') return parseGpx(file, document);
    const root = namespace === '' ? name : `${name} (${namespace})`;
    const none = new FileError(
      file,
      msg`${file} is XML with the root ${root}, and contains no GPX waypoints or finds of the service.`,
    );
    return readXmlRecords(file, document, FINDS, none);
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw makeSyntaxError(file, 'XML', thrown.says, thrown);
  }
}

/** Points of tracks and routes are skipped, so that a long track is not held in memory. */
const POINTS = new Set(['wpt', 'trkpt', 'rtept']);

/**
 * Reads the waypoints of GPX: the name is the local id, description and comment are the note, the
 * local day of the time is the day of the find, links to pictures are photographs. Extensions are
 * named in a warning. Tracks, routes and heights are not read.
 * @throws FileError where there are no waypoints; XmlSyntaxError
 */
function parseGpx(file: string, document: XmlWalk): Table {
  const none = new FileError(
    file,
    msg`${file} has no waypoints. Tracks and routes are not finds.`,
    { hint: msg`Mark each find as a waypoint, and export the waypoints.` },
  );
  return readXmlRecords(file, document, WAYPOINTS, none);
}

const WAYPOINTS: XmlDialect = {
  unit: 'waypoint',
  names: POINTS,
  isRecord: ({ element: { name, namespace }, around }, root) =>
    name === 'wpt' && namespace === root.namespace && around.length === 1,
  parsePoint: parsePosition,
  listParts: (waypoint) => [waypoint],
  collectValues: ({ element }, unread) => collectWaypointValues(element, unread),
};

function parsePosition(waypoint: XmlElement): Reading<PointInSystem> {
  const lon = getAttribute(waypoint, 'lon')?.trim() ?? '';
  const lat = getAttribute(waypoint, 'lat')?.trim() ?? '';
  if (isDecimal(lon) && isDecimal(lat)) return { value: { system: '4326', x: lon, y: lat } };
  return makeRuleProblem('geometry-form', msg`The coordinates of the point are not two numbers.`);
}

/** Elements that are read; heights and satellite data are ignored without a warning. */
const READ = new Set(['name', 'desc', 'cmt', 'time', 'link', 'url', 'urlname', 'ele']);

/**
 * Returns the texts of a waypoint by column: its name, its day, its pictures, and as the note its
 * descriptions, further names and times, and other links. Names of what is not read are added to
 * `unread`.
 */
function collectWaypointValues(waypoint: XmlElement, unread: Set<string>): Map<string, string> {
  for (const { name } of waypoint.children) if (!READ.has(name)) unread.add(name);
  const [localId = '', ...names] = listTexts(waypoint, 'name');
  const [day = '', ...days] = listTexts(waypoint, 'time').map(parseDay);
  const descriptions = listTexts(waypoint, 'desc', 'cmt').map(parseHtml);
  const notes = [...names, ...days, ...descriptions.map(({ text }) => text)];
  const photographs: string[] = [];
  const links = [...descriptions.flatMap(({ pictures }) => pictures), ...listLinks(waypoint)];
  for (const link of links) {
    const file = getLinkedFile(link) ?? '';
    if (isPictureName(file)) photographs.push(file);
    else if (!link.startsWith('data:')) notes.push(link);
  }
  const values = [
    ['local_id', localId],
    ['datum_nalezu', day],
    ['poznamka', [...new Set(notes)].join('\n')],
    ['photos', joinFileNames([...new Set(photographs)])],
  ] as const;
  return new Map(values.filter(([, text]) => text !== ''));
}

/** Returns the path of a linked file, here or on the device; undefined for the web. */
function getLinkedFile(link: string): string | undefined {
  if (/^(?!file:)[a-z][a-z\d+.-]+:/i.test(link)) return undefined;
  return decodeLink(link.replace(/^file:(?:\/\/[^/]*)?/i, '').replace(/[?#].*$/s, ''));
}

function decodeLink(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Returns the day; a time without a zone is local at the site. An unreadable time stays, so that
 * the cell is reported.
 */
function parseDay(time: string): string {
  return (
    parseDayOfMoment(time) ??
    time.replace(/^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '$1')
  );
}

/** Returns the links of a waypoint in GPX 1.1 or GPX 1.0. */
function listLinks(waypoint: XmlElement): string[] {
  const links = getChildren(waypoint, 'link').map(
    (link) => getAttribute(link, 'href')?.trim() ?? '',
  );
  return [...links.filter((link) => link !== ''), ...listTexts(waypoint, 'url')];
}

/** Lists the texts of the children of these names; a device may write several of one name. */
function listTexts(waypoint: XmlElement, ...names: readonly string[]): string[] {
  return names
    .flatMap((name) => getChildren(waypoint, name))
    .map(({ text }) => text.trim())
    .filter((text) => text !== '');
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/** `{schema_base}/<x.y>/`; the base differs per deployment. */
const SERVICE_NAMESPACE = /\/\d+\.\d+\/$/;

/** Elements of a record that only the service makes, or that repeat others. */
const NOT_OF_CLIENT = new Set([
  'ident_cely',
  'igsn',
  'okres',
  'geom_updated_at',
  'geom_sjtsk_updated_at',
  'chranene_udaje',
  'katastr',
  'geom_gml',
  'geom_sjtsk_gml',
  'historie',
  'soubor',
]);

/**
 * Finds in the service's own form anywhere in a document: an import document, a page of a harvest,
 * a file of harvested records, or the output of `pas export`, which adds local id and photographs.
 * Unknown, misplaced and repeated elements are not read.
 */
const FINDS: XmlDialect = {
  unit: 'find',
  names: new Set(['samostatny_nalez']),
  // A project lists its finds by elements of the same name.
  isRecord: ({ element: { namespace }, around }) =>
    SERVICE_NAMESPACE.test(namespace) &&
    around.at(-1)?.namespace === namespace &&
    around.at(-2)?.namespace !== namespace,
  parsePoint: (find) =>
    getGuarded(find)?.text.trim() === FORBIDDEN_TEXT
      ? makeRuleProblem('place-withheld', POINT_WITHHELD)
      : { value: undefined },
  listParts: (find) => [find, ...find.children, ...(getGuarded(find)?.children ?? [])],
  collectValues: ({ element, around }, unread) =>
    collectTexts(
      element,
      around.findLast(({ name, namespace }) => namespace === FINDS_NAMESPACE && name === 'find'),
      unread,
    ),
};

const POINT_WITHHELD = msg`The place of the find is hidden in the harvested record, so the find is not read.`;

/** Returns the part of a find that the service hides from others. */
function getGuarded(find: XmlElement): XmlElement | undefined {
  return getChild(find, 'chranene_udaje');
}

/**
 * Returns the texts of a find by element, with the local id, identifier and photographs that the
 * export adds around it. Empty and absent ones are left out.
 * @param wrapper element around it in an export of pas; undefined elsewhere
 * @param unread gets the names of elements that are unknown, misplaced or repeated, but not of
 * those that only the service makes
 */
function collectTexts(
  find: XmlElement,
  wrapper: XmlElement | undefined,
  unread: Set<string>,
): Map<string, string> {
  const guarded = getGuarded(find);
  const others = new Set([...find.children, ...(guarded?.children ?? [])]);
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
    if (element === undefined) continue;
    others.delete(element);
    take(field.name, getFieldText(field, element));
  }
  take('photos', getAdded('photos'));
  for (const { name } of others) if (!NOT_OF_CLIENT.has(name)) unread.add(name);
  return values;
}

/** Returns the identifier of a reference, or the name of a new person. */
function getFieldText(field: Field, element: XmlElement): string {
  if (field.kind !== 'reference' && field.kind !== 'term') return element.text.trim();
  const id = getAttribute(element, 'id')?.trim() ?? '';
  return id === NEW_PERSON ? element.text.trim() : id;
}
