import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readFileInPieces } from '../../../src/base/disk/files.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const MIB = 1024 * 1024;

function writeFile(bytes: Buffer): string {
  const path = join(tempFolder(), 'file');
  writeFileSync(path, bytes);
  return path;
}

test.each([0, 1, MIB - 1, MIB, MIB + 1, 3 * MIB + 7])(
  'a file of %i bytes is read completely and in order',
  async (sizeBytes) => {
    const bytes = randomBytes(sizeBytes);
    const read = await buffer(readFileInPieces(writeFile(bytes)));
    expect(createHash('sha256').update(read).digest('hex')).toBe(
      createHash('sha256').update(bytes).digest('hex'),
    );
  },
);

test.runIf(process.platform === 'linux')(
  'a reader that stops early leaves no file open',
  async () => {
    const path = writeFile(randomBytes(3 * MIB));
    for await (const piece of readFileInPieces(path)) {
      expect(piece).toHaveLength(MIB);
      break;
    }
    const open = readdirSync('/proc/self/fd').filter(
      (fd) => getLink(`/proc/self/fd/${fd}`) === path,
    );
    expect(open).toEqual([]);
  },
);

function getLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor that listed the folder.
    return undefined;
  }
}
