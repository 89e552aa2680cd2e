import { createHash } from 'node:crypto';
import { type GpsTrace, NO_GPS, together } from './gps-trace.ts';
import { removeTiffGps } from './tiff-gps.ts';
import { removeXmpGps } from './xmp-gps.ts';

const APP1 = Buffer.from([0xff, 0xe1]);
const EXIF = Buffer.from('Exif\0', 'latin1');
const XMP = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
/** XMP that is too long for one segment: the packet's MD5 in hexadecimal, its length, the part's offset, the part. */
const EXTENDED_XMP = Buffer.from('http://ns.adobe.com/xmp/extension/\0', 'latin1');
const GUID_BYTES = 32;
const EXTENDED_HEAD_BYTES = GUID_BYTES + 8;

/**
 * Segments are looked for in the whole file, since cameras put further pictures behind the first, each with a place of its own. Their
 * beginning cannot stand within the data of a picture (ITU-T T.81, B.1.1.5).
 * @param bytes changed in place; the length stays
 */
export function removeJpegGps(bytes: Buffer): GpsTrace {
  const exif = segmentsOf(bytes, EXIF).map((segment) => removeTiffGps(segment.subarray(1)));
  const packets = segmentsOf(bytes, XMP);
  return together(...exif, ...packets.map(removeXmpGps), removeFromExtended(segmentsOf(bytes, EXTENDED_XMP), packets));
}

/** What stands behind the signature in each APP1 segment that begins with it. */
function segmentsOf(bytes: Buffer, signature: Buffer): Buffer[] {
  const segments: Buffer[] = [];
  for (let at = bytes.indexOf(signature); at !== -1; at = bytes.indexOf(signature, at + 1)) {
    if (at < 4 || !bytes.subarray(at - 4, at - 2).equals(APP1)) continue;
    const end = at - 2 + bytes.readUInt16BE(at - 2);
    if (end > at + signature.length) segments.push(bytes.subarray(at + signature.length, end));
  }
  return segments;
}

/** The parts make up one packet, in which a property may stand across a border; its name is its digest. */
function removeFromExtended(segments: readonly Buffer[], packets: readonly Buffer[]): GpsTrace {
  let trace = NO_GPS;
  const whole = segments.filter((segment) => segment.length > EXTENDED_HEAD_BYTES);
  for (const guid of new Set(whole.map(guidOf))) {
    const parts = whole
      .filter((segment) => guidOf(segment) === guid)
      .sort((a, b) => a.readUInt32BE(GUID_BYTES + 4) - b.readUInt32BE(GUID_BYTES + 4));
    const packet = Buffer.concat(parts.map((part) => part.subarray(EXTENDED_HEAD_BYTES)));
    const removed = removeXmpGps(packet);
    if (!removed.found) continue;
    trace = together(trace, removed);
    const name = createHash('md5').update(packet).digest('hex').toUpperCase();
    let from = 0;
    for (const part of parts) {
      from += packet.copy(part, EXTENDED_HEAD_BYTES, from);
      part.write(name, 0, 'latin1');
    }
    for (const main of packets) {
      const at = main.indexOf(guid, 0, 'latin1');
      if (at !== -1) main.write(name, at, 'latin1');
    }
  }
  return trace;
}

function guidOf(segment: Buffer): string {
  return segment.toString('latin1', 0, GUID_BYTES);
}
