import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWriteClient, type WriteClient } from '../../src/write-client.ts';
import { makeHome, PROJECT } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

const { folder } = makeHome();
let mock: TestMock;
let client: WriteClient;
const open = (baseUrl: string) =>
  openWriteClient({
    baseUrl,
    username: 'archaeologist',
    password: 'archaeologist',
    paceFile: join(folder, 'pace.sqlite'),
  });

beforeAll(async () => {
  // Shorter than the client's turns: the mock notes an arrival when this process has its turn,
  // which may be late.
  mock = await startMock({ minIntervalMs: 40 });
  client = open(mock.url);
});
afterAll(async () => {
  await client.close();
  await mock.close();
});

const document = () =>
  readFileSync(join(PROJECT, 'examples', 'find-state-2.xml'), 'utf8').replaceAll(
    'http://127.0.0.1:8099',
    mock.url,
  );

test('a find is created, numbered and photographed, each request in its turn', async () => {
  expect(await client.account()).toMatchObject({ role: 'archaeologist' });
  const outcome = await client.importFind(Buffer.from(document()));
  if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${outcome.kind}`);
  expect(await client.setNumber(outcome.identCely, 'A 12/2024')).toMatchObject({
    kind: 'accepted',
    identCely: outcome.identCely,
  });
  expect(await client.setNumber(outcome.identCely, 'A 12/2024')).toMatchObject({
    kind: 'already-applied',
  });
  const photo = join(PROJECT, 'examples', 'photos', 'KH24-001.jpg');
  expect(await client.addPhoto(outcome.identCely, photo)).toMatchObject({ kind: 'accepted' });
  const { value } = await mock.control('GET', '/journal');
  expect((value as { status: number }[]).filter(({ status }) => status === 429)).toEqual([]);
});

test('an expired token is renewed, and the request is repeated with the new one', async () => {
  await mock.clock({ advance_ms: 25 * 3600 * 1000 });
  expect(await client.importFind(Buffer.from(document()))).toMatchObject({ kind: 'accepted' });
});

test('an error that may hide a success is uncertain, and nothing is repeated', async () => {
  await mock.faults({ endpoint: 'import', fault: '500-after-save', times: 1 });
  await mock.control('DELETE', '/journal');
  expect(await client.importFind(Buffer.from(document()))).toMatchObject({ kind: 'uncertain' });
  const { value } = await mock.control('GET', '/journal');
  expect(value).toHaveLength(1);
});

test('an invalid photograph, an empty number and an unencrypted address are refused before anything is sent', async () => {
  await mock.control('DELETE', '/journal');
  await expect(client.addPhoto('C-202400101-N00001', join(PROJECT, 'README.md'))).rejects.toThrow(
    /an unknown format/,
  );
  await expect(client.setNumber('C-202400101-N00001', ' ')).rejects.toThrow(/empty/);
  expect(() => open('http://finds.example.org')).toThrow(/unencrypted/);
  expect(() => open('finds.example.org')).toThrow(/must be an address/);
  expect((await mock.control('GET', '/journal')).value).toEqual([]);
});
