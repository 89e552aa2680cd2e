import { type FileHandle, open } from 'node:fs/promises';

const PIECE_BYTES = 1024 * 1024;

/**
 * Reads a file in pieces of up to a mebibyte, the next one while the consumer processes the last, which Node's own file streams
 * do not do: a digest and the disk would wait for each other.
 */
export async function* readAhead(path: string): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    // Not much larger than the file: otherwise many small photographs would produce as much garbage as large ones.
    const pieceBytes = Math.min((await file.stat()).size + 1, PIECE_BYTES);
    for (let coming = readPiece(file, pieceBytes); ; ) {
      const piece = await coming;
      if (piece.length === 0) return;
      coming = readPiece(file, pieceBytes);
      // Suppresses an unhandled rejection where the consumer stops early.
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
