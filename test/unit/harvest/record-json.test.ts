import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildXml, type XmlNode } from '../../../src/base/xml/build.ts';
import type { XmlElement } from '../../../src/base/xml/element.ts';
import { parseXml } from '../../../src/base/xml/parse.ts';
import { type OaiRecord, parseOaiRecord } from '../../../src/harvest/protocol.ts';
import {
  type Json,
  readRepeatedElements,
  toElementJson,
  toHeaderJson,
  toRecordJson,
} from '../../../src/harvest/record-json.ts';

const repeated = readRepeatedElements('2.2');

function record(metadata: string, header = '', attributes = ''): OaiRecord {
  const text = `<record xmlns="http://www.openarchives.org/OAI/2.0/"><header${attributes}><identifier>https://h/id/X-1</identifier><datestamp>2025-01-02T03:04:05Z</datestamp>${header}</header>${metadata === '' ? '' : `<metadata>${metadata}</metadata>`}</record>`;
  const read = parseOaiRecord(parseXml(Buffer.from(text)).root);
  if (read === undefined) throw new Error('no record');
  return read;
}

const svc = (content: string): OaiRecord =>
  record(
    `<svc:svc xmlns:svc="urn:svc/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b">${content}</svc:svc>`,
    '<setSpec>heslo:obdobi</setSpec>',
  );
const dc = (content: string): OaiRecord =>
  record(
    `<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">${content}</oai_dc:dc>`,
  );

const getMetadata = (of: OaiRecord): Json | undefined => toRecordJson(of, repeated)['metadata'];

test('a record is its header with its metadata by the names of the service', () => {
  const find = svc(
    `<svc:samostatny_nalez><svc:ident_cely>X-1</svc:ident_cely><svc:okolnosti id="HES-1" xml:lang="cs"> pole </svc:okolnosti>
      <svc:poznamka/><svc:chranene_udaje><svc:geom_wkt EPSG="4326">POINT (1 2)</svc:geom_wkt></svc:chranene_udaje></svc:samostatny_nalez>`,
  );
  expect(toRecordJson(find, repeated)).toEqual({
    identifier: 'https://h/id/X-1',
    datestamp: '2025-01-02T03:04:05Z',
    sets: ['heslo:obdobi'],
    namespace: 'urn:svc/2.2/',
    metadata: {
      samostatny_nalez: {
        ident_cely: 'X-1',
        okolnosti: { '@id': 'HES-1', '@lang': 'cs', '#text': 'pole' },
        poznamka: null,
        chranene_udaje: { geom_wkt: { '@EPSG': '4326', '#text': 'POINT (1 2)' } },
      },
    },
  });
});

test('a repeatable element is always a list, but only where its parent permits repetition', () => {
  const document = svc(
    `<svc:dokument><svc:tvar><svc:tvar id="HES-2">x</svc:tvar></svc:tvar><svc:historie><svc:id>hist-1</svc:id></svc:historie></svc:dokument>`,
  );
  expect(getMetadata(document)).toEqual({
    dokument: { tvar: [{ tvar: { '@id': 'HES-2', '#text': 'x' } }], historie: [{ id: 'hist-1' }] },
  });
  const term = svc(
    '<svc:heslo><svc:heslo xml:lang="cs">raný středověk</svc:heslo><svc:odkaz><svc:id>1</svc:id></svc:odkaz></svc:heslo>',
  );
  expect(getMetadata(term)).toEqual({
    heslo: { heslo: { '@lang': 'cs', '#text': 'raný středověk' }, odkaz: [{ id: '1' }] },
  });
});

describe('withheld content in JSON', () => {
  const refusal = 'HTTP/1.1 403 Forbidden';

  test('is marked if a part is refused, and its text is omitted', () => {
    const find = svc(
      `<svc:samostatny_nalez><svc:chranene_udaje>\n ${refusal} </svc:chranene_udaje></svc:samostatny_nalez>`,
    );
    const json = toRecordJson(find, repeated);
    expect(json).toMatchObject({
      metadata: { samostatny_nalez: { chranene_udaje: { masked: true } } },
    });
    expect(JSON.stringify(json)).not.toContain('403');
  });

  test('is marked if the whole record is refused', () => {
    const json = toRecordJson(svc(` ${refusal} `), repeated);
    expect(json).toMatchObject({ identifier: 'https://h/id/X-1', masked: true });
    expect(json).not.toHaveProperty('metadata');
  });
});

test('a deleted record is marked and has no metadata', () => {
  expect(toRecordJson(record('', '', ' status="deleted"'), repeated)).toEqual({
    identifier: 'https://h/id/X-1',
    datestamp: '2025-01-02T03:04:05Z',
    sets: [],
    deleted: true,
  });
});

