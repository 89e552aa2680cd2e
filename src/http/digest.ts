import { createHash, hash } from 'node:crypto';
import { LocalizedError } from '../base/errors.ts';
import { msg } from '../base/message.ts';

/** Formats a SHA-512 as the value of `Content-Digest` (RFC 9530; A-DIGEST-1). */
export function contentDigest(sha512: Buffer): string {
  return `sha-512=:${sha512.toString('base64')}:`;
}

export function sha512Of(bytes: Buffer): Buffer {
  return hash('sha512', bytes, 'buffer');
}

/** Size of the pieces in which a file is sent. */
export const SLICE_BYTES = 64 * 1024;

/**
 * Yields the pieces of a file, the last one only when size and SHA-512 of the whole match the queued file: the service never
 * receives, and so never stores, a file that changed.
 * @throws ChangedFileError
 */
export async function* verifiedPieces(
  pieces: AsyncIterable<Buffer>,
  expected: { readonly sha512: Buffer; readonly sizeBytes: number },
): AsyncGenerator<Buffer, void> {
  const whole = createHash('sha512');
  let seenBytes = 0;
  let heldBack: Buffer | undefined;
  for await (const piece of pieces) {
    whole.update(piece);
    seenBytes += piece.length;
    if (seenBytes > expected.sizeBytes) throw new ChangedFileError();
    if (heldBack !== undefined) yield* slicesOf(heldBack);
    heldBack = piece;
  }
  if (seenBytes !== expected.sizeBytes || !whole.digest().equals(expected.sha512)) throw new ChangedFileError();
  if (heldBack !== undefined) yield* slicesOf(heldBack);
}

/** Splits a piece: a request that was cut off returns to the queue only if one of its pieces had not left. */
function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES) yield bytes.subarray(offset, offset + SLICE_BYTES);
}

/** Thrown when the file on disk differs from the queued one. */
export class ChangedFileError extends LocalizedError {
  constructor() {
    super(msg`the file changed since it was queued`);
  }
}
