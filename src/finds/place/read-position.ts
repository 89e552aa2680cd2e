import { isReadable, makeUnreadable, type Reading, type Unreadable } from '../../base/issue.ts';
import { formatDecimal } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import {
  CHANGE_WORDS,
  findFittingSystem,
  findRangeProblem,
  formatDegrees,
  type GeomSystem,
  makeUtmMessage,
  type PointText,
  type PositionChange,
  parseDecimal,
  parseWrittenPoint,
} from './geometry.ts';

/** A position as a person wrote it. */
export type Position = {
  readonly system: GeomSystem;
  readonly point: PointText;
  /** Oddity of the spelling, in one sentence, which a person must confirm. */
  readonly doubt?: Message;
  /**
   * True where the position only makes sense with its axes or hemispheres exchanged; not used until
   * a person confirms it.
   */
  readonly isTurned?: true;
  readonly change?: PositionChange;
};

/** `axis` is undefined where the text does not name it. */
type Coordinate = { readonly value: string; readonly axis: Axis | undefined };
type Axis = 'x' | 'y';

/**
 * Reads a position: decimal degrees, degrees with minutes and seconds (with or without marks,
 * hemispheres in English or Czech), S-JTSK in metres, well-known text of a point, a map link, or a
 * plus code. A pair that only makes sense with swapped axes or changed signs is read so, with a
 * `doubt`.
 */
export function parsePosition(text: string): Reading<Position> {
  if (/^\s*(?:srid|point)/i.test(text)) {
    const point = parseWrittenPoint(text);
    return isReadable(point) ? resolveAxes(text, point.value.x, point.value.y) : point;
  }
  const link = parsePositionLink(text);
  if (link !== undefined)
    return isReadable(link) ? resolveAxes(text, link.value.lon, link.value.lat, true) : link;
  if (SIZE.test(text)) return makeUnreadable('coordinate', describeNoPosition(text));
  if (UTM.test(text)) return makeUnreadable('coordinate', makeUtmMessage(`"${text}"`));
  const [, plain] = WITH_HEIGHT.exec(text) ?? [];
  if (plain !== undefined) return parsePosition(plain);
  const [first, second] = splitCoordinates(splitTokens(text) ?? []).map(parseCoordinateTokens);
  const isPair =
    first !== undefined &&
    second !== undefined &&
    (first.axis === undefined || first.axis !== second.axis);
  if (!isPair) return makeUnreadable('coordinate', describeNoPosition(text));
  if (first.axis === 'y' || second.axis === 'x')
    return resolveAxes(text, second.value, first.value, true);
  return resolveAxes(text, first.value, second.value, first.axis === 'x' || second.axis === 'y');
}

/** Zone and band before the numbers of UTM or MGRS. */
const UTM = /^\s*(?:utm\W*)?\d{1,2}\s?[c-hj-np-x]\s*(?:[a-z]{2}\s*)?\d{4}/i;

/** `12 x 45`, while a coordinate has its letter before it. */
const SIZE = /^\s*\d+(?:[.,]\d+)?\s*x\s*\d/i;

/**
 * Two decimals and a height, with an accuracy as in ODK. Heights of two digits are left to the
 * reader: two points look so.
 */
const WITH_HEIGHT =
  /^\s*([-+]?\d+[.,]\d+[\s,;]+[-+]?\d+[.,]\d+)[\s,;]+(?:0|[1-9]\d{2,3})(?:[.,]\d+)?(?:[\s,;]+\d+(?:[.,]\d+)?)?\s*m?\s*$/;

function describeNoPosition(text: string): Message {
  return msg`"${text}" is not a position. Write 50.0871 N 14.4208 E, 50°5'13.6" N 14°25'15" E, or S-JTSK such as -743011.7 -1043265.5.`;
}

/** Splits the tokens into two coordinates; empty where the boundary is unclear, or they are none. */
function splitCoordinates(all: readonly Token[]): readonly (readonly Token[])[] {
  const numbers = all.filter(({ kind }) => kind === 'number').length;
  const at = numbers === 0 || numbers > 6 ? undefined : findSplit(all, numbers);
  if (at === undefined) return [];
  return [all.slice(0, at), all.slice(at)].map((half) =>
    half.filter(({ kind }) => kind !== 'between'),
  );
}

