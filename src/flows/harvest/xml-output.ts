import type { Subject } from '../../harvested/harvested-records.ts';
import { getChild, getSourceBytes, type XmlDocument, type XmlElement } from '../../xml/element.ts';
import { getStartTag, renderNamespaceDeclarations } from '../../xml/source-text.ts';
import type { AppendTarget } from './append-output.ts';
import type { RecordOutput } from './record-output.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<harvest>\n';
const TAIL = '</harvest>\n';

/**
 * Opens an output of one document with the unchanged records, each page in a list that declares
 * their namespaces. A changed record occurs once per version: the last one counts.
 */
export function openXmlStreamOutput(growing: AppendTarget, verb: Subject['verb']): RecordOutput {
  const close = (): Promise<void> => growing.close(growing.isEmpty() ? HEAD + TAIL : TAIL);
  return {
    write: async ({ document, records }) => {
      if (records.length === 0) return;
      const head = Buffer.from(growing.isEmpty() ? HEAD : '');
      await growing.append(
        Buffer.concat([
          head,
          ...makeRecordCutter(document, verb)(records.map(({ element }) => element)),
        ]),
      );
    },
    notePage: () => growing.markEnd(),
    flush: () => growing.flush(),
    settle: close,
    close,
  };
}

const LINE_FEED = Buffer.from('\n');

/**
 * Makes a function that cuts records out of a page, one per line, in an element that declares the
 * namespaces in scope.
 */
function makeRecordCutter(
  document: XmlDocument,
  name: Subject['verb'],
): (records: readonly XmlElement[]) => Buffer[] {
  const list = getChild(document.root, name) ?? getChild(document.root, 'GetRecord');
  const declarations = renderNamespaceDeclarations(
    document,
    list === undefined ? [document.root] : [document.root, list],
  );
  const prefix = /^<([^\s:>/]+:)?/.exec(getStartTag(document, list ?? document.root))?.[1] ?? '';
  const head = Buffer.from(`<${prefix}${name}${declarations}>\n`);
  const tail = Buffer.from(`</${prefix}${name}>\n`);
  return (records) => [
    head,
    ...records.flatMap((record) => [getSourceBytes(document, record), LINE_FEED]),
    tail,
  ];
}
