import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, basic, parseError, parseHeaders, parseRecords, parseToken } from './raw-harvest.ts';

// Addresses, methods, credentials and encodings of the harvesting interface.

const mock = await useTestMock();

const USERS = 'verb=ListRecords&metadataPrefix=oai_dc&set=uzivatel';

describe('addresses', () => {
  test('a posted form is not lost in the redirect', async () => {
    const response = await fetch(`${mock.server.oai_base}/oai`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'verb=Identify',
    });
    expect(response.url).toBe(`${mock.server.oai_base}/2.2/oai`);
    expect(await response.text()).toContain('<Identify>');
  });

  test.each(['/2.3/oai', '/v2.2/oai', '/2.2/oai/', '/2.2', '/id/', '/id/HES-000253/x'])(
    '%s does not exist',
    async (path) => {
      expect((await fetch(`${mock.server.oai_base}${path}?verb=Identify`)).status).toBe(404);
    },
  );

  test('a planned outage answers 503 with a page and without Retry-After', async () => {
    await mock.settings({ outage: true });
    const { status, headers } = await ask(mock, 'verb=Identify');
    expect([status, headers.get('content-type'), headers.get('retry-after')]).toEqual([
      503,
      'text/html; charset=utf-8',
      null,
    ]);
  });
});

describe('methods', () => {
  test('POST with a form answers as GET does', async () => {
    const query = 'verb=ListIdentifiers&metadataPrefix=oai_dc&set=heslo%3Aobdobi';
    const posted = await ask(mock, query, { method: 'POST' });
    const answer = await ask(mock, query);
    expect(parseHeaders(posted.text)).toEqual(parseHeaders(answer.text));
    expect(posted.text).toContain('set="heslo:obdobi"');
  });

  test('arguments of the form and of the query count together', async () => {
    const post = (query: string, body: string): Promise<string> =>
      fetch(`${mock.server.oai_base}/2.2/oai${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      }).then((response) => response.text());
    expect(await post('?verb=Identify', '')).toContain('<Identify>');
    expect(parseError(await post('?verb=Identify', 'verb=Identify'))).toBe('badVerb');
  });

  test('other kinds of body, and an endless one, are refused', async () => {
    const post = (type: string, body: string): Promise<number> =>
      fetch(`${mock.server.oai_base}/2.2/oai`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      }).then((response) => response.status);
    expect(await post('application/json', '{"verb":"Identify"}')).toBe(415);
    expect(
      await post('application/x-www-form-urlencoded', `verb=Identify&x=${'y'.repeat(100_000)}`),
    ).toBe(413);
  });

  test('PUT and DELETE are refused', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${mock.server.oai_base}/2.2/oai?verb=Identify`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    }
  });

  test('HEAD has the headers of GET and no body', async () => {
    const response = await fetch(`${mock.server.oai_base}/2.2/oai?verb=Identify`, {
      method: 'HEAD',
    });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(500);
  });
});

describe('credentials', () => {
  /** Whose records can be read: the others' hold the refusal. */
  const readable = (text: string): string[] =>
    [...parseRecords(text)]
      .filter(([, xml]) => !xml.includes('HTTP/1.1 403 Forbidden'))
      .map(([ident]) => ident);

  test('are sent by HTTP Basic with every request, by user name or e-mail address', async () => {
    for (const name of ['archaeologist', 'archaeologist@example.org']) {
      const { text } = await ask(mock, USERS, {
        headers: { authorization: basic(name, 'archaeologist') },
      });
      expect(readable(text)).toEqual(['U-000408']);
    }
  });

  test('may contain a colon in the password, and the scheme is matched in any case', async () => {
    const { status } = await ask(mock, USERS, {
      headers: { authorization: basic('archaeologist', 'archae:ologist') },
    });
    expect(status).toBe(401);
    const lower = basic('archaeologist', 'archaeologist').replace('Basic', 'bAsIc');
    expect((await ask(mock, USERS, { headers: { authorization: lower } })).status).toBe(200);
  });

  test('may be a bearer token of the write interface', async () => {
    const response = await fetch(`${mock.url}/api/token-auth/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"username":"researcher","password":"researcher"}',
    });
    const { token } = (await response.json()) as { token: string };
    const authorization = `Bearer ${token}`;
    const { text } = await ask(mock, USERS, { headers: { authorization } });
    expect(readable(text)).toEqual(['U-000102']);
    await mock.clock({ advance_ms: 86_400_001 });
    expect((await ask(mock, USERS, { headers: { authorization } })).status).toBe(401);
  });

  const refused: ReadonlyArray<readonly [title: string, authorization: string]> = [
    ['the password is wrong', basic('archaeologist', 'wrong')],
    ['nobody has the name', basic('nobody', 'nobody')],
    ['the account is inactive', basic('inactive', 'inactive')],
    ['there is no colon in them', `Basic ${Buffer.from('archaeologist').toString('base64')}`],
    ['they are no Base64', 'Basic %%%'],
    ['the token is invented', 'Bearer 0123456789012345678901234567890123456789'],
    ['the scheme is unknown', 'Digest username="archaeologist"'],
  ];
  test.each(refused)('are refused with a challenge when %s', async (_title, authorization) => {
    const { status, headers, text } = await ask(mock, 'verb=Identify', {
      headers: { authorization },
    });
    expect([status, text]).toEqual([401, 'Invalid credentials']);
    expect(headers.get('www-authenticate')).toMatch(/^Basic realm=/);
  });
});

describe('gzip', () => {
  const raw = (
    acceptEncoding: string | undefined,
  ): Promise<{ encoding: string | undefined; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
      request(`${mock.server.oai_base}/2.2/oai?verb=ListSets`, { headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({ encoding: response.headers['content-encoding'], body: Buffer.concat(parts) }),
        );
      })
        .on('error', reject)
        .end();
    });

  test.each(['gzip', 'deflate, gzip;q=0.5', '*'])(
    'is used for a client that accepts "%s"',
    async (header) => {
      const { encoding, body } = await raw(header);
      const plain = (await raw('identity')).body.toString();
      expect(encoding).toBe('gzip');
      expect(
        gunzipSync(body)
          .toString()
          .replace(/<responseDate>.*?</, ''),
      ).toBe(plain.replace(/<responseDate>.*?</, ''));
    },
  );

  test.each([undefined, 'identity', 'gzip;q=0', 'br'])(
    'is not used for a client that accepts "%s"',
    async (header) => {
      const { encoding, body } = await raw(header);
      expect(encoding).toBeUndefined();
      expect(body.toString()).toContain('</OAI-PMH>');
    },
  );
});

describe('faults', () => {
  test('apply to the set or the record that is requested', async () => {
    await mock.faults({
      endpoint: 'oai',
      fault: 'oai-503',
      when: { ident: 'osoba' },
      retry_after: 3,
    });
    expect((await ask(mock, 'verb=Identify')).status).toBe(200);
    const { status, headers } = await ask(
      mock,
      'verb=ListIdentifiers&metadataPrefix=oai_dc&set=osoba',
    );
    expect([status, headers.get('retry-after')]).toEqual([503, '3']);
  });

  test('a truncated page can be requested again with the same token', async () => {
    const first = await ask(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc');
    const next = `verb=ListIdentifiers&resumptionToken=${encodeURIComponent(parseToken(first.text)?.text ?? '')}`;
    await mock.faults({ endpoint: 'oai', fault: 'reset-after-save', times: 1 });
    await expect(ask(mock, next)).rejects.toThrow();
    expect(parseHeaders((await ask(mock, next)).text)).toHaveLength(100);
  });
});
