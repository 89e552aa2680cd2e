import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildXml,
  findCharacterIllegalInXml,
  replaceCharactersIllegalInXml,
  type XmlNode,
} from '../../../src/base/xml/build.ts';
import type { XmlElement } from '../../../src/base/xml/element.ts';
import { parseXml } from '../../../src/base/xml/parse.ts';

describe('writing XML', () => {
  test('puts one element on a line, text in one piece, and a line feed at the end', () => {
    const document = buildXml({
      name: 'p:root',
      attributes: { 'xmlns:p': 'urn:p' },
      content: [
        { name: 'p:text', attributes: { id: 'x' }, content: 'žluťoučký\nkůň' },
        { name: 'p:empty' },
      ],
    });
    expect(document.toString('utf8')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<p:root xmlns:p="urn:p">\n  <p:text id="x">žluťoučký\nkůň</p:text>\n  <p:empty/>\n</p:root>\n',
    );
  });

  test.each(['\u0000', '\u0007', '\r', '\u001f', '\ufffe', '\uffff', '\ud800', '\udfff'])(
    '%j is detected and refused',
    (character) => {
      const text = `before${character}after`;
      expect(findCharacterIllegalInXml(text)).toBe(character);
      expect(replaceCharactersIllegalInXml(text)).toBe('before\ufffdafter');
      expect(() => buildXml({ name: 'root', content: text })).toThrow(RangeError);
      expect(() => buildXml({ name: 'root', attributes: { a: text } })).toThrow(RangeError);
    },
  );

  test.each(['\t', '\n', ' ', 'ž', '\ufffd', '🏺', '\u0085'])('%j is allowed', (character) => {
    expect(findCharacterIllegalInXml(character)).toBeUndefined();
  });

  test('round-trips any tree of elements', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 }).map(replaceCharactersIllegalInXml);
    const attributes = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      text.map((value) => value.replace(/[\t\n]/g, ' ')),
      { noNullPrototype: true },
    );
    const name = fc.constantFrom('x', 'longer-name', 'y_1');
    const { node } = fc.letrec<{ node: XmlNode; leaf: XmlNode }>((tie) => ({
      leaf: fc.record({ name, attributes, content: text }),
      node: fc.oneof(
        { maxDepth: 4 },
        tie('leaf'),
        fc.record({ name, attributes, content: fc.array(tie('node'), { maxLength: 3 }) }),
      ),
    }));
    const toNode = (element: XmlElement): XmlNode => ({
      name: element.name,
      attributes: Object.fromEntries(
        element.attributes.map((attribute) => [attribute.name, attribute.value]),
      ),
      content: element.children.length > 0 ? element.children.map(toNode) : element.text,
    });
    /** An element without children is one with an empty text. */
    const toWritten = ({ content = '', ...rest }: XmlNode): XmlNode => {
      if (typeof content === 'string') return { ...rest, content };
      return { ...rest, content: content.length > 0 ? content.map(toWritten) : '' };
    };
    fc.assert(
      fc.property(node, (root) => {
        expect(toNode(parseXml(buildXml(root)).root)).toEqual(toWritten(root));
      }),
    );
  });
});
