import { FileError } from '../base/errors.ts';
import {
  type Issue,
  isReadable,
  makeErrorIssue,
  makeUnreadable,
  type Reading,
} from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findColumnMeant } from '../find/fields.ts';
import { makePointCountFault, makeShapeFault, type PointInSystem } from '../place/geometry.ts';
import { parseHtml } from '../text/characters.ts';
import {
  getAttribute,
  getChild,
  getChildText,
  makeLineCounter,
  type XmlElement,
} from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { listStrayTexts, makeStrayTextMessage } from '../xml/source-text.ts';
import { collectDeviceValues, nameRecord, UnreadNames } from './device-values.ts';
import { makeTableOfRecords, type NamedValues, type Table } from './table.ts';

const KML_NAMESPACE = /^(?:https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml\/2\.\d)?$/;

export function isKml({ name, namespace }: XmlElement): boolean {
  return name === 'kml' && KML_NAMESPACE.test(namespace);
}

const PLACEMARKS = new Set(['Placemark']);
/** Elements that only concern the display. */
const LOOKS = new Set([
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
const READ = new Set(['name', 'description', 'ExtendedData', 'TimeStamp']);
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

/** A document of KML, and the folder in its archive to which its links are relative. */
type KmlPart = { readonly document: XmlWalk; readonly folder?: string };

/**
 * Reads the placemarks of KML in all folders: the name is the local id, the description the note,
 * fields are columns, pictures in the description and attachments are photographs, and the day of
 * the time stamp is the day of the find. Heights are not read.
 * @param parts several where an archive has more documents
 * @throws FileError where there are no placemarks; XmlSyntaxError
 */
export function parseKml(file: string, parts: readonly KmlPart[]): Table {
  const place = { file, unit: 'feature' } as const;
  const unread = new UnreadNames();
  const records = function* (): Generator<NamedValues | Issue> {
    let row = 0;
    for (const { document, folder = '' } of parts) {
      const findLine = makeLineCounter(document);
      for (const { element: placemark } of document.readParts(PLACEMARKS)) {
        if (placemark.namespace !== document.root.namespace) continue;
        row += 1;
        const where = parts.length > 1 ? { row } : { row, line: findLine(placemark.start) };
        const point = parsePlace(placemark);
        const [stray] = listStrayTexts(document, placemark);
        const named = { ...place, ...where, ...nameRecord(placemark) };
        if (!isReadable(point)) yield makeErrorIssue(point.rule, point.problem, named);
        else if (stray !== undefined)
          yield makeErrorIssue('stray-text', makeStrayTextMessage(stray), named);
        else {
          const values = collectPlacemarkValues(placemark, folder, unread);
          yield { ...where, values, point: point.value };
        }
      }
    }
  };
  const table = makeTableOfRecords(place, { [Symbol.iterator]: records }, []);
  if (table.rowCount > 0 || table.issues.length > 0)
    return { ...table, issues: [...table.issues, ...unread.makeIssues(file)] };
  throw new FileError(file, msg`${file} has no placemarks.`, {
    hint: msg`Mark each find as a point, and export the points with their descriptions.`,
  });
}

function collectPlacemarkValues(
  placemark: XmlElement,
  folder: string,
  unread: UnreadNames,
): Map<string, string> {
  const { text, pictures } = parseHtml(getChildText(placemark, 'description') ?? '');
  const stamp = placemark.children.find(({ name }) => name === 'TimeStamp');
  for (const { name, namespace } of placemark.children) {
    const isKnown = READ.has(name) || LOOKS.has(name) || GEOMETRIES.has(name);
    if (!isKnown || (namespace !== placemark.namespace && READ.has(name) && name !== 'TimeStamp'))
      unread.add(name);
  }
  const fields: [string, string][] = [];
  const attachments: string[] = [];
  const takeOther = ({ name, text: value }: XmlElement): void => {
    if (value.trim() === '') return;
    if (name === 'attachment') attachments.push(value.trim());
    else if (findColumnMeant(name) !== undefined) fields.push([name, value.trim()]);
    else unread.add(name);
  };
  for (const field of getChild(placemark, 'ExtendedData')?.children ?? []) {
    const named = getAttribute(field, 'name') ?? field.name;
    if (field.name === 'Data' && named === MAP_PICTURES)
      attachments.push(...splitBlanks(getChildText(field, 'value') ?? ''));
    else if (field.name === 'Data') fields.push([named, getChildText(field, 'value') ?? '']);
    else if (field.name === 'SchemaData') {
      for (const simple of field.children) {
        const name = getAttribute(simple, 'name') ?? simple.name;
        if (simple.name === 'SimpleData') fields.push([name, simple.text.trim()]);
        else unread.add(name);
      }
    } else takeOther(field);
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

function splitBlanks(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Makes a link, which is relative to its document, relative to the archive's root. */
function resolveLink(folder: string, link: string): string {
  return folder === '' || /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(link) ? link : `${folder}/${link}`;
}

function parsePlace(placemark: XmlElement): Reading<PointInSystem | undefined> {
  const geometries = placemark.children
    .filter(({ name }) => GEOMETRIES.has(name))
    .flatMap(listLeaves);
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

function listLeaves(geometry: XmlElement): readonly XmlElement[] {
  if (geometry.name !== 'MultiGeometry') return [geometry];
  return geometry.children.filter(({ name }) => GEOMETRIES.has(name)).flatMap(listLeaves);
}
