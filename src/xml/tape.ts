import type { XmlAttribute, XmlElement } from './element.ts';

/** A name with its namespace: one object for each that differs. */
export type ResolvedName = {
  readonly namespace: string;
  readonly name: string;
  readonly index: number;
  /** Start of the tag in which it named an attribute last. */
  lastTag: number;
};

/** Numbers of an element. Behind them stand those of its attributes, then its children; `NEXT` is the place behind all these. */
const [NAME, START, END, TEXT, TEXT_END, ATTRIBUTES, NEXT, OF_ELEMENT] = [0, 1, 2, 3, 4, 5, 6, 7];
/** Numbers of an attribute, its name first. */
const [VALUE, VALUE_END, OF_ATTRIBUTE] = [1, 2, 3];

const NO_ATTRIBUTES: readonly XmlAttribute[] = [];
const NO_CHILDREN: readonly XmlElement[] = [];

/**
 * A document as numbers, in its own order. Objects and strings are made of an element when it is looked at: those of a whole
 * page would live through several rounds of the garbage collector, and take more time than to read it.
 */
export class Tape {
  /** A character for each byte; what is more than ASCII is not taken from it. */
  readonly #source: string;
  readonly #names: ResolvedName[] = [];
  readonly #byText = new Map<string, ResolvedName>();
  /** Texts that do not stand in the source as they are. Where one is meant, its place here stands in place of a start, as -1 - place. */
  readonly #decoded: string[] = [];
  #numbers = new Int32Array(1024);
  #length = 0;

  constructor(source: string) {
    this.#source = source;
  }

  resolve(namespace: string, name: string): ResolvedName {
    const text = `${namespace}\n${name}`;
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const resolved = { namespace, name, index: this.#names.length, lastTag: -1 };
    this.#names.push(resolved);
    this.#byText.set(text, resolved);
    return resolved;
  }

  /** @returns the place of the element, to which its attributes are added next */
  beginElement(start: number): number {
    const element = this.#grow(OF_ELEMENT);
    this.#numbers[element + START] = start;
    return element;
  }

  /** @param decoded undefined where the value stands in the source as it is */
  addValue(element: number, start: number, end: number, decoded: string | undefined): void {
    const at = this.#grow(OF_ATTRIBUTE);
    this.#numbers[at + VALUE] = decoded === undefined ? start : -this.#decoded.push(decoded);
    this.#numbers[at + VALUE_END] = end;
    this.#numbers[element + ATTRIBUTES] = this.#at(element + ATTRIBUTES) + 1;
  }

  nameElement(element: number, { index }: ResolvedName): void {
    this.#numbers[element + NAME] = index;
  }

  nameAttribute(element: number, position: number, { index }: ResolvedName): void {
    this.#numbers[element + OF_ELEMENT + position * OF_ATTRIBUTE + NAME] = index;
  }

  /** Of an element that may have some before. @param decoded undefined where the text stands in the source as it is */
  addText(element: number, start: number, end: number, decoded: string | undefined): void {
    const before = this.textOf(element);
    const text = before === '' ? decoded : before + (decoded ?? this.#source.slice(start, end));
    const place = this.#at(element + TEXT);
    if (text !== undefined && place < 0) this.#decoded[-1 - place] = text;
    else this.#numbers[element + TEXT] = text === undefined ? start : -this.#decoded.push(text);
    this.#numbers[element + TEXT_END] = end;
  }

  endElement(element: number, end: number): void {
    this.#numbers[element + END] = end;
    this.#numbers[element + NEXT] = this.#length;
  }

  get decodedTexts(): number {
    return this.#decoded.length;
  }

  /** Forgets an element and all behind it. @param decodedTexts how many there were before it */
  dropFrom(element: number, decodedTexts: number): void {
    this.#numbers.fill(0, element, this.#length);
    this.#length = element;
    this.#decoded.length = decodedTexts;
  }

  nameAt(at: number): ResolvedName {
    const name = this.#names[this.#at(at + NAME)];
    if (name === undefined) throw new RangeError(`there is no name at ${at}`);
    return name;
  }

  startOf(element: number): number {
    return this.#at(element + START);
  }

  endOf(element: number): number {
    return this.#at(element + END);
  }

  textOf(element: number): string {
    return this.#textAt(element + TEXT);
  }

  attributesOf(element: number): readonly XmlAttribute[] {
    const count = this.#at(element + ATTRIBUTES);
    if (count === 0) return NO_ATTRIBUTES;
    const attributes: XmlAttribute[] = [];
    for (let position = 0; position < count; position++) {
      const at = element + OF_ELEMENT + position * OF_ATTRIBUTE;
      const { namespace, name } = this.nameAt(at);
      attributes.push({ namespace, name, value: this.#textAt(at + VALUE) });
    }
    return attributes;
  }

  childrenOf(element: number): readonly XmlElement[] {
    const end = this.#at(element + NEXT);
    let at = element + OF_ELEMENT + this.#at(element + ATTRIBUTES) * OF_ATTRIBUTE;
    if (at === end) return NO_CHILDREN;
    const children: XmlElement[] = [];
    for (; at < end; at = this.#at(at + NEXT)) children.push(new TapeElement(this, at));
    return children;
  }

  #textAt(at: number): string {
    const start = this.#at(at);
    return start < 0 ? (this.#decoded[-1 - start] ?? '') : this.#source.slice(start, this.#at(at + 1));
  }

  #at(at: number): number {
    return this.#numbers[at] ?? 0;
  }

  #grow(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.#numbers.length) {
      const roomier = new Int32Array(2 * this.#numbers.length);
      roomier.set(this.#numbers);
      this.#numbers = roomier;
    }
    return start;
  }
}

export class TapeElement implements XmlElement {
  readonly #tape: Tape;
  readonly #at: number;
  #children: readonly XmlElement[] | undefined;

  constructor(tape: Tape, at: number) {
    this.#tape = tape;
    this.#at = at;
  }

  get namespace(): string {
    return this.#tape.nameAt(this.#at).namespace;
  }

  get name(): string {
    return this.#tape.nameAt(this.#at).name;
  }

  get attributes(): readonly XmlAttribute[] {
    return this.#tape.attributesOf(this.#at);
  }

  get children(): readonly XmlElement[] {
    this.#children ??= this.#tape.childrenOf(this.#at);
    return this.#children;
  }

  get text(): string {
    return this.#tape.textOf(this.#at);
  }

  get start(): number {
    return this.#tape.startOf(this.#at);
  }

  get end(): number {
    return this.#tape.endOf(this.#at);
  }
}
