import { decodeEscapes, type Layer } from './escapes.ts';
import type { Exchange, HttpResponse } from './exchange.ts';

const MASK = '***';
/** Shorter secrets occur in many words: an answer that repeats one is hidden as a whole. */
const MIN_CHARACTERS = 6;
/**
 * Minimum length of a beginning of a secret that is masked too, since an answer may be cut off
 * inside the secret.
 */
const MIN_BEGINNING_BYTES = 40;
const MIN_BASE64_BYTES = 5;

/**
 * Wraps `send` to mask secrets that an answer repeats, as debug pages and proxies do: answers are
 * shown in messages and stored.
 * @param words passwords, which may also be words of a find: they are masked in answers other than
 * 200 and 201
 */
export function redactAnswers(
  secrets: readonly string[],
  send: Exchange,
  words: readonly string[] = [],
): Exchange {
  const redactSuccess = createRedactor(secrets, 'read');
  const redactFailure = createRedactor([...secrets, ...words]);
  return async (request) => {
    const response = await send(request);
    return [200, 201].includes(response.status) ? redactSuccess(response) : redactFailure(response);
  };
}

/**
 * Makes a function that masks secrets in an answer, in each spelling that can be read. Its time is
 * linear in the length of the answer.
 * @param use `shown`: a body that repeats a short secret is hidden; `read`: it is kept, since the
 * document of a success would be lost
 */
export function createRedactor(
  secrets: readonly string[],
  use: 'shown' | 'read' = 'shown',
): (response: HttpResponse) => HttpResponse {
  if (secrets.length === 0) return (response) => response;
  const { patterns, short } = getSpellings(secrets);
  return ({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => {
        const bytes = Buffer.from(value, 'latin1');
        if (name === 'location' && isRepeatedIn(short, bytes)) return [name, MASK];
        return [name, maskBody(patterns, bytes).toString('latin1')];
      }),
    ),
    body:
      use === 'shown' && isRepeatedIn(short, body) ? withoutTexts(body) : maskBody(patterns, body),
  });
}

/**
 * Makes a function that masks secrets in a text, and replaces a text that repeats a short secret.
 */
export function createTextRedactor(secrets: readonly string[]): (text: string) => string {
  if (secrets.length === 0) return (text) => text;
  const { patterns, short } = getSpellings(secrets);
  return (text) => {
    const bytes = Buffer.from(text);
    return isRepeatedIn(short, bytes) ? MASK : maskBody(patterns, bytes).toString();
  };
}

/**
 * Masks every text of JSON, whose form tells the kind of the answer; any other body becomes empty.
 */
function withoutTexts(body: Buffer): Buffer {
  try {
    return Buffer.from(
      JSON.stringify(
        JSON.parse(body.toString('utf8'), (_, value) => (typeof value === 'string' ? MASK : value)),
      ),
    );
  } catch {
    return Buffer.alloc(0);
  }
}

/** Bytes that are searched in one layer of an answer. */
type Pattern = {
  readonly layer: LayerName;
  readonly bytes: Uint8Array;
  /**
   * Length of the longest proper prefix that is a suffix as well, for each length (Knuth, Morris,
   * Pratt).
   */
  readonly failures: Int32Array;
  readonly isBase64: boolean;
  /**
   * The same bytes are searched in the raw answer, so that a layer that equals it need not be
   * searched.
   */
  readonly isAlsoRaw: boolean;
};
/**
 * `raw`: the bytes of the answer; `decoded`: without escapes; `text`: without escapes and markup.
 */
type LayerName = 'raw' | 'decoded' | 'text';
type Spellings = { readonly patterns: readonly Pattern[]; readonly short: readonly Pattern[] };

/** Size of the cache: a command uses the same password and token for all requests. */
const MAX_KEPT_SPELLINGS = 16;
const keptSpellings = new Map<string, Spellings>();

function getSpellings(secrets: readonly string[]): Spellings {
  const key = JSON.stringify(secrets);
  const spellings =
    keptSpellings.get(key) ?? makeSpellings(secrets.filter((secret) => secret !== ''));
  keptSpellings.delete(key);
  keptSpellings.set(key, spellings);
  for (const oldest of [...keptSpellings.keys()].slice(0, -MAX_KEPT_SPELLINGS))
    keptSpellings.delete(oldest);
  return spellings;
}

