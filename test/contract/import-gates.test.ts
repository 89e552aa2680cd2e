import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest, importXml, multipart, rawAnswer } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, token, send } = useMock();

describe('Import: gates (A-GATE-4, A-IMPORT-12, A-IMPORT-15, A-IMPORT-17)', () => {
  test('a closed interface answers 503', async () => {
    await mock().control('PUT', '/settings', { access_mode: 'closed' });
    const answer = await send(smallestFind());
    expectDetail(answer, 503);
    expect(answer.headers.get('retry-after')).toBeNull();
  });

  test('an Accept header without JSON answers 406', async () => {
    const answer = await importXml(mock(), makeDocument(mock(), smallestFind()), {
      token: token(),
      headers: { accept: 'application/xml' },
    });
    expectDetail(answer, 406);
  });

  test.each([
    ['no token', undefined],
    ['an unknown token', '0000000000000000000000000000000000000000'],
  ])('%s answers 401 with a challenge', async (_, bad) => {
    const answer = await importXml(
      mock(),
      makeDocument(mock(), smallestFind()),
      bad === undefined ? {} : { token: bad },
    );
    expectDetail(answer, 401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a token older than 24 hours answers 401', async () => {
    await mock().control('POST', '/clock', { advance_ms: 24 * 3_600_000 });
    expectDetail(await send(smallestFind()), 401);
  });

  test('a black-listed account answers 403', async () => {
    await mock().control('PUT', '/settings', {
      access_rules: [{ rule_type: 'user_blacklist', value: 'archaeologist@example.org' }],
    });
    expectDetail(await send(smallestFind()), 403);
  });

  test('two requests within the interval answer 429 to the second', async () => {
    await mock().control('PUT', '/settings', { min_request_intervals: { user_ms: 100, ip_ms: 0 } });
    await mock().control('POST', '/clock', { frozen: true });
    expect((await send(smallestFind())).status).toBe(201);
    expectDetail(await send(smallestFind()), 429);
  });

  test('GET on the import path answers 405', async () => {
    const response = await fetch(`${mock().url}/api/pas/import-xml`, {
      headers: { authorization: `Bearer ${token()}` },
    });
    expectDetail(await rawAnswer(response), 405);
  });

  test('a body that is not multipart answers 415', async () => {
    const response = await fetch(`${mock().url}/api/pas/import-xml`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/xml' },
      body: makeDocument(mock(), smallestFind()),
    });
    expectDetail(await rawAnswer(response), 415);
  });
});

describe('Import: bodies made to exhaust', () => {
  test.each([
    ['files', Array.from({ length: 300 }, () => ({ name: 'x', fileName: 'x', bytes: 'x' }))],
    ['fields', Array.from({ length: 3000 }, () => ({ name: 'x', bytes: 'x' }))],
  ])('thousands of %s in one form answer 400', async (_, parts) => {
    expectDetail(
      await importXml(mock(), makeDocument(mock(), smallestFind()), { token: token(), parts }),
      400,
    );
  });

  test('a geometry with two million blanks is refused at once', async () => {
    const geom_wkt = `<svc:geom_wkt EPSG="4326">POINT${' '.repeat(2_000_000)}x</svc:geom_wkt>`;
    const answer = await importXml(mock(), makeDocument(mock(), smallestFind({ geom_wkt })), {
      token: token(),
    });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('geom_wkt: ')]);
  });
});

describe('Import: file and digest (A-DIGEST-1 to A-DIGEST-3, A-IMPORT-7, A-IMPORT-8, A-IMPORT-11)', () => {
  test('no part named file answers 400', async () => {
    const bytes = Buffer.from(makeDocument(mock(), smallestFind()));
    const parts = [{ name: 'document', fileName: 'find.xml', bytes }];
    expectDetail(await importXml(mock(), bytes.toString(), { token: token(), parts }), 400);
  });

  test('a part named file without a file name is a field, whatever type it declares', async () => {
    const bytes = Buffer.from(makeDocument(mock(), smallestFind()));
    const parts = [{ name: 'file', type: 'application/octet-stream', bytes }];
    expectDetail(await importXml(mock(), bytes.toString(), { token: token(), parts }), 400);
    const beside = [...parts, { name: 'file', fileName: 'find.xml', bytes }];
    expect(
      (await importXml(mock(), bytes.toString(), { token: token(), parts: beside })).status,
    ).toBe(201);
  });

  test('a field named file that is not a file answers 400', async () => {
    const xml = makeDocument(mock(), smallestFind());
    const response = await fetch(`${mock().url}/api/pas/import-xml`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token()}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ file: xml }),
    });
    expectDetail(await rawAnswer(response), 415);
  });

  test('no Content-Digest answers 400', async () => {
    expectDetail(
      await importXml(mock(), makeDocument(mock(), smallestFind()), {
        token: token(),
        digest: null,
      }),
      400,
    );
  });

  test.each([
    ['another algorithm', (xml: string) => contentDigest(xml).replace('sha-512', 'sha-256')],
    ['another algorithm first', (xml: string) => `sha-256=:AAAA:, ${contentDigest(xml)}`],
    ['no colons', (xml: string) => contentDigest(xml).replaceAll(':', '')],
    ['no closing colon', (xml: string) => contentDigest(xml).slice(0, -1)],
    ['bare Base64', (xml: string) => contentDigest(xml).slice('sha-512=:'.length, -1)],
  ])('a Content-Digest of %s answers 400', async (_, spoil) => {
    const xml = makeDocument(mock(), smallestFind());
    expectDetail(await importXml(mock(), xml, { token: token(), digest: spoil(xml) }), 400);
  });

  test('a Content-Digest that is not Base64 answers 400', async () => {
    for (const digest of ['sha-512=:A:', 'sha-512=::', 'sha-512=:']) {
      expectDetail(
        await importXml(mock(), makeDocument(mock(), smallestFind()), { token: token(), digest }),
        400,
      );
    }
  });

  test.each([
    ['of other bytes', contentDigest('other')],
    ['over the hexadecimal digest', contentDigest('cf83e1357eefb8bd')],
  ])('a Content-Digest %s answers 400', async (_, digest) => {
    expectDetail(
      await importXml(mock(), makeDocument(mock(), smallestFind()), { token: token(), digest }),
      400,
    );
  });

  test('a Content-Digest over the whole multipart body answers 400', async () => {
    const bytes = Buffer.from(makeDocument(mock(), smallestFind()));
    const digest = contentDigest(
      multipart([{ name: 'file', fileName: 'find.xml', type: 'application/xml', bytes }]),
    );
    expectDetail(await importXml(mock(), bytes.toString(), { token: token(), digest }), 400);
  });

  test.each([
    ['an empty file', ''],
    ['text', 'find'],
    ['an unclosed element', '<svc:svc xmlns:svc="x"><svc:samostatny_nalez>'],
    ['an undefined entity', '<a>&nope;</a>'],
    ['a wrong encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>'],
  ])('%s answers 400', async (_, xml) => {
    expectDetail(await importXml(mock(), xml, { token: token() }), 400);
  });
});
