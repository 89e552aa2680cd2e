import { createReadStream } from 'node:fs';

/** Types that the service accepts (A-PHOTO-6). */
export type PhotographType =
  | 'image/jpeg'
  | 'image/png'
  | 'image/tiff'
  | 'image/heic'
  | 'image/heif';

/**
 * Kind of a file by its first bytes. `unrecognised` passes the type check and is refused later, as
 * in the service.
 */
type FileKind =
  | { readonly kind: 'photograph'; readonly type: PhotographType }
  | { readonly kind: 'archive'; readonly format: 'zip' | '7z' | 'rar' }
  | { readonly kind: 'other'; readonly type: string }
  | { readonly kind: 'unrecognised' };

const HEIC_BRANDS = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'hevm', 'hevs'];
const HEIF_BRANDS = ['mif1', 'msf1', 'heif'];

const PHOTOGRAPHS: ReadonlyArray<readonly [string, PhotographType]> = [
  ['ffd8ff', 'image/jpeg'],
  ['89504e470d0a1a0a', 'image/png'],
  ['49492a00', 'image/tiff'],
  ['4d4d002a', 'image/tiff'],
  ['49492b00', 'image/tiff'],
  ['4d4d002b', 'image/tiff'],
];

const ARCHIVES: ReadonlyArray<readonly [string, 'zip' | '7z' | 'rar']> = [
  ['504b0304', 'zip'],
  ['504b0506', 'zip'],
  ['377abcaf271c', '7z'],
  ['526172211a07', 'rar'],
];

/** Before the photographs: a raw picture of Canon begins as a TIFF. */
const OTHERS: ReadonlyArray<readonly [string, string]> = [
  ['49492a00100000004352', 'image/x-canon-cr2'],
  ['47494638', 'image/gif'],
  ['424d', 'image/bmp'],
  ['25504446', 'application/pdf'],
  ['1f8b', 'application/gzip'],
  ['425a68', 'application/x-bzip2'],
  ['fd377a585a00', 'application/x-xz'],
  ['7f454c46', 'application/x-executable'],
  ['4d5a', 'application/x-dosexec'],
];

/** Detects the type by the bytes; the declared content type and the file name do not count. */
export function detectFileKind(head: Buffer): FileKind {
  const hex = head.subarray(0, 12).toString('hex');
  const other = OTHERS.find(([magic]) => hex.startsWith(magic));
  if (other !== undefined) return { kind: 'other', type: other[1] };
  const photograph = PHOTOGRAPHS.find(([magic]) => hex.startsWith(magic));
  if (photograph !== undefined) return { kind: 'photograph', type: photograph[1] };
  const archive = ARCHIVES.find(([magic]) => hex.startsWith(magic));
  if (archive !== undefined) return { kind: 'archive', format: archive[1] };
  if (head.toString('latin1', 4, 8) === 'ftyp')
    return classifyIsoMedia(head.toString('latin1', 8, 12));
  if (hex.startsWith('52494646'))
    return { kind: 'other', type: `image/${head.toString('latin1', 8, 12).trim().toLowerCase()}` };
  if (head.toString('latin1', 257, 262) === 'ustar')
    return { kind: 'other', type: 'application/x-tar' };
  return isText(head) ? { kind: 'other', type: 'text/plain' } : { kind: 'unrecognised' };
}

function classifyIsoMedia(brand: string): FileKind {
  if (HEIC_BRANDS.includes(brand)) return { kind: 'photograph', type: 'image/heic' };
  if (HEIF_BRANDS.includes(brand)) return { kind: 'photograph', type: 'image/heif' };
  return { kind: 'other', type: brand === 'avif' ? 'image/avif' : 'video/mp4' };
}

/** Tells if the bytes are printable ASCII with line breaks and tabs. */
function isText(head: Buffer): boolean {
  return (
    head.length > 0 &&
    head.every(
      (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09,
    )
  );
}

/**
 * The harmless test string that every scanner reports (EICAR), in two parts so that this source is
 * not reported.
 */
const EICAR = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''),
  'latin1',
);

const PIECE_BYTES = 64 * 1024;

/** Tells if the file of `sizeBytes` contains the test string. */
export async function hasVirus(path: string, sizeBytes: number): Promise<boolean> {
  let tail = Buffer.alloc(0);
  // No larger than the file: thousands of small photographs would make as much garbage as large
  // ones, and requests wait while it is collected.
  for await (const chunk of createReadStream(path, {
    highWaterMark: Math.min(sizeBytes + 1, PIECE_BYTES),
  })) {
    const bytes: Buffer = chunk;
    if (
      bytes.includes(EICAR) ||
      Buffer.concat([tail, bytes.subarray(0, EICAR.length)]).includes(EICAR)
    )
      return true;
    tail = Buffer.from(Buffer.concat([tail, bytes]).subarray(-EICAR.length));
  }
  return false;
}
