import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { type GpsTrace, NO_GPS, together } from './gps-trace.ts';
import { removeTiffGps } from './tiff-gps.ts';
import { removeXmpGps } from './xmp-gps.ts';

const SIGNATURE_BYTES = 8;
const FRAME_BYTES = 12;
/** A text that unpacks to more is no description of a picture. */
const MOST_TEXT_BYTES = 16 * 1024 * 1024;

type ScrubbedPng = { readonly trace: GpsTrace; readonly parts: readonly Buffer[] };

type Scrubbed = { readonly trace: GpsTrace /** Undefined where the chunk is left out. */; readonly data: Buffer | undefined };

/**
 * Chunks with a place are written anew; the others, the picture among them, stay as they are.
 * @param bytes changed in place where the last chunk is cut off
 */
export function removePngGps(bytes: Buffer): ScrubbedPng {
  let trace = NO_GPS;
  const parts: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)];
  let at = SIGNATURE_BYTES;
  while (at + FRAME_BYTES <= bytes.length) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (end > bytes.length && type === 'eXIf') trace = together(trace, removeTiffGps(bytes.subarray(at + 8)));
    if (end > bytes.length || type === 'IEND') break;
    const scrub = SCRUBBED_BY[type];
    const scrubbed = scrub?.(Buffer.from(bytes.subarray(at + 8, end - 4)));
    if (scrubbed?.trace.found === true) {
      trace = together(trace, scrubbed.trace);
      if (scrubbed.data !== undefined) parts.push(chunk(type, scrubbed.data));
    } else {
      parts.push(bytes.subarray(at, end));
    }
    at = end;
  }
  return { trace, parts: [...parts, bytes.subarray(at)] };
}

const SCRUBBED_BY: Readonly<Record<string, (data: Buffer) => Scrubbed>> = {
  eXIf: (data) => ({ trace: removeTiffGps(data), data }),
  tEXt: (data) =>
    fromText(
      data,
      (text) => text,
      (text) => text,
    ),
  zTXt: (data) =>
    fromText(
      data,
      (text) => inflated(text.subarray(1)),
      (text) => Buffer.concat([Buffer.from([0]), deflateSync(text)]),
    ),
  iTXt: fromInternationalText,
};

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(data.length + FRAME_BYTES);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), data.length + 8);
  return framed;
}

function inflated(packed: Buffer): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: MOST_TEXT_BYTES });
  } catch {
    return undefined;
  }
}

function fromText(data: Buffer, unpack: (text: Buffer) => Buffer | undefined, pack: (text: Buffer) => Buffer): Scrubbed {
  const end = data.indexOf(0);
  if (end === -1) return { trace: NO_GPS, data };
  const keyword = data.toString('latin1', 0, end);
  const text = unpack(data.subarray(end + 1));
  if (text === undefined) return { trace: NO_GPS, data };
  const scrubbed = scrubText(keyword, text);
  return { ...scrubbed, data: scrubbed.data && Buffer.concat([data.subarray(0, end + 1), pack(scrubbed.data)]) };
}

/** Keyword, whether and how it is packed, two more texts, and then the text, which is written unpacked. */
function fromInternationalText(data: Buffer): Scrubbed {
  const unchanged: Scrubbed = { trace: NO_GPS, data };
  const keywordEnd = data.indexOf(0);
  const languageEnd = data.indexOf(0, keywordEnd + 3);
  const head = data.indexOf(0, languageEnd + 1) + 1;
  if (keywordEnd === -1 || languageEnd === -1 || head === 0) return unchanged;
  const isPacked = data[keywordEnd + 1] === 1;
  const text = isPacked ? inflated(data.subarray(head)) : data.subarray(head);
  if (text === undefined) return unchanged;
  const scrubbed = scrubText(data.toString('latin1', 0, keywordEnd), text);
  if (!scrubbed.trace.found || scrubbed.data === undefined) return scrubbed;
  const newHead = Buffer.from(data.subarray(0, head));
  newHead[keywordEnd + 1] = 0;
  return { ...scrubbed, data: Buffer.concat([newHead, scrubbed.data]) };
}

function scrubText(keyword: string, text: Buffer): Scrubbed {
  // ImageMagick writes each property of EXIF as a text of its own, and whole blocks in hexadecimal.
  if (/gps|l(?:at|ong)itude/i.test(keyword)) return { trace: { found: true, tells: true }, data: undefined };
  if (/^raw profile type (?:exif|app1|xmp)$/i.test(keyword)) return scrubProfile(text);
  return keyword === 'XML:com.adobe.xmp' ? { trace: removeXmpGps(text), data: text } : { trace: NO_GPS, data: text };
}

/** A line with its name, one with its length, and then the bytes in hexadecimal. */
function scrubProfile(text: Buffer): Scrubbed {
  const match = /^(\s*\w+\s+\d+\s)([\da-f\s]*)$/i.exec(text.toString('latin1'));
  const unchanged: Scrubbed = { trace: NO_GPS, data: text };
  if (match === null) return unchanged;
  const profile = Buffer.from((match[2] ?? '').replace(/\s+/g, ''), 'hex');
  const exifAt = profile.toString('latin1', 0, 6) === 'Exif\0\0' ? 6 : 0;
  const trace = together(removeTiffGps(profile.subarray(exifAt)), exifAt === 0 ? removeXmpGps(profile) : NO_GPS);
  if (!trace.found) return unchanged;
  const lines = profile.toString('hex').replace(/.{72}/g, '$&\n');
  return { trace, data: Buffer.from(`${match[1]}${lines}\n`, 'latin1') };
}
