import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A project whose build only notes that it ran. */
function makeProject(): string {
  const folder = tempFolder();
  for (const name of ['src', 'mock-server', 'test/conformance', 'scripts', 'dist/pas'])
    mkdirSync(join(folder, name), { recursive: true });
  const script = 'scripts/build-if-changed.mjs';
  cpSync(join(PROJECT, script), join(folder, script));
  writeFileSync(join(folder, 'src', 'old.ts'), '');
  writeFileSync(
    join(folder, 'build.cjs'),
    "require('node:fs').appendFileSync('dist/pas/main.cjs', 'built ')",
  );
  writeFileSync(join(folder, 'package.json'), '{"scripts":{"build":"node build.cjs"}}');
  return folder;
}

function countBuilds(folder: string): number {
  const run = spawnSync(process.execPath, ['scripts/build-if-changed.mjs'], { cwd: folder });
  expect(run.status).toBe(0);
  return readFileSync(join(folder, 'dist/pas/main.cjs'), 'utf8').split(' ').length - 1;
}

test('demo, mock and conformance build once, and again after a source was changed or removed', () => {
  const folder = makeProject();
  expect(countBuilds(folder)).toBe(1);
  expect(countBuilds(folder)).toBe(1);
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(folder, 'src', 'old.ts'), later, later);
  expect(countBuilds(folder)).toBe(2);
  utimesSync(join(folder, 'dist/pas/main.cjs'), later, later);
  expect(countBuilds(folder)).toBe(2);
  rmSync(join(folder, 'src', 'old.ts'));
  const evenLater = new Date(Date.now() + 120_000);
  utimesSync(join(folder, 'src'), evenLater, evenLater);
  expect(countBuilds(folder)).toBe(3);
});
