import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatLocalDate } from './clock.ts';
import { packageRoot } from './own-files.ts';

// Language of messages. The source has the English text, as t`…` (or `ngettext` where a number
// decides the form); the Czech text is in src/language/cs. A message that is stored or shown later
// is a value, Message. Text for programs (JSON keys, codes, rules, element names, the
// journal) is never translated.

/**
 * Translated forms by English text with numbered placeholders; several forms where a number
 * decides.
 */
type Forms = Readonly<Record<string, readonly string[]>>;

/** Language of the process. Undefined is English, which needs no catalog. */
let activeCatalog: { readonly language: Language; readonly forms: Forms } | undefined;

/** A text and its values before interpolation. */
type Template = { readonly strings: readonly string[]; readonly values: readonly unknown[] };

/**
 * Returns a text in the language of the process; {@link msg} makes one that is translated later.
 * Placeholders hold plain variables, members and commands, no calls; line breaks in values that are
 * texts are escaped.
 */
export function t(strings: TemplateStringsArray, ...values: readonly unknown[]): string {
  return translate(toTemplateKey(strings), values);
}

/**
 * Formats a value for a message. Line breaks of a text, such as a file's name or a text of the
 * service, are escaped as `\n`, since they would start a line of the message; any other value
 * keeps its line breaks.
 */
export function escapeLineBreaks(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  return value.replace(
    /[\n\r\u0085\u2028\u2029]/g,
    (character) => LINE_BREAKS[character] ?? character,
  );
}

const LINE_BREAKS: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\u0085': '\\u0085',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/**
 * Makes the English singular for {@link ngettext} from a text and its values, which are not
 * inserted yet: the text alone is the key of the Czech forms.
 */
export function msgid(strings: TemplateStringsArray, ...values: readonly unknown[]): Template {
  return { strings, values };
}

/**
 * Returns the form of a text for a number, in the language of the process, as in
 * ngettext(msgid`${count} find`, `${count} finds`, count).
 * @param many English plural with its values inserted, whose line breaks are not escaped
 */
export function ngettext({ strings, values }: Template, many: string, count: number): string {
  if (activeCatalog !== undefined)
    return translate(toTemplateKey(strings), values, { many, count });
  return count === 1 ? interpolate(toTemplateKey(strings), values.map(escapeLineBreaks)) : many;
}

/** Returns the catalog key of a text: its values become numbered placeholders. */
function toTemplateKey(strings: readonly string[]): string {
  return strings.reduce((text, part, index) => `${text}\${${index - 1}}${part}`);
}

/** English plural of a text whose form a number decides. */
type CountedText = { readonly many: string; readonly count: number };

/**
 * Translates a text with numbered placeholders into the language of the process, and inserts the
 * values; a text that the catalog lacks stays English. Values are inserted in one pass, since one
 * may look like a placeholder.
 * @param text English text, or singular: the key of the catalog
 * @param counted plural and number of a text with plural forms
 */
function translate(text: string, values: readonly unknown[], counted?: CountedText): string {
  const forms = activeCatalog?.forms[text];
  const english = counted === undefined || counted.count === 1 ? text : counted.many;
  const form =
    counted === undefined ? forms?.[0] : forms?.[CZECH_FORMS[CZECH.select(counted.count)] ?? 2];
  const texts = values.map(escapeLineBreaks);
  return interpolate(form ?? english, texts);
}

/**
 * Replaces each `${n}` by the value with this index, from 0; a place without a value stays as it
 * is.
 */
function interpolate(text: string, values: readonly string[]): string {
  return text.replace(/\$\{(\d+)\}/g, (place, index: string) => values[Number(index)] ?? place);
}

const CZECH = new Intl.PluralRules('cs');
/** Index of the Czech form: one; two to four; all others. */
const CZECH_FORMS: Readonly<Partial<Record<Intl.LDMLPluralRule, number>>> = { one: 0, few: 1 };

/** Returns the active language; English before {@link setLanguage}. */
export function getLanguage(): Language {
  return activeCatalog?.language ?? 'en';
}

/** Formats a number with so many digits after the decimal mark of the process's language. */
export function formatDecimal(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return getLanguage() === 'cs' ? text.replace('.', ',') : text;
}

/** Formats a day given as `2026-11-23` in the language of the process: in Czech `23. 11. 2026`. */
export function formatDay(isoDate: string): string {
  const [year, month, day] = isoDate.split('-').map(Number);
  return getLanguage() === 'cs' ? `${day}. ${month}. ${year}` : isoDate;
}

/**
 * Formats a moment, in milliseconds since 1970 UTC, in the local time zone: `2026-11-23 09:32`, in
 * Czech `23. 11. 2026 9:32`.
 * @param nowMs where given, a moment of the same local day is formatted without the day: `09:32`
 */
