import { FileError } from '../base/errors.ts';
import { errorIssue, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { meaningOfColumn } from '../find/fields.ts';
import { parseHtml } from '../text/html-text.ts';
import { attributeOf, childOf, childrenOf, childText, lineCounter, type XmlElement } from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { strayTextMessage, strayTextsIn } from '../xml/source-text.ts';
import { deviceValues, UnreadNames } from './device-values.ts';
import { type NamedValues, tableOfRecords } from './record-table.ts';
import type { Table } from './table.ts';

/** Some programs omit the namespace, or write it as the address of a page. */
const GPX_NAMESPACE = /^(?:https?:\/\/(?:www\.)?topografix\.com\/gpx\/1\/[01]\/?)?$/i;

export function isGpx({ name, namespace }: XmlElement): boolean {
  return name === 'gpx' && GPX_NAMESPACE.test(namespace);
}

/** Points of tracks and routes are skipped, so that a long track is not held in memory. */
const POINTS = new Set(['wpt', 'trkpt', 'rtept']);

/**
 * Reads the waypoints of GPX: the name is the local id, description and comment are the note, the local day of the time is the
 * day of the find, links to pictures are photographs. Extensions with the name of a column fill it, others are named in a
 * warning. Tracks, routes and heights are not read.
 * @throws FileError where there are no waypoints; XmlSyntaxError
 */
export function parseGpx(file: string, document: XmlWalk): Table {
  const place = { file, unit: 'waypoint' } as const;
  const unread = new UnreadNames();
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
      } else yield { ...where, values: valuesOf(waypoint, unread), point: { system: '4326', x: lon, y: lat } };
    }
  };
  const table = tableOfRecords(place, { [Symbol.iterator]: records }, []);
  if (table.rowCount > 0 || table.issues.length > 0) return { ...table, issues: [...table.issues, ...unread.issues(file)] };
  throw new FileError(file, msg`${file} has no waypoints. Tracks and routes are not finds.`, {
    hint: msg`Mark each find as a waypoint, and export the waypoints.`,
  });
}

/** Elements that are read; heights and satellite data are ignored without a warning. */
const READ = new Set(['name', 'desc', 'cmt', 'time', 'link', 'url', 'urlname', 'extensions', 'ele']);

function valuesOf(waypoint: XmlElement, unread: UnreadNames): Map<string, string> {
  for (const { name } of waypoint.children) if (!READ.has(name)) unread.add(name);
  const fields: [string, string][] = [];
  const attachments: string[] = [];
  const extensions = childOf(waypoint, 'extensions')?.children ?? [];
  for (const { name, text } of extensions.flatMap(leavesOf)) {
    if (name === 'attachment') attachments.push(text.trim());
    else if (meaningOfColumn(name) !== undefined) fields.push([name, text.trim()]);
    else unread.add(name);
  }
  const notes = ['desc', 'cmt'].map((name) => parseHtml(childText(waypoint, name) ?? ''));
  return deviceValues(
    {
      name: childText(waypoint, 'name') ?? '',
      notes: notes.map(({ text }) => text),
      time: childText(waypoint, 'time') ?? '',
      links: [...notes.flatMap(({ pictures }) => pictures), ...linksOf(waypoint), ...attachments],
      fields,
    },
    unread,
  );
}

/** Returns the links of a waypoint in GPX 1.1 or GPX 1.0. */
function linksOf(waypoint: XmlElement): string[] {
  const links = childrenOf(waypoint, 'link').map((link) => attributeOf(link, 'href')?.trim() ?? '');
  return [...links, childText(waypoint, 'url') ?? ''].filter((link) => link !== '');
}

/** Returns the leaf elements of extensions, whose structure differs by program. */
function leavesOf(element: XmlElement): readonly XmlElement[] {
  return element.children.length === 0 ? [element] : element.children.flatMap(leavesOf);
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(text);
}
