import { expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest } from '../support/contract-requests.ts';
import { tinyPng } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';
import { makeClientFolder, SERVICE_CLIENT, type ServiceClient } from './generated-client.ts';

const folder = makeClientFolder();

test('a client generated from the served description imports a find, sets its number and attaches a photograph', async () => {
  await using mock = await startMock();
  await folder.describe('service', `${mock.url}/openapi.json`);
  const { story } = await folder.load<ServiceClient>('client', SERVICE_CLIENT);
  const xml = makeDocument(mock, smallestFind());
  const photo = tinyPng(2);
  const { statuses, ident } = await story(
    mock.url,
    xml,
    contentDigest(xml),
    new Blob([new Uint8Array(photo)]),
    contentDigest(photo),
  );
  expect(statuses).toEqual([200, 201, 200, 201]);
  expect(
    ((await mock.control('GET', `/finds?text=${ident}`)).value as { finds: unknown[] }).finds,
  ).toMatchObject([{ ident, photos: [{}] }]);
  // A client does not compile with members that the description lacks.
  await expect(
    folder.load('wrong', SERVICE_CLIENT.replace('evidencni_cislo: ', 'number: ')),
  ).rejects.toThrow(/evidencni_cislo/);
});
