/** GPS data that were found in a photograph and removed. */
export type GpsTrace = {
  /** GPS data of any kind were present, even only the version. */
  readonly found: boolean;
  /** A latitude or a longitude was present. */
  readonly tells: boolean;
  /** A position was outside EXIF, the only source from which the service reads one. */
  readonly tellsOutsideExif: boolean;
};

export const NO_GPS: GpsTrace = { found: false, tells: false, tellsOutsideExif: false };

export function mergeTraces(...traces: readonly GpsTrace[]): GpsTrace {
  return {
    found: traces.some(({ found }) => found),
    tells: traces.some(({ tells }) => tells),
    tellsOutsideExif: traces.some(({ tellsOutsideExif }) => tellsOutsideExif),
  };
}

/** Names of position properties in XMP with any prefix: those of EXIF and of drone makers, one of whom misspells it. */
const NAME = String.raw`[\w.-]+:(?:gps\w*|latitude|longitude|longtitude)`;
const ATTRIBUTE = new RegExp(String.raw`[ \t\r\n]${NAME}[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*"|'[^']*')`, 'gi');
const ELEMENT = new RegExp(`<(${NAME})(?=[ \\t\\r\\n/>])`, 'gi');
const TELLING = /l(?:at|ong)i?t/i;
/** "GPS" in UTF-16 of either byte order. */
const WIDE = /G\0P\0S\0/i;

/**
 * Overwrites the GPS properties of an XMP packet with blanks, which are allowed between its parts.
 * @param packet changed in place; its length stays
 */
export function removeXmpGps(packet: Buffer): GpsTrace {
  // Latin-1 maps each byte to one character, so offsets in the text are offsets in the packet.
  const text = packet.toString('latin1');
  if (WIDE.test(text)) {
    packet.fill(0x20);
    return { found: true, tells: true, tellsOutsideExif: true };
  }
  if (!/gps|titude/i.test(text)) return NO_GPS;
  const spans = [...attributeSpans(text), ...elementSpans(text)];
  for (const [start, end] of spans) packet.fill(0x20, start, end);
  const tells = spans.some(([start]) => TELLING.test(text.slice(start, start + 60)));
  return { found: spans.length > 0, tells, tellsOutsideExif: tells };
}

const PACKET_START = '<x:xmpmeta';
const PACKET_END = '</x:xmpmeta>';

/** Tells if an XMP packet anywhere in a file has a position. */
export function hasXmpPlace(file: Buffer): boolean {
  for (let at = file.indexOf(PACKET_START); at !== -1; at = file.indexOf(PACKET_START, at + 1)) {
    const end = file.indexOf(PACKET_END, at);
    if (removeXmpGps(Buffer.from(file.subarray(at, end === -1 ? undefined : end))).tells) return true;
  }
  return false;
}

type Span = readonly [start: number, end: number];

function attributeSpans(text: string): Span[] {
  return [...text.matchAll(ATTRIBUTE)].map((match) => [match.index, match.index + match[0].length]);
}

function elementSpans(text: string): Span[] {
  const spans: Span[] = [];
  ELEMENT.lastIndex = 0;
  for (let match = ELEMENT.exec(text); match !== null; match = ELEMENT.exec(text)) {
    const end = endOfElement(text, match.index, match[1] ?? '');
    spans.push([match.index, end ?? text.length]);
    // The element is truncated, so the rest of the packet belongs to it.
    if (end === undefined) break;
    ELEMENT.lastIndex = end;
  }
  return spans;
}

function endOfElement(text: string, start: number, name: string): number | undefined {
  const opened = text.indexOf('>', start);
  if (opened === -1) return undefined;
  if (text[opened - 1] === '/') return opened + 1;
  const closing = text.indexOf(`</${name}`, opened);
  const closed = closing === -1 ? -1 : text.indexOf('>', closing);
  return closed === -1 ? undefined : closed + 1;
}
