import type {
  XmlDocument as XmlDocumentType,
  XmlElement as XmlElementType,
  XmlXPath,
} from 'libxml2-wasm';
import { trimText } from './white-space.ts';

/** One element as plain data, so that nothing of the parser's memory outlives the parsing. */
export type XmlTree = {
  readonly name: string;
  readonly namespace: string;
  /** Line of the start tag, from 1. */
  readonly line: number;
  /** By local name; `xml:lang` under that name. */
  readonly attributes: ReadonlyMap<string, string>;
  /**
   * The text before the first child node of another kind, trimmed: what the service reads
   * (A-VALUE-1).
   */
  readonly text: string;
  readonly children: readonly XmlTree[];
  /** Set where a comment or processing instruction is a direct child. */
  readonly hasOtherNodes: boolean;
};

type Xml = typeof import('libxml2-wasm');

/** Copies an element with its descendants. */
export function makeTree(xml: Xml, root: XmlElementType): XmlTree {
  // Iterating siblings ends at a processing instruction, for which the library returns no sibling;
  // a path does not.
  const childNodes = xml.XmlXPath.compile('node()');
  try {
    return makeElement(xml, root, childNodes);
  } finally {
    childNodes.dispose();
  }
}

function makeElement(xml: Xml, element: XmlElementType, childNodes: XmlXPath): XmlTree {
  const children: XmlTree[] = [];
  let text = '';
  let textEnded = false;
  let hasOtherNodes = false;
  for (const node of element.find(childNodes)) {
    if (node instanceof xml.XmlText || node instanceof xml.XmlCData) {
      if (!textEnded) text += node.content;
      continue;
    }
    textEnded = true;
    if (node instanceof xml.XmlElement) children.push(makeElement(xml, node, childNodes));
    else hasOtherNodes = true;
  }
  return {
    name: element.name,
    namespace: element.namespaceUri,
    line: element.line,
    attributes: new Map(
      element.attrs.map((attribute) => [
        joinAttributeName(attribute.prefix, attribute.name),
        attribute.value,
      ]),
    ),
    text: trimText(text),
    children,
    hasOtherNodes,
  };
}

function joinAttributeName(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}:${name}`;
}

/** Returns the first child with a name, in the element's own namespace. */
export function findChild(tree: XmlTree | undefined, name: string): XmlTree | undefined {
  return tree?.children.find(
    (candidate) => candidate.name === name && candidate.namespace === tree.namespace,
  );
}

/** Returns the namespace that the root binds to a prefix; undefined where it binds none. */
export function findNamespaceOnRoot(document: XmlDocumentType, prefix: string): string | undefined {
  return document.root.nsDeclarations[prefix];
}
