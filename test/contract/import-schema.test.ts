import { describe, expect, test } from 'vitest';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { importXml } from '../support/contract-requests.ts';
import { expectAgainstSchema, expectDetail, expectInvalid, useMock } from './contract-import.ts';

const { mock, token, send, finds } = useMock();

describe('Import: schema declaration (A-DECLARE-1 to A-DECLARE-4, A-IMPORT-10)', () => {
  const document = (replace: (xml: string) => string) =>
    importXml(mock(), replace(makeDocument(mock(), smallestFind())), { token: token() });

  test.each([
    ['another version of the namespace', (xml: string) => xml.replaceAll('/2.2/', '/2.1/')],
    [
      'another prefix',
      (xml: string) => xml.replace('xmlns:svc', 'xmlns:amcr').replaceAll('svc:', 'amcr:'),
    ],
    [
      'a default namespace',
      (xml: string) => xml.replace('xmlns:svc', 'xmlns').replaceAll('svc:', ''),
    ],
  ])('%s answers 422', async (_, replace) => {
    expectDetail(await document(replace), 422);
  });

  test.each([
    ['no schemaLocation', (xml: string) => xml.replace(/ xsi:schemaLocation="[^"]*"/, '')],
    [
      'an empty schemaLocation',
      (xml: string) => xml.replace(/xsi:schemaLocation="[^"]*"/, 'xsi:schemaLocation=" "'),
    ],
    [
      'an odd number of entries',
      (xml: string) => xml.replace(/svc\.xsd">/, 'svc.xsd http://www.opengis.net/gml/3.2">'),
    ],
    ['another schema address', (xml: string) => xml.replace('2.2/svc.xsd"', '2.1/svc.xsd"')],
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
    await mock().control('PUT', '/settings', { allowed_schema_versions: ['2.1'] });
    expectDetail(await send(smallestFind()), 422);
    await mock().control('PUT', '/settings', { allowed_schema_versions: ['2.1', '2.2'] });
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('a schema file that cannot be loaded answers 422 without a line', async () => {
    await mock().control('PUT', '/settings', { schema_reachable: false });
    const [entry] = expectInvalid(await send(smallestFind()));
    expect(entry?.line).toBeNull();
  });
});

describe('Import: schema and root (A-DECLARE-5, A-IMPORT-2, A-IMPORT-9, A-IMPORT-11)', () => {
  test.each([
    ['no projekt', { projekt: undefined }],
    ['no stav', { stav: undefined }],
    ['no geom_system', { geom_system: undefined }],
    ['no pristupnost', { pristupnost: undefined }],
    ['no xml:lang', { pristupnost: '<svc:pristupnost id="HES-000865">anonym</svc:pristupnost>' }],
    ['no id', { projekt: '<svc:projekt>C-202400101</svc:projekt>' }],
    ['an unknown element', { stav: '<svc:stav>1</svc:stav><svc:barva>modrá</svc:barva>' }],
    [
      'elements out of order',
      { projekt: '<svc:hloubka>3</svc:hloubka><svc:projekt id="C-202400101"/>' },
    ],
  ])('%s is a violation of the schema', async (_, changes) => {
    const [entry] = expectAgainstSchema(await send(smallestFind(changes)));
    expect(entry?.line).toBeGreaterThan(1);
  });

  test.each(['"x"', 'SYSTEM "file:///etc/hostname"'])(
    'a reference to an entity (%s) is not resolved',
    async (entity) => {
      const content = smallestFind({ poznamka: '<svc:poznamka>&e;</svc:poznamka>' });
      const xml = makeDocument(mock(), content).replace(
        '?>',
        `?><!DOCTYPE svc [<!ENTITY e ${entity}>]>`,
      );
      expectAgainstSchema(await importXml(mock(), xml, { token: token() }));
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

  test.each([
    ['predano TRUE', { predano: '<svc:predano>TRUE</svc:predano>' }],
    ['predano yes', { predano: '<svc:predano>yes</svc:predano>' }],
    ['a depth with a decimal point', { hloubka: '<svc:hloubka>1.5</svc:hloubka>' }],
    ['a date with a slash', { datum_nalezu: '<svc:datum_nalezu>2024/05/06</svc:datum_nalezu>' }],
    [
      'a day that does not exist',
      { datum_nalezu: '<svc:datum_nalezu>2023-02-29</svc:datum_nalezu>' },
    ],
  ])('%s is a violation of the schema', async (_, changes) => {
    expectAgainstSchema(await send(findLines(2, changes)));
  });

  test.each(['geom_updated_at', 'geom_sjtsk_updated_at'])(
    '%s is a violation of the schema',
    async (name) => {
      const timestamp = `<svc:${name}>2024-01-01T00:00:00Z</svc:${name}>`;
      expectAgainstSchema(
        await send(
          smallestFind({ geom_system: `<svc:geom_system>4326</svc:geom_system>${timestamp}` }),
        ),
      );
    },
  );

  test('two finds are a violation of the schema', async () => {
    expectAgainstSchema(await send(smallestFind() + smallestFind()));
    expect(await finds()).toBe(21);
  });

  test.each([
    ['empty', ''],
    ['text only', 'HTTP/1.1 403 Forbidden'],
  ])('a root that is %s answers 400', async (_, content) => {
    expectDetail(await send(content), 400);
  });

  test('another entity, valid by the schema, answers 422', async () => {
    const person =
      '<svc:osoba><svc:ident_cely>OS-9</svc:ident_cely><svc:jmeno>A</svc:jmeno><svc:prijmeni>B</svc:prijmeni><svc:vypis>B, A.</svc:vypis><svc:vypis_cely>B, A</svc:vypis_cely></svc:osoba>';
    expectDetail(await send(person), 422);
  });

  test.each([
    ['a comment', '<!-- a note -->'],
    ['a processing instruction', '<?note x?>'],
  ])('%s beside the find answers 422', async (_, node) => {
    expectDetail(await send(node + smallestFind()), 422);
  });
});
