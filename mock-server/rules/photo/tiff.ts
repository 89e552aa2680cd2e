import type { ReadAt } from './encrypted-archive.ts';

/** Random access to a TIFF structure, in a file of its own or inside another. */
export type TiffBytes = {
  readonly read: ReadAt;
  write(offset: number, bytes: Buffer): Promise<void>;
};

type Order = {
  u16(bytes: Buffer, at: number): number;
  u32(bytes: Buffer, at: number): number;
  w16(bytes: Buffer, v: number, at: number): void;
};

const LITTLE: Order = {
  u16: (bytes, at) => bytes.readUInt16LE(at),
  u32: (bytes, at) => bytes.readUInt32LE(at),
  w16: (bytes, value, at) => void bytes.writeUInt16LE(value, at),
};
const BIG: Order = {
  u16: (bytes, at) => bytes.readUInt16BE(at),
  u32: (bytes, at) => bytes.readUInt32BE(at),
  w16: (bytes, value, at) => void bytes.writeUInt16BE(value, at),
};

const GPS_TAG = 0x8825;
const ENTRY_BYTES = 12;
/** Bytes of one value, by TIFF field type 1–12. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
/** Maximum of pages; a longer chain is a loop. */
const MAX_PAGES = 10_000;

type Directory = {
  readonly offset: number;
  readonly count: number;
  readonly bytes: Buffer;
  readonly next: number;
};

/** Counts the pages of a TIFF; 1 where its structure cannot be followed. */
export async function countPages(tiff: TiffBytes): Promise<number> {
  const order = await readByteOrder(tiff);
  if (order === undefined) return 1;
  let pages = 0;
  for await (const _ of iterateDirectories(tiff, order)) pages += 1;
  return Math.max(1, pages);
}

/**
 * Removes the GPS directory of every page in place, overwriting it and its values.
 * @returns true if there was one
 */
export async function removeGpsDirectories(tiff: TiffBytes): Promise<boolean> {
  const order = await readByteOrder(tiff);
  if (order === undefined) return false;
  let isFound = false;
  for await (const directory of iterateDirectories(tiff, order)) {
    const position = findGpsEntry(directory, order);
    if (position === undefined) continue;
    isFound = true;
    await eraseDirectory(tiff, order, order.u32(directory.bytes, position + 8));
    await dropEntry(tiff, order, directory, position);
  }
  return isFound;
}

async function readByteOrder(tiff: TiffBytes): Promise<Order | undefined> {
  const mark = (await tiff.read(0, 4)).toString('hex');
  if (mark === '49492a00') return LITTLE;
  return mark === '4d4d002a' ? BIG : undefined;
}

async function* iterateDirectories(tiff: TiffBytes, order: Order): AsyncGenerator<Directory> {
  const header = await tiff.read(4, 4);
  let offset = header.length < 4 ? 0 : order.u32(header, 0);
  const seen = new Set<number>();
  while (offset !== 0 && !seen.has(offset) && seen.size < MAX_PAGES) {
    seen.add(offset);
    const directory = await readDirectory(tiff, order, offset);
    if (directory === undefined) return;
    yield directory;
    offset = directory.next;
  }
}

async function readDirectory(
  tiff: TiffBytes,
  order: Order,
  offset: number,
): Promise<Directory | undefined> {
  const start = await tiff.read(offset, 2);
  if (start.length < 2) return undefined;
  const count = order.u16(start, 0);
  const length = 2 + count * ENTRY_BYTES + 4;
  const bytes = await tiff.read(offset, length);
  if (bytes.length < length) return undefined;
  return { offset, count, bytes, next: order.u32(bytes, length - 4) };
}

function findGpsEntry({ bytes, count }: Directory, order: Order): number | undefined {
  for (let index = 0; index < count; index += 1) {
    const position = 2 + index * ENTRY_BYTES;
    if (order.u16(bytes, position) === GPS_TAG) return position;
  }
  return undefined;
}

/**
 * Moves up the entries after the dropped one and the link to the next page; the freed space is
 * zero.
 */
async function dropEntry(
  tiff: TiffBytes,
  order: Order,
  directory: Directory,
  position: number,
): Promise<void> {
  const remaining = Buffer.concat([
    directory.bytes.subarray(0, position),
    directory.bytes.subarray(position + ENTRY_BYTES),
    Buffer.alloc(ENTRY_BYTES),
  ]);
  order.w16(remaining, directory.count - 1, 0);
  await tiff.write(directory.offset, remaining);
}

async function eraseDirectory(tiff: TiffBytes, order: Order, offset: number): Promise<void> {
  const directory = await readDirectory(tiff, order, offset);
  if (directory === undefined) return;
  for (let index = 0; index < directory.count; index += 1) {
    const position = 2 + index * ENTRY_BYTES;
    const bytesEach = TYPE_BYTES[order.u16(directory.bytes, position + 2)] ?? 0;
    const length = bytesEach * order.u32(directory.bytes, position + 4);
    if (length <= 4) continue;
    const present = await tiff.read(order.u32(directory.bytes, position + 8), length);
    await tiff.write(order.u32(directory.bytes, position + 8), Buffer.alloc(present.length));
  }
  await tiff.write(offset, Buffer.alloc(directory.bytes.length));
}
