import { expect, test } from 'vitest';
import { compileSchema } from '../../src/base/xml/xsd.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { startMock } from '../support/start-mock.ts';

const NOTHING =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:nothing"/>';

async function statusOfImport(): Promise<number> {
  await using mock = await startMock();
  const token = await fetchToken(mock, 'archaeologist');
  return (await importXml(mock, makeDocument(mock, smallestFind()), { token })).status;
}

test('mock servers accept finds even if a client in the same process compiles schemas of its own', async () => {
  expect(await statusOfImport()).toBe(201);
  (await compileSchema({ url: 'nothing.xsd', bytes: Buffer.from(NOTHING) }, []))[Symbol.dispose]();
  expect(await statusOfImport()).toBe(201);
});
