import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildXml, findIllegalCharacter, replaceIllegalCharacters } from '../../../src/xml/build.ts';
import { parseXml } from '../../../src/xml/parse.ts';

describe('writing XML', () => {
  test('one element a line, text in one piece, a line feed at the end', () => {
    const document = buildXml({
      name: 'p:root',
      attributes: { 'xmlns:p': 'urn:p' },
      content: [{ name: 'p:text', attributes: { id: 'x' }, content: 'žluťoučký\nkůň' }, { name: 'p:empty' }],
    });
    expect(document.toString('utf8')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<p:root xmlns:p="urn:p">\n  <p:text id="x">žluťoučký\nkůň</p:text>\n  <p:empty/>\n</p:root>\n',
    );
  });

  test('any text that XML can hold comes back from a parser as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }), (raw, rawValue) => {
        const content = replaceIllegalCharacters(raw);
        const value = replaceIllegalCharacters(rawValue).replace(/[\t\n]/g, ' ');
        const { root } = parseXml(buildXml({ name: 'root', attributes: { value }, content }));
        expect(root.text).toBe(content);
        expect(root.attributes[0]?.value).toBe(value);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['\u0000', '\u0007', '\r', '\u001f', '\ufffe', '\uffff', '\ud800', '\udfff'])(
    '%j is found and refused',
    (character) => {
      const text = `before${character}after`;
      expect(findIllegalCharacter(text)).toBe(character);
      expect(replaceIllegalCharacters(text)).toBe('before\ufffdafter');
      expect(() => buildXml({ name: 'root', content: text })).toThrow(RangeError);
      expect(() => buildXml({ name: 'root', attributes: { a: text } })).toThrow(RangeError);
    },
  );

  test.each(['\t', '\n', ' ', 'ž', '\ufffd', '🏺', '\u0085'])('%j may stand', (character) => {
    expect(findIllegalCharacter(character)).toBeUndefined();
  });
});
