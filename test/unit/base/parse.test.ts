import { describe, expect, test } from 'vitest';
import {
  getAttribute,
  getChildren,
  getChildText,
  getLine,
  getSourceText,
  XML_NAMESPACE,
  type XmlElement,
} from '../../../src/base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../../src/base/xml/parse.ts';

function parse(text: string): XmlElement {
  return parseXml(Buffer.from(text)).root;
}

function failure(bytes: string | Buffer): XmlSyntaxError {
  try {
    parseXml(Buffer.from(bytes as string));
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return thrown;
    throw thrown;
  }
  throw new Error('it was taken for well-formed');
}

describe('the content of a document', () => {
  test('elements are known by their namespace, whatever their prefix', () => {
    const spellings = [
      '<a xmlns="urn:x"><b/></a>',
      '<p:a xmlns:p="urn:x"><p:b/></p:a>',
      '<p:a xmlns:p="urn:x"><q:b xmlns:q="urn:x"/></p:a>',
    ];
    for (const spelling of spellings) {
      const root = parse(spelling);
      expect([root.namespace, root.name]).toEqual(['urn:x', 'a']);
      expect(getChildren(root, 'b')).toHaveLength(1);
    }
  });

  test('a declaration ends with its element', () => {
    const root = parse('<a xmlns="urn:1"><b xmlns="urn:2"><c/></b><d/></a>');
    expect(root.children.map(({ namespace }) => namespace)).toEqual(['urn:2', 'urn:1']);
    expect(parse('<a xmlns="urn:1"><b xmlns=""/></a>').children[0]?.namespace).toBe('');
  });

  test('an attribute without a prefix is in no namespace', () => {
    const root = parse('<a xmlns="urn:1" xmlns:x="urn:2" id="1" x:id="2" xml:lang="cs"/>');
    expect([
      getAttribute(root, 'id'),
      getAttribute(root, 'id', 'urn:2'),
      getAttribute(root, 'lang', XML_NAMESPACE),
    ]).toEqual(['1', '2', 'cs']);
    expect(root.attributes).toHaveLength(3);
  });

  test('text is exact: entities once, CDATA as it is, white space kept, line ends as XML has them', () => {
    expect(parse('<a>&lt;&amp;amp;&#x160;&#353;&quot;&apos;&gt;</a>').text).toBe('<&amp;Šš"\'>');
    expect(parse('<a> x <![CDATA[<&amp;]]>\ty\n</a>').text).toBe(' x <&amp;\ty\n');
    expect(parse('<a>1\r\n2\r3&#13;4</a>').text).toBe('1\n2\n3\r4');
    expect(getAttribute(parse('<a v="1\r\n2\t3&#10;4"/>'), 'v')).toBe('1 2 3\n4');
    expect(parse('<a>x<!-- no --><?pi no?>y<b>no</b>z</a>').text).toBe('xyz');
  });

  test('numbers and booleans stay text, and names of JavaScript have no meaning', () => {
    const root = parse(
      '<a><n>007</n><b>true</b><__proto__>x</__proto__><constructor>y</constructor></a>',
    );
    expect(root.children.map(({ text }) => text)).toEqual(['007', 'true', 'x', 'y']);
    expect(getChildText(root, '__proto__')).toBe('x');
  });

  test('an element knows its line and its own source', () => {
    const document = parseXml(Buffer.from('<a>\n  <b>č</b>\n  <c d="1"/>\n</a>'));
    const [b, c] = document.root.children;
    expect(b && getSourceText(document, b)).toBe('<b>č</b>');
    expect(c && [getLine(document, c), getSourceText(document, c)]).toEqual([3, '<c d="1"/>']);
  });
});

