import { describe, expect, test } from 'vitest';
import { getAttribute } from '../../../src/base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../../src/base/xml/parse.ts';

const MEBI = 1024 * 1024;

function failure(text: string, most?: number): string {
  try {
    parseXml(Buffer.from(text), most);
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return thrown.message;
    throw thrown;
  }
  return 'it was taken for well-formed';
}

/** Each would take hours, or all memory, if its time grew with the square of its length. */
describe('a document built to slow the reader down is read, or refused, in one pass', () => {
  test('with namespaces declared at every depth, and looked up at each element', () => {
    const declared = Array.from({ length: 200 }, (_, depth) => {
      const prefixes = Array.from(
        { length: 1000 },
        (_, index) => ` xmlns:${depth === 0 ? 'p' : 'q'}${index}="urn:${index}"`,
      );
      return `<a${prefixes.join('')}>`;
    });
    const asking = '<p0:b/>'.repeat(100_000);
    const text = declared.join('') + asking + '</a>'.repeat(declared.length);
    let inner = parseXml(Buffer.from(text)).root;
    for (let depth = 1; depth < declared.length; depth++) inner = inner.children[0] ?? inner;
    expect(inner.children.at(-1)?.namespace).toBe('urn:0');
    expect(inner.children).toHaveLength(100_000);
  });

  test('with a tag of a hundred thousand namespaces', () => {
    const prefixes = Array.from({ length: 100_000 }, (_, index) => ` xmlns:p${index}="urn:x"`);
    expect(failure(`<a${prefixes.join('')}/>`)).toMatch(/tag .*longer than/);
  });

  test('with a character reference for every letter', () => {
    const { root } = parseXml(
      Buffer.from(`<a b="${'&#352;'.repeat(1000)}">${'&#352;&amp;'.repeat(MEBI / 4)}</a>`),
    );
    expect(root.text).toBe('Š&'.repeat(MEBI / 4));
    expect(getAttribute(root, 'b')).toBe('Š'.repeat(1000));
  });

  test('with an end tag of blanks', () => {
    expect(failure(`<a></a${' '.repeat(4 * MEBI)}x>`)).toMatch(/<a> must be closed/);
    expect(parseXml(Buffer.from('<a></a \n\t>')).root.name).toBe('a');
  });

  test('with a name without an end', () => {
    expect(failure(`<${'a'.repeat(16 * MEBI)}/>`)).toMatch(/longer than/);
    expect(failure(`<?${'a'.repeat(16 * MEBI)}?><a/>`)).toMatch(/is not allowed here/);
  });

  test('with more elements and attributes than the caller accepts', () => {
    expect(failure(`<a>${'<b/>'.repeat(1000)}</a>`, 1000)).toMatch(/more than 1000 elements/);
    expect(failure(`<a>${'<b c="" d="" e=""/>'.repeat(300)}</a>`, 1000)).toMatch(
      /more than 1000 elements/,
    );
    expect(failure(`<a>${'<b c=""/>'.repeat(300)}</a>`, 1000)).toMatch(/taken for well-formed/);
  });

  test('with more markup of other kinds than the caller accepts', () => {
    for (const markup of ['<!---->', '<?a?>', '<![CDATA[x]]>', '<b xmlns:c="d"/>'])
      expect(failure(`<a>${`x${markup}`.repeat(1001)}</a>`, 1000)).toMatch(
        /more than 1000 elements, attributes and other markup/,
      );
  });

  test('with more different names than any schema has', () => {
    const numbered = (make: (nth: number) => string): string =>
      Array.from({ length: 10_001 }, (_, nth) => make(nth)).join('');
    for (const make of [
      (nth: number) => `<b${nth}/>`,
      (nth: number) => `<b c${nth}=""/>`,
      (nth: number) => `<b xmlns:c${nth}="d"/>`,
    ])
      expect(failure(`<a>${numbered(make)}</a>`)).toMatch(/more than 10000 different names/);
  });

  test('with a text that is longer than any boundary, even in pieces', () => {
    const letters = 'x'.repeat(MEBI);
    for (const piece of [
      letters,
      `<![CDATA[${letters}]]>`,
      `${letters}<!---->`,
      '&#352;'.repeat(MEBI),
    ])
      expect(failure(`<a>${piece.repeat(5)}</a>`)).toMatch(/a text is longer than 4194304 bytes/);
    expect(failure(`<a><![CDATA[${letters.repeat(5)}]]></a>`)).toMatch(/a text is longer than/);
  });

  test.each([
    ['\r\n', '\n'],
    ['&amp;', '&'],
    ['&#x1F600;', '😀'],
    ['č', 'č'],
  ])('with so many of %j that it is read in pieces', (one, read) => {
    for (const before of ['', 'x', 'xx', 'xxx', 'xxxx', 'xxxxx', 'xxxxxx']) {
      const { root } = parseXml(Buffer.from(`<a>${before}${one.repeat(30_000)}&lt;</a>`));
      expect(root.text).toBe(`${before}${read.repeat(30_000)}<`);
    }
  });
});
