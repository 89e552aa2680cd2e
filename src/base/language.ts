import { localDate } from './clock.ts';
import { LANGUAGES, type Language } from './languages.ts';
import type { Forms } from './po-files.ts';
import { withPrepositions } from './prepositions.ts';

/**
 * Language of messages. The source has the English text, as t`…` (or `ngettext` where a number decides the form); the Czech text
 * is in src/language/cs. A message that is stored or shown later is a value: see message.ts. Text for programs (JSON keys, codes,
 * rules, element names, the journal) is never translated.
 */

/** Language of the process. Undefined is English, which needs no catalog. */
let spoken: { readonly language: Language; readonly forms: Forms } | undefined;

/** A text and its values before interpolation. */
export type Template = { readonly strings: readonly string[]; readonly values: readonly unknown[] };

/** Returns a text in the language of the process. Placeholders hold plain variables, members and commands, no calls. */
export function t(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return spoken === undefined ? String.raw({ raw: strings }, ...values.map(onOneLine)) : inLanguage(numbered(strings), values);
}

/** Escapes line breaks in names of files and texts of the service, which would otherwise start a line of the message. */
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

/** The singular of {@link ngettext}, which is the key of the Czech forms. */
export function msgid(strings: TemplateStringsArray, ...values: readonly unknown[]): Template {
  return { strings, values };
}

/** Chooses the form for a number: ngettext(msgid`${count} find`, `${count} finds`, count) */
export function ngettext({ strings, values }: Template, many: string, count: number): string {
  if (spoken !== undefined) return inLanguage(numbered(strings), values, { many, count });
  return count === 1 ? String.raw({ raw: strings }, ...values.map(onOneLine)) : many;
}

/** Returns the catalog key of a text: its values become numbered placeholders. */
export function numbered(strings: readonly string[]): string {
  return strings.reduce((text, part, index) => `${text}\${${index - 1}}${part}`);
}

/** English plural of a text whose form a number decides. */
export type Counted = { readonly many: string; readonly count: number };

/** Translates a text with numbered placeholders. Values are inserted in one pass, since one may look like a placeholder. */
export function inLanguage(text: string, values: readonly unknown[], counted?: Counted): string {
  const forms = spoken?.forms[text];
  const english = counted === undefined || counted.count === 1 ? text : counted.many;
  const form = counted === undefined ? forms?.[0] : forms?.[CZECH_FORMS[CZECH.select(counted.count)] ?? 2];
  const texts = values.map(onOneLine);
  return interpolate(form === undefined ? english : withPrepositions(form, texts), texts);
}

export function interpolate(text: string, values: readonly string[]): string {
  return text.replace(/\$\{(\d+)\}/g, (place, index: string) => values[Number(index)] ?? place);
}

const CZECH = new Intl.PluralRules('cs');
/** Index of the Czech form: one; two to four; all others. */
const CZECH_FORMS: Readonly<Partial<Record<Intl.LDMLPluralRule, number>>> = { one: 0, few: 1 };

export function currentLanguage(): Language {
  return spoken?.language ?? 'en';
}

/** Formats a number with the decimal mark of the language. */
export function decimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return spoken?.language === 'cs' ? text.replace('.', ',') : text;
}

/** Formats `2026-11-23` as the language writes dates. */
export function dayText(isoDate: string): string {
  const [year, month, day] = isoDate.split('-').map(Number);
  return currentLanguage() === 'cs' ? `${day}. ${month}. ${year}` : isoDate;
}

/**
 * Formats a moment in the local time zone: `2026-11-23 14:32`.
 * @param nowMs where given, the date of today is left out: `14:32`
 */
export function momentText(ms: number, nowMs?: number): string {
  const at = new Date(ms);
  const hour = currentLanguage() === 'cs' ? String(at.getHours()) : String(at.getHours()).padStart(2, '0');
  const time = `${hour}:${String(at.getMinutes()).padStart(2, '0')}`;
  const day = localDate(ms);
  return nowMs !== undefined && day === localDate(nowMs) ? time : `${dayText(day)} ${time}`;
}

/** Formats a size: `3.4 MB`, `120 kB`. */
export function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${decimal(bytes / 1e6, 1)} MB`;
}

/**
 * Chooses the language: `--lang`, then `PAS_LANG`, config.toml, the locale, English. Skips an unknown word; the command line and
 * the configuration are validated where they are read.
 * @param kept called only where the command line and PAS_LANG name no language
 * @param systemLocale used where no variable names a locale, as on Windows and macOS
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

/** Returns the value of `--lang`, in either of its forms; undefined without the flag. */
export function languageFlag(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--lang' || arg.startsWith('--lang='));
  const flag = args[at];
  return flag === '--lang' ? args[at + 1] : flag?.slice('--lang='.length);
}

/** Parses `cs`, `CS`, `cs_CZ.UTF-8` → `cs`; undefined for a language that pas does not have. */
export function languageNamed(word: string | undefined): Language | undefined {
  const language = word?.toLowerCase().split(/[_.@-]/)[0];
  return LANGUAGES.find((each) => each === language);
}

/** Calls `say` once per language, for output that readers of both use. Restores the language afterwards. */
export async function forEachLanguage<T>(say: () => T): Promise<Readonly<Record<Language, T>>> {
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

/** Sets the language of the process. */
export async function setLanguage(language: Language): Promise<void> {
  spoken = language === 'en' ? undefined : { language, forms: await (await import('./catalog.ts')).readCatalog(language) };
}
