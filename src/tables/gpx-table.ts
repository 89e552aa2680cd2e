import { FileError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { attributeOf, childrenOf, childText, lineCounter, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { strayTextMessage, strayTextsIn } from '../xml/stray-text.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import type { Table } from './table.ts';

const GPX_NAMESPACES = ['http://www.topografix.com/GPX/1/1', 'http://www.topografix.com/GPX/1/0'];

export function isGpx({ name, namespace }: XmlElement): boolean {
  return name === 'gpx' && GPX_NAMESPACES.includes(namespace);
}

/**
 * Reads the waypoints of GPX: the name is the local id, description and comment are the note, the day on which it was made
 * where this computer is, is the day of the find. Tracks, routes and heights are not read.
 *
 * @throws FileError where there are no waypoints
 */
export function readGpx(file: string, document: XmlDocument): Table {
  const waypoints = childrenOf(document.root, 'wpt');
  if (waypoints.length === 0) {
    throw new FileError(file, msg`${file} has no waypoints. Tracks and routes are not finds.`, {
      hint: msg`Mark each find as a waypoint, and export the waypoints.`,
    });
  }
  const place = { file, unit: 'waypoint' } as const;
  const lineOf = lineCounter(document);
  const records: (NamedValues | Issue)[] = [];
  waypoints.forEach((waypoint, index) => {
    const where = { row: index + 1, line: lineOf(waypoint.start) };
    const [lon, lat] = [attributeOf(waypoint, 'lon')?.trim() ?? '', attributeOf(waypoint, 'lat')?.trim() ?? ''];
    if (!isDecimal(lon) || !isDecimal(lat)) {
      const message = msg`The waypoint has no position: lat is "${lat}" and lon is "${lon}". Both must be plain decimal numbers.`;
      records.push(errorIssue('geometry-form', message, { ...place, ...where }));
      return;
    }
    const [stray] = strayTextsIn(document, waypoint);
    if (stray !== undefined) {
      records.push(errorIssue('stray-text', strayTextMessage(stray), { ...place, ...where, line: stray.line }));
      return;
    }
    records.push({ ...where, values: valuesOf(waypoint), point: { system: '4326', x: lon, y: lat } });
  });
  return tableOfRecords(place, records, []);
}

function valuesOf(waypoint: XmlElement): Map<string, string> {
  const notes = new Set([childText(waypoint, 'desc') ?? '', childText(waypoint, 'cmt') ?? '']);
  const values: readonly (readonly [string, string])[] = [
    ['local_id', childText(waypoint, 'name') ?? ''],
    ['poznamka', [...notes].filter((note) => note !== '').join('\n')],
    ['datum_nalezu', dayOf(childText(waypoint, 'time') ?? '')],
  ];
  return new Map(values.filter(([, value]) => value !== ''));
}

/** A time that cannot be read stays as it is: the cell is reported then. */
function dayOf(time: string): string {
  const moment = new Date(time);
  if (!/^\d{4}-\d{2}-\d{2}T/.test(time) || Number.isNaN(moment.getTime())) return time;
  const [year, month, day] = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}
