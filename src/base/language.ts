import type { Template, Translator } from './catalog.ts';
import { LANGUAGES, type Language } from './languages.ts';

/**
 * The language in which people are spoken to. A text is written in English where it is said, as t`…` (or with `ngettext`
 * where a number decides its form), and its Czech stands in src/language/cs. What programs read (JSON keys, codes, rules,
 * element names, the journal) is never translated.
 */

/** One language a process. Undefined is English, which needs no catalog, nor what reads one. */
let spoken: { readonly language: Language; readonly translator: Translator } | undefined;

/** A text in the language of the process. Inside the template stand plain variables and members, nothing to be called. */
export function t(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  const template = { strings, values };
  return spoken === undefined ? inEnglish(template) : spoken.translator.text(template);
}

/** The singular of {@link ngettext}, which the Czech forms are found by. */
export function msgid(strings: TemplateStringsArray, ...values: readonly unknown[]): Template {
  return { strings, values };
}

/** ngettext(msgid`${count} find`, `${count} finds`, count) */
export function ngettext(one: Template, many: string, count: number): string {
  if (spoken !== undefined) return spoken.translator.counted(one, many, count);
  return count === 1 ? inEnglish(one) : many;
}

function inEnglish({ strings, values }: Template): string {
  return String.raw({ raw: strings }, ...values);
}

export function spokenLanguage(): Language {
  return spoken?.language ?? 'en';
}

/** With the decimal mark of the language. */
export function decimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return spoken?.language === 'cs' ? text.replace('.', ',') : text;
}

/** `3.4 MB`, `120 kB` */
export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${decimal(bytes / 1e6, 1)} MB`;
}

/**
 * `--lang`, else `PAS_LANG`, else what config.toml keeps, else the locale, else English. An unknown word falls through here; that
 * they are sensible is checked where the command line and the file are read.
 * @param kept asked only where the command line and PAS_LANG say nothing
 * @param systemLocale where no variable says it, as on Windows and macOS
 */
export function languageFrom(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  kept: () => string | undefined = () => undefined,
  systemLocale: () => string = () => new Intl.DateTimeFormat().resolvedOptions().locale,
): Language {
  const locale = (): string => environment['LC_ALL'] || environment['LC_MESSAGES'] || environment['LANG'] || systemLocale();
  const said = languageNamed(languageFlag(args)) ?? languageNamed(environment['PAS_LANG']);
  return said ?? languageNamed(kept()) ?? languageNamed(locale()) ?? 'en';
}

/** The text after `--lang`, in either of its forms; undefined without the flag. */
export function languageFlag(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--lang' || arg.startsWith('--lang='));
  const flag = args[at];
  return flag === '--lang' ? args[at + 1] : flag?.slice('--lang='.length);
}

/** `cs`, `CS`, `cs_CZ.UTF-8` → `cs`; undefined for a language that pas does not speak. */
export function languageNamed(word: string | undefined): Language | undefined {
  const language = word?.toLowerCase().split(/[_.@-]/)[0];
  return LANGUAGES.find((each) => each === language);
}

/** From here on t`…` speaks this language. To be called before a module that says something is loaded. */
export async function speak(language: Language): Promise<void> {
  if (language === 'en') {
    spoken = undefined;
    return;
  }
  const { openTranslator } = await import('./catalog.ts');
  spoken = { language, translator: await openTranslator(language) };
}
