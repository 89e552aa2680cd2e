import { isReadable, makeRuleProblem, type Reading, type RuleProblem } from '../../base/issue.ts';
import { formatDecimal, type Message, msg } from '../../base/message.ts';
import {
  CHANGE_WORDS,
  findFittingSystem,
  findRangeProblem,
  formatDegrees,
  type GeomSystem,
  type PointText,
  type PositionChange,
  parseCoordinateNumber,
  parseWrittenPoint,
} from './geometry.ts';

/** A position as a person wrote it. */
export type Position = {
  readonly system: GeomSystem;
  readonly point: PointText;
  /** Oddity of the spelling, in one sentence, which a person must confirm. */
  readonly doubt?: Message;
  readonly change?: PositionChange;
};

/**
 * Decimal degrees or metres. `axis` is undefined where the text does not name it; `numbers` counts
 * degrees, minutes and seconds.
 */
type Coordinate = {
  readonly value: string;
  readonly axis: Axis | undefined;
  readonly numbers: number;
};
type Axis = 'x' | 'y';

/**
 * Parses a position as people write it: decimal degrees, degrees with minutes and seconds (with or
 * without marks; hemispheres in English, Czech or German), S-JTSK in metres, well-known text of a
 * point, or a map link, from which nothing is fetched. A pair that only fits a system with swapped
 * axes or changed signs is taken so, with `doubt` and `change`. Unreadable where it fits none, or
 * is no position.
 */
export function parsePosition(text: string): Reading<Position> {
  if (/^\s*(?:srid|point)/i.test(text)) {
    const point = parseWrittenPoint(text);
    return isReadable(point) ? resolveAxes(text, point.value) : point;
  }
  const link = parsePositionLink(text);
  if (link !== undefined)
    return isReadable(link) ? resolveAxes(text, { x: link.value.lon, y: link.value.lat }) : link;
  const [first, second] = splitPair(normalizeNotation(text) ?? '');
  const isPair =
    first !== undefined &&
    second !== undefined &&
    (first.axis === undefined || first.axis !== second.axis);
  if (!isPair) return makeRuleProblem('coordinate', describeNoPosition(text));
  const isLatitudeFirst = first.axis === 'y' || second.axis === 'x';
  const [x, y] = isLatitudeFirst ? [second.value, first.value] : [first.value, second.value];
  return resolveAxes(text, { x, y });
}

function describeNoPosition(text: string): Message {
  return msg`"${text}" is not a position. Write 50.0871 N 14.4208 E, 50°5'13.6" N 14°25'15" E, or S-JTSK such as -743011.7 -1043265.5.`;
}

/**
 * Splits a position of {@link normalizeNotation} into its two coordinates: at its separator, else
 * where both halves have as many numbers, else at the only possible number. Empty where the
 * boundary is unclear, or they are none.
 */
function splitPair(notation: string): readonly Coordinate[] {
  const [text = '', more, ...others] = notation
    .split(SEPARATORS)
    .filter((part) => part.trim() !== '');
  if (others.length > 0) return [];
  if (more !== undefined) return [text, more].flatMap((part) => parseNotation(part) ?? []);
  const pairs: Coordinate[][] = [];
  for (let at = 1; at < text.length; at += 1) {
    if (text[at] === ' ' || /^[\d.]{2}$/.test(text.slice(at - 1, at + 1))) continue;
    const first = parseNotation(text.slice(0, at));
    const second = first && parseNotation(text.slice(at));
    if (first !== undefined && second !== undefined) pairs.push([first, second]);
  }
  // In `50 4 48 N 14 25 12` the letter ends the first coordinate, so the last pair is right.
  const even = pairs.findLast(([first, second]) => first?.numbers === second?.numbers);
  const last = pairs.at(-1) ?? [];
  const isClear = pairs.every(([first]) => first?.numbers === last[0]?.numbers);
  return even ?? (isClear ? last : []);
}

const SEPARATORS = /[;/|,]/;

const DECIMAL = String.raw`(?<![\d.])(\d+(?:\.\d+)?)(?![\d.])`;
const COORDINATE = new RegExp(
  `^([NSEW])? ?([+-]?) ?${DECIMAL} ?°?(?: ?${DECIMAL} ?'?(?: ?${DECIMAL} ?"?)?)? ?([NSEW])?$`,
);

/** Parses one coordinate of {@link normalizeNotation}; undefined for any other text. */
function parseNotation(text: string): Coordinate | undefined {
  const [, before, sign, degrees, minutes, seconds, after] = COORDINATE.exec(text.trim()) ?? [];
  const numbers = [degrees, minutes, seconds].filter((part) => part !== undefined).map(Number);
  const [whole = Number.NaN, ...parts] = numbers;
  const isFaulty =
    (before !== undefined && after !== undefined) ||
    parts.some((part) => part >= 60) ||
    numbers.slice(0, -1).some((part) => !Number.isInteger(part));
  if (degrees === undefined || isFaulty) return undefined;
  const letter = before ?? after;
  const isNegative = sign === '-' || letter === 'S' || letter === 'W';
  const [ofMinutes = 0, ofSeconds = 0] = parts;
  const size =
    parts.length === 0 ? degrees : formatDegrees(whole + ofMinutes / 60 + ofSeconds / 3600);
  return {
    value: `${isNegative ? '-' : ''}${size}`,
    axis: letter === undefined ? undefined : AXIS_OF[letter],
    numbers: numbers.length,
  };
}

