import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** No system gives these away by itself, so that none is taken between its choice and its use. */
const FIRST = 10_000;
const BEYOND = 30_000;

/** A free port, reserved for this caller in the run, to listen on later or again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, BEYOND);
    if (isOurs(port) && (await isFree(port))) return port;
  }
}

/** The folder for temporary files is one for all workers of a run. */
function isOurs(port: number): boolean {
  try {
    writeFileSync(join(tmpdir(), `port-${port}`), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer().once('error', () => answer(false));
    server.listen(port, '127.0.0.1', () => server.close(() => answer(true)));
  });
}
