import { startTagOf } from './declarations.ts';
import { sourceOf, type XmlDocument, type XmlElement } from './element.ts';
import { parseXml } from './parse.ts';

/** Yields the texts and the children of an element in document order. */
export function* mixedContentOf(document: XmlDocument, element: XmlElement): Generator<string | XmlElement> {
  const { children, start, end, text } = element;
  if (children.length === 0) {
    if (text !== '') yield text;
    return;
  }
  let from = start + Buffer.byteLength(startTagOf(document, element));
  for (const child of [...children, undefined]) {
    const source = sourceOf(document, { start: from, end: child?.start ?? document.bytes.lastIndexOf('</', end - 1) });
    // Comments, CDATA sections and references are parsed as elsewhere.
    if (source !== '') yield /[<&\r]/.test(source) ? parseXml(Buffer.from(`<t>${source}</t>`)).root.text : source;
    if (child !== undefined) yield child;
    from = child?.end ?? end;
  }
}
