import { FileError } from '../base/errors.ts';
import { errorIssue, type Issue, isReadable, type Reading, unreadable } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { meaningOfColumn } from '../find/fields.ts';
import type { PointInSystem } from '../place/geometry.ts';
import { parseHtml } from '../text/characters.ts';
import { childText, getAttribute, getChild, lineCounter, type XmlElement } from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { listStrayTexts, strayTextMessage } from '../xml/source-text.ts';
import { deviceValues, UnreadNames } from './device-values.ts';
import { type NamedValues, type Table, tableOfRecords } from './table.ts';

const KML_NAMESPACE = /^(?:https?:\/\/(?:www\.opengis\.net|earth\.google\.com)\/kml\/2\.\d)?$/;

export function isKml({ name, namespace }: XmlElement): boolean {
  return name === 'kml' && KML_NAMESPACE.test(namespace);
}

const PLACEMARKS = new Set(['Placemark']);
/** Elements that concern the display only. */
const LOOKS = new Set(['styleUrl', 'Style', 'StyleMap', 'visibility', 'balloonVisibility', 'open', 'LookAt', 'Camera', 'Region']);
const READ = new Set(['name', 'description', 'ExtendedData', 'TimeStamp']);
const GEOMETRIES = new Set(['Point', 'LineString', 'LinearRing', 'Polygon', 'MultiGeometry', 'Model', 'Track', 'MultiTrack']);

/** A document of KML, and the folder in its archive to which its links are relative. */
type KmlPart = { readonly document: XmlWalk; readonly folder?: string };

/**
 * Reads the placemarks of KML in all folders: the name is the local id, the description the note, fields are columns, pictures in
 * the description and attachments are photographs, and the day of the time stamp is the day of the find. Heights are not read.
 * @param parts several where an archive has more documents
 * @throws FileError where there are no placemarks; XmlSyntaxError
 */
export function parseKml(file: string, parts: readonly KmlPart[]): Table {
  const place = { file, unit: 'feature' } as const;
  const unread = new UnreadNames();
  const records = function* (): Generator<NamedValues | Issue> {
    let row = 0;
    for (const { document, folder = '' } of parts) {
      const findLine = lineCounter(document);
      for (const { element: placemark } of document.parts(PLACEMARKS)) {
        if (placemark.namespace !== document.root.namespace) continue;
        row += 1;
        const where = parts.length > 1 ? { row } : { row, line: findLine(placemark.start) };
        const point = parsePlace(placemark);
        const [stray] = listStrayTexts(document, placemark);
        if (!isReadable(point)) yield errorIssue(point.rule, point.problem, { ...place, ...where });
        else if (stray !== undefined) yield errorIssue('stray-text', strayTextMessage(stray), { ...place, ...where });
        else {
          const values = collectPlacemarkValues(placemark, folder, unread);
          yield { ...where, values, ...(point.value === undefined ? {} : { point: point.value }) };
        }
      }
    }
  };
  const table = tableOfRecords(place, { [Symbol.iterator]: records }, []);
  if (table.rowCount > 0 || table.issues.length > 0) return { ...table, issues: [...table.issues, ...unread.issues(file)] };
  throw new FileError(file, msg`${file} has no placemarks.`, {
    hint: msg`Mark each find as a point, and export the points with their descriptions.`,
  });
}

function collectPlacemarkValues(placemark: XmlElement, folder: string, unread: UnreadNames): Map<string, string> {
  const { text, pictures } = parseHtml(childText(placemark, 'description') ?? '');
  const stamp = placemark.children.find(({ name }) => name === 'TimeStamp');
  for (const { name, namespace } of placemark.children) {
    const isKnown = READ.has(name) || LOOKS.has(name) || GEOMETRIES.has(name);
    if (!isKnown || (namespace !== placemark.namespace && READ.has(name) && name !== 'TimeStamp')) unread.add(name);
  }
  const fields: [string, string][] = [];
  const attachments: string[] = [];
  const takeOther = ({ name, text: value }: XmlElement): void => {
    if (value.trim() === '') return;
    if (name === 'attachment') attachments.push(value.trim());
    else if (meaningOfColumn(name) !== undefined) fields.push([name, value.trim()]);
    else unread.add(name);
  };
  for (const field of getChild(placemark, 'ExtendedData')?.children ?? []) {
    const named = getAttribute(field, 'name') ?? field.name;
    if (field.name === 'Data' && named === MAP_PICTURES) attachments.push(...wordsIn(childText(field, 'value') ?? ''));
    else if (field.name === 'Data') fields.push([named, childText(field, 'value') ?? '']);
    else if (field.name === 'SchemaData') {
      for (const simple of field.children) {
        const name = getAttribute(simple, 'name') ?? simple.name;
        if (simple.name === 'SimpleData') fields.push([name, simple.text.trim()]);
        else unread.add(name);
      }
    } else takeOther(field);
  }
  const links = [...pictures, ...attachments].map((link) => resolveLink(folder, link));
  return deviceValues(
    {
      name: childText(placemark, 'name') ?? '',
      notes: [text],
      time: (stamp && childText(stamp, 'when', placemark.namespace)) ?? '',
      links,
      fields,
    },
    unread,
  );
}

/** Field in which Google My Maps lists addresses of pictures. */
const MAP_PICTURES = 'gx_media_links';

function wordsIn(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Makes a link, which is relative to its document, relative to the archive's root. */
function resolveLink(folder: string, link: string): string {
  return folder === '' || /^(?:[a-z][a-z\d+.-]*:|\/)/i.test(link) ? link : `${folder}/${link}`;
}

function parsePlace(placemark: XmlElement): Reading<PointInSystem | undefined> {
  const geometries = placemark.children.filter(({ name }) => GEOMETRIES.has(name)).flatMap(listLeaves);
  const [geometry, another] = geometries;
  if (geometry === undefined) return { value: undefined };
  if (another !== undefined && geometries.every(({ name }) => name === 'Point')) {
    const count = geometries.length;
    return unreadable('geometry-form', msg`The geometry has ${count} points. A find has one.`);
  }
  const named = another === undefined ? geometry.name : 'MultiGeometry';
  if (named !== 'Point') return unreadable('geometry-form', msg`The geometry is a ${named}. A find has a point.`);
  const coordinates = childText(geometry, 'coordinates') ?? '';
  if (coordinates === '') return { value: undefined };
  const [, x, y] =
    /^(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)(?:\s*,\s*[-+\d.eE]+)?$/.exec(coordinates.slice(0, MAX_CHARACTERS)) ?? [];
  if (x === undefined || y === undefined) {
    return unreadable('geometry-form', msg`The coordinates of the point are not two numbers.`);
  }
  return { value: { system: '4326', x, y } };
}

/** Limit for the coordinates of one point. */
const MAX_CHARACTERS = 200;

function listLeaves(geometry: XmlElement): readonly XmlElement[] {
  if (geometry.name !== 'MultiGeometry') return [geometry];
  return geometry.children.filter(({ name }) => GEOMETRIES.has(name)).flatMap(listLeaves);
}
