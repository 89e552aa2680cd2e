import { createHash } from 'node:crypto';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import {
  type GpsTrace,
  hasXmpPlace,
  isTiff,
  mergeTraces,
  NO_GPS,
  removeTiffGps,
  removeXmpGps,
} from './gps-tags.ts';
import { parsePhotoExif } from './photo-exif.ts';

/** `parts`, concatenated, are the photograph without GPS data. */
type WithoutGps = { readonly trace: GpsTrace; readonly parts: readonly Buffer[] };

/** Types from which pas can remove GPS data; HEIC and HEIF are left as they are. */
const STRIPPABLE: readonly string[] = ['image/jpeg', 'image/png', 'image/tiff'];

function canRemoveGps(mimeType: string): boolean {
  return STRIPPABLE.includes(mimeType);
}

/**
 * Removes GPS data from a photograph: the GPS directory of EXIF with its pointer, and the GPS
 * properties of XMP. All other bytes stay: the picture, its orientation, its time. The result is
 * deterministic. Maker notes are not searched, nor a video behind the picture, with which
 * `--strip-gps` refuses a photograph.
 * @param bytes may be changed
 */
export function removeGps(bytes: Buffer, mimeType: string): WithoutGps {
  switch (mimeType) {
    case 'image/jpeg':
      return { trace: removeJpegGps(bytes), parts: [bytes] };
    case 'image/tiff':
      return { trace: removeTiffGps(bytes), parts: [bytes] };
    case 'image/png':
      return removePngGps(bytes);
    default:
      return { trace: NO_GPS, parts: [bytes] };
  }
}

const APP1 = Buffer.from([0xff, 0xe1]);
const EXIF = Buffer.from('Exif\0', 'latin1');
const XMP = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
/**
 * Extended XMP, for packets longer than a segment: MD5 of the packet in hexadecimal, its length,
 * the part's offset, the part.
 */
const EXTENDED_XMP = Buffer.from('http://ns.adobe.com/xmp/extension/\0', 'latin1');
const GUID_BYTES = 32;
const EXTENDED_HEAD_BYTES = GUID_BYTES + 8;

/**
 * Searches segments in the whole file, since cameras append further pictures with GPS data of their
 * own. A marker cannot occur within the data of a picture (ITU-T T.81, B.1.1.5).
 * @param bytes changed in place; the length stays
 */
function removeJpegGps(bytes: Buffer): GpsTrace {
  const packets = listSegments(bytes, XMP);
  return mergeTraces(
    ...groupExif(listSegments(bytes, EXIF).map((segment) => segment.subarray(1))).map((parts) =>
      editJoined(parts, removeTiffGps),
    ),
    ...packets.map(removeXmpGps),
    removeFromExtended(listSegments(bytes, EXTENDED_XMP), packets),
  );
}

/** Returns the content behind the signature of each APP1 segment that begins with it. */
function listSegments(bytes: Buffer, signature: Buffer): Buffer[] {
  const segments: Buffer[] = [];
  for (let at = bytes.indexOf(signature); at !== -1; at = bytes.indexOf(signature, at + 1)) {
    if (at < 4 || !bytes.subarray(at - 4, at - 2).equals(APP1)) continue;
    const end = at - 2 + bytes.readUInt16BE(at - 2);
    if (end > at + signature.length) segments.push(bytes.subarray(at + signature.length, end));
  }
  return segments;
}

/** A segment without the head of a TIFF continues the block of the one before it. */
function groupExif(segments: readonly Buffer[]): Buffer[][] {
  const blocks: Buffer[][] = [];
  for (const segment of segments) {
    const last = blocks.at(-1);
    if (last === undefined || isTiff(segment)) blocks.push([segment]);
    else last.push(segment);
  }
  return blocks;
}

/** Changes a text in place that is stored in several parts, across whose borders values lie. */
function editJoined(parts: readonly Buffer[], edit: (whole: Buffer) => GpsTrace): GpsTrace {
  const whole = Buffer.concat(parts);
  const trace = edit(whole);
  let from = 0;
  for (const part of parts) from += whole.copy(part, 0, from);
  return trace;
}

