import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each([
  ['the reference and the man page say what the commands are', 'reference.mjs'],
  ['the table of differences says what the mock does', 'faithfulness.mjs'],
  ['the page of evidence says what test/evidence.json does', 'evidence.mjs'],
])('%s; npm run reference writes them', (_, script) => {
  const check = () =>
    execFileSync(process.execPath, [join(import.meta.dirname, '..', 'scripts', script), '--check']);
  expect(check).not.toThrow();
});
