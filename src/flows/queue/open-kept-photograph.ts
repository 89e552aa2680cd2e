import type { Readable } from 'node:stream';
import { ChangedFileError, verifiedStream } from '../../http/digest.ts';
import type { Photograph } from '../../outbox/entry.ts';
import { openContentStore } from '../../store/content-store.ts';
import { readAhead } from '../../store/read-ahead.ts';

/** What is sent is checked against its digest on the way, and never completed when it is not what was queued. */
export function openKeptPhotograph(folder: string, photograph: Photograph): Readable {
  const source: Readable =
    photograph.link === undefined ? openContentStore(folder).open(photograph.sha512) : readAhead(photograph.link);
  const verified = verifiedStream(photograph);
  // Gone, or no longer readable: for the entry that is the same as changed.
  source.on('error', () => verified.destroy(new ChangedFileError()));
  verified.on('close', () => source.destroy());
  return source.pipe(verified);
}
