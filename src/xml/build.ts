import { create } from 'xmlbuilder2';

/** An element to be written. Names are as they shall stand in the document, with their prefixes. */
export type XmlNode = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Either text or elements: mixed content is not written. */
  readonly content?: string | readonly XmlNode[];
};

/** XML 1.0 (fifth edition), production 2, turned round; a line feed is the only line break that survives a parser unchanged. */
const ILLEGAL_CHARACTER = /[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

/** The first character that cannot stand in a document: a control character, a non-character or half of a pair. */
export function findIllegalCharacter(text: string): string | undefined {
  return ILLEGAL_CHARACTER.exec(text)?.[0];
}

/** The same text with U+FFFD for what cannot stand in a document. */
export function replaceIllegalCharacters(text: string): string {
  return text.replace(new RegExp(ILLEGAL_CHARACTER, 'gu'), '\uFFFD');
}

/**
 * A document as UTF-8, one element a line, so that a line number in somebody's answer names one element.
 *
 * @throws RangeError when a text or a value holds a character that XML cannot
 */
export function buildXml(root: XmlNode): Buffer {
  const document = create({ version: '1.0', encoding: 'UTF-8' });
  append(document, root);
  return Buffer.from(`${document.end({ prettyPrint: true, indent: '  ', newline: '\n' })}\n`, 'utf8');
}

function append(parent: ReturnType<typeof create>, node: XmlNode): void {
  const { name, attributes = {}, content = [] } = node;
  for (const value of Object.values(attributes)) requireLegal(name, value);
  const element = parent.ele(name, attributes);
  if (typeof content === 'string') element.txt(requireLegal(name, content));
  else for (const child of content) append(element, child);
}

function requireLegal(name: string, text: string): string {
  const character = findIllegalCharacter(text);
  if (character === undefined) return text;
  throw new RangeError(`<${name}> would hold U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
}
