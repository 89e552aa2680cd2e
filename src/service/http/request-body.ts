import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { PassThrough, Readable } from 'node:stream';
import type FormData from 'form-data';
import { toDatabaseError } from '../../base/disk/database.ts';
import { readFileInPieces } from '../../base/disk/files.ts';
import { getErrorCode, LocalizedError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import type { RequestBody } from './exchange.ts';

/** Formats a hexadecimal SHA-512 as the value of `Content-Digest` (RFC 9530; A-DIGEST-1). */
export function formatContentDigest(sha512: string): string {
  return `sha-512=:${Buffer.from(sha512, 'hex').toString('base64')}:`;
}

/**
 * Opens a stream of a file that was kept for sending. The stream fails with ChangedFileError before
 * its end where the file has another size or digest than expected, is missing or must not be read:
 * a person must queue it again. Where the disk fails, the stream fails with DatabaseError.
 */
export function openVerifiedFile(path: string, expected: ExpectedFile): Readable {
  return Readable.from(readVerifiedPieces(readKept(path), expected), {
    objectMode: false,
    highWaterMark: SLICE_BYTES,
  });
}

type ExpectedFile = { readonly sha512: string; readonly sizeBytes: number };

async function* readKept(path: string): AsyncGenerator<Buffer, void> {
  try {
    yield* readFileInPieces(path);
  } catch (thrown) {
    throw UNREADABLE.includes(getErrorCode(thrown))
      ? new ChangedFileError()
      : toDatabaseError(path, thrown);
  }
}

const UNREADABLE = ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM'];

/** Size of the pieces in which a file is sent. */
const SLICE_BYTES = 64 * 1024;

/**
 * Yields the pieces of a file, the last one only when size and SHA-512 of the whole match the
 * queued file: the service never receives, and so never stores, a file that changed.
 * @throws ChangedFileError where they do not match; errors of reading
 */
async function* readVerifiedPieces(
  pieces: AsyncIterable<Buffer>,
  expected: ExpectedFile,
): AsyncGenerator<Buffer, void> {
  const whole = createHash('sha512');
  let seenBytes = 0;
  let heldBack: Buffer | undefined;
  for await (const piece of pieces) {
    whole.update(piece);
    seenBytes += piece.length;
    if (seenBytes > expected.sizeBytes) throw new ChangedFileError();
    if (heldBack !== undefined) yield* splitBytes(heldBack);
    heldBack = piece;
  }
  if (seenBytes !== expected.sizeBytes || whole.digest('hex') !== expected.sha512)
    throw new ChangedFileError();
  if (heldBack !== undefined) yield* splitBytes(heldBack);
}

/**
 * Splits a piece: a request that was cut off returns to the queue only if one of its pieces had not
 * left.
 */
function* splitBytes(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES)
    yield bytes.subarray(offset, offset + SLICE_BYTES);
}

/** Thrown when the file on disk differs from the queued one. */
export class ChangedFileError extends LocalizedError {
  constructor() {
    super(msg`the file changed since it was queued`);
  }
}

type FilePart = { readonly fileName: string; readonly contentType: string };

/**
 * Makes `multipart/form-data` with one field `file`. Loads the package at the first call: it
 * contains all media types, and most commands need none.
 */
function makeMultipart(
  content: Buffer | Readable,
  { fileName, contentType }: FilePart,
  knownLength?: number,
): FormData {
  const Form = createRequire(import.meta.url)('form-data') as typeof FormData;
  const form = new Form();
  // Control characters, which no header may have (RFC 9110, section 5.5), and backslashes, which
  // escape a quote (5.6.4).
  const filename = fileName.replace(/[\u0000-\u001f\u007f\\]/g, '_');
  form.append('file', content, { filename, contentType, knownLength });
  return form;
}

/**
 * Makes a body of `multipart/form-data` whose field `file` is in memory. It can be opened any
 * number of times.
 */
export function makeMultipartOfBytes(bytes: Buffer, part: FilePart): RequestBody {
  const form = makeMultipart(bytes, part);
  const whole = form.getBuffer();
  return { contentType: getContentType(form), lengthBytes: whole.length, open: () => whole };
}

/**
 * Makes a body of `multipart/form-data` whose field `file`, of `sizeBytes`, is opened and read
 * while it is sent. It can be opened only once; an error of the file is one of the body.
 */
export function makeMultipartOfStream(
  openFile: () => Readable,
  sizeBytes: number,
  part: FilePart,
): RequestBody {
  // The form reads a part once it is piped, so the file is opened then and piped into this stream.
  const file = new PassThrough();
  const form = makeMultipart(file, part, sizeBytes);
  return {
    contentType: getContentType(form),
    lengthBytes: form.getLengthSync(),
    open: () => {
      const whole = new PassThrough();
      const source = openFile();
      source.on('error', (error) => whole.destroy(error));
      whole.on('close', () => source.destroy());
      source.pipe(file);
      form.pipe(whole);
      return whole;
    },
  };
}

function getContentType(form: FormData): string {
  return form.getHeaders()['content-type'] ?? 'multipart/form-data';
}
