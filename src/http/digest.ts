import { createHash, hash } from 'node:crypto';
import { LocalizedError } from '../base/errors.ts';
import { msg } from '../base/message.ts';

/** `Content-Digest` value for the SHA-512 of a file's bytes (RFC 9530; A-DIGEST-1). */
export function contentDigest(sha512: Buffer): string {
  return `sha-512=:${sha512.toString('base64')}:`;
}

export function sha512Of(bytes: Buffer): Buffer {
  return hash('sha512', bytes, 'buffer');
}

/** How much is sent at a time. */
export const SLICE_BYTES = 64 * 1024;

/**
 * Passes the pieces of a file on while it is sent, but keeps the last one back until the whole is known to be the file that was queued. A
 * file that changed since is therefore never received whole, so the service cannot store it.
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

/**
 * In small pieces, however large the one is that was read: a request that was cut off goes back to the queue only where a piece of it
 * had not left yet.
 */
function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES) yield bytes.subarray(offset, offset + SLICE_BYTES);
}

/** The file on disk is no longer the one that was queued. */
export class ChangedFileError extends LocalizedError {
  constructor() {
    super(msg`the file changed since it was queued`);
  }
}
