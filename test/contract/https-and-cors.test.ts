import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';
import { startMock } from '../support/start-mock.ts';

const pem = (name: string): string => join(PROJECT, 'test', 'fixtures', 'tls', `${name}.pem`);
const TLS = { tlsCert: pem('cert'), tlsKey: pem('key') };

function asked(
  url: string,
  options: RequestOptions = {},
  body = '',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      url,
      { ca: readFileSync(pem('cert')), agent: false, ...options },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    clientRequest.on('error', reject);
    clientRequest.end(body);
  });
}

describe('HTTPS', () => {
  test('is spoken by a server with a certificate, and its addresses use it', async () => {
    await using mock = await startMock(TLS);
    expect(mock.server.base_url).toMatch(/^https:/);
    const { text } = await asked(
      `${mock.server.oai_base}/2.2/oai?verb=ListIdentifiers&metadataPrefix=oai_dc&set=heslo`,
    );
    expect(text).toContain(`<identifier>${mock.server.oai_base}/id/HES-`);
    const state = JSON.parse((await asked(`${mock.server.control_url}/state`)).text) as {
      addresses: object;
    };
    const { base_url, oai_base, schema_base, control_url } = mock.server;
    expect(state.addresses).toEqual({ base_url, oai_base, schema_base, control_url });
    const origin = new URL(base_url).origin;
    expect((await asked(`${control_url}/state`, { headers: { origin } })).status).toBe(200);
    await expect(fetch(base_url.replace('https', 'http'))).rejects.toThrow();
  });

  test('ends at once, also with a connection whose client never greets', async () => {
    const mock = await startMock(TLS);
    const silent = connect(mock.server.port, '127.0.0.1');
    await once(silent, 'connect');
    expect((await asked(`${mock.server.control_url}/health`)).status).toBe(200);
    await Promise.all([mock.close(), once(silent, 'close')]);
  });

  test('supports faults that cut the connection', async () => {
    await using mock = await startMock(TLS);
    const rules = JSON.stringify([{ endpoint: 'token', fault: 'reset-before-save' }]);
    await asked(`${mock.server.control_url}/faults`, { method: 'PUT' }, rules);
    const headers = { 'content-type': 'application/json' };
    const body = '{"username":"archivist","password":"archivist"}';
    await expect(
      asked(`${mock.server.base_url}/api/token-auth/`, { method: 'POST', headers }, body),
    ).rejects.toThrow();
  });
});

describe('A web page of another origin', () => {
  const PAGE = 'http://localhost:5173';
  const preflight = (url: string, origin: string) => ({
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-digest',
    },
    url,
  });

  test('may use the service if the operator allows its origin, otherwise not', async () => {
    await using mock = await startMock({ cors: `${PAGE},http://other.example` });
    const url = `${mock.url}/api/pas/import-xml`;
    const before = await fetch(url, preflight(url, PAGE));
    expect([before.status, before.headers.get('access-control-allow-origin')]).toEqual([200, PAGE]);
    expect(before.headers.get('access-control-allow-headers')).toBe('authorization,content-digest');
    const refused = await fetch(url, { method: 'POST', headers: { origin: PAGE } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      401,
      PAGE,
    ]);
    expect(refused.headers.get('access-control-expose-headers')).toContain('Location');
    const elsewhere = await fetch(url, preflight(url, 'http://evil.example'));
    expect([elsewhere.status, elsewhere.headers.get('access-control-allow-origin')]).toEqual([
      401,
      null,
    ]);
  });

  test('may use the service if * is allowed, but never the control interface', async () => {
    await using mock = await startMock({ cors: '*' });
    const harvested = await fetch(`${mock.url}/2.2/oai?verb=Identify`, {
      headers: { origin: PAGE },
    });
    expect(harvested.headers.get('access-control-allow-origin')).toBe('*');
    await using named = await startMock({ cors: PAGE });
    const headers = (
      await fetch(`${named.url}/2.2/oai?verb=Identify`, { headers: { origin: PAGE } })
    ).headers;
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
    const control = await fetch(`${mock.server.control_url}/state`, { headers: { origin: PAGE } });
    expect([control.status, control.headers.get('access-control-allow-origin')]).toEqual([
      403,
      null,
    ]);
  });

  test('may not use the service by default', async () => {
    await using mock = await startMock();
    const { headers } = await fetch(`${mock.url}/2.2/oai?verb=Identify`, {
      headers: { origin: PAGE },
    });
    expect(headers.get('access-control-allow-origin')).toBe(null);
  });
});
