import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the reference and the man page say what the commands are; npm run reference writes them', () => {
  const script = join(import.meta.dirname, '..', 'scripts', 'reference.mjs');
  expect(() => execFileSync(process.execPath, [script, '--check'])).not.toThrow();
});
