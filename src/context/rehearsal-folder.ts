import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';

/** Longer than any rehearsal. */
const LEFT_AFTER_MS = 7 * 24 * 3600 * 1000;

/** Removes folders of killed rehearsals. */
export function sweepRehearsals(folder: string, clock: Clock): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && found.mtimeMs < clock.now() - LEFT_AFTER_MS) rmSync(path, { recursive: true, force: true });
  }
}
