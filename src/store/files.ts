import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { toDatabaseError } from './database.ts';

/**
 * Writes a file that only its owner can read, whole or not at all: what was there before stays until the new one is on
 * disk.
 * @throws DatabaseError when the disk refuses
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(draft, 'w', 0o600);
    try {
      writeSync(file, typeof content === 'string' ? Buffer.from(content) : content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    throw toDatabaseError(path, thrown);
  }
}