const AXIS_OF: Readonly<Record<string, Axis>> = { N: 'y', S: 'y', E: 'x', W: 'x' };

/** Chooses the system in which the pair fits. */
function resolveAxes(text: string, pair: PointText): Reading<Position> {
  const { x, y } = pair;
  const fitting = findFittingSystem(pair);
  if (fitting === undefined) {
    const system = Math.max(Math.abs(Number(x)), Math.abs(Number(y))) > 360 ? '5514' : '4326';
    return makeRuleProblem(
      'geometry-range',
      findRangeProblem(system, Number(x), Number(y)) ?? describeNoPosition(text),
    );
  }
  const { system, change, ...point } = fitting;
  if (change === undefined) return { value: { system, point } };
  const doubt = CHANGE_WORDS[change];
  return { value: { system, point, change, doubt: msg`"${text}" ${doubt}.` } };
}

/**
 * Formats a position with all its digits, `50.0871 N 14.4208 E` or `-743011.7 -1043265.5`, so that
 * {@link parsePosition} returns the same point.
 */
export function formatExactPosition({ system, point: { x, y } }: Position): string {
  return system === '4326' ? `${y} N ${x} E` : `${x} ${y}`;
}

/**
 * Formats a position in the language of the command, rounded to 5 decimals of a degree or 0.1 m:
 * `50.08710 N 14.42080 E`, `S-JTSK x -743011.7 y -1043265.5`.
 */
export function formatPosition({ system, point }: Position): string {
  const x = Number(point.x);
  const y = Number(point.y);
  return system === '4326'
    ? `${formatDecimal(y, 5)} N ${formatDecimal(x, 5)} E`
    : `S-JTSK x ${formatDecimal(x, 1)} y ${formatDecimal(y, 1)}`;
}

/** Words for hemispheres and axes in English, Czech and German. O is east in German. */
const HEMISPHERES = {
  N: 'n|north|nord|nördl|nördlich|nördliche|nördlicher|nördlichen|sever|severní|sš|nbr|lat|latitude|šířka',
  S: 's|south|süd|jih|jižní|j|jš',
  E: 'e|east|o|ost|ö|östl|östlich|östliche|östlicher|östlichen|öl|v|východ|východní|vd|lon|long|lng|longitude|délka',
  W: 'w|west|z|západ|západní|zd',
};
const LETTERS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(HEMISPHERES).flatMap(([letter, words]) =>
    words.split('|').map((word) => [word, letter] as const),
  ),
  ['deg', '°'],
]);

/** A word, and that of the axis, which may follow: `s. š.`, `východní délky`. */
const WORD =
  /(\p{L}+)\.?(?:\s*(?:š|šířk[ay]|d|délk[ay]|br|breite|l|länge)(?!\p{L})\.?)?\s*[:=]?/giu;

/** Words that only Czech has. Beside them `S` is north, not south. */
const CZECH = /(?<!\p{L})(?:[jvzš]|šířk[ay]|délk[ay])(?!\p{L})/iu;

/**
 * Texts without a meaning. Names of axes are among them: x and y change places from one system to
 * the next.
 */
const PREFIX =
  /(?<!\p{L})(?:gps|loc|wgs[\s-]?84|s-?jtsk|epsg:?\s?(?:4326|5514)|[xy]|zeměpisná)\s*[:=]?(?=[\s\d+\-−NSEW])/giu;

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[()[\]\s]+/g, ' '],
  [/[º˚*]/g, '°'],
  [/''|″|”|“|′′|’’|´´/g, '"'],
  [/[′’‘´\u0060]/g, "'"],
  [/[−–]/g, '-'],
];

/** Blanks between thousands, as in tables: `743 011`. S-JTSK has at least six digits. */
const GROUPED = /(?<![\d.])\d{1,3}(?: \d{3})+(?![\d])/g;

/** Limit of a position; links are read before. */
const MAX_CHARACTERS = 200;

/**
 * Writes a position with the letters N, S, E and W for any word, one sign for each mark, decimal
 * points and single blanks: `50°4,8' s. š.` → `50°4.8' N`. Undefined where a word belongs to no
 * position.
 */
