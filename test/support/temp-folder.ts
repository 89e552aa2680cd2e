import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, which goes with the folder of the run: nobody has to remove it. */
export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 'pas-test-'));
}
