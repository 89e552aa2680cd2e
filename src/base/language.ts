import { localDate } from './clock.ts';
import { LANGUAGES, type Language } from './languages.ts';
import type { Forms } from './po-files.ts';
import { withPrepositions } from './prepositions.ts';

/**
 * The language in which people are spoken to. A text is written in English where it is said, as t`…` (or with `ngettext`
 * where a number decides its form), and its Czech stands in src/language/cs. What is said later, or kept, is a value until then: see
 * message.ts. What programs read (JSON keys, codes, rules, element names, the journal) is never translated.
 */

/** One language a process. Undefined is English, which needs no catalog, nor what reads one. */
let spoken: { readonly language: Language; readonly forms: Forms } | undefined;

/** A text with its values, not yet put together. */
export type Template = { readonly strings: readonly string[]; readonly values: readonly unknown[] };

/** A text in the language of the process. Inside the template stand plain variables, members and commands, nothing to be called. */
export function t(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return spoken === undefined ? String.raw({ raw: strings }, ...values.map(onOneLine)) : inLanguage(numbered(strings), values);
}

/** Names of files and texts of the service are put into sentences: a line break in one would begin a line of its own. */
function onOneLine(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return value.replace(/[\n\r\u0085\u2028\u2029]/g, (character) => LINE_BREAKS[character] ?? '\\n');
}

const LINE_BREAKS: Readonly<Record<string, string>> = {
  '\r': '\\r',
  '\u0085': '\\u0085',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** The singular of {@link ngettext}, which the Czech forms are found by. */
export function msgid(strings: TemplateStringsArray, ...values: readonly unknown[]): Template {
  return { strings, values };
}

/** ngettext(msgid`${count} find`, `${count} finds`, count) */
export function ngettext({ strings, values }: Template, many: string, count: number): string {
  if (spoken !== undefined) return inLanguage(numbered(strings), values, { many, count });
  return count === 1 ? String.raw({ raw: strings }, ...values.map(onOneLine)) : many;
}

/** What a text is found by in a catalog: its values are numbered as they come. */
export function numbered(strings: readonly string[]): string {
  return strings.reduce((text, part, index) => `${text}\${${index - 1}}${part}`);
}

/** Where a number decides the form of a text: the English of all but one. */
export type Counted = { readonly many: string; readonly count: number };

/** A numbered text in the language of the process, with its values put in all at once: one may look like a place for another. */
export function inLanguage(text: string, values: readonly unknown[], counted?: Counted): string {
  const forms = spoken?.forms[text];
  const english = counted === undefined || counted.count === 1 ? text : counted.many;
  const form = counted === undefined ? forms?.[0] : forms?.[CZECH_FORMS[CZECH.select(counted.count)] ?? 2];
  const texts = values.map(onOneLine);
  return filled(form === undefined ? english : withPrepositions(form, texts), texts);
}

export function filled(text: string, values: readonly string[]): string {
  return text.replace(/\$\{(\d+)\}/g, (place, index: string) => values[Number(index)] ?? place);
}

const CZECH = new Intl.PluralRules('cs');
/** Czech: one; two to four; all others. */
const CZECH_FORMS: Readonly<Partial<Record<Intl.LDMLPluralRule, number>>> = { one: 0, few: 1 };

export function spokenLanguage(): Language {
  return spoken?.language ?? 'en';
}

/** With the decimal mark of the language. */
export function decimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return spoken?.language === 'cs' ? text.replace('.', ',') : text;
}

/** `2026-11-23` as people of the language write it. */
export function dayText(isoDate: string): string {
  const [year, month, day] = isoDate.split('-').map(Number);
  return spokenLanguage() === 'cs' ? `${day}. ${month}. ${year}` : isoDate;
}

/**
 * `2026-11-23 14:32`, by this machine's clock and zone.
 * @param nowMs given, today is not said: `14:32`
 */
export function momentText(ms: number, nowMs?: number): string {
  const at = new Date(ms);
  const hour = spokenLanguage() === 'cs' ? String(at.getHours()) : String(at.getHours()).padStart(2, '0');
  const time = `${hour}:${String(at.getMinutes()).padStart(2, '0')}`;
  const day = localDate(ms);
  return nowMs !== undefined && day === localDate(nowMs) ? time : `${dayText(day)} ${time}`;
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
  // All of Intl say the same; the rules of plurals are made the quickest by far.
  systemLocale: () => string = () => new Intl.PluralRules().resolvedOptions().locale,
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

/**
 * What `say` returns when it speaks each of the languages: for what people of both read, such as a form for phones. Afterwards t`…`
 * speaks as before.
 */
export async function inEachLanguage<T>(say: () => T): Promise<Readonly<Record<Language, T>>> {
  const forms = await (await import('./catalog.ts')).readCatalog('cs');
  const saidIn = (language: typeof spoken): T => {
    const before = spoken;
    spoken = language;
    try {
      return say();
    } finally {
      spoken = before;
    }
  };
  return { en: saidIn(undefined), cs: saidIn({ language: 'cs', forms }) };
}

/** From here on t`…` speaks this language. */
export async function speak(language: Language): Promise<void> {
  spoken = language === 'en' ? undefined : { language, forms: await (await import('./catalog.ts')).readCatalog(language) };
}
