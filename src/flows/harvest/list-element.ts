import type { Subject } from '../../ledger/subject.ts';
import { bytesOf, childOf, type XmlDocument, type XmlElement } from '../../xml/element.ts';
import { namespaceDeclarationsIn, startTagOf } from '../../xml/source-text.ts';

const LINE_FEED = Buffer.from('\n');

/**
 * Cuts records out of a page: what it returns makes a line of each in an element of a list's name, which declares the
 * namespaces that hold there.
 */
export function listsOf(
  document: XmlDocument,
  name: Subject['verb'] = 'ListRecords',
): (records: readonly XmlElement[]) => Buffer[] {
  const list = childOf(document.root, name);
  const declarations = namespaceDeclarationsIn(document, list === undefined ? [document.root] : [document.root, list]);
  const prefix = /^<([^\s:>/]+:)?/.exec(startTagOf(document, list ?? document.root))?.[1] ?? '';
  const head = Buffer.from(`<${prefix}${name}${declarations}>\n`);
  const tail = Buffer.from(`</${prefix}${name}>\n`);
  return (records) => [head, ...records.flatMap((record) => [bytesOf(document, record), LINE_FEED]), tail];
}