/** Returns the index where the second coordinate begins. */
function findSplit(tokens: readonly Token[], numbers: number): number | undefined {
  const listPlaces = (kind: Token['kind']): number[] =>
    tokens.flatMap((token, index) => (token.kind === kind ? [index] : []));
  const getInner = (index: number | undefined): number | undefined =>
    index === undefined || index <= 0 || index >= tokens.length ? undefined : index;
  const [between, ...more] = listPlaces('between').filter(
    (index) => index > 0 && index < tokens.length - 1,
  );
  if (between !== undefined && more.length === 0) return between;
  const letters = listPlaces('hemisphere');
  if (letters.length === 2) return letters[0] === 0 ? letters[1] : getInner((letters[0] ?? 0) + 1);
  const degrees = listPlaces('degrees');
  if (degrees.length === 2) return getInner((degrees[1] ?? 0) - 1);
  // In `50 4 48 N 14 25 12` the letter ends the first coordinate.
  if (letters.length === 1 && letters[0] !== 0 && letters[0] !== tokens.length - 1)
    return getInner((letters[0] ?? 0) + 1);
  return numbers % 2 === 0 ? listPlaces('number')[numbers / 2] : undefined;
}

/** Returns decimal degrees or metres; undefined where the tokens are no coordinate. */
function parseCoordinateTokens(tokens: readonly Token[]): Coordinate | undefined {
  const numbers = tokens.filter((token) => token.kind === 'number');
  const hemispheres = tokens.filter((token) => token.kind === 'hemisphere');
  const [degrees, minutes, seconds, ...more] = numbers;
  if (degrees === undefined || more.length > 0 || hemispheres.length > 1) return undefined;
  const isFaulty =
    numbers.slice(1).some(({ isNegative, text }) => isNegative || Number(text) >= 60) ||
    numbers.slice(0, -1).some(({ text }) => !Number.isInteger(Number(text))) ||
    hasWrongMarks(tokens);
  if (isFaulty) return undefined;
  const [hemisphere] = hemispheres;
  const isNegative = degrees.isNegative || hemisphere?.isNegative === true;
  const size =
    minutes === undefined
      ? degrees.text
      : toDegrees(degrees.text, minutes.text, seconds?.text ?? '0');
  return { value: `${isNegative ? '-' : ''}${size}`, axis: hemisphere?.axis };
}

const MARKS = ['degrees', 'minutes', 'seconds'];

function hasWrongMarks(tokens: readonly Token[]): boolean {
  let numbers = 0;
  for (const { kind } of tokens) {
    if (kind === 'number') numbers += 1;
    else if (MARKS.includes(kind) && MARKS.indexOf(kind) !== numbers - 1) return true;
  }
  return false;
}

/** Converts unsigned degrees, minutes and seconds to decimal degrees. */
function toDegrees(degrees: string, minutes: string, seconds: string): string {
  return formatDegrees(Number(degrees) + Number(minutes) / 60 + Number(seconds) / 3600);
}

/**
 * Chooses the system in which the pair fits.
 * @param isNamed the text names its axes, so their order is no mistake
 */
function resolveAxes(text: string, x: string, y: string, isNamed = false): Reading<Position> {
  const fitting = findFittingSystem({ x, y });
  if (fitting === undefined) {
    const system = Math.max(Math.abs(Number(x)), Math.abs(Number(y))) > 360 ? '5514' : '4326';
    return makeUnreadable(
      'geometry-range',
      findRangeProblem(system, Number(x), Number(y)) ?? describeNoPosition(text),
    );
  }
  const { system, change, ...point } = fitting;
  const isWhole = system === '4326' && !isNamed && /^-?\d+$/.test(x) && /^-?\d+$/.test(y);
  const isTurned = system === '4326' && change !== undefined && (isNamed || change !== 'axes');
  const oddity = isWhole ? msg`has whole degrees only, which may be a measure` : undefined;
  const doubt = change === undefined ? oddity : CHANGE_WORDS[change];
  return {
    value: {
      system,
      point,
      doubt: doubt && msg`"${text}" ${doubt}.`,
      isTurned: isTurned ? true : undefined,
      change,
    },
  };
}

