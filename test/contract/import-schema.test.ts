import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { importXml } from '../support/contract-requests.ts';
import { expectAgainstSchema, expectDetail, expectInvalid, useMock } from './contract-import.ts';

const { mock, token, send } = await useMock();

describe('Import: schema declaration (A-DECLARE-1 to A-DECLARE-4, A-IMPORT-10)', () => {
  const document = (replace: (xml: string) => string) =>
    importXml(mock, replace(makeDocument(mock, smallestFind())), { token: token() });

  test.each([
    [
      'another prefix',
      (xml: string) => xml.replace('xmlns:svc', 'xmlns:amcr').replaceAll('svc:', 'amcr:'),
    ],
    [
      'a default namespace',
      (xml: string) => xml.replace('xmlns:svc', 'xmlns').replaceAll('svc:', ''),
    ],
    [
      'an empty schemaLocation',
      (xml: string) => xml.replace(/xsi:schemaLocation="[^"]*"/, 'xsi:schemaLocation=" "'),
    ],
    [
      'an odd number of entries',
      (xml: string) => xml.replace(/svc\.xsd">/, 'svc.xsd http://www.opengis.net/gml/3.2">'),
    ],
    [
      'another pair only',
      (xml: string) => xml.replace(/Location="[^"]*"/, 'Location="urn:a urn:b"'),
    ],
  ])('%s answers 422', async (_, replace) => {
    expectDetail(await document(replace), 422);
  });

  test('a further pair beside the right one is accepted', async () => {
    const answer = await document((xml) =>
      xml.replace(
        'svc.xsd">',
        'svc.xsd http://www.opengis.net/gml/3.2 http://schemas.opengis.net/gml.xsd">',
      ),
    );
    expect(answer.status, answer.text).toBe(201);
  });

  test('a version that the deployment does not allow answers 422', async () => {
    await mock.settings({ allowed_schema_versions: ['2.1'] });
    expectDetail(await send(smallestFind()), 422);
    await mock.settings({ allowed_schema_versions: ['2.1', '2.2'] });
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('a schema file that cannot be loaded answers 422 without a line', async () => {
    await mock.settings({ schema_reachable: false });
    const [entry] = expectInvalid(await send(smallestFind()));
    expect(entry?.line).toBeNull();
  });
});

describe('Import: schema and root (A-DECLARE-5, A-IMPORT-2, A-IMPORT-9, A-IMPORT-11)', () => {
  test.each(['"x"', 'SYSTEM "file:///etc/hostname"'])(
    'a reference to an entity (%s) is not resolved',
    async (entity) => {
      const content = smallestFind({ poznamka: '<svc:poznamka>&e;</svc:poznamka>' });
      const xml = makeDocument(mock, content).replace(
        '?>',
        `?><!DOCTYPE svc [<!ENTITY e ${entity}>]>`,
      );
      expectAgainstSchema(await importXml(mock, xml, { token: token() }));
    },
  );

  test('every violation is reported, with its own line', async () => {
    const entries = expectAgainstSchema(
      await send(
        smallestFind({
          hloubka: '<svc:hloubka>x</svc:hloubka>',
          datum_nalezu: '<svc:datum_nalezu>1. 5.</svc:datum_nalezu>',
          projekt: '<svc:projekt id="C-202400101"/>',
        }).replace('<svc:stav>1', '<svc:stav>one'),
      ),
    );
    expect(new Set(entries.map((entry) => entry.line)).size).toBeGreaterThan(1);
  });

  test('a root that is text only answers 400', async () => {
    expectDetail(await send('HTTP/1.1 403 Forbidden'), 400);
  });
});
