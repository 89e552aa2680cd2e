import { describe, expect, test } from 'vitest';
import { parseXml } from '../../../src/xml/parse.ts';
import { differencesOf } from '../../../src/xml/xsd-differences.ts';
import { type Outline, outlineOf, SchemaTooLargeError } from '../../../src/xml/xsd-outline.ts';

function outline(
  body: string,
  head = 'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:x" targetNamespace="urn:x"',
): Outline {
  return outlineOf(parseXml(Buffer.from(`<xs:schema ${head}>${body}</xs:schema>`)), 'svc');
}

const root = (model: string) => `<xs:element name="svc"><xs:complexType>${model}</xs:complexType></xs:element>`;
const sequence = (...elements: string[]) => `<xs:sequence>${elements.join('')}</xs:sequence>`;
const REF = `<xs:complexType name="refType"><xs:simpleContent><xs:extension base="xs:string">
  <xs:attribute name="id" type="xs:string" use="required"/><xs:attribute name="note" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>`;

describe('an outline', () => {
  test('tells content, attributes and how often', () => {
    const made = outline(
      root(
        sequence(
          '<xs:element name="a" type="xs:integer"/>',
          '<xs:element name="b" type="refType" minOccurs="0" maxOccurs="unbounded"/>',
          '<xs:element name="c" minOccurs="0"><xs:complexType mixed="true"><xs:sequence><xs:element name="d" type="xs:date"/></xs:sequence></xs:complexType></xs:element>',
          '<xs:element name="e"><xs:complexType><xs:sequence><xs:any namespace="urn:gml"/></xs:sequence></xs:complexType></xs:element>',
          '<xs:element name="f"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="1"/><xs:enumeration value="2"/></xs:restriction></xs:simpleType></xs:element>',
        ),
      ) + REF,
    );
    expect(Object.fromEntries([...made].map(([path, { content, occurs }]) => [path, `${content}; ${occurs}`]))).toEqual({
      '': 'elements; once',
      a: 'integer; once',
      b: 'string with id, note?; any number',
      c: 'elements and text; at most once',
      'c/d': 'date; once',
      e: 'anything of urn:gml; once',
      f: 'string (one of 1, 2); once',
    });
  });

  test('is the same however types are called and put together', () => {
    const inline = outline(root(sequence('<xs:element name="a" type="xs:string"/>', '<xs:element name="b" type="xs:string"/>')));
    const named = outline(
      `<xs:element name="svc" type="t"/>
       <xs:complexType name="base">${sequence('<xs:element ref="a"/>')}</xs:complexType>
       <xs:complexType name="t"><xs:complexContent><xs:extension base="base"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
       <xs:group name="g">${sequence('<xs:element name="b" type="xs:string"/>')}</xs:group>
       <xs:element name="a" type="xs:string"/>`,
    );
    expect(differencesOf(inline, named)).toEqual([]);
  });

  test('reads schemas whose own names have a prefix and whose built-in ones have none', () => {
    const document = parseXml(
      Buffer.from(
        `<schema xmlns="http://www.w3.org/2001/XMLSchema" xmlns:s="urn:x" targetNamespace="urn:x"><element name="svc" type="s:string"/>
         <complexType name="string"><sequence><element name="a" type="integer"/></sequence></complexType></schema>`,
      ),
    );
    expect([...outlineOf(document, 'svc').keys()]).toEqual(['', 'a']);
  });

  test('ends where an element may hold itself', () => {
    const made = outline(
      '<xs:element name="svc" type="t"/><xs:complexType name="t"><xs:sequence><xs:element name="a" type="t" minOccurs="0"/></xs:sequence></xs:complexType>',
    );
    expect([...made.keys()]).toEqual(['', 'a', 'a/a']);
  });

  test.each([
    [
      'a type derived from itself',
      `<xs:element name="svc" type="t"/><xs:complexType name="t"><xs:complexContent><xs:extension base="t"/></xs:complexContent></xs:complexType>`,
    ],
    [
      'a group of itself',
      `${root('<xs:group ref="g"/>')}<xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>`,
    ],
    [
      'groups that double',
      `${root('<xs:group ref="g0"/>')}${Array.from({ length: 20 }, (_, i) => `<xs:group name="g${i}">${sequence(i === 19 ? '<xs:element name="x" type="xs:string"/>' : `<xs:group ref="g${i + 1}"/><xs:group ref="g${i + 1}"/>`)}</xs:group>`).join('')}`,
    ],
    [
      'very many elements in one place',
      root(sequence(...Array.from({ length: 501 }, (_, i) => `<xs:element name="e${i}" type="xs:string"/>`))),
    ],
    [
      'types that multiply',
      `<xs:element name="svc" type="t0"/>${Array.from({ length: 9 }, (_, i) => `<xs:complexType name="t${i}">${sequence(...Array.from({ length: 9 }, (_, j) => `<xs:element name="e${j}" type="${i === 8 ? 'xs:string' : `t${i + 1}`}"/>`))}</xs:complexType>`).join('')}`,
    ],
  ])('is not made of %s', (_, body) => {
    expect(() => outline(body)).toThrow(SchemaTooLargeError);
  });
});

describe('what differs is told once, with its path', () => {
  const before = outline(root(sequence('<xs:element name="a" type="xs:string"/>', '<xs:element name="b" type="xs:string"/>')));

  test.each([
    ['nothing', ['<xs:element name="a" type="xs:string"/>', '<xs:element name="b" type="xs:string"/>'], []],
    [
      'an element more, without what stands in it',
      [
        '<xs:element name="a" type="xs:string"/>',
        '<xs:element name="n" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="m" type="xs:string"/></xs:sequence></xs:complexType></xs:element>',
        '<xs:element name="b" type="xs:string"/>',
      ],
      [{ kind: 'added', path: 'n', what: 'elements, at most once' }],
    ],
    ['an element less', ['<xs:element name="a" type="xs:string"/>'], [{ kind: 'removed', path: 'b', what: 'string, once' }]],
    [
      'another type, and no longer needed',
      ['<xs:element name="a" type="xs:integer" minOccurs="0"/>', '<xs:element name="b" type="xs:string"/>'],
      [{ kind: 'changed', path: 'a', what: 'string → integer; once → at most once' }],
    ],
    [
      'another order',
      ['<xs:element name="b" type="xs:string"/>', '<xs:element name="a" type="xs:string"/>'],
      [{ kind: 'reordered', path: '', what: 'the order of its elements is now b, a' }],
    ],
  ])('%s', (_, elements, differences) => {
    expect(differencesOf(before, outline(root(sequence(...elements))))).toEqual(differences);
  });
});
