import { assertNameLimit, assertTextLimit, type XmlAttribute, type XmlElement } from './element.ts';

/** A name with its namespace; one object per distinct name. */
export type ResolvedName = {
  readonly namespace: string;
  readonly name: string;
  readonly index: number;
  /** Start of the last tag with an attribute of this name. */
  lastTag: number;
};

// Fields of an element. Its attributes follow, then its children.
const NAME = 0;
const START = 1;
const END = 2;
/** Start and end of the text; the end is negative where it has characters outside ASCII. */
const TEXT = 3;
const ATTRIBUTES = 5;
/** Position behind the attributes and children. */
const NEXT = 6;
const OF_ELEMENT = 7;
// Fields of an attribute; its name is the first.
/** Start and end of the value. */
const VALUE = 1;
const OF_ATTRIBUTE = 3;

/** Room at the beginning, enough for a page of records. */
const MAX_FIRST_NUMBERS = 64 * 1024;

/** Stands for a missing element. */
export const NONE = -1;

const NO_ATTRIBUTES: readonly XmlAttribute[] = [];
const NO_CHILDREN: readonly XmlElement[] = [];

/**
 * A document as an array of integers in document order. Objects and strings are created on access:
 * those of a whole page would survive several garbage collections, and take longer than parsing.
 */
export class FlatTree {
  readonly bytes: Buffer;
  readonly #names: ResolvedName[] = [];
  readonly #byText = new Map<string, ResolvedName>();
  /** Decoded texts that differ from their source; `-1 - index` stands for their start. */
  readonly #decoded: string[] = [];
  #numbers: Int32Array;
  #length = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#numbers = new Int32Array(Math.min(Math.max(bytes.length >> 2, 64), MAX_FIRST_NUMBERS));
  }

  resolve(namespace: string, name: string, offset: number): ResolvedName {
    const text = `${namespace}\n${name}`;
    const cached = this.#byText.get(text);
    if (cached !== undefined) return cached;
    const resolved = { namespace, name, index: this.#names.length, lastTag: -1 };
    this.#names.push(resolved);
    assertNameLimit(this.#names.length, offset);
    this.#byText.set(text, resolved);
    return resolved;
  }

  /** @returns the position of the element, to which its attributes are added next */
  beginElement(start: number): number {
    const element = this.#grow(OF_ELEMENT);
    this.#numbers[element + START] = start;
    return element;
  }

  /**
   * @param isWide true if it has characters outside ASCII
   * @param decoded undefined where the value equals its source
   */
  addValue(
    element: number,
    start: number,
    end: number,
    isWide: boolean,
    decoded: string | undefined,
  ): void {
    this.#setText(this.#grow(OF_ATTRIBUTE) + VALUE, start, isWide ? -end : end, decoded);
    this.#numbers[element + ATTRIBUTES] = this.#getNumber(element + ATTRIBUTES) + 1;
  }

  setElementName(element: number, { index }: ResolvedName): void {
    this.#numbers[element + NAME] = index;
  }

  setAttributeName(element: number, position: number, { index }: ResolvedName): void {
    this.#numbers[element + OF_ELEMENT + position * OF_ATTRIBUTE + NAME] = index;
  }

  /** Appends to the text of an element; parameters as in {@link addValue}. */
  addText(
    element: number,
    start: number,
    end: number,
    isWide: boolean,
    decoded: string | undefined,
  ): void {
    const place = this.#getNumber(element + TEXT);
    if (place === 0) {
      this.#setText(element + TEXT, start, isWide ? -end : end, decoded);
      return;
    }
    const before = this.getText(element);
    assertTextLimit(before.length + end - start, start);
    const text = before + (decoded ?? this.bytes.toString('utf8', start, end));
    if (place < 0) this.#decoded[-1 - place] = text;
    else this.#setText(element + TEXT, start, end, text);
  }

  #setText(at: number, start: number, end: number, decoded: string | undefined): void {
    this.#numbers[at] = decoded === undefined ? start : -this.#decoded.push(decoded);
    this.#numbers[at + 1] = end;
  }

  endElement(element: number, end: number): void {
    this.#numbers[element + END] = end;
    this.#numbers[element + NEXT] = this.#length;
  }

  get decodedTexts(): number {
    return this.#decoded.length;
  }

  /**
   * Removes an element and everything behind it.
   * @param decodedTexts count before the element
   */
  truncate(element: number, decodedTexts: number): void {
    this.#numbers.fill(0, element, this.#length);
    this.#length = element;
    this.#decoded.length = decodedTexts;
  }

  getNameAt(at: number): ResolvedName {
    const name = this.#names[this.#getNumber(at + NAME)];
    if (name === undefined) throw new RangeError(`there is no name at ${at}`);
    return name;
  }

  getStart(element: number): number {
    return this.#getNumber(element + START);
  }

  getEnd(element: number): number {
    return this.#getNumber(element + END);
  }

  getText(element: number): string {
    return this.#getTextAt(element + TEXT);
  }

  getAttributes(element: number): readonly XmlAttribute[] {
    const end = this.#getFirstChild(element);
    let at = element + OF_ELEMENT;
    if (at === end) return NO_ATTRIBUTES;
    const attributes: XmlAttribute[] = [];
    for (; at < end; at += OF_ATTRIBUTE) {
      const { namespace, name } = this.getNameAt(at);
      attributes.push({ namespace, name, value: this.#getTextAt(at + VALUE) });
    }
    return attributes;
  }

  getChildren(element: number): readonly XmlElement[] {
    const end = this.#getNumber(element + NEXT);
    let at = this.#getFirstChild(element);
    if (at === end) return NO_CHILDREN;
    const children: XmlElement[] = [];
    for (; at < end; at = this.#getNumber(at + NEXT)) children.push(new FlatElement(this, at));
    return children;
  }

  /** Returns the position behind the attributes. */
  #getFirstChild(element: number): number {
    return element + OF_ELEMENT + this.#getNumber(element + ATTRIBUTES) * OF_ATTRIBUTE;
  }

  #getTextAt(at: number): string {
    const start = this.#getNumber(at);
    if (start < 0) return this.#decoded[-1 - start] ?? '';
    const end = this.#getNumber(at + 1);
    return this.bytes.toString(end < 0 ? 'utf8' : 'latin1', start, Math.abs(end));
  }

  #getNumber(at: number): number {
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

export class FlatElement implements XmlElement {
  readonly tape: FlatTree;
  readonly at: number;
  #children: readonly XmlElement[] | undefined;

  constructor(tape: FlatTree, at: number) {
    this.tape = tape;
    this.at = at;
  }

  get namespace(): string {
    return this.tape.getNameAt(this.at).namespace;
  }

  get name(): string {
    return this.tape.getNameAt(this.at).name;
  }

  get attributes(): readonly XmlAttribute[] {
    return this.tape.getAttributes(this.at);
  }

  get children(): readonly XmlElement[] {
    this.#children ??= this.tape.getChildren(this.at);
    return this.#children;
  }

  get text(): string {
    return this.tape.getText(this.at);
  }

  get start(): number {
    return this.tape.getStart(this.at);
  }

  get end(): number {
    return this.tape.getEnd(this.at);
  }
}
