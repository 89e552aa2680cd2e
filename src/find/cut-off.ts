import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 64 * 1024;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const END_OF_IMAGE_BYTES = Buffer.from([0xff, END_OF_IMAGE]);
const PNG_SIGNATURE_BYTES = 8;
/** Length, type and check of a PNG's chunk. */
const PNG_CHUNK_BYTES = 12;

/**
 * Whether a photograph ends before its picture does, as a copy does that was broken off. Cameras write things behind the end, and a small
 * picture with an end of its own before it, so the parts are walked (ITU-T T.81, annex B; PNG, "Datastream structure").
 */
export async function isCutOff(file: FileHandle, mimeType: string, sizeBytes: number): Promise<boolean> {
  switch (mimeType) {
    case 'image/jpeg':
      return isJpegCutOff(file, sizeBytes);
    case 'image/png':
      return isPngCutOff(file, sizeBytes);
    default:
      return false;
  }
}

async function isJpegCutOff(file: FileHandle, sizeBytes: number): Promise<boolean> {
  for (let at = 2; at < sizeBytes; ) {
    const head = await readAt(file, at, 4);
    const [mark, marker = 0] = head;
    // What is no marker is strange, but not cut off.
    if (mark !== 0xff || marker === END_OF_IMAGE) return false;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (head.length < 4) return true;
    at += 2 + head.readUInt16BE(2);
    if (marker === START_OF_SCAN) return !(await holdsEnd(file, at));
  }
  return true;
}

async function holdsEnd(file: FileHandle, from: number): Promise<boolean> {
  for (let at = from; ; at += CHUNK_BYTES) {
    // One byte more, so that an end is also found where two chunks meet.
    const chunk = await readAt(file, at, CHUNK_BYTES + 1);
    if (chunk.includes(END_OF_IMAGE_BYTES)) return true;
    if (chunk.length <= CHUNK_BYTES) return false;
  }
}

async function isPngCutOff(file: FileHandle, sizeBytes: number): Promise<boolean> {
  for (let at = PNG_SIGNATURE_BYTES; at < sizeBytes; ) {
    const head = await readAt(file, at, 8);
    if (head.length < 8) return true;
    at += PNG_CHUNK_BYTES + head.readUInt32BE(0);
    if (head.toString('latin1', 4) === 'IEND') return at > sizeBytes;
  }
  return true;
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}
