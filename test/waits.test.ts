import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SUPPORT = 'support/eventually.ts';
/**
 * A moment that is drawn by chance, a link's delay, a permitted pace, modules that load, a turn of
 * the event loop: nothing is expected of how long it takes.
 */
const MOMENTS = [
  'conformance/main.ts',
  'endurance/chaos.test.ts',
  'endurance/harvest-records-survives.test.ts',
  'endurance/mock-steadiness.test.ts',
  'endurance/restore.test.ts',
  'journeys/service-hangs.test.ts',
  'simulation/virtual-time.ts',
  'unit/flows/check-gate.test.ts',
  'unit/flows/find-service.ts',
];

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== 'waits.test.ts')
  .map((name) => ({ name, text: readFileSync(join(import.meta.dirname, name), 'utf8') }));

const thatHold = (pattern: RegExp): string[] =>
  files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

test('no test waits a fixed time for something that will probably have happened', () => {
  expect(thatHold(/\bsetTimeout\(|timers\/promises/).sort()).toEqual(MOMENTS);
});

test('a wait for another process uses the one helper, with its one deadline', () => {
  expect(thatHold(/\bexpect\s*\.poll\(|\bvi\s*\.wait(For|Until)\(/)).toEqual([SUPPORT]);
});

test('a page is observed until the expected state, not once', () => {
  const pages = files.filter(({ name }) => /programs\/mock-page/.test(name));
  const once =
    /expect\(\s*await [^;]*\.(count|textContent|innerText|allInnerTexts|getAttribute|isVisible)\(/;
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.filter(({ text }) => once.test(text)).map(({ name }) => name)).toEqual([]);
});
