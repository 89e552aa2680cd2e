import { expect, test } from 'vitest';
import { languageFrom } from '../../../src/base/language.ts';

const CZECH_MACHINE = (): string => 'cs-CZ';
const ENGLISH_MACHINE = (): string => 'en-US';

test('what is said more plainly counts more: the flag, PAS_LANG, config.toml, the locale, the operating system', () => {
  expect(languageFrom(['--lang', 'cs'], { PAS_LANG: 'en', LANG: 'en_GB.UTF-8' }, () => 'en', ENGLISH_MACHINE)).toBe('cs');
  expect(languageFrom([], { PAS_LANG: 'cs', LANG: 'en_GB.UTF-8' }, () => 'en', ENGLISH_MACHINE)).toBe('cs');
  expect(languageFrom([], { LANG: 'en_GB.UTF-8' }, () => 'cs', ENGLISH_MACHINE)).toBe('cs');
  expect(languageFrom([], { LANG: 'cs_CZ.UTF-8' }, undefined, ENGLISH_MACHINE)).toBe('cs');
  expect(languageFrom([], {}, undefined, CZECH_MACHINE)).toBe('cs');
});

test('a variable that names another locale is obeyed before the operating system', () => {
  expect(languageFrom([], { LANG: 'C' }, undefined, CZECH_MACHINE)).toBe('en');
  expect(languageFrom([], { LC_ALL: 'de_DE.UTF-8', LANG: 'cs_CZ.UTF-8' }, undefined, CZECH_MACHINE)).toBe('en');
});
