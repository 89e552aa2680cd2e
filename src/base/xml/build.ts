/** An element to be written. Names include their prefixes. */
export type XmlNode = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Text or elements; mixed content is not supported. */
  readonly content?: string | readonly XmlNode[];
};

/**
 * Negation of XML 1.0 (fifth edition), production 2; of the line breaks only a line feed survives a
 * parser unchanged.
 */
const ILLEGAL_CHARACTERS = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/**
 * Returns the first character that an XML document cannot hold (XML 1.0, production 2): a control
 * character, U+FFFE, U+FFFF or a lone surrogate; also a carriage return, which a parser would
 * change. Undefined where there is none.
 */
export function findCharacterIllegalInXml(text: string): string | undefined {
  return text.match(ILLEGAL_CHARACTERS)?.[0];
}

/**
 * Returns the text with U+FFFD for each character that XML cannot hold, and for each carriage
 * return, as {@link findCharacterIllegalInXml} finds them.
 */
export function replaceCharactersIllegalInXml(text: string): string {
  return text.replace(ILLEGAL_CHARACTERS, '\uFFFD');
}

/**
 * Makes the bytes of a document in UTF-8, with one element per line, so that a line number in an
 * error message identifies an element.
 * @throws RangeError where a text or a value has a character of {@link findCharacterIllegalInXml}
 */
export function buildXml(root: XmlNode): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${renderXmlElement(root)}`, 'utf8');
}

/**
 * Makes the source of an element and its content as lines for {@link buildXml}, each indented by
 * `depth` steps of two blanks, and more for inner elements.
 * @throws RangeError as {@link buildXml}
 */
export function renderXmlElement({ name, attributes, content = '' }: XmlNode, depth = 0): string {
  const indent = '  '.repeat(depth);
  let tag = `${indent}<${name}`;
  if (attributes !== undefined) {
    for (const key of Object.keys(attributes))
      tag += ` ${key}="${escapeAttributeValue(name, attributes[key] ?? '')}"`;
  }
  if (content.length === 0) return `${tag}/>\n`;
  if (typeof content === 'string') return `${tag}>${escapeText(name, content)}</${name}>\n`;
  let text = `${tag}>\n`;
  for (const child of content) text += renderXmlElement(child, depth + 1);
  return `${text}${indent}</${name}>\n`;
}

/** Most texts need no escaping, which takes three times as long as this check. */
const PLAIN = /^[\u0020\u0021\u0023-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;

/**
 * Escapes an attribute value to stand in double quotes, with its tabs and line feeds: a parser
 * would turn them into blanks.
 * @param name of the element, for the error
 * @throws RangeError where the value has a character of {@link findCharacterIllegalInXml}
 */
export function escapeAttributeValue(name: string, value: string): string {
  if (PLAIN.test(value)) return value;
  return escapeText(name, value)
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}

function escapeText(name: string, text: string): string {
  if (PLAIN.test(text)) return text;
  const character = findCharacterIllegalInXml(text);
  if (character === undefined)
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  throw new RangeError(
    `<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}
