import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { LocalizedError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import type { RequestBody } from './exchange.ts';

/** Formats a SHA-512 as the value of `Content-Digest` (RFC 9530; A-DIGEST-1). */
export function formatContentDigest(sha512: string): string {
  return `sha-512=:${Buffer.from(sha512, 'hex').toString('base64')}:`;
}

/** Size of the pieces in which a file is sent. */
export const SLICE_BYTES = 64 * 1024;

/**
 * Yields the pieces of a file, the last one only when size and SHA-512 of the whole match the
 * queued file: the service never receives, and so never stores, a file that changed.
 * @throws ChangedFileError
 */
export async function* readVerifiedPieces(
  pieces: AsyncIterable<Buffer>,
  expected: { readonly sha512: string; readonly sizeBytes: number },
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

/** Makes a form whose file is in memory. */
export function makeBytesForm(bytes: Buffer, part: FilePart): RequestBody {
  const { contentType, head, tail } = makeFrame(part);
  const whole = Buffer.concat([head, bytes, tail]);
  return { contentType, lengthBytes: whole.length, open: () => whole };
}

/** Makes a form whose file of `sizeBytes` is opened and read while it is sent. */
export function makeStreamForm(
  openFile: () => Readable,
  sizeBytes: number,
  part: FilePart,
): RequestBody {
  const { contentType, head, tail } = makeFrame(part);
  const joinPieces = async function* () {
    yield head;
    yield* openFile();
    yield tail;
  };
  return {
    contentType,
    lengthBytes: head.length + sizeBytes + tail.length,
    open: () => Readable.from(joinPieces(), { objectMode: false, highWaterMark: SLICE_BYTES }),
  };
}

/** Makes what stands around the file of a form with one field `file` (RFC 7578). */
function makeFrame({ fileName, contentType }: FilePart) {
  const boundary = randomUUID();
  const name = escapeFileName(fileName);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${contentType}\r\n\r\n`,
    ),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

/**
 * Replaces control characters, which no header may have (RFC 9110, section 5.5), and backslashes,
 * which escape a quote (5.6.4).
 */
function escapeFileName(fileName: string): string {
  return fileName.replace(/[\u0000-\u001f\u007f\\]/g, '_').replaceAll('"', '%22');
}
