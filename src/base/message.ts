import { type Counted, inLanguage, numbered, type Template } from './language.ts';

/**
 * What is said to people, as a value: a text with its values, which becomes words where it is put into a string, in the language
 * of whoever reads it there. The English text is its code. A plain string is in words already: those of others, and what an earlier
 * pas kept.
 */
export type Message = string | Phrase;

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
  return typeof value === 'string' || value instanceof Phrase;
}

/** What t`…` says at once, as a value. */
export function msg(strings: TemplateStringsArray, ...values: readonly Value[]): Phrase {
  return new Phrase(numbered(strings), values);
}

/** What `ngettext` says at once, as a value. */
export function nmsg(one: Template, many: Template, count: number): Phrase {
  return new Phrase(numbered(one.strings), one.values as readonly Value[], { many: numbered(many.strings), count });
}

/** Messages beside one another. */
export function joined(messages: readonly Message[], separator: string): Message {
  return new Phrase(messages.map((_, index) => `\${${index}}`).join(separator), messages);
}

/** A message as it is kept: plain JSON, in no language. */
export type Kept = string | number | { readonly text: string; readonly values: readonly Kept[]; readonly counted?: Counted };

export function toKept(value: Value): Kept {
  return value instanceof Phrase ? { ...value, values: value.values.map(toKept) } : value;
}

/** As {@link toKept} made it. */
export function fromKept(kept: Kept): Value {
  if (typeof kept !== 'object') return kept;
  return new Phrase(kept.text, kept.values.map(fromKept), kept.counted);
}
