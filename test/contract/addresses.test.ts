import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

const NAMESPACE = 'https://api.aiscr.cz/schema/amcr';
const inService = (xml: string) => xml.replaceAll(/\bsvc\b(?=[:= >.])/g, 'amcr');

const sendImport = async (mock: TestMock, xml: string) =>
  importXml(mock, xml, { token: await fetchToken(mock, 'archaeologist') });
const listed = async (url: string) =>
  (await fetch(`${url}/2.2/oai?verb=ListIdentifiers&metadataPrefix=oai_dc&set=heslo`)).text();

describe('Addresses that stay', () => {
  test.each(['/schema/svc/2.2/svc.xsd', '/openapi.json'])(
    '%s can be read, but not written',
    async (path) => {
      await using mock = await startMock();
      const fetchBy = (method: string) => fetch(mock.url + path, { method });
      expect([(await fetchBy('GET')).status, (await fetchBy('HEAD')).status]).toEqual([200, 200]);
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const { status, headers } = await fetchBy(method);
        expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      }
    },
  );

  test('accepts a document with the operator’s namespace on any port, and serves its schema', async () => {
    await using mock = await startMock({ schemaBase: 'https://finds.example.org/schema/svc' });
    expect(mock.server.schema_base).toBe('https://finds.example.org/schema/svc');
    const fixed = makeDocument(
      { server: { schema_base: 'https://finds.example.org/schema/svc' } },
      smallestFind(),
    );
    expect((await sendImport(mock, fixed)).status).toBe(201);
    const schema = await (await fetch(`${mock.url}/schema/svc/2.2/svc.xsd`)).text();
    expect(schema).toContain('targetNamespace="https://finds.example.org/schema/svc/2.2/"');
    expect(
      (
        await sendImport(
          mock,
          makeDocument({ server: { schema_base: `${mock.url}/schema/svc` } }, smallestFind()),
        )
      ).status,
    ).toBe(422);
  });

  test.each([
    [
      { schemaBase: 'https://finds.example.org/ns/finds' },
      ['/ns/finds/2.2/svc.xsd', '/schema/svc/2.2/svc.xsd'],
    ],
    [
      { publicUrl: 'https://mock.example.org/finds' },
      ['/finds/schema/svc/2.1/svc.xsd', '/schema/svc/2.1/svc.xsd'],
    ],
    [{ serviceNames: true }, ['/schema/amcr/2.2/amcr.xsd', '/schema/amcr/xml.xsd']],
  ])('with %j serves the schema by its own path as well', async (options, paths) => {
    await using mock = await startMock(options);
    for (const path of paths) {
      const answer = await fetch(`http://127.0.0.1:${mock.server.port}${path}`);
      expect([path, answer.status, (await answer.text()).includes('targetNamespace="')]).toEqual([
        path,
        200,
        true,
      ]);
    }
  });

  test('with the names of the deployed service accepts and returns its documents, and serves photographs itself', async () => {
    await using mock = await startMock({ serviceNames: true });
    const answer = await sendImport(
      mock,
      inService(makeDocument({ server: { schema_base: NAMESPACE } }, smallestFind())),
    );
    expect([answer.status, answer.headers.get('location')]).toEqual([
      201,
      `https://api.aiscr.cz/id/${answer.headers.get('x-record-id')}`,
    ]);
    expect(answer.text).toContain(`xmlns:amcr="${NAMESPACE}/2.2/"`);
    const page = await listed(mock.url);
    expect(page).toMatch(/<identifier>https:\/\/api\.aiscr\.cz\/id\/HES-/);
    const identifier = /<identifier>([^<]*)</.exec(page)?.[1] ?? '';
    const native = await fetch(
      `${mock.url}/2.2/oai?verb=GetRecord&metadataPrefix=oai_amcr&identifier=${identifier}`,
    );
    expect(await native.text()).toMatch(
      new RegExp(`<amcr:amcr [^>]*xmlns:amcr="${NAMESPACE}/2.2/"`),
    );
    const finds = await (
      await fetch(
        `${mock.url}/2.2/oai?verb=ListRecords&metadataPrefix=oai_amcr&set=samostatny_nalez`,
      )
    ).text();
    expect(finds).toContain(`${mock.url}/id/`);
  });

  test('as the deployed service with its names finds a record by the address that a client used, too', async () => {
    await using mock = await startMock({ serviceNames: true, deployed: true });
    for (const base of [mock.url, 'https://api.aiscr.cz']) {
      const query = `verb=GetRecord&metadataPrefix=oai_amcr&identifier=${base}/id/HES-000253`;
      const answer = await fetch(`${mock.url}/2.2/oai?${query}`);
      expect(await answer.text()).toContain('<identifier>https://api.aiscr.cz/id/HES-000253<');
    }
  });

  test('behind a proxy shows only the address that clients know, whatever Host header arrives', async () => {
    await using mock = await startMock({ publicUrl: 'https://mock.example.org/finds' });
    expect(mock.server).toMatchObject({
      base_url: 'https://mock.example.org/finds',
      control_url: 'https://mock.example.org/finds/__mock__',
    });
    const local = await listed(`http://127.0.0.1:${mock.server.port}`);
    expect(local).toContain('<request verb="ListIdentifiers"');
    expect(local).toContain('https://mock.example.org/finds/2.2/oai</request>');
    expect(local).toContain('<identifier>https://mock.example.org/finds/id/HES-');
  });
});
