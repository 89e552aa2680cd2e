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
const ILLEGAL_CHARACTER = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** Fast check without code points, sufficient for most texts. */
const PLAINLY_LEGAL = /^[\t\n\u0020-\uD7FF]*$/;

/**
 * Returns the first character that XML cannot hold: a control character, a non-character or a lone
 * surrogate.
 */
export function findIllegalCharacter(text: string): string | undefined {
  return PLAINLY_LEGAL.test(text) ? undefined : ILLEGAL_CHARACTER.exec(text)?.[0];
}

/** Replaces characters that XML cannot hold by U+FFFD. */
export function replaceIllegalCharacters(text: string): string {
  return PLAINLY_LEGAL.test(text)
    ? text
    : text.replace(new RegExp(ILLEGAL_CHARACTER, 'gu'), '\uFFFD');
}

/**
 * Writes a document as UTF-8 with one element per line, so that a line number in an error message
 * identifies an element.
 * @throws RangeError when a text or a value has a character that XML cannot hold
 */
export function buildXml(root: XmlNode): Buffer {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(root)}`, 'utf8');
}

/** Writes an element and its content for {@link buildXml}, indented by `depth` steps. */
export function renderElement({ name, attributes, content = '' }: XmlNode, depth = 0): string {
  const indent = INDENTS[depth] ?? '  '.repeat(depth);
  let tag = `${indent}<${name}`;
  if (attributes !== undefined) {
    for (const key of Object.keys(attributes))
      tag += ` ${key}="${renderAttribute(name, attributes[key] ?? '')}"`;
  }
  if (content.length === 0) return `${tag}/>\n`;
  if (typeof content === 'string') return `${tag}>${renderContent(name, content)}</${name}>\n`;
  let text = `${tag}>\n`;
  for (const child of content) text += renderElement(child, depth + 1);
  return `${text}${indent}</${name}>\n`;
}

const INDENTS = ['', '  ', '    ', '      '];

/** Fast check for texts that need no escaping. */
const PLAIN_CONTENT = /^[\t\n\u0020-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;
const PLAIN_VALUE = /^[\u0020\u0021\u0023-\u0025\u0027-\u003B\u003D\u003F-\uD7FF]*$/;

function renderContent(name: string, text: string): string {
  return PLAIN_CONTENT.test(text) ? text : escapeXml(name, text);
}

/** Escapes an attribute value, including white space, which a parser would turn into blanks. */
export function renderAttribute(name: string, value: string): string {
  if (PLAIN_VALUE.test(value)) return value;
  return escapeXml(name, value)
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#9;')
    .replaceAll('\n', '&#10;');
}

function escapeXml(name: string, text: string): string {
  const character = findIllegalCharacter(text);
  if (character === undefined)
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  throw new RangeError(
    `<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
}
