import { renameSync } from 'node:fs';

/** What Windows answers while a scanner, an indexer or another program has one of the two files open. */
const OPEN_ELSEWHERE = ['EACCES', 'EBUSY', 'EPERM'];
const FIRST_PAUSE_MS = 10;
/** Together with the pauses before it, two and a half seconds. */
const LAST_PAUSE_MS = 1280;

type RenameSystem = {
  readonly platform: NodeJS.Platform;
  rename(from: string, to: string): void;
  /** Nothing else is done meanwhile. */
  pause(ms: number): void;
};

const SYSTEM: RenameSystem = {
  platform: process.platform,
  // Looked up at each call: a test may stand in for the system.
  rename: (from, to) => renameSync(from, to),
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/**
 * Gives a file the name of another one, which it replaces. On Windows that fails while somebody has one of them open, so it is
 * tried again there for a while.
 * @throws what the last try throws
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
