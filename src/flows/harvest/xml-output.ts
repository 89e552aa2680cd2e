import type { Subject } from '../../harvested/harvested-records.ts';
import { parseHeaderAlone } from '../../oai/protocol.ts';
import { getChild, getSourceBytes, type XmlDocument } from '../../xml/element.ts';
import { getStartTag, renderNamespaceDeclarations } from '../../xml/source-text.ts';
import type { OutputForm } from './append-output.ts';

const LINE_FEED = Buffer.from('\n');

/**
 * Makes the form of one document with the unchanged records, or their headers, one per line. Each
 * page is in a list that declares the namespaces of its records.
 */
export function makeXmlForm(verb: Subject['verb']): OutputForm {
  return {
    head: '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n',
    tail: '</harvest>\n',
    render: ({ document, records }) => {
      const { open, close } = renderListTags(document, verb);
      const lines = records.flatMap((record) => {
        const header = verb === 'ListRecords' ? undefined : parseHeaderAlone(record.element);
        const { element } = header ?? record;
        return [getSourceBytes(document, element), LINE_FEED];
      });
      return [Buffer.concat([Buffer.from(open), ...lines, Buffer.from(close)])];
    },
  };
}

function renderListTags(document: XmlDocument, name: Subject['verb']) {
  const { root } = document;
  const list = getChild(root, name) ?? getChild(root, 'GetRecord');
  const path = list === undefined ? [root] : [root, list];
  const declarations = renderNamespaceDeclarations(document, path);
  const prefix = /^<([^\s:>/]+:)?/.exec(getStartTag(document, list ?? root))?.[1] ?? '';
  return { open: `<${prefix}${name}${declarations}>\n`, close: `</${prefix}${name}>\n` };
}
