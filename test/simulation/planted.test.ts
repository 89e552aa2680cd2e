import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';
import { PLANTED, plant } from './planted.ts';
import { THEMES } from './themes.ts';

test.each(PLANTED)('$name: its place in the source exists', (planted) => {
  const text = readFileSync(join(PROJECT, planted.file), 'utf8');
  expect(plant(planted, text)).not.toBe(text);
});

test('the named themes are recognised', () => {
  const themeNames = Object.keys(THEMES);
  expect(
    PLANTED.flatMap(({ themes = [] }) => themes).filter((theme) => !themeNames.includes(theme)),
  ).toEqual([]);
});