describe('bytes and encodings', () => {
  test.each([
    ['UTF-8', Buffer.from('<a>žluť</a>')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeff<a>žluť</a>')],
    ['UTF-16 by its byte order mark', Buffer.from('\ufeff<a>žluť</a>', 'utf16le')],
    [
      'a declared encoding',
      Buffer.from('<?xml version="1.0" encoding="windows-1250"?><a>\x9elu\x9d</a>', 'latin1'),
    ],
  ])('%s is read', (_, bytes) => {
    expect(parseXml(bytes).root.text).toBe('žluť');
  });

  test.each([
    ['windows-1252', [0x80, 0x8a, 0x9e, 0xe9], '€Šžé'],
    ['CP1252', [0x93, 0x94], '“”'],
    ['windows-1250', [0x80, 0x9e], '€ž'],
    ['iso-8859-1', [0x85, 0xe9], '…é'],
    ['us-ascii', [0x41], 'A'],
  ])('a document declared %s is read by that table', (encoding, letters, text) => {
    const head = Buffer.from(`<?xml version="1.0" encoding="${encoding}"?><a>`);
    expect(
      parseXml(Buffer.concat([head, Buffer.from(letters), Buffer.from('</a>')])).root.text,
    ).toBe(text);
  });

  test('a long document is read whole, also where its pieces cut a character', () => {
    const text = 'ž𐤀'.repeat(400_000);
    const marked = Buffer.from(`\ufeff<a>xx${text}</a>`, 'utf16le');
    expect(parseXml(marked).root.text === `xx${text}`).toBe(true);
    const head = Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>');
    const letters = Buffer.concat([head, Buffer.alloc(1_500_000, '\x82\xa0', 'latin1')]);
    const japanese = Buffer.concat([letters, Buffer.from('</a>')]);
    expect(parseXml(japanese).root.text === 'あ'.repeat(750_000)).toBe(true);
    expect(failure(letters.subarray(0, -1)).message).toContain('cannot be read as "shift_jis"');
  });

  test('bytes that contradict the declaration are named, not repaired', () => {
    const bytes = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<a>ok '),
      Buffer.from([0xe8]),
      Buffer.from('</a>'),
    ]);
    expect(failure(bytes)).toMatchObject({ byte: 45, line: 2 });
    for (const odd of [[0xef, 0x41], [0xef, 0xbf], [0xc3]])
      expect(failure(Buffer.concat([Buffer.from('<a>\ufffd'), Buffer.from(odd)])).byte).toBe(6);
    expect(failure(Buffer.from([0xfe, 0xff, 0xd8, 0x00])).message).toContain(
      'cannot be read as "utf-16be"',
    );
    expect(failure('<?xml version="1.0" encoding="klingon"?><a/>').message).toContain(
      'cannot be read as "klingon"',
    );
  });

  test('a fault has its byte position, even after multi-byte letters', () => {
    expect(failure('<a>žž\n&</a>')).toMatchObject({ byte: 8, line: 2 });
    expect(failure('<a>x\r\ny\r\n&</a>')).toMatchObject({ byte: 9, line: 3 });
    expect(failure('<a b="x\r\n&"/>')).toMatchObject({ byte: 9, line: 2 });
    expect(failure('\ufeff<a>ž&</a>').byte).toBe(5);
  });
});

const ILL_FORMED = [
  '',
  ' \n',
  'hello',
  '<a><b></b>',
  '<a><b></a></b>',
  '<a/></a>',
  '<a/><b/>',
  '<a/>x',
  '<a/><![CDATA[x]]>',
  '<a><b>tex',
  '<a><b attr="1"',
  '<a>salt & pepper</a>',
  '<a b="salt & pepper"/>',
  '<a>&</a>',
  '<a>&nbsp;</a>',
  '<a>&#65</a>',
  '<a>&#0;</a>',
  '<a>&#xD800;</a>',
  '<a>&#x110000;</a>',
  '<a>\u0001</a>',
  '<a>\u000b</a>',
  '<a>\ufffe</a>',
  '<a>]]></a>',
  '<a b="<"/>',
  '<a b=1/>',
  '<a b/>',
  '<a b="1" b="2"/>',
  '<a xmlns:x="urn:1" xmlns:y="urn:1" x:b="1" y:b="2"/>',
  '<a b="1"c="2"/>',
  '<x:a/>',
  '<a x:b="1"/>',
  '<x:a><b xmlns:x="urn:1"/></x:a>',
  '<a:b:c xmlns:a="urn:1"/>',
  '<1a/>',
  '< a/>',
  '<a><!-- </a>',
  '<a><!-- a -- b --></a>',
  '<a><![CDATA[x</a>',
  '<a><?pi </a>',
  '<a><?xml version="1.0"?></a>',
  ' <?xml version="1.0"?><a/>',
  '<?xml encoding="UTF-8"?><a/>',
];

describe('malformed XML', () => {
  test.each(ILL_FORMED)('%j is refused', (text) => {
    expect(failure(text).message).toMatch(/line \d+, byte \d+/);
  });

  test('a DTD is refused, and nothing of it is expanded or fetched', () => {
    const external = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>';
    expect(failure(external).message).toContain('DTD');
  });

  test('elements nested endlessly are refused', () => {
    expect(failure('<a>'.repeat(100_000)).message).toContain('nested');
  });
});
