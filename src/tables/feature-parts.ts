import { assertTableSize } from './table.ts';

export type Part = { readonly start: number; readonly end: number };

type Parts = {
  /** Absent where there is no list of features. */
  readonly features?: readonly Part[];
  /** The document with an empty list of features. */
  readonly rest: Buffer;
};

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const FEATURES = Buffer.from('"features"');

/**
 * Locates each feature of a FeatureCollection in the bytes, so that it is parsed only when its row is read. Invalid JSON is not
 * detected here, but when a part is parsed.
 * @throws FileError where there are too many features
 */
export function featureParts(file: string, bytes: Buffer): Parts {
  const features: Part[] = [];
  let [depth, listStart, listEnd, partStart] = [0, -1, -1, 0];
  let name: Part = { start: 0, end: 0 };
  const take = (end: number): void => {
    features.push({ start: partStart, end });
    partStart = end + 1;
    assertTableSize(file, { rows: features.length });
  };
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const isInList = depth === 2 && listStart !== -1 && listEnd === -1;
    if (byte === QUOTE) {
      const end = endOfText(bytes, at);
      if (depth === 1) name = { start: at, end };
      at = end - 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth !== 2 || byte !== OPEN_LIST || listStart !== -1) continue;
      if (bytes.subarray(name.start, name.end).equals(FEATURES)) [listStart, partStart] = [at + 1, at + 1];
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (!isInList) continue;
      listEnd = at;
      const isEmpty = features.length === 0 && bytes.subarray(partStart, at).every((each) => each <= 0x20);
      if (!isEmpty) take(at);
    } else if (byte === COMMA && isInList) take(at);
  }
  if (listStart === -1) return { rest: bytes };
  const behind = bytes.subarray(listEnd === -1 ? bytes.length : listEnd);
  return { features, rest: Buffer.concat([bytes.subarray(0, listStart), behind]) };
}

const [LINE_FEED, RECORD_SEPARATOR] = [0x0a, 0x1e];
/** The first feature of a sequence ends within this size; longer ones are no points. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Locates the features of a sequence: each behind a record separator (RFC 8142), or one per line. Undefined for other documents:
 * the first line is no feature, or there is only one.
 * @throws FileError where there are too many features
 */
export function sequenceParts(file: string, bytes: Buffer): readonly Part[] | undefined {
  const isSeparated =
    bytes.subarray(0, MAX_LINE_BYTES).find((byte) => byte > 0x20 || byte === RECORD_SEPARATOR) === RECORD_SEPARATOR;
  if (!isSeparated && !beginsWithLines(bytes)) return undefined;
  const mark = isSeparated ? RECORD_SEPARATOR : LINE_FEED;
  const parts: Part[] = [];
  for (let start = 0; start < bytes.length; ) {
    const next = bytes.indexOf(mark, start);
    const end = next === -1 ? bytes.length : next;
    let first = start;
    while (first < end && (bytes[first] ?? 0) <= 0x20) first += 1;
    if (first < end) parts.push({ start: first, end });
    assertTableSize(file, { rows: parts.length });
    start = end + 1;
  }
  return parts;
}

/** Tells if the first line is a whole feature, and another object follows. */
function beginsWithLines(bytes: Buffer): boolean {
  const start = bytes.findIndex((byte) => byte > 0x20);
  const end = bytes.indexOf(LINE_FEED, start);
  if (start === -1 || end === -1 || end - start > MAX_LINE_BYTES) return false;
  const next = bytes.subarray(end, end + MAX_LINE_BYTES).find((byte) => byte > 0x20);
  if (next !== OPEN_OBJECT) return false;
  try {
    const first: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof first === 'object' && first !== null && 'type' in first && first.type === 'Feature';
  } catch {
    return false;
  }
}

/** Returns the position behind the closing quote of a string; the end of the bytes where none closes. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return bytes.length;
}
