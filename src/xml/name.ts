import { msg } from '../base/message.ts';
import { Fault } from './fault.ts';
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

/** A name as it is typed; what it is made of, once that was asked for; and what it meant last. */
export type RawName = { readonly rawName: string; parts: QualifiedName | undefined; resolved: ResolvedName | undefined };

const MOST_RECENT = 256;

/** The names of one document: the same few come again and again. */
export class Names {
  readonly #known = new Map<string, RawName>();
  /** Of those that look alike the last one: to compare with it costs less than to cut the name out and look it up. */
  readonly #recent: (RawName | undefined)[] = new Array(MOST_RECENT).fill(undefined);

  /** The name that begins at a place. */
  read(source: string, start: number): RawName {
    let end = start;
    let sum = 0;
    for (let code = source.charCodeAt(end); !endsName(code); code = source.charCodeAt(++end)) sum = (sum * 31 + code) | 0;
    if (end === start) throw new Fault(msg`a name is missing`, start);
    const likely = this.#recent[sum & (MOST_RECENT - 1)];
    if (likely?.rawName.length === end - start && source.startsWith(likely.rawName, start)) return likely;
    const rawName = source.slice(start, end);
    const name = this.#known.get(rawName) ?? { rawName, parts: undefined, resolved: undefined };
    this.#known.set(rawName, name);
    this.#recent[sum & (MOST_RECENT - 1)] = name;
    return name;
  }
}

/** At white space, `=`, `/`, `>`, `<` or the end; the characters before are checked by {@link partsOf}. */
function endsName(code: number): boolean {
  return !(code > 0x20) || code === 0x3d || code === 0x2f || code === 0x3e || code === 0x3c;
}

/** @param offset of the name, for the fault where it is none */
export function partsOf(name: RawName, offset: number): QualifiedName {
  name.parts ??= splitName(name.rawName);
  if (name.parts !== undefined) return name.parts;
  const start = name.rawName.slice(0, 40);
  throw new Fault(msg`"${start}" is not a name`, offset);
}
