import { startTagOf } from './declarations.ts';
import { sourceOf, type XmlDocument, type XmlElement } from './element.ts';
import { parseXml } from './parse.ts';

/** The texts and the children of an element in the order in which they stand. */
export function* mixedContentOf(document: XmlDocument, element: XmlElement): Generator<string | XmlElement> {
  const { children, start, end, text } = element;
  if (children.length === 0) {
    if (text !== '') yield text;
    return;
  }
  let from = start + Buffer.byteLength(startTagOf(document, element));
  for (const child of [...children, undefined]) {
    const source = sourceOf(document, { start: from, end: child?.start ?? document.bytes.lastIndexOf('</', end - 1) });
    // Comments, sections and references count as they do anywhere.
    if (source !== '') yield /[<&\r]/.test(source) ? parseXml(Buffer.from(`<t>${source}</t>`)).root.text : source;
    if (child !== undefined) yield child;
    from = child?.end ?? end;
  }
}
