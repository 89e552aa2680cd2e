import { Readable } from 'node:stream';
import { ChangedFileError, SLICE_BYTES, verifiedPieces } from '../../http/digest.ts';
import type { Photograph } from '../../outbox/entry.ts';
import { openContentStore } from '../../store/content-store.ts';
import { toDatabaseError } from '../../store/database.ts';
import { readAhead } from '../../store/read-ahead.ts';

/** What is sent is checked against its digest on the way, and never completed when it is not what was queued. */
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

/** For the entry that is the same as changed: only a person can give the photograph again. */
function isGone(error: Error): boolean {
  return 'code' in error && ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM'].includes(String(error.code));
}

/** A disk that reports an error may have it again when it is asked once more, as a card with a bad contact. */
function unreadable(path: string, error: Error): Error {
  const said = toDatabaseError(path, error);
  return said instanceof Error ? said : error;
}
