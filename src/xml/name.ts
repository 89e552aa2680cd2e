import { msg } from '../base/message.ts';
import { Fault, refuseMoreNames } from './fault.ts';
import type { ResolvedName } from './tape.ts';

/** Names of elements and attributes: XML 1.0 (fifth edition), productions 4 and 4a; Namespaces in XML 1.0, section 4. */

type QualifiedName = { readonly prefix: string; readonly local: string };

const NAME_START =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const NAME = `[${NAME_START}][${NAME_START}.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}-]*`;
const QUALIFIED_NAME = new RegExp(`^(?:(${NAME}):)?(${NAME})$`, 'u');

/** Undefined where the text is no qualified name. */
export function splitName(text: string): QualifiedName | undefined {
  const match = QUALIFIED_NAME.exec(text);
  return match === null ? undefined : { prefix: match[1] ?? '', local: match[2] ?? '' };
}

/** What an element declares for a prefix, and how deep that element is. */
export type Binding = { readonly uri: string; readonly depth: number };

export type RawName = {
  /** As it is typed. */
  readonly rawName: string;
  /** Where it stands first, and how many bytes it has. */
  readonly start: number;
  readonly lengthBytes: number;
  /** The prefix that an attribute of this name declares. */
  readonly declares: string | undefined;
  /** What it is made of, and what is declared for its prefix, once that was asked for; and what it meant last. */
  parts: QualifiedName | undefined;
  bound: readonly Binding[] | undefined;
  resolved: ResolvedName | undefined;
};

const MOST_RECENT = 1024;

/** The names of one document: the same few come again and again. */
export class Names {
  readonly #bytes: Buffer;
  readonly #known = new Map<string, RawName>();
  /** Of those that look alike the last one: to compare with it costs less than to cut the name out and look it up. */
  readonly #recent: (RawName | undefined)[] = new Array(MOST_RECENT).fill(undefined);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The name that begins at a place. */
  read(start: number): RawName {
    const bytes = this.#bytes;
    let end = start;
    let sum = 0;
    for (let code = bytes[end] ?? 0; !endsName(code); code = bytes[++end] ?? 0) sum = (sum * 31 + code) | 0;
    if (end === start) throw new Fault(msg`a name is missing`, start);
    const likely = this.#recent[sum & (MOST_RECENT - 1)];
    if (likely !== undefined && likely.lengthBytes === end - start && this.stands(likely, start)) return likely;
    const rawName = bytes.toString('utf8', start, end);
    const name = this.#known.get(rawName) ?? newName(rawName, start, end - start);
    this.#known.set(rawName, name);
    refuseMoreNames(this.#known.size, start);
    this.#recent[sum & (MOST_RECENT - 1)] = name;
    return name;
  }

  /** Whether a name stands at a place, whatever follows it. */
  stands(name: RawName, place: number): boolean {
    const [bytes, { start, lengthBytes }] = [this.#bytes, name];
    for (let at = 0; at < lengthBytes; at++) if (bytes[start + at] !== bytes[place + at]) return false;
    return true;
  }
}

function newName(rawName: string, start: number, lengthBytes: number): RawName {
  const declares = rawName === 'xmlns' || rawName.startsWith('xmlns:') ? rawName.slice('xmlns:'.length) : undefined;
  return { rawName, start, lengthBytes, declares, parts: undefined, bound: undefined, resolved: undefined };
}

/** At white space, `=`, `/`, `>`, `<` or the end; the characters before are checked by {@link partsOf}. */
function endsName(code: number): boolean {
  return code <= 0x20 || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

/** @param offset of the name, for the fault where it is none */
export function partsOf(name: RawName, offset: number): QualifiedName {
  name.parts ??= splitName(name.rawName);
  if (name.parts !== undefined) return name.parts;
  const start = name.rawName.slice(0, 40);
  throw new Fault(msg`"${start}" is not a name`, offset);
}
