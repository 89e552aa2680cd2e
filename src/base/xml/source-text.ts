import { type Message, msg } from '../message.ts';
import { getSourceText, type XmlDocument, type XmlElement } from './element.ts';

/**
 * Returns the source of the namespace declarations in scope at the end of `path`, inner ones
 * winning: text cut out of the innermost element needs them to be parsed alone.
 * @param path elements of the document, each the parent of the next
 */
export function renderNamespaceDeclarations(
  document: XmlDocument,
  path: readonly XmlElement[],
): string {
  const declarations = new Map<string, string>();
  for (const element of path) {
    const tag = getStartTag(document, element);
    for (const [text, name = ''] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)) {
      if (/^xmlns(?::|$)/.test(name)) declarations.set(name, ` ${text.trim()}`);
    }
  }
  return [...declarations.values()].join('');
}

/** Returns the start tag of an element as it is in the document. */
export function getStartTag(document: XmlDocument, { start, end, children }: XmlElement): string {
  const beginning = getSourceText(document, { start, end: children[0]?.start ?? end });
  return /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(beginning)?.[0] ?? '';
}

/** Text between the children of an element, which no reader uses. */
type StrayText = { readonly element: XmlElement; readonly text: string; readonly start: number };

/** Comments, instructions, and the delimiters of CDATA sections. */
const MARKUP = /<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$)|<!\[CDATA\[|\]\]>/g;

const LONGEST = 60;

/** Yields each piece of text directly in an element that has children, in document order. */
export function* walkStrayTexts(document: XmlDocument, element: XmlElement): Generator<StrayText> {
  if (element.children.length === 0 || !/[^ \t\r\n]/.test(element.text)) return;
  for (const { start: from, source } of listGaps(document, element)) {
    const between = source.replace(MARKUP, (markup) => markup.replace(/[^\n]/g, ' '));
    const text = between.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
    const start = from + Buffer.byteLength(between.slice(0, between.search(/[^ \t\r\n]/)));
    if (text !== '')
      yield { element, text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, start };
  }
}

/** Yields the source before, between and behind the children of an element. */
function* listGaps(document: XmlDocument, element: XmlElement) {
  let start = element.start + Buffer.byteLength(getStartTag(document, element));
  for (const child of [...element.children, undefined]) {
    const end = child?.start ?? document.bytes.lastIndexOf('</', element.end - 1);
    yield { start, source: getSourceText(document, { start, end }) };
    start = child?.end ?? end;
  }
}

/** Makes the message about a text that no reader uses, with what to do. */
export function makeStrayTextMessage({ element: { name }, text }: StrayText): Message {
  return msg`The text "${text}" is between the elements of ${name}. Move it into one of them, or remove it.`;
}
