import { assertNameLimit, assertTextLimit, type XmlAttribute, type XmlElement } from './element.ts';

/** A name with its namespace; one object per distinct name. */
export type ResolvedName = {
  readonly namespace: string;
  readonly name: string;
  /**
   * Shared by all names with this local name: the parent whose children were linked last, and its
   * last child of the name.
   */
  readonly local: { parent: number; lastChild: number };
  readonly index: number;
  /** Start of the last tag with an attribute of this name. */
  lastTag: number;
};

/**
 * Fields of an element. Its attributes follow, then its children; `NEXT` is the position behind all
 * of them, `ALIKE` the next sibling with its local name, `OTHER` the next first one of a name.
 */
const [NAME, START, END, TEXT, TEXT_END, ATTRIBUTES, NEXT, ALIKE, OTHER, OF_ELEMENT] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
/** Fields of an attribute; its name is the first. */
const [VALUE, VALUE_END, OF_ATTRIBUTE] = [1, 2, 3];

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
  readonly #locals = new Map<string, ResolvedName['local']>();
  readonly #byText = new Map<string, ResolvedName>();
  /** Decoded texts that differ from their source; `-1 - index` stands for their start. */
  readonly #decoded: string[] = [];
  #numbers: Int32Array;
  #length = 0;
  /** Result of {@link findText}. */
  from = 0;
  to = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#numbers = new Int32Array(Math.min(Math.max(bytes.length >> 2, 64), MAX_FIRST_NUMBERS));
  }

  resolve(namespace: string, name: string, offset: number): ResolvedName {
    const text = `${namespace}\n${name}`;
    const cached = this.#byText.get(text);
    if (cached !== undefined) return cached;
    const local = this.#locals.get(name) ?? { parent: NONE, lastChild: NONE };
    this.#locals.set(name, local);
    const resolved = { namespace, name, local, index: this.#names.length, lastTag: -1 };
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
   * @param isWide true if it has characters outside ASCII @param decoded undefined where the value
   * equals its source
   */
  addValue(
    element: number,
    start: number,
    end: number,
    isWide: boolean,
    decoded: string | undefined,
  ): void {
    const at = this.#grow(OF_ATTRIBUTE);
    this.#numbers[at + VALUE] = decoded === undefined ? start : -this.#decoded.push(decoded);
    this.#numbers[at + VALUE_END] = isWide ? -end : end;
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
    if (this.#getNumber(element + TEXT_END) === 0) {
      this.#numbers[element + TEXT] = decoded === undefined ? start : -this.#decoded.push(decoded);
      this.#numbers[element + TEXT_END] = isWide ? -end : end;
      return;
    }
    const before = this.getText(element);
    assertTextLimit(before.length + end - start, start);
    const text = before === '' ? decoded : before + (decoded ?? this.#cut(start, end, isWide));
    const place = this.#getNumber(element + TEXT);
    if (text !== undefined && place < 0) this.#decoded[-1 - place] = text;
    else this.#numbers[element + TEXT] = text === undefined ? start : -this.#decoded.push(text);
    this.#numbers[element + TEXT_END] = isWide ? -end : end;
  }

  endElement(element: number, end: number): void {
    this.#numbers[element + END] = end;
    this.#numbers[element + NEXT] = this.#length;
  }

  get decodedTexts(): number {
    return this.#decoded.length;
  }

  /** Removes an element and everything behind it. @param decodedTexts count before the element */
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
    const count = this.countAttributes(element);
    if (count === 0) return NO_ATTRIBUTES;
    const attributes: XmlAttribute[] = [];
    for (let position = 0; position < count; position++) {
      const at = this.getAttributePosition(element, position);
      const { namespace, name } = this.getNameAt(at);
      attributes.push({ namespace, name, value: this.getValue(at) });
    }
    return attributes;
  }

  getChildren(element: number): readonly XmlElement[] {
    const end = this.getNext(element);
    let at = this.getFirstChild(element);
    if (at === end) return NO_CHILDREN;
    const children: XmlElement[] = [];
    for (; at < end; at = this.getNext(at)) children.push(new FlatElement(this, at));
    return children;
  }

  countAttributes(element: number): number {
    return this.#getNumber(element + ATTRIBUTES);
  }

  getAttributePosition(element: number, position: number): number {
    return element + OF_ELEMENT + position * OF_ATTRIBUTE;
  }

  hasChildren(element: number): boolean {
    return this.getFirstChild(element) < this.getNext(element);
  }

  /** Returns the position of the first child; {@link getNext} the element where there is none. */
  getFirstChild(element: number): number {
    return this.getAttributePosition(element, this.countAttributes(element));
  }

  /** Returns the position after an element and its content: that of its next sibling, if any. */
  getNext(element: number): number {
    return this.#getNumber(element + NEXT);
  }

  /**
   * Links the children of a non-empty element by their local names: see {@link getNextAlike} and
   * {@link nextOther}.
   */
  linkChildren(element: number): void {
    const end = this.getNext(element);
    let first = this.getFirstChild(element);
    for (let child = first; child < end; child = this.getNext(child)) {
      const { local } = this.getNameAt(child);
      if (local.parent === element) {
        this.#numbers[local.lastChild + ALIKE] = child;
      } else {
        this.#numbers[first + OTHER] = child;
        first = child;
      }
      local.parent = element;
      local.lastChild = child;
      this.#numbers[child + ALIKE] = NONE;
    }
    this.#numbers[first + OTHER] = NONE;
  }

  /**
   * Returns the first sibling of the next local name; {@link NONE} behind the last. @param first
   * the first child of its name
   */
  nextOther(first: number): number {
    return this.#getNumber(first + OTHER);
  }

  /** Returns the next sibling with the same local name; {@link NONE} behind the last. */
  getNextAlike(child: number): number {
    return this.#getNumber(child + ALIKE);
  }

  /**
   * Sets `from` and `to` to the trimmed text of an element. @returns false where the text differs
   * from its source
   */
  findText(element: number): boolean {
    const bytes = this.bytes;
    let from = this.#getNumber(element + TEXT);
    let to = this.#getNumber(element + TEXT_END);
    if (from < 0) return false;
    const isWide = to < 0;
    if (isWide) to = -to;
    while (from < to && isSpace(bytes[from])) from++;
    while (from < to && isSpace(bytes[to - 1])) to--;
    this.from = from;
    this.to = to;
    if (!isWide) return true;
    let lastCharacter = to - 1;
    while (lastCharacter > from && ((bytes[lastCharacter] ?? 0) & 0xc0) === 0x80) lastCharacter--;
    return !mayBeginSpace(bytes[from]) && !mayBeginSpace(bytes[lastCharacter]);
  }

  /** Sets `from` and `to` to an attribute value in the bytes, white space included. */
  findValue(attribute: number): boolean {
    this.from = this.#getNumber(attribute + VALUE);
    this.to = Math.abs(this.#getNumber(attribute + VALUE_END));
    return this.from >= 0;
  }

  getValue(attribute: number): string {
    return this.#getTextAt(attribute + VALUE);
  }

  #getTextAt(at: number): string {
    const start = this.#getNumber(at);
    const end = this.#getNumber(at + 1);
    if (start < 0) return this.#decoded[-1 - start] ?? '';
    return this.#cut(start, Math.abs(end), end < 0);
  }

  #cut(start: number, end: number, isWide: boolean): string {
    return this.bytes.toString(isWide ? 'utf8' : 'latin1', start, end);
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

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || (byte !== undefined && byte >= 9 && byte <= 13);
}

/** Tells if a byte may begin another white space character of `trim` in UTF-8. */
function mayBeginSpace(byte: number | undefined): boolean {
  return byte === 0xc2 || (byte !== undefined && byte >= 0xe1 && byte <= 0xef);
}

/**
 * Returns the position of an element, for readers that visit all of it without creating objects.
 */
export function getTreePosition(element: XmlElement): {
  readonly tape: FlatTree;
  readonly at: number;
} {
  if (element instanceof FlatElement) return element;
  throw new TypeError(`<${element.name}> is in no document`);
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
