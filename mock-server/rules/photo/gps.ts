import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { PhotographType } from './file-kind.ts';
import { removeGpsDirectories, type TiffBytes } from './tiff.ts';

const EXIF_MARK = Buffer.from('Exif\0\0', 'latin1');

/**
 * Removes the EXIF GPS block of a JPEG, PNG or TIFF in place. HEIC and HEIF stay as they are, as in
 * the service (A-FILE-3).
 * @returns true if there was one, so that the stored bytes differ from the uploaded ones
 */
export async function removeGps(file: FileHandle, type: PhotographType): Promise<boolean> {
  switch (type) {
    case 'image/jpeg':
      return removeFromJpeg(file);
    case 'image/png':
      return removeFromPng(file);
    case 'image/tiff':
      return removeGpsDirectories(openTiffAt(file, 0, Number.MAX_SAFE_INTEGER));
    case 'image/heic':
    case 'image/heif':
      return false;
    default:
      return type satisfies never;
  }
}

/**
 * Limits reads and writes to a TIFF inside a file: `length` bytes from `start`, from which offsets
 * count.
 */
export function openTiffAt(file: FileHandle, start: number, length: number): TiffBytes {
  return {
    read: (offset, wanted) =>
      readAt(file, start + offset, Math.max(0, Math.min(wanted, length - offset))),
    write: async (offset, bytes) => {
      const fitting = bytes.subarray(0, Math.max(0, Math.min(bytes.length, length - offset)));
      if (fitting.length > 0) await file.write(fitting, 0, fitting.length, start + offset);
    },
  };
}

/** Reads up to `length` bytes, at most 16 MiB; fewer at the end of the file. */
export async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  // Limits the size that a broken file claims: no structure read here is larger.
  const buffer = Buffer.alloc(Math.min(length, 16 * 1024 * 1024));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
}

/** Removes it from the segments before the picture. */
async function removeFromJpeg(file: FileHandle): Promise<boolean> {
  let isFound = false;
  for (let offset = 2; ; ) {
    const head = await readAt(file, offset, 10);
    if (head.length < 4 || head[0] !== 0xff || head[1] === 0xda || head[1] === 0xd9) return isFound;
    const length = head.readUInt16BE(2);
    if (head[1] === 0xe1 && head.subarray(4, 10).equals(EXIF_MARK)) {
      isFound = (await removeGpsDirectories(openTiffAt(file, offset + 10, length - 8))) || isFound;
    }
    offset += 2 + length;
  }
}

/** Removes it from the chunk `eXIf`, and updates its checksum. */
async function removeFromPng(file: FileHandle): Promise<boolean> {
  let isFound = false;
  for (let offset = 8; ; ) {
    const head = await readAt(file, offset, 8);
    if (head.length < 8) return isFound;
    const length = head.readUInt32BE(0);
    const type = head.toString('latin1', 4, 8);
    if (type === 'IEND') return isFound;
    if (type === 'eXIf' && (await removeGpsDirectories(openTiffAt(file, offset + 8, length)))) {
      isFound = true;
      const checksum = Buffer.alloc(4);
      checksum.writeUInt32BE(crc32(await readAt(file, offset + 4, length + 4)));
      await file.write(checksum, 0, 4, offset + 8 + length);
    }
    offset += 12 + length;
  }
}