/** Writes a position with all its digits, so that {@link parsePosition} reads the same point. */
export function formatExactPosition({ system, point: { x, y } }: Position): string {
  return system === '4326' ? `${y} N ${x} E` : `${x} ${y}`;
}

/**
 * Formats a position for people, rounded to 5 decimals of a degree or 0.1 m:
 * `50.08710 N 14.42080 E`, `S-JTSK x -743011.7 y -1043265.5`.
 */
export function formatPosition({ system, point }: Position): string {
  const x = Number(point.x);
  const y = Number(point.y);
  return system === '4326'
    ? `${formatDecimal(y, 5)} N ${formatDecimal(x, 5)} E`
    : `S-JTSK x ${formatDecimal(x, 1)} y ${formatDecimal(y, 1)}`;
}

/** Tokens of a written position: numbers, marks of degrees, hemispheres, separators. */
type Token =
  | { readonly kind: 'number'; readonly text: string; readonly isNegative: boolean }
  | { readonly kind: 'degrees' | 'minutes' | 'seconds' | 'between' }
  | { readonly kind: 'hemisphere'; readonly axis: Axis; readonly isNegative: boolean };

/** Words for hemispheres and axes in English, Czech and German. O is east in German. */
const HEMISPHERES = {
  N: 'n|north|nord|nördl|nördlich|nördliche|nördlicher|nördlichen|sever|severní|sš|nbr|lat|latitude|šířka',
  S: 's|south|süd|jih|jižní|j|jš',
  E: 'e|east|o|ost|ö|östl|östlich|östliche|östlicher|östlichen|öl|v|východ|východní|vd|lon|long|lng|longitude|délka',
  W: 'w|west|z|západ|západní|zd',
};
const WORDS: ReadonlyMap<string, Token> = new Map(
  Object.entries(HEMISPHERES).flatMap(([letter, words]) => {
    const axis = letter === 'N' || letter === 'S' ? 'y' : 'x';
    const isNegative = letter === 'S' || letter === 'W';
    return words.split('|').map((word) => [word, { kind: 'hemisphere', axis, isNegative }]);
  }),
);

/** Words of the axis, which follow that of the hemisphere: `s. š.`, `východní délky`. */
const AXES: readonly string[] = 'š|šířka|šířky|d|délka|délky|br|breite|l|länge'.split('|');

/** Words that only Czech has. Beside them `S` is north, not south. */
const CZECH = /(?<!\p{L})(?:[jvzš]|šířk[ay]|délk[ay])(?!\p{L})/iu;

const WORD = /(\p{L}+)\.?\s*[:=]?/uy;

/**
 * Signs, and texts without a meaning, which have no token. Names of axes are skipped: x and y
 * change places from one system to the next.
 */
