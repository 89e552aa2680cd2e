import { createHash, type Hash, hash } from 'node:crypto';
import { Transform } from 'node:stream';
import { SayingError } from '../base/errors.ts';
import { msg } from '../base/message.ts';

/** `Content-Digest` value for the SHA-512 of a file's bytes (RFC 9530; contract, "File integrity header"). */
export function contentDigest(sha512: Buffer): string {
  return `sha-512=:${sha512.toString('base64')}:`;
}

export function sha512Of(bytes: Buffer): Buffer {
  return hash('sha512', bytes, 'buffer');
}

const SLICE_BYTES = 64 * 1024;

/**
 * Passes a file through unchanged while it is sent, but keeps the last bytes back until the whole is known to be the
 * file that was queued. A file that changed since is therefore never received whole, so the service cannot store it.
 * @throws ChangedFileError through the stream.
 */
export function verifiedStream(expected: { readonly sha512: Buffer; readonly sizeBytes: number }): Transform {
  const whole: Hash = createHash('sha512');
  let seenBytes = 0;
  let heldBack: Buffer | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      whole.update(chunk);
      seenBytes += chunk.length;
      if (seenBytes > expected.sizeBytes) {
        done(new ChangedFileError());
        return;
      }
      if (heldBack !== undefined) pushSlices(this, heldBack);
      heldBack = chunk;
      done();
    },
    flush(done) {
      if (seenBytes !== expected.sizeBytes || !whole.digest().equals(expected.sha512)) {
        done(new ChangedFileError());
        return;
      }
      if (heldBack !== undefined) pushSlices(this, heldBack);
      done();
    },
  });
}

/**
 * In small pieces, however large the one is that was read: a request that was cut off goes back to the queue only where a piece of it
 * had not left yet.
 */
function pushSlices(stream: Transform, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length; offset += SLICE_BYTES) stream.push(bytes.subarray(offset, offset + SLICE_BYTES));
}

/** The file on disk is no longer the one that was queued. */
export class ChangedFileError extends SayingError {
  constructor() {
    super(msg`the file changed since it was queued`);
  }
}
