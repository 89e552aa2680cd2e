import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import {
  buildDocument,
  findSchemaProblem,
  getSchemaLocation,
  MAX_SCHEMA_BYTES,
  openFindSchema,
  readBundledSchema,
} from '../../../src/finds/document.ts';
import { aFind, PROFILE } from './a-find.ts';

const url = getSchemaLocation(PROFILE);
const XML_IMPORT = /<xs:import [^>]*\/>/;

async function ownSchema(change: (text: string) => string = (text) => text) {
  const { bytes } = await readBundledSchema(PROFILE);
  const text = bytes.toString().replace('../../xml/xml.xsd', 'https://www.w3.org/2001/xml.xsd');
  return { url, bytes: Buffer.from(change(text)) };
}

test('an own schema is used wherever its imports are, since they are read from local copies', async () => {
  const gml =
    '<xs:import namespace="http://www.opengis.net/gml/3.2" schemaLocation="https://schemas.opengis.net/gml/3.2.1/gml.xsd"/>';
  const own = await ownSchema((text) =>
    text
      .replace(XML_IMPORT, (found) => `${found}${gml}`)
      .replace('processContents="skip"', 'processContents="strict"'),
  );
  expect(await findSchemaProblem(own, PROFILE)).toBeUndefined();
  const schema = await openFindSchema(PROFILE, async () => own);
  expect(schema.check(buildDocument(aFind(), PROFILE))).toEqual([]);
});

test('a schema version unknown to pas is validated with the own schema', async () => {
  const newer = { ...PROFILE, schemaVersion: '2.3' };
  await expect(openFindSchema(newer)).rejects.toThrow(ConfigError);
  const own = await ownSchema((text) =>
    text
      .replaceAll('/2.2/', '/2.3/')
      .replace('name="hloubka" type="xs:integer"', 'name="hloubka" type="xs:decimal"'),
  );
  expect(await findSchemaProblem(own, newer)).toBeUndefined();
  const schema = await openFindSchema(newer, async () => own);
  expect(schema.check(buildDocument(aFind(), newer))).toEqual([]);
});

describe('refused as a schema', () => {
  test.each([
    [
      'a page of HTML',
      () => '<!DOCTYPE html><html><body>404</body></html>',
      /not a complete XML document: .*DTD/,
    ],
    ['XHTML', () => '<html xmlns="http://www.w3.org/1999/xhtml"/>', /its root is <html>/],
    [
      'one that is cut off',
      (text: string) => text.slice(0, text.length / 2),
      /not a complete XML document/,
    ],
    [
      'one of another version',
      (text: string) => text.replaceAll('/2.2/', '/2.1/'),
      /its namespace is ".*\/2\.1\/", not .*\/2\.2\//,
    ],
    [
      'one with another root',
      (text: string) => text.replace('<xs:element name="svc">', '<xs:element name="other">'),
      /does not declare the element svc/,
    ],
    [
      'one that is faulty',
      (text: string) => text.replaceAll('type="refType"', 'type="noType"'),
      /cannot be used: .*noType/s,
    ],
    [
      'one of several files',
      (text: string) => text.replace(XML_IMPORT, '<xs:include schemaLocation="more.xsd"/>'),
      /needs other files.*more\.xsd/,
    ],
    [
      'one that imports what is not here',
      (text: string) =>
        text.replace(XML_IMPORT, '<xs:import namespace="urn:y" schemaLocation="y.xsd"/>'),
      /needs other files.*y\.xsd/,
    ],
    [
      'one that unfolds without end',
      (text: string) =>
        text
          .replace(
            '</xs:schema>',
            '<xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group></xs:schema>',
          )
          .replace('<xs:choice minOccurs="0">', '<xs:choice minOccurs="0"><xs:group ref="g"/>'),
      /[Cc]ircular/,
    ],
    ['one that is too big', (text: string) => text + ' '.repeat(MAX_SCHEMA_BYTES), /bytes/],
    [
      'one in another encoding than it says',
      (text: string) => text.replace('<!--', '<!-- \u00e1').replace('UTF-8', 'US-ASCII-NOT'),
      /cannot be read as/,
    ],
  ])('%s', async (_, change, problem) => {
    expect(String(await findSchemaProblem(await ownSchema(change), PROFILE))).toMatch(problem);
  });

  test('a damaged stored schema is a configuration error, with the way out', async () => {
    const opening = openFindSchema(PROFILE, async () => ({ url, bytes: Buffer.from('<x/') }));
    await expect(opening).rejects.toMatchObject({
      exitReason: 'config',
      hint: expect.stringContaining('--bundled'),
    });
  });
});