const SIGNS: readonly (readonly [RegExp, Token | undefined])[] = [
  [/\s+/y, undefined],
  [
    /(?:gps|loc|wgs[\s-]?84|s-?jtsk|epsg:?\s?(?:4326|5514)|[xy]|zeměpisná)\s*[:=]?(?=[\s\d+\-−NSEW])/iy,
    undefined,
  ],
  [/[°º˚*]|deg(?![a-z])/iy, { kind: 'degrees' }],
  [/''|″|”|“|"|′′|’’|´´/y, { kind: 'seconds' }],
  [/['′’‘´`]/y, { kind: 'minutes' }],
  [/[;/|,]/y, { kind: 'between' }],
];

const NUMBER = /(?:([+\-−–])\s?)?(\d+)((?:[.,]\d+)?)/y;
/** `743 011,72`: blanks between thousands, as in tables. */
const GROUPED = /([+\-−–]?)(\d{1,3}(?:[ \u00a0\u202f]\d{3})+)((?:[.,]\d+)?)(?![\d])/y;

/** Splits a text into tokens; undefined where a part of it belongs to no position. */
function splitTokens(text: string): readonly Token[] | undefined {
  const plain = text.trim().replace(/[()[\]]/g, ' ');
  // Where numbers have decimal points or are whole metres, commas separate them; else a comma
  // before a digit is a decimal mark.
  const decimals = /\d\.\d|^[+-]?\d{6,7},[+-]?\d{6,7}$/.test(plain) ? '.' : '.,';
  const isCzech = CZECH.test(plain);
  const tokens: Token[] = [];
  for (let at = 0; at < plain.length; ) {
    const read =
      parseNumberAt(plain, at, decimals) ??
      parseSignAt(plain, at) ??
      parseWordAt(plain, at, isCzech, tokens.at(-1));
    if (read === undefined) return undefined;
    if (read.token !== undefined) tokens.push(read.token);
    at = read.end;
  }
  return tokens;
}

type ReadToken = { readonly token: Token | undefined; readonly end: number };

function parseNumberAt(text: string, at: number, decimals: string): ReadToken | undefined {
  for (const pattern of [GROUPED, NUMBER]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const [whole, sign = '', digits = '', tail = ''] = match;
    const isGrouped = pattern === GROUPED;
    // `50 004 …` is not grouped by thousands; S-JTSK is, and it has at least six digits.
    if (isGrouped && digits.replace(/\D/g, '').length < 6) continue;
    const fraction = decimals.includes(tail.charAt(0)) ? tail : '';
    const number = `${digits.replace(/\D/g, '')}${fraction.replace(',', '.')}`;
    const token: Token = { kind: 'number', text: number, isNegative: sign !== '' && sign !== '+' };
    return { token, end: at + whole.length - (tail.length - fraction.length) };
  }
  return undefined;
}

function parseSignAt(text: string, at: number): ReadToken | undefined {
  for (const [pattern, token] of SIGNS) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) return { token, end: at + match[0].length };
  }
  return undefined;
}

/** @param before the token before the word */
function parseWordAt(
  text: string,
  at: number,
  isCzech: boolean,
  before: Token | undefined,
): ReadToken | undefined {
  WORD.lastIndex = at;
  const [whole = '', written = ''] = WORD.exec(text) ?? [];
  const word = written.toLowerCase();
  const end = at + whole.length;
  if (before?.kind === 'hemisphere' && AXES.includes(word)) return { token: undefined, end };
  const token = WORDS.get(isCzech && word === 's' ? 'sever' : word);
  return token && { token, end };
}

/**
 * Parses a decimal number, or degrees with minutes, marks or a hemisphere, which must be one of the
 * axis.
 */
export function parseCoordinate(text: string, axis: Axis): Reading<string> {
  const decimal = parseDecimal(text);
  if (isReadable(decimal)) return decimal;
  const tokens = /\de[+-]?\d/i.test(text) ? [] : (splitTokens(text) ?? []);
  // Two whole numbers may be a decimal that lost its mark.
  const isAngle =
    tokens.some(({ kind }) => kind === 'degrees' || kind === 'hemisphere') ||
    /^\d+\s+\d+(?:\s+\d|[.,])/.test(text);
  const isOne = isAngle && tokens.every(({ kind }) => kind !== 'between');
  const degrees = isOne ? parseCoordinateTokens(tokens) : undefined;
  if (degrees === undefined) return decimal;
  if (degrees.axis === undefined || degrees.axis === axis) return { value: degrees.value };
  return makeUnreadable(
    'coordinate',
    msg`"${text}" is on the other axis. Exchange longitude and latitude.`,
  );
}

/** Degrees as text, written or decoded. */
type Degrees = { readonly lat: string; readonly lon: string };

const DEGREES = String.raw`\s*([+-]?\d{1,3}(?:\.\d+)?)\s*`;
const PAIR = new RegExp(`^${DEGREES},${DEGREES}(?=$|[,;(])`);

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