function makeSpellings(secrets: readonly string[]): Spellings {
  const all = secrets.flatMap((secret) => {
    const [composed, decomposed] = [secret.normalize('NFC'), secret.normalize('NFD')];
    const isShort = [...composed].length < MIN_CHARACTERS;
    return [...new Set([composed, decomposed])].map((each) => getPatterns(each, isShort));
  });
  return {
    patterns: all.flatMap(({ patterns }) => patterns),
    short: all.flatMap(({ short }) => short),
  };
}

function getPatterns(secret: string, isShort: boolean): Spellings {
  const bytes = Buffer.from(secret);
  const utf16 = Buffer.from(secret, 'utf16le');
  const encoded = [bytes, ...encodeInOldEncodings(secret), utf16, Buffer.from(utf16).swap16()];
  const escaped = [escapeForUrl(bytes), escapeForUrl(escapeForUrl(bytes))];
  const plain = selectDistinct([
    ...encoded.map((each) => makePattern('raw', each)),
    ...[...encoded, ...escaped].flatMap((each) =>
      DECODED.map((layer) => {
        const decoded = decodeBytes(layer, each);
        return makePattern(layer, decoded, {
          isAlsoRaw: encoded.some((raw) => raw.equals(decoded)),
        });
      }),
    ),
  ]);
  const base64 = selectDistinct(
    encodeInBase64(bytes).map((each) =>
      makePattern('decoded', decodeBytes('decoded', each), { isBase64: true }),
    ),
  );
  const isTooShort = ({ bytes: looked, isBase64 }: Pattern) =>
    looked.length < (isBase64 ? MIN_BASE64_BYTES : MIN_CHARACTERS);
  return {
    patterns: isShort ? [] : [...plain, ...base64].filter((pattern) => !isTooShort(pattern)),
    short: isShort ? [...plain, ...base64] : plain.filter(isTooShort),
  };
}

function selectDistinct(patterns: readonly Pattern[]): Pattern[] {
  return [
    ...new Map(
      patterns.map((pattern) => [
        `${pattern.layer} ${Buffer.from(pattern.bytes).toString('hex')}`,
        pattern,
      ]),
    ).values(),
  ];
}

const DECODED: readonly Exclude<LayerName, 'raw'>[] = ['decoded', 'text'];

function makePattern(
  layer: LayerName,
  bytes: Uint8Array,
  { isBase64 = false, isAlsoRaw = false } = {},
): Pattern {
  const failures = new Int32Array(bytes.length + 1);
  let length = 0;
  for (let at = 1; at < bytes.length; at++) {
    while (length > 0 && bytes[at] !== bytes[length]) length = failures[length] ?? 0;
    if (bytes[at] === bytes[length]) length += 1;
    failures[at + 1] = length;
  }
  return { layer, bytes, failures, isBase64, isAlsoRaw };
}

function decodeBytes(layer: Exclude<LayerName, 'raw'>, bytes: Buffer): Uint8Array {
  const { bytes: decoded, length } = decodeEscapes(bytes, {
    markup: layer === 'text' ? 'drop' : 'keep',
    places: false,
  });
  return decoded.slice(0, length);
}

/**
 * Escapes bytes as in URLs: a secret that contains an escape itself, such as `\%62`, decodes to
 * other bytes.
 */
function escapeForUrl(bytes: Buffer): Buffer {
  const asHex = (character: string) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return Buffer.from(bytes.toString('latin1').replace(/[^\w.~-]/g, asHex));
}

/**
 * Returns the base64 forms of the bytes, at three offsets and in two alphabets, without the letters
 * that depend on the neighbours.
 */
function encodeInBase64(bytes: Buffer): Buffer[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const ownPart = text.slice(
      before === 0 ? 0 : before + 1,
      Math.floor(((before + bytes.length) * 8) / 6),
    );
    return [ownPart, ownPart.replaceAll('+', '-').replaceAll('/', '_')].map((each) =>
      Buffer.from(each),
    );
  });
}

const OLD_ENCODINGS = ['windows-1250', 'iso-8859-2', 'windows-1252'];

function encodeInOldEncodings(secret: string): Buffer[] {
  const characters = [...secret];
  return OLD_ENCODINGS.flatMap((encoding) => {
    const all = new TextDecoder(encoding).decode(
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
    );
    const bytes = characters.map((character) => all.indexOf(character));
    return bytes.includes(-1) ? [] : [Buffer.from(bytes)];
  });
}

type Range = { start: number; end: number };

function isRepeatedIn(patterns: readonly Pattern[], body: Buffer): boolean {
  if (patterns.length === 0) return false;
  const layers = makeLayers(body, false);
  return patterns.some(
    (pattern) =>
      pattern.bytes.length === 0 ||
      findRanges(layers[pattern.layer], pattern, 'first-whole').length > 0,
  );
}

