import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest, importXml } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, token } = await useMock();

describe('Import: bodies made to exhaust', () => {
  test.each([
    ['files', Array.from({ length: 300 }, () => ({ name: 'x', fileName: 'x', bytes: 'x' }))],
    ['fields', Array.from({ length: 3000 }, () => ({ name: 'x', bytes: 'x' }))],
  ])('thousands of %s in one form answer 400', async (_, parts) => {
    expectDetail(
      await importXml(mock, makeDocument(mock, smallestFind()), { token: token(), parts }),
      400,
    );
  });

  test('a geometry with two million blanks is refused at once', async () => {
    const geom_wkt = `<svc:geom_wkt EPSG="4326">POINT${' '.repeat(2_000_000)}x</svc:geom_wkt>`;
    const answer = await importXml(mock, makeDocument(mock, smallestFind({ geom_wkt })), {
      token: token(),
    });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('geom_wkt: ')]);
  });
});

describe('Import: file and digest (A-DIGEST-1 to A-DIGEST-3, A-IMPORT-7, A-IMPORT-8, A-IMPORT-11)', () => {
  test('a part named file without a file name is a field, whatever type it declares', async () => {
    const bytes = Buffer.from(makeDocument(mock, smallestFind()));
    const parts = [{ name: 'file', type: 'application/octet-stream', bytes }];
    expectDetail(await importXml(mock, bytes.toString(), { token: token(), parts }), 400);
    const beside = [...parts, { name: 'file', fileName: 'find.xml', bytes }];
    expect(
      (await importXml(mock, bytes.toString(), { token: token(), parts: beside })).status,
    ).toBe(201);
  });

  test.each([
    ['another algorithm first', (xml: string) => `sha-256=:AAAA:, ${contentDigest(xml)}`],
    ['no colons', (xml: string) => contentDigest(xml).replaceAll(':', '')],
    ['no closing colon', (xml: string) => contentDigest(xml).slice(0, -1)],
    ['a single letter', () => 'sha-512=:A:'],
    ['nothing', () => 'sha-512=::'],
    ['an open end', () => 'sha-512=:'],
    ['bare Base64', (xml: string) => contentDigest(xml).slice('sha-512=:'.length, -1)],
  ])('a Content-Digest of %s answers 400', async (_, spoil) => {
    const xml = makeDocument(mock, smallestFind());
    expectDetail(await importXml(mock, xml, { token: token(), digest: spoil(xml) }), 400);
  });

  test.each([
    ['an empty file', ''],
    ['text', 'find'],
    ['an undefined entity', '<a>&nope;</a>'],
    ['a wrong encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>'],
  ])('%s answers 400', async (_, xml) => {
    expectDetail(await importXml(mock, xml, { token: token() }), 400);
  });
});
