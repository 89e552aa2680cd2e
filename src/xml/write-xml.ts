/** An element to be written. Names are as they shall stand in the document, with their prefixes. */
export type XmlNode = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Either text or elements: mixed content is not written. */
  readonly content?: string | readonly XmlNode[];
};

/** XML 1.0 (fifth edition), production 2, turned round; a line feed is the only line break that survives a parser unchanged. */
const ILLEGAL_CHARACTER = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Nearly every text; it is told without looking at each character as a code point. */
const PLAINLY_LEGAL = /^[\t\n\u0020-\uD7FF]*$/;

/** The first character that cannot stand in a document: a control character, a non-character or half of a pair. */
export function findIllegalCharacter(text: string): string | undefined {
  return PLAINLY_LEGAL.test(text) ? undefined : ILLEGAL_CHARACTER.exec(text)?.[0];
}

/** The same text with U+FFFD for what cannot stand in a document. */
export function replaceIllegalCharacters(text: string): string {
  return PLAINLY_LEGAL.test(text) ? text : text.replace(new RegExp(ILLEGAL_CHARACTER, 'gu'), '\uFFFD');
}

/**
 * A document as UTF-8, one element a line, so that a line number in somebody's answer names one element.
 *
 * @throws RangeError when a text or a value holds a character that XML cannot
 */
export function buildXml(root: XmlNode): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${elementText(root)}`, 'utf8');
}

/** An element and what is in it, as {@link buildXml} writes them, each line `depth` steps to the right. */
export function elementText({ name, attributes, content = '' }: XmlNode, depth = 0): string {
  const indent = INDENTS[depth] ?? '  '.repeat(depth);
  let tag = `${indent}<${name}`;
  if (attributes !== undefined) {
    for (const key of Object.keys(attributes)) tag += ` ${key}="${attributeText(name, attributes[key] ?? '')}"`;
  }
  if (content.length === 0) return `${tag}/>\n`;
  if (typeof content === 'string') return `${tag}>${contentText(name, content)}</${name}>\n`;
  let text = `${tag}>\n`;
  for (const child of content) text += elementText(child, depth + 1);
  return `${text}${indent}</${name}>\n`;
}

const INDENTS = ['', '  ', '    ', '      '];

/** Nearly every text stands in a document as it is, and is looked at once. */
const PLAIN_CONTENT = /^[\t\n\u0020-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;
const PLAIN_VALUE = /^[\u0020\u0021\u0023-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;

function contentText(name: string, text: string): string {
  return PLAIN_CONTENT.test(text) ? text : escaped(name, text);
}

/** A parser would make blanks of the white space. */
function attributeText(name: string, value: string): string {
  if (PLAIN_VALUE.test(value)) return value;
  return escaped(name, value).replaceAll('"', '&quot;').replaceAll('\t', '&#9;').replaceAll('\n', '&#10;');
}

function escaped(name: string, text: string): string {
  const character = findIllegalCharacter(text);
  if (character === undefined) return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  throw new RangeError(`<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
}