function maskBody(patterns: readonly Pattern[], body: Buffer): Buffer {
  if (patterns.length === 0 || body.length === 0) return body;
  // Few answers repeat a secret: only for those are the positions computed.
  const layers = makeLayers(body, false);
  if (layers.isTooDeep) return Buffer.from(MASK);
  // A layer without escapes has the bytes of the answer: each spelling is searched once.
  const unescaped = DECODED.filter((name) => isEqualToBody(layers[name], body));
  const isSearched = ({ layer, isAlsoRaw }: Pattern) =>
    !isAlsoRaw || unescaped.every((each) => each !== layer);
  const matching = patterns.filter(
    (pattern) =>
      isSearched(pattern) && findRanges(layers[pattern.layer], pattern, 'first').length > 0,
  );
  if (matching.length === 0) return body;
  const placed = makeLayers(body, true);
  const ranges = joinRanges(
    matching.flatMap((pattern) => {
      const all = findRanges(placed[pattern.layer], pattern, 'all');
      return pattern.isBase64 ? withWholeWords(body, all) : all;
    }),
  );
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    pieces.push(body.subarray(at, start), Buffer.from(MASK));
    at = end;
  }
  return Buffer.concat([...pieces, body.subarray(at)]);
}

function isEqualToBody({ bytes, length }: Layer, body: Buffer): boolean {
  return length === body.length && body.equals(bytes.subarray(0, length));
}

type Layers = Readonly<Record<LayerName, Layer>> & { readonly isTooDeep: boolean };

function makeLayers(body: Buffer, places: boolean): Layers {
  const decoded = decodeEscapes(body, { markup: 'keep', places });
  const text = decodeEscapes(body, { markup: 'drop', places });
  return {
    raw: { bytes: body, length: body.length, starts: undefined, ends: undefined, isTooDeep: false },
    ...{ decoded, text, isTooDeep: decoded.isTooDeep || text.isTooDeep },
  };
}

/**
 * Returns the ranges of the pattern in the answer, and of its beginning where the rest is missing.
 */
function findRanges(
  layer: Layer,
  { bytes, failures }: Pattern,
  wanted: 'all' | 'first' | 'first-whole',
): Range[] {
  const { bytes: text, length } = layer;
  const ranges: Range[] = [];
  const beginning = bytes.subarray(0, MIN_CHARACTERS);
  if (Buffer.from(text.buffer, text.byteOffset, length).indexOf(beginning) === -1) return ranges;
  const isWhole = wanted === 'first-whole';
  const least = isWhole ? bytes.length : Math.min(bytes.length, MIN_BEGINNING_BYTES);
  const add = (end: number, matched: number): void => {
    const [first, last] = [end - matched, end - 1];
    const [start, endInAnswer] = [layer.starts?.[first] ?? first, layer.ends?.[last] ?? last + 1];
    const before = ranges.at(-1);
    if (before !== undefined && start <= before.end) before.end = Math.max(before.end, endInAnswer);
    else ranges.push({ start, end: endInAnswer });
  };
  const first = bytes[0];
  let matched = 0;
  for (let at = 0; at < length; at++) {
    if (matched === 0 && text[at] !== first) continue;
    while (matched > 0 && (matched === bytes.length || text[at] !== bytes[matched])) {
      if (matched >= least) add(at, matched);
      matched = failures[matched] ?? 0;
    }
    if (text[at] === bytes[matched]) matched += 1;
    if (wanted !== 'all' && matched >= least) return [{ start: at + 1 - matched, end: at + 1 }];
  }
  const isCutOff = !isWhole && matched >= MIN_CHARACTERS;
  if (matched > 0 && (matched >= least || isCutOff)) add(length, matched);
  return ranges;
}

/**
 * Extends ranges to whole words of base64: the letters beside them depend on the first and last
 * byte of the secret.
 */
function withWholeWords(body: Buffer, ranges: readonly Range[]): Range[] {
  const isLetter = (at: number) => /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(body[at] ?? 0));
  const words: Range[] = [];
  for (const { start, end } of ranges) {
    const last = words.at(-1);
    if (last !== undefined && end <= last.end) continue;
    let [from, to] = [start, end];
    while (from > (last?.end ?? 0) && isLetter(from - 1)) from -= 1;
    while (to < body.length && isLetter(to)) to += 1;
    words.push({ start: from, end: to });
  }
  return words;
}

function joinRanges(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}