test('every field of Dublin Core is a list, even if the service nests it twice', () => {
  const fields =
    '<dc:title xml:lang="cs">Nález</dc:title><dc:title xml:lang="en">Find</dc:title><dc:type>t</dc:type>';
  const expected = {
    title: [
      { '@lang': 'cs', '#text': 'Nález' },
      { '@lang': 'en', '#text': 'Find' },
    ],
    type: ['t'],
  };
  expect(getMetadata(dc(fields))).toEqual(expected);
  expect(getMetadata(dc(`<oai_dc:dc>${fields}</oai_dc:dc>`))).toEqual(expected);
});

test('names with a meaning in JavaScript are only names', () => {
  const named = svc(
    '<svc:x><svc:__proto__><svc:a>1</svc:a></svc:__proto__><svc:constructor>2</svc:constructor></svc:x>',
  );
  expect(JSON.stringify(getMetadata(named))).toBe(
    '{"x":{"__proto__":{"a":"1"},"constructor":"2"}}',
  );
});

test('an excluded attribute name is omitted, and the last one occurs once', () => {
  const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  const text = (attributes: string) =>
    JSON.stringify(getMetadata(record(`<a xmlns="urn:a" ${attributes}>x</a>`)));
  expect(text('lang="cs" xml:lang="en" id="1"')).toBe('{"@lang":"en","@id":"1","#text":"x"}');
  expect(text(`lang="cs" ${xsi} xsi:lang="en"`)).toBe('{"@lang":"cs","#text":"x"}');
  expect(text('lang="&lt; &#x10D;"')).toBe('{"@lang":"< č","#text":"x"}');
});

test('an element that only looks like Dublin Core is a field', () => {
  expect(getMetadata(dc('<dc:dc>a</dc:dc>'))).toEqual({ dc: ['a'] });
  expect(getMetadata(dc('<oai_dc:title>a</oai_dc:title>'))).toEqual({ title: ['a'] });
});

test('a header alone is the header of its record', () => {
  const kept = {
    identifier: 'https://h/id/X-1',
    datestamp: '2025-01-02T03:04:05Z',
    sets: ['heslo:obdobi', 'x'],
  };
  const listed = record('<a/>', '<setSpec>heslo:obdobi</setSpec><setSpec>x</setSpec>');
  expect(toHeaderJson(listed)).toEqual(kept);
  const deleted = record('', '', ' status="deleted"');
  expect(toHeaderJson(deleted)).toEqual({ ...kept, sets: [], deleted: true });
});

/** JSON by the rules, made without care for time. */
function toModel(element: XmlElement): Json {
  const content: { [name: string]: Json } = {};
  for (const { name, value } of element.attributes) content[`@${name}`] = value;
  for (const name of new Set(element.children.map((child) => child.name))) {
    const values = element.children.filter((child) => child.name === name).map(toModel);
    content[name] = values.length > 1 ? values : (values[0] ?? null);
  }
  const text = element.text.trim();
  if (Object.keys(content).length === 0) return text === '' ? null : text;
  return text === '' ? content : { ...content, '#text': text };
}

const anyName = fc.constantFrom('a', 'b', 'c', 'č');
const anyText = fc.string({
  unit: fc.constantFrom('x', 'ž', ' ', '"', '\\', '\t', '\n', '\u007f', '\u2028', '\ud7ff', '𐏿'),
});
const { element: anyElement } = fc.letrec<{ element: XmlNode; content: XmlNode['content'] }>(
  (tie) => ({
    element: fc.record({
      name: anyName,
      attributes: fc.dictionary(anyName, anyText, { maxKeys: 3, noNullPrototype: true }),
      content: tie('content'),
    }) as fc.Arbitrary<XmlNode>,
    content: fc.oneof({ depthSize: 'small' }, anyText, fc.array(tie('element'), { maxLength: 5 })),
  }),
);

test('for any input the JSON of an element has its attributes, children and text', () => {
  fc.assert(
    fc.property(anyElement, (node) => {
      const { root } = parseXml(buildXml(node));
      expect(toElementJson(root)).toEqual(toModel(root));
    }),
  );
});

test('U+FEFF at the ends of a text is kept', () => {
  const of = svc('<svc:heslo><svc:nazev> \ufeffhrot\ufeff\u00a0</svc:nazev></svc:heslo>');
  expect(getMetadata(of)).toEqual({ heslo: { nazev: '\ufeffhrot\ufeff' } });
});
