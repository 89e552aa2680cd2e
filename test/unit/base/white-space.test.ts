import { expect, test } from 'vitest';
import {
  collapseWhiteSpace as collapseOfMock,
  trimText as trimOfMock,
} from '../../../mock-server/base/white-space.ts';
import { collapseWhiteSpace, normalizeText, trimText } from '../../../src/base/characters.ts';

/** White space by Unicode's property, and the four separators of ASCII. */
const isWhite = (letter: string): boolean => /[\p{White_Space}\u001c-\u001f]/u.test(letter);

test.each([
  ['pas', trimText, collapseWhiteSpace],
  ['the mock server', trimOfMock, collapseOfMock],
])('%s has the service’s white space, character by character', (_, trim, collapse) => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0xffff; code += 1) {
    const letter = String.fromCharCode(code);
    const trimmed = trim(`${letter}a${letter}b${letter}`);
    const expected = isWhite(letter) ? `a${letter}b` : `${letter}a${letter}b${letter}`;
    const isCollapsed = !isWhite(letter) || collapse(`a${letter}${letter}b `) === 'a b';
    if (trimmed !== expected || !isCollapsed) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
  expect(trim('')).toBe('');
  expect(trim(' \u0085\t')).toBe('');
});

test('a text is stored without what the service would trim, and without invisible marks', () => {
  expect(normalizeText('\u0085K-1\u001f')).toBe('K-1');
  expect(normalizeText('\ufeffK-1\ufeff')).toBe('K-1');
  expect(normalizeText('\u0085\ufeff\u0085')).toBe('');
});
