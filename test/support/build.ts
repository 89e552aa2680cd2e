import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Builds if a source has changed: tests load the build. */
export function setup(): void {
  const script = join(import.meta.dirname, '..', '..', 'scripts', 'build-if-changed.mjs');
  execFileSync(process.execPath, [script], { stdio: 'inherit' });
}
