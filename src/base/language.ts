import { addLocale, useLocale } from 'ttag';

/**
 * The language in which people are spoken to. A text is written in English where it is said, as t`…` (or with `ngettext`
 * where a number decides its form), and its Czech stands in src/language/cs. What programs read (JSON keys, codes, rules,
 * element names, the journal) is never translated.
 */
export { msgid, ngettext, t } from 'ttag';

export const LANGUAGES = ['en', 'cs'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * `--lang`, else `PAS_LANG`, else the locale, else English. An unknown word falls through here; that `--lang` and `PAS_LANG`
 * are sensible is checked where the command line is read.
 */
export function languageFrom(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Language {
  const locale = environment['LC_ALL'] || environment['LC_MESSAGES'] || environment['LANG'];
  return known(languageFlag(args)) ?? known(environment['PAS_LANG']) ?? known(locale) ?? 'en';
}

/** The text after `--lang`, in either of its forms; undefined without the flag. */
export function languageFlag(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--lang' || arg.startsWith('--lang='));
  const flag = args[at];
  return flag === '--lang' ? args[at + 1] : flag?.slice('--lang='.length);
}

function known(word: string | undefined): Language | undefined {
  const language = word?.toLowerCase().split(/[_.@-]/)[0];
  return LANGUAGES.find((each) => each === language);
}

/** From here on t`…` speaks this language. To be called before a module that says something is loaded. */
export async function speak(language: Language): Promise<void> {
  if (language === 'en') return;
  const { readCatalog } = await import('./catalog.ts');
  addLocale(language, readCatalog(language));
  useLocale(language);
}
