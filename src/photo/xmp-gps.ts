/** What of a place was found in a photograph, and taken out of it. */
export type GpsTrace = {
  /** Something of GPS was there, be it only the version of the standard, and is there no more. */
  readonly found: boolean;
  /** A latitude or a longitude was there. */
  readonly tells: boolean;
};

export const NO_GPS: GpsTrace = { found: false, tells: false };

export function together(...traces: readonly GpsTrace[]): GpsTrace {
  return { found: traces.some(({ found }) => found), tells: traces.some(({ tells }) => tells) };
}

/** A name that XMP writes a position under, whatever its prefix: of EXIF, and of makers of drones, who misspell one. */
const NAME = String.raw`[\w.-]+:(?:gps\w*|latitude|longitude|longtitude)`;
const ATTRIBUTE = new RegExp(String.raw`[ \t\r\n]${NAME}[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*"|'[^']*')`, 'gi');
const ELEMENT = new RegExp(`<(${NAME})(?=[ \\t\\r\\n/>])`, 'gi');
const TELLING = /l(?:at|ong)i?t/i;
/** As UTF-16 writes it, in either order of bytes. */
const WIDE = /G\0P\0S\0/i;

/**
 * Overwrites the GPS properties of an XMP packet with blanks, of which a packet may have any number between its parts.
 * @param packet changed in place; its length stays
 */
export function removeXmpGps(packet: Buffer): GpsTrace {
  // Every byte is a character, so that places in the text are places in the packet.
  const text = packet.toString('latin1');
  if (WIDE.test(text)) {
    packet.fill(0x20);
    return { found: true, tells: true };
  }
  if (!/gps|titude/i.test(text)) return NO_GPS;
  const spans = [...attributeSpans(text), ...elementSpans(text)];
  for (const [start, end] of spans) packet.fill(0x20, start, end);
  return { found: spans.length > 0, tells: spans.some(([start]) => TELLING.test(text.slice(start, start + 60))) };
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
    // What is cut off is all that follows.
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
