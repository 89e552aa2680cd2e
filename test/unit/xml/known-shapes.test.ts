import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/base/package-root.ts';
import { compileSchema } from '../../../src/xml/xsd.ts';
import { entityValidator, SCHEMA_BASE } from '../../support/schema-validators.ts';

const examples = [1, 2, 3].map((state) =>
  readFileSync(join(packageRoot, `examples/find-state-${state}.xml`), 'utf8').replaceAll(
    /http:\/\/[^"]*?\/svc(?=\/2)/g,
    SCHEMA_BASE,
  ),
);

const TEXTS = [
  '',
  ' ',
  '1',
  '-7',
  '+02',
  '1.5',
  ' 12 ',
  '2024-02-29',
  '2023-02-29',
  'true',
  'ano',
  'HES-000561',
  ':tba',
  '5514',
  'cs',
  'Šťastný',
  '50° „s. š.“',
  '\ufffd',
  '\ufffe',
  '\u0001',
  '\u0085',
  '\r',
  '\t',
  'a\nb',
  '&amp;',
  '&',
  '&#65;',
  '<',
  '>',
  ']]>',
  '"',
  "'",
  '<!-- -->',
  '<![CDATA[1]]>',
  '<?x?>',
  '<b/>',
  '𐍈',
  'POINT (14.4 50.1)',
  'x" xsi:nil="true',
  'x" id="y',
];

/** A change of a document at its n-th text, attribute, or element; n counts round. */
const change = fc.record({
  at: fc.oneof(
    fc.constant('text'),
    fc.constant('value'),
    fc.constant('element'),
    fc.constant('twice'),
  ),
  nth: fc.nat(40),
  text: fc.constantFrom(...TEXTS),
});

const PLACES = {
  text: />[^<>]*<\//g,
  value: /(?<=\s)[\w:]+="[^"]*"/g,
  element: /<svc:(\w+)(?: [^>]*)?>[^<]*<\/svc:\1>/g,
  twice: /<svc:(\w+)(?: [^>]*)?>[^<]*<\/svc:\1>/g,
} as const;

function changed(
  document: string,
  { at, nth, text }: { at: keyof typeof PLACES; nth: number; text: string },
): string {
  const places = [...document.matchAll(PLACES[at])];
  const place = places[nth % Math.max(1, places.length)];
  if (place === undefined) return document;
  const [found] = place;
  const now = {
    text: `>${text}</`,
    value: `${found.slice(0, found.indexOf('"'))}"${text}"`,
    element: '',
    twice: found + found,
  }[at];
  return document.slice(0, place.index) + now + document.slice(place.index + found.length);
}

const document = fc
  .record({ example: fc.constantFrom(...examples), changes: fc.array(change, { maxLength: 3 }) })
  .map(({ example, changes }) => changes.reduce(changed, example));

/**
 * A processing instruction makes the shape of a document unusual, so that the library validates it.
 */
function withInstruction(text: string): string {
  return text.replace('?>', '?><?x?>');
}

/** More documents than a validator validates before it keeps their shapes. */
const MANY = 50;

describe('a validator that has seen documents', () => {
  test('judges each next one as the library does', async () => {
    const seen = await entityValidator('2.2');
    const library = await entityValidator('2.2');
    const judged = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(document, (text) => {
        const expected = library.validate(Buffer.from(withInstruction(text)));
        judged[expected.violations.length === 0 ? 'valid' : 'invalid'] += 1;
        for (let time = 0; time < 2; time++)
          expect(seen.validate(Buffer.from(text))).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
    expect(judged.valid).toBeGreaterThan(300);
    expect(judged.invalid).toBeGreaterThan(300);
  });

  test('accepts no bytes that are not UTF-8', async () => {
    const validator = await entityValidator('2.2');
    const bytes = Buffer.from(examples[1] ?? '');
    for (let time = 0; time < MANY; time++)
      expect(validator.validate(bytes).violations).toEqual([]);
    const at = bytes.indexOf('</svc:poznamka>');
    for (const byte of [0x80, 0xc3, 0xff]) {
      const broken = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from([byte]),
        bytes.subarray(at),
      ]);
      expect(validator.validate(broken).wellFormed).toBe(false);
    }
  });

  test.each([
    [
      'a key',
      'xs:string',
      '<xs:unique name="once"><xs:selector xpath="item"/><xs:field xpath="@id"/></xs:unique>',
    ],
    ['identifiers', 'xs:ID', ''],
  ])('validates every document of a schema with %s', async (_name, type, constraint) => {
    const item = `<xs:element name="item" maxOccurs="9"><xs:complexType><xs:attribute name="id" type="${type}"/></xs:complexType></xs:element>`;
    const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list">
      <xs:complexType><xs:sequence>${item}</xs:sequence></xs:complexType>${constraint}</xs:element></xs:schema>`;
    const validator = await compileSchema({ url: 'list.xsd', bytes: Buffer.from(schema) }, []);
    const isValid = (first: string, second: string) =>
      validator.validate(Buffer.from(`<list><item id="${first}"/><item id="${second}"/></list>`))
        .violations.length === 0;
    for (let time = 0; time < MANY; time++)
      expect([isValid('a', 'b'), isValid('b', 'a')]).toEqual([true, true]);
    expect(isValid('a', 'a')).toBe(false);
  });
});
