import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';
import { PLANTED, plant } from './planted.ts';
import { THEMES } from './themes.ts';

test.each(PLANTED)('$name: stands where it can be planted', (planted) => {
  const text = readFileSync(join(PROJECT, planted.file), 'utf8');
  expect(plant(planted, text)).not.toBe(text);
});

test('the themes that are named are told of', () => {
  const themeNames = Object.keys(THEMES);
  expect(PLANTED.flatMap(({ themes = [] }) => themes).filter((theme) => !themeNames.includes(theme))).toEqual([]);
});
