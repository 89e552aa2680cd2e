import { type Counted, filled, inLanguage, numbered, type Template } from './language.ts';
import { shellWord } from './shell-word.ts';

/**
 * What is said to people, as a value: a text with its values, which becomes words where it is put into a string, in the language
 * of whoever reads it there. The English text is its code. A plain string is in words already: those of others, and what an earlier
 * pas kept.
 */
export type Message = string | Phrase | Command;

type Value = Message | number;

class Phrase {
  readonly text: string;
  readonly values: readonly Value[];
  readonly counted?: Counted;

  constructor(text: string, values: readonly Value[], counted?: Counted) {
    this.text = text;
    this.values = values;
    if (counted !== undefined) this.counted = counted;
  }

  toString(): string {
    return inLanguage(this.text, this.values, this.counted);
  }

  /** What programs are given to read is in words, too. What is kept is {@link toKept}. */
  toJSON(): string {
    return String(this);
  }
}

export function isMessage(value: unknown): value is Message {
  return typeof value === 'string' || value instanceof Phrase || value instanceof Command;
}

/** What t`…` says at once, as a value. */
export function msg(strings: TemplateStringsArray, ...values: readonly Value[]): Phrase {
  return new Phrase(numbered(strings), values);
}

/** What `ngettext` says at once, as a value. */
export function nmsg(one: Template, many: Template, count: number): Phrase {
  return new Phrase(numbered(one.strings), one.values as readonly Value[], { many: numbered(many.strings), count });
}

/** The text of a message without its values, by which messages of one kind are equal. */
export function templateOf(message: Message): string {
  return message instanceof Phrase ? message.text : String(message);
}

/** Messages beside one another. */
export function joined(messages: readonly Message[], separator: string): Message {
  return new Phrase(messages.map((_, index) => `\${${index}}`).join(separator), messages);
}

/** A command that a person may type: its words, quoted for a shell, and the profile where it would act on another one without it. */
export class Command {
  readonly command: string;
  readonly values: readonly string[];

  constructor(command: string, values: readonly string[]) {
    this.command = command;
    this.values = values;
  }

  toString(): string {
    const [words = ''] = /^pas(?: [a-z][a-z-]*)*/.exec(this.command) ?? [];
    const isOfProfile = !WITHOUT_PROFILE.has(words.split(' ')[1] ?? '') && !this.command.includes(' --profile');
    return filled(
      `${words}${isOfProfile ? profileFlag() : ''}${this.command.slice(words.length)}`,
      this.values.map((value) => shellWord(value)),
    );
  }

  toJSON(): string {
    return String(this);
  }
}

/** cmd`pas show ${localId}` */
export function cmd(strings: TemplateStringsArray, ...values: readonly (string | number)[]): Command {
  return new Command(numbered(strings), values.map(String));
}

/** A command whose flags depend on what was given: `true` is a flag alone, undefined none. A value without a flag is an argument. */
export function commandWith(
  words: string,
  flags: readonly (readonly [flag: string, value: string | true | undefined])[],
): Command {
  const values: string[] = [];
  const parts = flags.flatMap(([flag, value]) => {
    if (value === undefined) return [];
    if (value === true) return [flag];
    const place = `\${${values.push(value) - 1}}`;
    return flag === '' ? [place] : [flag, place];
  });
  return new Command([words, ...parts].join(' '), values);
}

/** They act on the whole home, or on none. */
const WITHOUT_PROFILE = new Set(['demo', 'init', 'profile', 'service', 'mock-server', 'completion', 'help']);

let profileFlag = (): string => '';

/** What commands must have added to act on the profile of the one that runs: ` --profile NAME`, or nothing. */
export function addToCommands(flag: () => string): void {
  profileFlag = flag;
}

/** A message as it is kept: plain JSON, in no language. */
export type Kept =
  | string
  | number
  | { readonly text: string; readonly values: readonly Kept[]; readonly counted?: Counted }
  | { readonly command: string; readonly values: readonly string[] };

export function toKept(value: Value): Kept {
  if (value instanceof Phrase) return { ...value, values: value.values.map(toKept) };
  return value instanceof Command ? { ...value } : value;
}

/** As {@link toKept} made it. */
export function fromKept(kept: Kept): Value {
  if (typeof kept !== 'object') return kept;
  if ('command' in kept) return new Command(kept.command, kept.values);
  return new Phrase(kept.text, kept.values.map(fromKept), kept.counted);
}
