import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toDatabaseError } from './database.ts';

/**
 * Writes pieces to stdout as fast as its reader takes them.
 * @returns whether all was taken: a reader that has seen enough (`| head`) ends the writing, and is no failure
 * @throws DatabaseError when stdout is a file and the disk refuses; what the pieces throw
 */
export async function writeToReader(
  stdout: NodeJS.WriteStream,
  pieces: Iterable<string | Buffer> | AsyncIterable<string | Buffer>,
): Promise<boolean> {
  try {
    await pipeline(Readable.from(pieces), stdout, { end: false });
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EPIPE') return false;
    throw toDatabaseError('stdout', thrown);
  }
}
