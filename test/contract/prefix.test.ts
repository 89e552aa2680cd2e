import { describe, expect, test } from 'vitest';
import { findLines, makeDocument } from '../support/contract-find.ts';
import { fetchToken, importXml, postFile, setNumber } from '../support/contract-requests.ts';
import { useTestMock } from '../support/start-mock.ts';
import { jpeg } from './contract-photographs.ts';
import { ask, fetchPages, parseError } from './raw-harvest.ts';
import { entityValidator, faults, SCHEMA_BASE, SCHEMA_VERSIONS } from './schema-validators.ts';

// The deployment's own prefix (S-NAME-3): it sets the root element, the namespace's last segment,
// the schema's file name and the native format.

const mock = await useTestMock({ prefix: 'amcr' });

/** A document typed for `svc`, in the deployment's spelling. */
const inPrefix = (xml: string) =>
  xml
    .replaceAll('svc:', 'amcr:')
    .replaceAll(':svc', ':amcr')
    .replaceAll('svc.xsd', 'amcr.xsd')
    .replaceAll('xmlns:svc', 'xmlns:amcr');

describe('a deployment with a prefix of its own', () => {
  test('serves its schemas at addresses that end with it', async () => {
    expect(mock.server.schema_base).toBe(`${mock.url}/schema/amcr`);
    for (const version of SCHEMA_VERSIONS) {
      const xsd = await fetch(`${mock.server.schema_base}/${version}/amcr.xsd`);
      expect(await xsd.text()).toContain(
        `targetNamespace="${mock.server.schema_base}/${version}/"`,
      );
      expect((await fetch(`${mock.server.schema_base}/${version}/svc.xsd`)).status).toBe(404);
      expect((await fetch(`${mock.url}/schema/svc/${version}/svc.xsd`)).status).toBe(404);
    }
  });

  test('accepts finds, numbers and photographs with it, and refuses another prefix', async () => {
    const token = await fetchToken(mock, 'archaeologist');
    const typed = makeDocument(mock, findLines(2));
    const refused = await importXml(mock, typed, { token });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('amcr')]);
    const accepted = await importXml(mock, inPrefix(typed), { token });
    expect(accepted.status, accepted.text).toBe(201);
    expect(accepted.text).toContain(`<amcr:amcr xmlns:xsi=`);
    const ident = accepted.headers.get('x-record-id') ?? '';
    expect((await setNumber(mock, ident, '?evidencni_cislo=A1', token)).text).toContain(
      '<amcr:evidencni_cislo>A1<',
    );
    const photo = { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) };
    expect(
      (await postFile(mock, `/api/pas/nalez/${ident}/upload-foto`, photo, { token })).text,
    ).toContain('<amcr:soubor>');
    const info = await fetch(`${mock.url}/api/uzivatel-info/`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await info.text()).toContain('<amcr:uzivatel>');
  });

  test('is harvested in a format of that name, valid by its own schema in every version', async () => {
    expect(parseError((await ask(mock, 'verb=ListRecords&metadataPrefix=oai_svc')).text)).toBe(
      'cannotDisseminateFormat',
    );
    for (const version of SCHEMA_VERSIONS) {
      const formats = (await ask(mock, 'verb=ListMetadataFormats', { version })).text;
      expect(formats).toContain(
        `<metadataPrefix>oai_amcr</metadataPrefix><schema>${mock.server.schema_base}/${version}/amcr.xsd<`,
      );
      const validator = await entityValidator(version, 'amcr');
      for (const page of await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_amcr', {
        version,
        as: 'archivist',
      })) {
        expect(page).not.toContain('svc:');
        for (const [, document = ''] of page.matchAll(/<metadata>(.*?)<\/metadata>/gs)) {
          expect(
            faults(validator, document.replaceAll(mock.server.schema_base, SCHEMA_BASE)).slice(
              0,
              2,
            ),
          ).toEqual([]);
        }
      }
    }
    expect((await fetch(`${mock.server.oai_base}/id/HES-000253`)).status).toBe(200);
    expect(await (await fetch(`${mock.server.oai_base}/id/HES-000253`)).text()).toContain(
      '<amcr:heslo>',
    );
  });
});
