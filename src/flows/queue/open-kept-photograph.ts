import { Readable } from 'node:stream';
import { ChangedFileError, SLICE_BYTES, verifiedPieces } from '../../http/digest.ts';
import type { Photograph } from '../../outbox/entry.ts';
import { openContentStore, readAhead } from '../../store/content-store.ts';
import { toDatabaseError } from '../../store/database.ts';

/** Opens a stored photograph. The stream verifies its digest, and fails before its end if it differs from the queued one. */
export function openKeptPhotograph(folder: string, photograph: Photograph): Readable {
  const path = photograph.link ?? openContentStore(folder).pathOf(photograph.sha512);
  return Readable.from(verifiedPieces(readKept(path), photograph), { objectMode: false, highWaterMark: SLICE_BYTES });
}

async function* readKept(path: string): AsyncGenerator<Buffer, void> {
  try {
    yield* readAhead(path);
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    throw isGone(thrown) ? new ChangedFileError() : unreadable(path, thrown);
  }
}

/** Tells if a file is missing, which for the entry is the same as changed: a person must provide the photograph again. */
function isGone(error: Error): boolean {
  return 'code' in error && ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM'].includes(String(error.code));
}

/** Converts an error of the disk, which a retry may overcome, as with a card with a bad contact. */
function unreadable(path: string, error: Error): Error {
  const said = toDatabaseError(path, error);
  return said instanceof Error ? said : error;
}
