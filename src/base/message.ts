import {
  type CountedText,
  interpolate,
  type Template,
  toTemplateKey,
  translate,
} from './language.ts';

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
  readonly counted?: CountedText;

  constructor(text: string, values: readonly Value[], counted?: CountedText) {
    this.text = text;
    this.values = values;
    if (counted !== undefined) this.counted = counted;
  }

  toString(): string {
    return translate(this.text, this.values, this.counted);
  }

  /** JSON for programs has the translated text; {@link serializeValue} makes the stored form. */
  toJSON(): string {
    return String(this);
  }
}

/** Tells if a value is a message; every string is one. */
export function isMessage(value: unknown): value is Message {
  return typeof value === 'string' || value instanceof Phrase || value instanceof Command;
}

/** Makes a message that is translated later; t`…` translates at once. */
export function msg(strings: TemplateStringsArray, ...values: readonly Value[]): Phrase {
  return new Phrase(toTemplateKey(strings), values);
}

/** Makes a message with plural forms that is translated later. */
export function msgOfCount(one: Template, many: Template, count: number): Phrase {
  return new Phrase(toTemplateKey(one.strings), one.values as readonly Value[], {
    many: toTemplateKey(many.strings),
    count,
  });
}

/** Returns the text of a message without its values; messages of one kind have the same. */
export function getTemplate(message: Message): string {
  return message instanceof Phrase ? message.text : String(message);
}

/** Joins messages as one phrase, whose values are translated when it is shown. */
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
    return interpolate(
      `${words}${isOfProfile ? getProfileFlag() : ''}${this.command.slice(words.length)}`,
      this.values.map((value) => quoteShellWord(value)),
    );
  }

  toJSON(): string {
    return String(this);
  }
}

/** Makes a command: cmd`pas show ${localId}` */
export function cmd(
  strings: TemplateStringsArray,
  ...values: readonly (string | number)[]
): Command {
  return new Command(toTemplateKey(strings), values.map(String));
}

/**
 * Makes a command with optional flags: `true` is a flag alone, undefined and false are left out; an
 * empty flag is an argument.
 */
export function composeCommand(
  words: string,
  flags: readonly (readonly [flag: string, value: string | boolean | undefined])[],
): Command {
  const values: string[] = [];
  const parts = flags.flatMap(([flag, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [flag];
    const place = `\${${values.push(value) - 1}}`;
    return flag === '' ? [place] : [flag, place];
  });
  return new Command([words, ...parts].join(' '), values);
}

/** Commands that act on the whole home, or on no profile. */
const WITHOUT_PROFILE = new Set([
  'demo',
  'init',
  'profile',
  'service',
  'mock-server',
  'completion',
  'help',
]);

let getProfileFlag = (): string => '';

/** Sets the function that returns the ` --profile NAME` (or nothing) that printed commands need. */
export function setProfileFlagSource(flag: () => string): void {
  getProfileFlag = flag;
}

/** A message in stored form: plain JSON, without a language. */
export type StoredMessage =
  | string
  | number
  | {
      readonly text: string;
      readonly values: readonly StoredMessage[];
      readonly counted?: CountedText;
    }
  | { readonly command: string; readonly values: readonly string[] };

/** Makes the stored form of a message or a number, which {@link deserializeMessageValue} restores. */
export function serializeValue(value: Value): StoredMessage {
  if (value instanceof Phrase) return { ...value, values: value.values.map(serializeValue) };
  return value instanceof Command ? { ...value } : value;
}

/** Restores a message that {@link serializeValue} serialised. */
export function deserializeMessageValue(stored: StoredMessage): Value {
  if (typeof stored !== 'object') return stored;
  if ('command' in stored) return new Command(stored.command, stored.values);
  return new Phrase(stored.text, stored.values.map(deserializeMessageValue), stored.counted);
}

/** Quotes a word for the shell of the platform, so that a copied command works. */
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
