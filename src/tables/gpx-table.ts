import { FileError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { attributeOf, childText, lineCounter, type XmlElement } from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { strayTextMessage, strayTextsIn } from '../xml/stray-text.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import type { Table } from './table.ts';

const GPX_NAMESPACES = ['http://www.topografix.com/GPX/1/1', 'http://www.topografix.com/GPX/1/0'];

export function isGpx({ name, namespace }: XmlElement): boolean {
  return name === 'gpx' && GPX_NAMESPACES.includes(namespace);
}

/** Those of tracks and routes are only passed over, so that a long track is not held. */
const POINTS = new Set(['wpt', 'trkpt', 'rtept']);

/**
 * Reads the waypoints of GPX: the name is the local id, description and comment are the note, the day on which it was made
 * where this computer is, is the day of the find. Tracks, routes and heights are not read.
 *
 * @throws FileError where there are no waypoints; XmlSyntaxError
 */
export function readGpx(file: string, document: XmlWalk): Table {
  const place = { file, unit: 'waypoint' } as const;
  const records = function* (): Generator<NamedValues | Issue> {
    const lineOf = lineCounter(document);
    let row = 0;
    for (const { element: waypoint, around } of document.parts(POINTS)) {
      if (waypoint.name !== 'wpt' || waypoint.namespace !== document.root.namespace || around.length !== 1) continue;
      row += 1;
      const where = { row, line: lineOf(waypoint.start) };
      const [lon, lat] = [attributeOf(waypoint, 'lon')?.trim() ?? '', attributeOf(waypoint, 'lat')?.trim() ?? ''];
      const [stray] = strayTextsIn(document, waypoint);
      if (!isDecimal(lon) || !isDecimal(lat)) {
        const message = msg`The waypoint has no position: lat is "${lat}" and lon is "${lon}". Both must be plain decimal numbers.`;
        yield errorIssue('geometry-form', message, { ...place, ...where });
      } else if (stray !== undefined) {
        yield errorIssue('stray-text', strayTextMessage(stray), { ...place, ...where, line: lineOf(stray.start) });
      } else yield { ...where, values: valuesOf(waypoint), point: { system: '4326', x: lon, y: lat } };
    }
  };
  const table = tableOfRecords(place, { [Symbol.iterator]: records }, []);
  if (table.rowCount > 0 || table.issues.length > 0) return table;
  throw new FileError(file, msg`${file} has no waypoints. Tracks and routes are not finds.`, {
    hint: msg`Mark each find as a waypoint, and export the waypoints.`,
  });
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
