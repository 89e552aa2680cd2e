import { expect, test } from 'vitest';
import { chooseLanguage, msg, t } from '../../../src/base/message.ts';

const CZECH_MACHINE = (): string => 'cs-CZ';
const ENGLISH_MACHINE = (): string => 'en-US';

test('the more explicit choice of a language wins: the flag, PAS_LANG, config.toml, the locale, the operating system', () => {
  expect(
    chooseLanguage(
      ['--lang', 'cs'],
      { PAS_LANG: 'en', LANG: 'en_GB.UTF-8' },
      () => 'en',
      ENGLISH_MACHINE,
    ),
  ).toBe('cs');
  expect(
    chooseLanguage([], { PAS_LANG: 'cs', LANG: 'en_GB.UTF-8' }, () => 'en', ENGLISH_MACHINE),
  ).toBe('cs');
  expect(chooseLanguage([], { LANG: 'en_GB.UTF-8' }, () => 'cs', ENGLISH_MACHINE)).toBe('cs');
  expect(chooseLanguage([], { LANG: 'cs_CZ.UTF-8' }, undefined, ENGLISH_MACHINE)).toBe('cs');
  expect(chooseLanguage([], {}, undefined, CZECH_MACHINE)).toBe('cs');
});

test('a variable with another locale takes precedence over the operating system', () => {
  expect(chooseLanguage([], { LANG: 'C' }, undefined, CZECH_MACHINE)).toBe('en');
  expect(
    chooseLanguage([], { LC_ALL: 'de_DE.UTF-8', LANG: 'cs_CZ.UTF-8' }, undefined, CZECH_MACHINE),
  ).toBe('en');
});

test('a name with a line break starts no line of its own, in a text and in a message', () => {
  const name = 'photo.jpg\n29 finds accepted\u2028.';
  expect(t`${name} is missing.`).toBe(String.raw`photo.jpg\n29 finds accepted\u2028. is missing.`);
  expect(String(msg`${name} is missing.`)).toBe(
    String.raw`photo.jpg\n29 finds accepted\u2028. is missing.`,
  );
});
