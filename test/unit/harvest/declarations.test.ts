import { expect, test } from 'vitest';
import { getChild } from '../../../src/base/xml/element.ts';
import { parseXml } from '../../../src/base/xml/parse.ts';
import { renderNamespaceDeclarations } from '../../../src/harvest/outputs.ts';

function declarations(text: string): string {
  const document = parseXml(Buffer.from(text));
  const list = getChild(document.root, 'list');
  return renderNamespaceDeclarations(
    document,
    list === undefined ? [document.root] : [document.root, list],
  );
}

test('declarations of all elements around a record are collected as written', () => {
  expect(declarations(`<a xmlns="urn:a" xmlns:x='urn:x'><list xmlns:y="urn:y"/></a>`)).toBe(
    ` xmlns="urn:a" xmlns:x='urn:x' xmlns:y="urn:y"`,
  );
});

test('an inner declaration replaces the outer one', () => {
  expect(declarations('<o:a xmlns:o="urn:o" xmlns="urn:1"><list xmlns="urn:o"/></o:a>')).toBe(
    ' xmlns:o="urn:o" xmlns="urn:o"',
  );
  expect(declarations('<a xmlns="urn:1" xmlns:p="urn:1"><list xmlns:p="urn:2"/></a>')).toBe(
    ' xmlns="urn:1" xmlns:p="urn:2"',
  );
});

test('an attribute value that looks like a declaration is none', () => {
  expect(
    declarations(`<a t=" xmlns:no='urn:no' > " xmlns="urn:a"><list u=' xmlns:nor="urn:nor"'/></a>`),
  ).toBe(' xmlns="urn:a"');
});
