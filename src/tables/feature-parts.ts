import { refuseTooLarge } from './table.ts';

type Part = { readonly start: number; readonly end: number };

type Parts = {
  /** Absent where there is no list of features. */
  readonly features?: readonly Part[];
  /** The document with nothing in that list. */
  readonly rest: Buffer;
};

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const FEATURES = Buffer.from('"features"');

/**
 * Where each feature of a FeatureCollection stands in its bytes, so that none is made before its row is walked. Whether the
 * parts are JSON is not looked at: if they are, they end where they are said to.
 *
 * @throws FileError where there are more than rows are read
 */
export function featureParts(file: string, bytes: Buffer): Parts {
  const features: Part[] = [];
  let [depth, listStart, listEnd, partStart] = [0, -1, -1, 0];
  let name: Part = { start: 0, end: 0 };
  const take = (end: number): void => {
    features.push({ start: partStart, end });
    partStart = end + 1;
    refuseTooLarge(file, { rows: features.length });
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

/** Behind the quote that closes a text; the end of all where none does. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return bytes.length;
}