/** Removes GPS data from packets in parts, and renames each by its new digest. */
function removeFromExtended(segments: readonly Buffer[], packets: readonly Buffer[]): GpsTrace {
  const whole = segments.filter((segment) => segment.length > EXTENDED_HEAD_BYTES);
  const traces = [...new Set(whole.map(parseGuid))].map((guid) => {
    const parts = whole
      .filter((segment) => parseGuid(segment) === guid)
      .sort((a, b) => a.readUInt32BE(GUID_BYTES + 4) - b.readUInt32BE(GUID_BYTES + 4));
    let name = guid;
    const trace = editJoined(
      parts.map((part) => part.subarray(EXTENDED_HEAD_BYTES)),
      (packet) => {
        const removed = removeXmpGps(packet);
        if (removed.found) name = createHash('md5').update(packet).digest('hex').toUpperCase();
        return removed;
      },
    );
    for (const part of parts) part.write(name, 0, 'latin1');
    for (const main of packets) {
      const at = main.indexOf(guid, 0, 'latin1');
      if (at !== -1) main.write(name, at, 'latin1');
    }
    return trace;
  });
  return mergeTraces(...traces);
}

function parseGuid(segment: Buffer): string {
  return segment.toString('latin1', 0, GUID_BYTES);
}

const SIGNATURE_BYTES = 8;
const FRAME_BYTES = 12;
/** Limit for an unpacked text; a larger one is no metadata. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

type ScrubbedPng = { readonly trace: GpsTrace; readonly parts: readonly Buffer[] };

type ScrubbedChunk = {
  readonly trace: GpsTrace /** Undefined where the chunk is left out. */;
  readonly data: Buffer | undefined;
};

/**
 * Rewrites chunks with GPS data; the others stay.
 * @param bytes changed in place where the last chunk is truncated
 */
function removePngGps(bytes: Buffer): ScrubbedPng {
  let trace = NO_GPS;
  const parts: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)];
  let at = SIGNATURE_BYTES;
  while (at + FRAME_BYTES <= bytes.length) {
    const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (end > bytes.length && type === 'eXIf')
      trace = mergeTraces(trace, removeTiffGps(bytes.subarray(at + 8)));
    if (end > bytes.length || type === 'IEND') break;
    const scrub = SCRUBBED_BY[type];
    const scrubbed = scrub?.(Buffer.from(bytes.subarray(at + 8, end - 4)));
    if (scrubbed?.trace.found === true) {
      trace = mergeTraces(trace, scrubbed.trace);
      if (scrubbed.data !== undefined) parts.push(chunk(type, scrubbed.data));
    } else {
      parts.push(bytes.subarray(at, end));
    }
    at = end;
  }
  return { trace, parts: [...parts, bytes.subarray(at)] };
}

const SCRUBBED_BY: Readonly<Record<string, (data: Buffer) => ScrubbedChunk>> = {
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
      (text) => inflate(text.subarray(1)),
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

function inflate(packed: Buffer): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: MAX_TEXT_BYTES });
  } catch {
    return undefined;
  }
}

function fromText(
  data: Buffer,
  unpack: (text: Buffer) => Buffer | undefined,
  pack: (text: Buffer) => Buffer,
): ScrubbedChunk {
  const end = data.indexOf(0);
  if (end === -1) return { trace: NO_GPS, data };
  const keyword = data.toString('latin1', 0, end);
  const text = unpack(data.subarray(end + 1));
  if (text === undefined) return { trace: NO_GPS, data };
  const scrubbed = scrubText(keyword, text);
  return {
    ...scrubbed,
    data: scrubbed.data && Buffer.concat([data.subarray(0, end + 1), pack(scrubbed.data)]),
  };
}

/**
 * Cleans an iTXt chunk: keyword, compression flags, language, translated keyword, text; the text is
 * written uncompressed.
 */