function normalizeNotation(text: string): string | undefined {
  const plain = text.trim().replace(PREFIX, ' ');
  if (plain.length > MAX_CHARACTERS) return undefined;
  const isCzech = CZECH.test(plain);
  let isKnown = true;
  const lettered = plain.replace(WORD, (_, written: string) => {
    const word = written.toLowerCase();
    const letter = LETTERS.get(isCzech && word === 's' ? 'sever' : word);
    isKnown &&= letter !== undefined;
    return letter ?? '';
  });
  if (!isKnown) return undefined;
  const signed = SIGNS.reduce(
    (before, [sign, plainSign]) => before.replace(sign, plainSign),
    lettered,
  );
  // Where numbers have decimal points or are whole metres, commas separate them; else a comma
  // before a digit is a decimal mark.
  const isPointed = /\d\.\d|^[+-]?\d{6,7},[+-]?\d{6,7}$/.test(signed);
  const decimal = isPointed ? signed : signed.replace(/(?<=\d),(?=\d)/g, '.');
  return decimal.replace(GROUPED, (digits) =>
    digits.replaceAll(' ', '').length < 6 ? digits : digits.replaceAll(' ', ''),
  );
}

/**
 * Parses one coordinate, in degrees or metres, into the text of a decimal number: a decimal as by
 * {@link parseCoordinateNumber}, or degrees with minutes, marks or a hemisphere. Unreadable where
 * the hemisphere is of the other axis, and for other texts. Ranges are not checked.
 * @param axis `x`: longitude or the first number of S-JTSK
 */
export function parseCoordinate(text: string, axis: Axis): Reading<string> {
  const decimal = parseCoordinateNumber(text);
  if (isReadable(decimal)) return decimal;
  const notation = /\de[+-]?\d/i.test(text) ? '' : (normalizeNotation(text) ?? '');
  // Two whole numbers may be a decimal that lost its mark.
  const isAngle = /[°NSEW]/.test(notation) || /^\d+\s+\d+(?:\s+\d|[.,])/.test(text);
  const degrees = isAngle ? parseNotation(notation) : undefined;
  if (degrees === undefined) return decimal;
  if (degrees.axis === undefined || degrees.axis === axis) return { value: degrees.value };
  return makeRuleProblem(
    'coordinate',
    msg`"${text}" is on the other axis. Exchange longitude and latitude.`,
  );
}

/** Degrees as text, written or decoded. */
type Degrees = { readonly lat: string; readonly lon: string };

const DEGREES = String.raw`\s*([+-]?\d{1,3}(?:\.\d+)?)\s*`;
const PAIR = new RegExp(`^${DEGREES},${DEGREES}(?=$|[,;(])`);

/**
 * Reads a position from a map link or a geo URI (RFC 5870). Unreadable where such a text has no
 * single position, such as a route or a short link; undefined for any other text. Nothing is
 * fetched.
 */
function parsePositionLink(text: string): Reading<Degrees> | undefined {
  const trimmed = text.trim();
  if (/^geo:/i.test(trimmed)) return parseGeoUri(trimmed);
  const isLink = /^(?:https?:\/\/\S+|[a-z.]+\.[a-z]{2,3}\/\S+)$/i.test(trimmed);
  return isLink ? parseMapLink(trimmed) : undefined;
}

/** Reads a geo URI (RFC 5870): `geo:50.0871,14.4208`. Phones write the place behind `?q=`. */
function parseGeoUri(text: string): Reading<Degrees> {
  const [, place = '', query = ''] = /^geo:([^?]*)\??(.*)$/is.exec(text) ?? [];
  const position = parseDegreesPair(new URLSearchParams(query).get('q')) ?? parseDegreesPair(place);
  return position === undefined ? makeUnmarkedLinkProblem(text) : { value: position };
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
  ({ pathname }) => {
    if (pathname.includes('/dir/')) return undefined;
    // Decoded as a query is: an invalid escape stays as it is.
    const parts = pathname
      .split('/')
      .map((part) => new URLSearchParams(`part=${part}`).get('part'));
    const places = parts.flatMap((part) => parseDegreesPair(part) ?? []);
    return places.length === 1 ? places[0] : undefined;
  },
];

function parseMapLink(text: string): Reading<Degrees> {
  const address = /^https?:/i.test(text) ? text : `https://${text}`;
  if (!URL.canParse(address)) return makeUnmarkedLinkProblem(text);
  const url = new URL(address);
  const position = MARKED.map((readPlace) => readPlace(url)).find((place) => place !== undefined);
  return position === undefined ? makeUnmarkedLinkProblem(text) : { value: position };
}

function parseDegreesPair(text: string | null | undefined): Degrees | undefined {
  const [, lat, lon] = PAIR.exec(text ?? '') ?? [];
  return lat === undefined || lon === undefined ? undefined : { lat, lon };
}

function swapDegrees(degrees: Degrees | undefined): Degrees | undefined {
  return degrees && { lat: degrees.lon, lon: degrees.lat };
}

function makeUnmarkedLinkProblem(text: string): RuleProblem {
  return makeRuleProblem(
    'coordinate',
    msg`"${text}" is a link without a single marked place in WGS 84. Mark the place on the map and copy its full link, or write its coordinates.`,
  );
}
