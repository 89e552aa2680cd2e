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
export function elementText({ name, attributes = {}, content = '' }: XmlNode, depth = 0): string {
  const indent = '  '.repeat(depth);
  let tag = `${indent}<${name}`;
  for (const [key, value] of Object.entries(attributes)) tag += ` ${key}="${attributeText(name, value)}"`;
  if (content.length === 0) return `${tag}/>\n`;
  if (typeof content === 'string') return `${tag}>${escaped(requireLegal(name, content))}</${name}>\n`;
  return `${tag}>\n${content.map((child) => elementText(child, depth + 1)).join('')}${indent}</${name}>\n`;
}

/** A parser would make blanks of the white space. */
function attributeText(name: string, value: string): string {
  const text = escaped(requireLegal(name, value)).replaceAll('"', '&quot;');
  return /[\t\n]/.test(text) ? text.replaceAll('\t', '&#9;').replaceAll('\n', '&#10;') : text;
}

function escaped(text: string): string {
  return /[&<>]/.test(text) ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') : text;
}

function requireLegal(name: string, text: string): string {
  const character = findIllegalCharacter(text);
  if (character === undefined) return text;
  throw new RangeError(`<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
}