function fromInternationalText(data: Buffer): ScrubbedChunk {
  const unchanged: ScrubbedChunk = { trace: NO_GPS, data };
  const keywordEnd = data.indexOf(0);
  const languageEnd = data.indexOf(0, keywordEnd + 3);
  const head = data.indexOf(0, languageEnd + 1) + 1;
  if (keywordEnd === -1 || languageEnd === -1 || head === 0) return unchanged;
  const isPacked = data[keywordEnd + 1] === 1;
  const text = isPacked ? inflate(data.subarray(head)) : data.subarray(head);
  if (text === undefined) return unchanged;
  const scrubbed = scrubText(data.toString('latin1', 0, keywordEnd), text);
  if (!scrubbed.trace.found || scrubbed.data === undefined) return scrubbed;
  const newHead = Buffer.from(data.subarray(0, head));
  newHead[keywordEnd + 1] = 0;
  return { ...scrubbed, data: Buffer.concat([newHead, scrubbed.data]) };
}

function scrubText(keyword: string, text: Buffer): ScrubbedChunk {
  // ImageMagick writes each EXIF property as a text chunk, and whole blocks in hexadecimal.
  if (/gps|l(?:at|ong)itude/i.test(keyword))
    return { trace: { found: true, tells: true, tellsOutsideExif: true }, data: undefined };
  if (/^raw profile type (?:exif|app1|xmp)$/i.test(keyword)) return scrubProfile(text);
  return keyword === 'XML:com.adobe.xmp'
    ? { trace: removeXmpGps(text), data: text }
    : { trace: NO_GPS, data: text };
}

/** Cleans a profile: a line with its name, one with its length, then hexadecimal bytes. */
function scrubProfile(text: Buffer): ScrubbedChunk {
  const match = /^(\s*\w+\s+\d+\s)([\da-f\s]*)$/i.exec(text.toString('latin1'));
  const unchanged: ScrubbedChunk = { trace: NO_GPS, data: text };
  if (match === null) return unchanged;
  const profile = Buffer.from((match[2] ?? '').replace(/\s+/g, ''), 'hex');
  const exifAt = profile.toString('latin1', 0, 6) === 'Exif\0\0' ? 6 : 0;
  const trace = mergeTraces(
    removeTiffGps(profile.subarray(exifAt)),
    exifAt === 0 ? removeXmpGps(profile) : NO_GPS,
  );
  if (!trace.found) return unchanged;
  const lines = profile.toString('hex').replace(/.{72}/g, '$&\n');
  return { trace, data: Buffer.from(`${match[1]}${lines}\n`, 'latin1') };
}

/** GPS data of a photograph, and whether pas can remove them. */
export type PhotoGps =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'removable';
      /** A latitude or longitude is present; else only other GPS data. */
      readonly tells: boolean;
      /** A position is outside EXIF, the only source from which the service reads one. */
      readonly tellsOutsideExif: boolean;
      /** Digest of the photograph without GPS data, lower-case hexadecimal. */
      readonly withoutSha512Hex: string;
      readonly withoutBytes: number;
    }
  /** A place that pas cannot remove, or data that it cannot search for one. */
  | { readonly kind: 'fixed' | 'unknown' };

/** @param bytes may be changed */
export async function detectGps(bytes: Buffer, mimeType: string): Promise<PhotoGps> {
  if (!canRemoveGps(mimeType)) {
    const hasPlace = (await parsePhotoExif(bytes)).place !== undefined || hasXmpPlace(bytes);
    return { kind: hasPlace ? 'fixed' : 'unknown' };
  }
  const { trace, parts } = removeGps(bytes, mimeType);
  if (!trace.found) return { kind: 'none' };
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  const withoutBytes = parts.reduce((sum, { length }) => sum + length, 0);
  const { tells, tellsOutsideExif } = trace;
  const withoutSha512Hex = hash.digest('hex');
  return { kind: 'removable', tells, tellsOutsideExif, withoutSha512Hex, withoutBytes };
}