export function formatMoment(ms: number, nowMs?: number): string {
  const at = new Date(ms);
  const hour = String(at.getHours()).padStart(getLanguage() === 'cs' ? 1 : 2, '0');
  const time = `${hour}:${String(at.getMinutes()).padStart(2, '0')}`;
  const day = formatLocalDate(ms);
  return nowMs !== undefined && day === formatLocalDate(nowMs) ? time : `${formatDay(day)} ${time}`;
}

/**
 * Formats a size: as `3.4 MB` from a million bytes, as `120 kB` below that, and `1 kB` at least.
 */
export function formatSize(bytes: number): string {
  return bytes < 1e6
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${formatDecimal(bytes / 1e6, 1)} MB`;
}

/**
 * Chooses the language: the first that pas has of `--lang`, PAS_LANG, config.toml and the locale;
 * else English. An unknown word is skipped: the command line and the configuration are validated
 * where they are read.
 * @param readConfigured returns the word of config.toml; called only where the command line and
 * PAS_LANG name no language
 * @param systemLocale used where no variable names a locale, as on Windows and macOS
 */
export function chooseLanguage(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  readConfigured: () => string | undefined = () => undefined,
  // All of Intl give the same locale; plural rules are the fastest to create.
  systemLocale: () => string = () => new Intl.PluralRules().resolvedOptions().locale,
): Language {
  const getLocale = (): string =>
    environment['LC_ALL'] || environment['LC_MESSAGES'] || environment['LANG'] || systemLocale();
  const explicit = parseLanguage(findLanguageFlag(args)) ?? parseLanguage(environment['PAS_LANG']);
  return explicit ?? parseLanguage(readConfigured()) ?? parseLanguage(getLocale()) ?? 'en';
}

/**
 * Returns the value of the first `--lang` as it was typed, empty for `--lang=`; undefined without
 * the flag, or where `--lang` is the last argument.
 */
export function findLanguageFlag(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => arg === '--lang' || arg.startsWith('--lang='));
  const flag = args[at];
  return flag === '--lang' ? args[at + 1] : flag?.slice('--lang='.length);
}

/**
 * Parses the code of a language, also within a locale: `cs`, `CS` and `cs_CZ.UTF-8` are `cs`.
 * Undefined for a language that pas does not have.
 */
export function parseLanguage(word: string | undefined): Language | undefined {
  const language = word?.toLowerCase().split(/[_.@-]/)[0];
  return LANGUAGES.find((each) => each === language);
}

/**
 * Calls `say` once per language, as if that were the language of the process, and returns the
 * results by language. The language of the process is restored after each call, also after an
 * error.
 * @throws Error where the build wrote no catalog; errors of `say`
 */
export function callInEachLanguage<T>(say: () => T): Readonly<Record<Language, T>> {
  const forms = readCatalog('cs');
  const callIn = (language: typeof activeCatalog): T => {
    const before = activeCatalog;
    activeCatalog = language;
    try {
      return say();
    } finally {
      activeCatalog = before;
    }
  };
  return { en: callIn(undefined), cs: callIn({ language: 'cs', forms }) };
}

/**
 * Sets the language of the process; the catalog of any language but English is read from disk.
 * @throws Error where the build wrote no catalog
 */
export function setLanguage(language: Language): void {
  activeCatalog = language === 'en' ? undefined : { language, forms: readCatalog(language) };
}

/** Languages of messages; the source has the first. */
export const LANGUAGES = ['en', 'cs'] as const;
/** Code of a language, as in `--lang`. */
export type Language = (typeof LANGUAGES)[number];

/**
 * Reads the catalog of a language that the build wrote; English has none.
 * @throws Error where the file is missing
 */
export function readCatalog(language: Language): Forms {
  return JSON.parse(readFileSync(getCatalogPath(language), 'utf8')) as Forms;
}

/** Returns the path of the file into which the build writes the catalog of a language. */
export function getCatalogPath(language: Language): string {
  return join(packageRoot, 'dist', `language-${language}.json`);
}

/**
 * A message as a value: a text with its values, which is translated when it is converted to a
 * string. The English text is its key. A plain string is shown as it is: text from outside, or
 * stored by an earlier version of pas.
 */
export type Message = string | Phrase | Command;

type Value = Message | number;

class Phrase {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[]) {
    this.text = text;
    this.values = values;
  }

  toString(): string {
    return translate(this.text, this.values);
  }

  /**
   * JSON for programs has the translated text; {@link serializeMessageValue} makes the stored form.
   */
  toJSON(): string {
    return String(this);
  }
}

/** Tells if a value is a message; every string is one. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'string' || value instanceof Phrase || value instanceof Command;
}

/**
 * Makes a message that is translated whenever it is converted to a string; t`…` translates at once.
 * A message has no plural forms: a text with a number is worded so that it needs none.
 */
export function msg(strings: TemplateStringsArray, ...values: readonly Value[]): Phrase {
  return new Phrase(toTemplateKey(strings), values);
}

/** Joins messages to one, which is translated when it is shown; '' for none. */
export function joinMessages(messages: readonly Message[], separator: string): Message {
  return new Phrase(messages.map((_, index) => `\${${index}}`).join(separator), messages);
}

/**
 * A command to be typed: its words, quoted for a shell, and `--profile` where another profile would
 * be used without it.
 */
export class Command {
  readonly command: string;
  readonly values: readonly string[];

  constructor(command: string, values: readonly string[]) {
    this.command = command;
    this.values = values;
  }

  toString(): string {
    const [words = ''] = /^pas(?: [a-z][a-z-]*)*/.exec(this.command) ?? [];
    const isOfProfile =
      !WITHOUT_PROFILE.has(words.split(' ')[1] ?? '') && !this.command.includes(' --profile');
    const flag = isOfProfile ? getProfileFlag() : '';
    return interpolate(
      `${words}${flag}${this.command.slice(words.length)}`,
      this.values.map((value) => quoteShellWord(value)),
    );
  }

  toJSON(): string {
    return String(this);
  }
}

/**
 * Makes a command that a person can type: cmd`pas show ${localId}`. When the command is shown, its
 * values are quoted for the shell, and `--profile NAME` is added where a command that uses a
 * profile would take another one.
 */
export function cmd(
  strings: TemplateStringsArray,
  ...values: readonly (string | number)[]
): Command {
  return new Command(toTemplateKey(strings), values.map(String));
}

/** Commands that act on the whole home, or on no profile. */
const WITHOUT_PROFILE = new Set(['demo', 'init', 'profile', 'mock-server', 'completion', 'help']);

let getProfileFlag = (): string => '';

/**
 * Sets the function that returns what follows the words of a {@link Command} that uses a profile
 * and names none: ` --profile NAME`, or '' where it takes the right profile anyway. It is called
 * each time that such a command is formatted.
 */
export function setProfileFlagSource(flag: () => string): void {
  getProfileFlag = flag;
}

/** A message in stored form: plain JSON, without a language. */
export type StoredMessage =
  | string
  | number
  | { readonly text: string; readonly values: readonly StoredMessage[] }
  | { readonly command: string; readonly values: readonly string[] };

/**
 * Makes the stored form of a message, or of a number in a message; {@link deserializeMessageValue}
 * restores the value.
 */
export function serializeMessageValue(value: Value): StoredMessage {
  if (value instanceof Phrase) return { ...value, values: value.values.map(serializeMessageValue) };
  return value instanceof Command ? { ...value } : value;
}

/** Restores a message, or a number in one, from what {@link serializeMessageValue} returned. */
export function deserializeMessageValue(stored: StoredMessage): Value {
  if (typeof stored !== 'object') return stored;
  if ('command' in stored) return new Command(stored.command, stored.values);
  return new Phrase(stored.text, stored.values.map(deserializeMessageValue));
}

/**
 * Quotes a word of a command that a person may copy: for POSIX shells, or on Windows for cmd and
 * PowerShell alike. There, a word with `$`, a backtick or a double quote works in PowerShell only.
 * A word without special characters stays as it is.
 */
export function quoteShellWord(word: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32') return quoteForWindows(word);
  if (/^[\p{L}\p{N}_./:@%+=-]+$/u.test(word)) return word;
  if (word.search(UNTYPED) >= 0)
    return `$'${word.replace(/['\\]/g, '\\$&').replace(UNTYPED, quoteForShell)}'`;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Characters that a terminal does not show; within $'…' shells read their escapes. */
const UNTYPED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function quoteForShell(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 2 ? `\\U${code.padStart(8, '0')}` : `\\x${code.padStart(2, '0')}`;
}

/**
 * Quotes for cmd and PowerShell alike where possible: cmd knows double quotes only, and PowerShell
 * expands `$` inside them. A backslash before the closing quote would escape it, so it is doubled.
 */
function quoteForWindows(word: string): string {
  if (/^[\p{L}\p{N}_.\\/:+=-]+$/u.test(word)) return word;
  return /[$`"]/.test(word)
    ? `'${word.replaceAll("'", "''")}'`
    : `"${word.replace(/(?<!\\)\\+$/, '$&$&')}"`;
}
