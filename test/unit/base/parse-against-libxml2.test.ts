import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  XmlDocument as LibDocument,
  XmlElement as LibElement,
  ParseOption,
  XmlCData,
  XmlText,
} from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import type { XmlElement } from '../../../src/base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../../src/base/xml/parse.ts';

/** The same tree from libxml2, which the parser is held against. */
type Plain = {
  readonly namespace: string;
  readonly name: string;
  readonly attributes: string[];
  readonly text: string;
  readonly children: Plain[];
};

function byLibxml2(text: string): Plain | 'refused' {
  let document: LibDocument;
  try {
    document = LibDocument.fromBuffer(Buffer.from(text), { option: ParseOption.XML_PARSE_NONET });
  } catch {
    return 'refused';
  }
  const plain = toPlain(document.root);
  document.dispose();
  return plain;
}

function toPlain(element: LibElement): Plain {
  const children: Plain[] = [];
  let text = '';
  for (let node = element.firstChild; node !== null; node = node.next) {
    if (node instanceof LibElement) children.push(toPlain(node));
    else if (node instanceof XmlText || node instanceof XmlCData) text += node.content;
  }
  const attributes = element.attrs
    .map((attribute) => `{${attribute.namespaceUri}}${attribute.name}=${attribute.content}`)
    .sort();
  return { namespace: element.namespaceUri, name: element.name, attributes, text, children };
}

function ours(text: string): Plain | 'refused' {
  const plain = (element: XmlElement): Plain => ({
    namespace: element.namespace,
    name: element.name,
    attributes: element.attributes
      .map(({ namespace, name, value }) => `{${namespace}}${name}=${value}`)
      .sort(),
    text: element.text,
    children: element.children.map(plain),
  });
  try {
    return plain(parseXml(Buffer.from(text)).root);
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return 'refused';
    throw thrown;
  }
}

describe('compared with libxml2', () => {
  const name = fc.constantFrom('a', 'b', 'ž', 'p:a', 'q:c', 'long-name.1', '_x');
  const text = fc
    .stringMatching(/^[a-zž <>&"'\]\u00a0\u{1f3fa}\t\n-]{0,12}$/u)
    .map((raw) => raw.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;'));
  const value = text.map((raw) => raw.replace(/"/g, '&quot;'));
  const attribute = fc.tuple(fc.constantFrom('x', 'y', 'q:x', 'xml:lang'), value);
  const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
    element: fc
      .tuple(
        name,
        fc.uniqueArray(attribute, { selector: ([key]) => key, maxLength: 3 }),
        fc.array(tie('content'), { maxLength: 4 }),
      )
      .map(([tag, attributes, content]) => {
        const start = `${tag}${attributes.map(([key, quoted]) => ` ${key}="${quoted}"`).join('')}`;
        return content.length === 0 ? `<${start}/>` : `<${start}>${content.join('')}</${tag}>`;
      }),
    content: fc.oneof(
      { depthSize: 'small' },
      text,
      // No processing instructions: the binding does not walk past them.
      fc.constantFrom('<!-- c -->', '<![CDATA[<&>]]>', '&#382;', '&#x1F3FA;', '\n'),
      tie('element'),
    ),
  }));
  const document = element.map(
    (inner) =>
      `<?xml version="1.0" encoding="UTF-8"?>\n<r xmlns:p="urn:p" xmlns:q="urn:q" xmlns="urn:d">${inner}</r>`,
  );

  test('a well-formed document yields the same tree', () => {
    fc.assert(
      fc.property(document, (xml) => {
        expect(ours(xml)).toEqual(byLibxml2(xml));
      }),
    );
  });

  test('a damaged document is refused by both or read alike by both', () => {
    const damage = fc.tuple(
      document,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', '<', '>', '&', '"', '/', ' ', '\u0001', 'x', '-->', ']]>', '='),
    );
    fc.assert(
      fc.property(damage, ([xml, at, removed, inserted]) => {
        // Behind the root's start tag: libxml2 also refuses a namespace that is no address, which
        // XML allows.
        const first = xml.indexOf('>', xml.indexOf('<r ')) + 1;
        const place = first + (at % (xml.length - first));
        const damaged = xml.slice(0, place) + inserted + xml.slice(place + removed);
        const theirs = byLibxml2(damaged);
        // libxml2 warns of a prefix that is not declared and goes on; here that is a fault.
        if (ours(damaged) === 'refused' && theirs !== 'refused')
          expect(() => parseXml(Buffer.from(damaged))).toThrow(/prefix|is not a name|namespace/);
        else expect(ours(damaged)).toEqual(theirs);
      }),
    );
  });
});

test('the schemas of the project, which are XML too, are read as libxml2 reads them', () => {
  for (const file of ['oai/OAI-PMH.xsd', 'oai/oai_dc.xsd', 'xml/xml.xsd']) {
    const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'schemas', file), 'utf8');
    expect(ours(text)).toEqual(byLibxml2(text));
  }
});
