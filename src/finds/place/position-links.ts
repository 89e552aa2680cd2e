import { makeUnreadable, type Reading, type Unreadable } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { formatDegrees } from './geometry.ts';

/** Degrees as text, written or decoded. */
type Degrees = { readonly lat: string; readonly lon: string };

const NUMBER = String.raw`\s*([+-]?\d{1,3}(?:\.\d+)?)\s*`;
const PAIR = new RegExp(`^${NUMBER},${NUMBER}(?=$|[,;(])`);

/**
 * Reads a position from a map link, a geo URI or a full plus code (its middle). Unreadable where
 * such a text has no single position, such as a route or a short link; undefined for any other
 * text. Nothing is fetched.
 */
export function parsePositionLink(text: string): Reading<Degrees> | undefined {
  const trimmed = text.trim();
  if (/^geo:/i.test(trimmed)) return parseGeoUri(trimmed);
  if (/^(?:https?:\/\/\S+|[a-z.]+\.[a-z]{2,3}\/\S+)$/i.test(trimmed)) return parseMapLink(trimmed);
  return parsePlusCode(trimmed);
}

/** Reads a geo URI (RFC 5870): `geo:50.0871,14.4208`. Phones write the place behind `?q=`. */
function parseGeoUri(text: string): Reading<Degrees> {
  const [, place = '', parameters = '', query = ''] =
    /^geo:([^;?]*)([^?]*)\??(.*)$/is.exec(text) ?? [];
  const crs = /;crs=([^;]+)/i.exec(parameters)?.[1] ?? 'wgs84';
  const position = parseDegreesPair(new URLSearchParams(query).get('q')) ?? parseDegreesPair(place);
  return position === undefined || crs.toLowerCase() !== 'wgs84'
    ? makeUnmarkedFault(text)
    : { value: position };
}

/**
 * Readers of the marked place in map links; mapy.cz writes the longitude first. The centre of the
 * view is no marked place.
 */
const MARKED: readonly ((url: URL) => Degrees | undefined)[] = [
  ({ searchParams }) =>
    searchParams.get('source') === 'coor'
      ? swapDegrees(parseDegreesPair(searchParams.get('id')))
      : undefined,
  ({ href }) =>
    parseDegreesPair(
      href
        .match(/!3d-?[\d.]+!4d-?[\d.]+/g)
        ?.at(-1)
        ?.slice(3)
        .replace('!4d', ','),
    ),
  ({ searchParams }) =>
    parseDegreesPair(searchParams.get('q')) ?? parseDegreesPair(searchParams.get('query')),
  ({ searchParams }) => parseDegreesPair(`${searchParams.get('mlat')},${searchParams.get('mlon')}`),
  ({ pathname }) =>
    pathname
      .split('/')
      .map((part) => parseDegreesPair(decodePart(part)))
      .find((position) => position !== undefined),
];

function parseMapLink(text: string): Reading<Degrees> {
  const address = /^https?:/i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return makeUnmarkedFault(text);
  const url = new URL(address);
  const position = isRoute(url)
    ? undefined
    : MARKED.map((readPlace) => readPlace(url)).find((place) => place !== undefined);
  return position === undefined ? makeUnmarkedFault(text) : { value: position };
}

const ROUTE_PATH = /\/(?:dir|directions?|route|planovani(?:-trasy)?)(?:\/|$)/i;
const ROUTE_PARAMETERS = [
  'saddr',
  'daddr',
  'origin',
  'destination',
  'waypoints',
  'route',
  'rc',
  'planovani-trasy',
];

/**
 * Tells if a link shows a route: Google, mapy.cz, OpenStreetMap and others have a path for routes,
 * or name start and end.
 */
function isRoute({ pathname, searchParams }: URL): boolean {
  return ROUTE_PATH.test(pathname) || ROUTE_PARAMETERS.some((name) => searchParams.has(name));
}

/** Decodes a part as a query is decoded: an invalid escape stays as it is. */
function decodePart(part: string): string | null {
  return new URLSearchParams(`part=${part}`).get('part');
}

function parseDegreesPair(text: string | null | undefined): Degrees | undefined {
  const [, lat, lon] = PAIR.exec(text ?? '') ?? [];
  return lat === undefined || lon === undefined ? undefined : { lat, lon };
}

function swapDegrees(degrees: Degrees | undefined): Degrees | undefined {
  return degrees && { lat: degrees.lon, lon: degrees.lat };
}

function makeUnmarkedFault(text: string): Unreadable {
  return makeUnreadable(
    'coordinate',
    msg`"${text}" is a link without a single marked place in WGS 84. Mark the place on the map and copy its full link, or write its coordinates.`,
  );
}

/** Open Location Code: twenty digits that form no words. */
const DIGITS = '23456789CFGHJMPQRVWX';
const SEPARATOR_AT = 8;
const PAIRED_DIGITS = 10;

/**
 * Decodes a plus code: five pairs narrow 20° to some ten metres; each further digit is a cell in a
 * grid of four by five.
 */
function parsePlusCode(text: string): Reading<Degrees> | undefined {
  const [, before = '', after = ''] =
    /^([2-9CFGHJMPQRVWX0]{2,8})\+([2-9CFGHJMPQRVWX]{0,7})(?:[\s,].*)?$/i.exec(text) ?? [];
  if (before === '' || before.length % 2 === 1) return undefined;
  const code = (before + after).toUpperCase();
  if (before.length < SEPARATOR_AT || code.includes('0') || code.length < PAIRED_DIGITS)
    return makeUnreadable(
      'coordinate',
      msg`"${text}" is a plus code of a large area, or a short one. Write the full code with two digits after the plus, such as 9F2P3CPC+R8.`,
    );
  let lat = -90;
  let lon = -180;
  let step = 20;
  for (let at = 0; at < PAIRED_DIGITS; at += 2) {
    lat += DIGITS.indexOf(code.charAt(at)) * step;
    lon += DIGITS.indexOf(code.charAt(at + 1)) * step;
    step /= 20;
  }
  let height = step * 20;
  let width = step * 20;
  for (const digit of code.slice(PAIRED_DIGITS)) {
    height /= 5;
    width /= 4;
    lat += Math.floor(DIGITS.indexOf(digit) / 4) * height;
    lon += (DIGITS.indexOf(digit) % 4) * width;
  }
  return { value: { lat: formatDegrees(lat + height / 2), lon: formatDegrees(lon + width / 2) } };
}
