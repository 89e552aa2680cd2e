import { renameSync } from 'node:fs';

/** Errors of Windows while a scanner, an indexer or another program has one of the two files open. */
const OPEN_ELSEWHERE = ['EACCES', 'EBUSY', 'EPERM'];
const FIRST_PAUSE_MS = 10;
/** Together with the previous pauses two and a half seconds. */
const LAST_PAUSE_MS = 1280;

type RenameSystem = {
  readonly platform: NodeJS.Platform;
  rename(from: string, to: string): void;
  /** Blocks the thread. */
  pause(ms: number): void;
};

const SYSTEM: RenameSystem = {
  platform: process.platform,
  // Looked up at each call, so that a test can replace it.
  rename: (from, to) => renameSync(from, to),
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/**
 * Renames a file over another one. On Windows that fails while another program has one of them open, so it is retried for a
 * while.
 * @throws the error of the last try
 */
export function renameOver(from: string, to: string, { platform, rename, pause } = SYSTEM): void {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      rename(from, to);
      return;
    } catch (thrown) {
      const isPassing = thrown instanceof Error && 'code' in thrown && OPEN_ELSEWHERE.includes(String(thrown.code));
      if (platform !== 'win32' || !isPassing || pauseMs > LAST_PAUSE_MS) throw thrown;
      pause(pauseMs);
    }
  }
}
