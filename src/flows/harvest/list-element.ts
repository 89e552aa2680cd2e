import type { Subject } from '../../ledger/subject.ts';
import { declarationsWithin } from '../../xml/declarations.ts';
import { childOf, type XmlDocument } from '../../xml/element.ts';

/** Records cut out of a page, in an element of a list's name that declares the namespaces that hold there. */
export function listElement(document: XmlDocument, content: string, name: Subject['verb'] = 'ListRecords'): string {
  const list = childOf(document.root, name);
  const declarations = declarationsWithin(document, list === undefined ? [document.root] : [document.root, list]);
  const prefix = /^<([^\s:>/]+:)?/.exec(document.source.slice(list?.start ?? document.root.start))?.[1] ?? '';
  return `<${prefix}${name}${declarations}>${content}</${prefix}${name}>`;
}
