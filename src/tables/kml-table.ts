import { FileError } from '../base/errors.ts';
import { makeUnreadable, type Reading } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findColumnMeant } from '../find/fields.ts';
import { makePointCountFault, makeShapeFault, type PointInSystem } from '../place/geometry.ts';
import { parseHtml } from '../text/characters.ts';
import { getAttribute, getChild, getChildText, type XmlElement } from '../xml/element.ts';
import { collectDeviceValues, UnreadNames } from './device-values.ts';
import type { Table } from './table.ts';
import { readXmlRecords, type XmlDialect, type XmlPart } from './xml-records.ts';

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

/**
 * Reads the placemarks of KML in all folders: the name is the local id, the description the note,
 * fields are columns, pictures in the description and attachments are photographs, and the day of
 * the time stamp is the day of the find. Heights are not read.
 * @throws FileError where there are no placemarks; XmlSyntaxError
 */
export function parseKml(file: string, parts: readonly XmlPart[]): Table {
  const unread = new UnreadNames();
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
  return unread.addTo(readXmlRecords(file, parts, dialect, none));
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
