import { posix } from 'node:path';
import { parseHtml } from '../../base/characters.ts';
import { FileError } from '../../base/errors.ts';
import { isReadable, makeUnreadable, type Reading } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildText,
  makeLineCounter,
  type XmlElement,
} from '../../base/xml/element.ts';
import type { XmlWalk } from '../../base/xml/parse.ts';
import { listStrayTexts, makeStrayTextMessage } from '../../base/xml/source-text.ts';
import {
  makePointCountFault,
  makeShapeFault,
  type PointInSystem,
} from '../../finds/place/geometry.ts';
import {
  collectDeviceValues,
  takeOther,
  type UnreadNames,
  withUnreadNames,
} from '../device-values.ts';
import { makeTableOfRecords, type ReadRecord, type Table } from '../table.ts';

/** A document, and the folder in its archive to which its links are relative. */
export type XmlPart = { readonly document: XmlWalk; readonly folder?: string };

/** An element that is a record, and its ancestors from the root. */
type RecordElement = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

/** How a kind of XML holds records. */
export type XmlDialect = {
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
 * Reads the records of documents. A fault names the record, since its number among hundreds is hard
 * to find on a device.
 * @param parts several where an archive has more documents; then lines have no meaning
 * @param none error of documents without records
 * @throws XmlSyntaxError
 */
export function readXmlRecords(
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
          .flatMap((each) => [...listStrayTexts(document, each)]);
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

export function isKml({ name, namespace }: XmlElement): boolean {
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
export function parseKml(file: string, parts: readonly XmlPart[]): Table {
  const unread: UnreadNames = new Set();
  const dialect: XmlDialect = {
    unit: 'feature',
    names: PLACEMARKS,
    isRecord: ({ element }, root) => element.namespace === root.namespace,
    parsePlace,
    listParts: (placemark) => [placemark],
    collectValues: ({ element }, folder) => collectPlacemarkValues(element, folder, unread),
  };
  const none = new FileError(file, msg`${file} has no placemarks.`, {
    hint: msg`Mark each find as a point, and export the points with their descriptions.`,
  });
  return withUnreadNames(readXmlRecords(file, parts, dialect, none), unread);
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
    } else if (field.name !== 'Data') takeOther(field, fields, attachments, unread);
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
