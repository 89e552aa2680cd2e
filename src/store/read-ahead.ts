import { type FileHandle, open } from 'node:fs/promises';

const PIECE_BYTES = 1024 * 1024;

/**
 * The bytes of a file in pieces of a mebibyte at most. The next piece is read while the reader works on the last one, which
 * Node's own file streams don't do: a digest on the way would wait for the disk, and the disk for the digest.
 */
export async function* readAhead(path: string): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    // Not much larger than the file: a card of small photographs would make as much garbage as one of large ones.
    const pieceBytes = Math.min((await file.stat()).size + 1, PIECE_BYTES);
    for (let coming = readPiece(file, pieceBytes); ; ) {
      const piece = await coming;
      if (piece.length === 0) return;
      coming = readPiece(file, pieceBytes);
      // Where the reader wants no more, nobody is told that this one failed.
      coming.catch(() => undefined);
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(sizeBytes));
  return bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
}
