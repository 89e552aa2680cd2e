import { readFileSync } from 'node:fs';
import { request as overHttp, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { serveMock } from '../support/mock-process.ts';
import { listen } from '../support/raw-server.ts';
import { expectDone, expectEnded, makeHome, PROJECT } from '../support/run-pas.ts';
import { serve } from '../support/serve.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
/** A write interface that asks for a token, at any path. */
const asksForToken: RequestListener = (_, response) => {
  response.writeHead(401, { 'www-authenticate': 'Bearer' }).end('{}');
};

describe('pas init --set', () => {
  test('sets any key of the profile', async () => {
    const home = makeHome();
    const flags = ['--set', 'settle_ms=1000', '--set', 'allow_http=true', '--set', 'prefix=finds'];
    await home.do('init', mock.service.base_url, ...flags);
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      settleMs: 1000,
      allowHttp: true,
      prefix: 'finds',
    });
  });

  test.each([
    ['setle_ms=1', /unknown key setle_ms\.\n.*Known are base_url, .*settle_ms/],
    ['outbox=1', /unknown key outbox/],
    ['settle_ms', /needs a key and a value: key=value/],
    ['settle_ms=soon', /settle_ms must be a whole number/],
    ['allow_http=yes', /allow_http must be true or false/],
    ['schema_version=newest', /schema_version must be a version/],
    ['pacing=redis://:planted@127.0.0.1/0', /password/],
  ])('refuses %s with a reason', async (setting, reason) => {
    const run = await makeHome().pas('init', mock.service.base_url, '--set', setting);
    await expectEnded(run, 12, reason);
    expect(run.stderr).not.toContain('planted');
  });
});

describe('pas init with one address of the service', () => {
  test.each([
    ['as the mock server prints it', ''],
    ['with a slash at the end', '/'],
    ['of the harvesting endpoint', '/oai'],
    ['of a harvesting request', '/2.2/oai?verb=Identify'],
    ['of the sign-in', '/api/token-auth/'],
    ['of the import', '/api/pas/import-xml'],
    ['of the API', '/api'],
    ['of the schema', '/schema/svc/2.2/svc.xsd'],
    ['of a record', '/id/C-202400101'],
    ['of a page', '/some/page/of#it'],
  ])('finds the others and shows them: %s', async (_, path) => {
    const { base_url, oai_base, schema_base } = mock.service;
    const home = makeHome();
    const run = await home.do('init', `${base_url}${path}`);
    for (const address of [base_url, oai_base, schema_base])
      expect(run.stderr).toContain(`: ${address}\n`);
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: base_url,
      oaiBase: oai_base,
      schemaBase: schema_base,
      // The mock says by its header Server that nothing in it is real.
      kind: 'training',
      prefix: 'svc',
    });
  });

  test('accepts a host of this machine without the scheme', async () => {
    const home = makeHome();
    await home.do('init', mock.service.base_url.replace('http://', ''));
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: mock.service.base_url,
    });
  });

  test('finds another prefix and another root of the schemas', async () => {
    await using other = await serveMock(
      '--prefix',
      'finds',
      '--schema-base',
      'http://127.0.0.1:1/schemas/of/finds',
    );
    const home = makeHome();
    await home.do('init', other.base_url);
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      prefix: 'finds',
      schemaBase: 'http://127.0.0.1:1/schemas/of/finds',
    });
  });

  test('finds a training instance, and says that it has no harvesting interface', async () => {
    await using training = await serveMock('--training');
    const home = makeHome();
    const run = await home.do('init', training.base_url);
    expect(run.stderr).toContain('It has no harvesting interface.');
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: training.base_url,
      schemaBase: training.schema_base,
      kind: 'training',
    });
    await home.do('init', training.base_url, '--name', 'both', '--oai-base', mock.service.oai_base);
    expect(await home.json('profile', 'show', 'both')).toMatchObject({
      oaiBase: mock.service.oai_base,
      schemaBase: training.schema_base,
    });
  });

  test('follows a redirect to https', async () => {
    const port = await freePort();
    const pem = (name: string): string => join(PROJECT, 'test', 'fixtures', 'tls', `${name}.pem`);
    const secure = createSecureServer(
      { key: readFileSync(pem('key')), cert: readFileSync(pem('cert')) },
      (request, response) => {
        const { method, url: path, headers } = request;
        const to = { host: '127.0.0.1', port, method, path, headers };
        overHttp(to, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        }).end();
      },
    );
    await using front = await listen(secure);
    const address = `https://127.0.0.1:${front.port}`;
    await using behind = await serveMock('--public-url', address, '--port', String(port));
    expect(behind.base_url).toBe(address);
    const plain = await serve((request, response) => {
      response.writeHead(301, { location: `${address}${request.url}` }).end();
    });
    const home = makeHome({ NODE_EXTRA_CA_CERTS: pem('cert') });
    await expectDone(home.start('init', plain).ended);
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: address,
      oaiBase: address,
      kind: 'training',
    });
  });

  test('sends no credential', async () => {
    const requestUrls: string[] = [];
    const address = await serve((request, response) => {
      const { authorization = '', cookie = '' } = request.headers;
      requestUrls.push(`${request.method} ${authorization}${cookie}`);
      asksForToken(request, response);
    });
    const home = makeHome({
      PAS_USERNAME: 'eva',
      PAS_PASSWORD: 'planted',
      PAS_TOKEN: 'planted-token',
    });
    await home.pas(
      'init',
      address,
      '--username',
      'eva',
      '--oai-auth',
      'basic',
      '--kind',
      'training',
    );
    expect(requestUrls.length).toBeGreaterThan(1);
    expect(new Set(requestUrls)).toEqual(new Set(['GET ']));
  });

  test('makes no request to an address without TLS', async () => {
    const home = makeHome();
    const run = await home.pas('init', 'http://finds.invalid/oai');
    await expectEnded(run, 12, 'https://finds.invalid does not answer');
    expect(run.stderr).not.toContain('http://finds.invalid');
  });

  test('names the flags for what the service does not publish', async () => {
    const address = await serve(asksForToken);
    const home = makeHome();
    const run = await home.pas('init', address);
    await expectEnded(
      run,
      12,
      'address below which the schemas are, production or training instance',
    );
    expect(run.stderr).toContain('--schema-base=ADDRESS --kind=production|training');
    await home.do(
      'init',
      address,
      '--schema-base',
      `${address}/schema/svc`,
      '--kind',
      'production',
    );
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: address,
      kind: 'production',
    });
  });

  test('treats a service that also harvests at that address as production', async () => {
    const { base_url } = mock.service;
    const address = await serve((request, response) => {
      void fetch(`${base_url}${request.url}`).then(async (answer) => {
        const text = await answer.text();
        response
          .writeHead(answer.status, { 'www-authenticate': 'Bearer', 'content-type': 'text/xml' })
          .end(text);
      });
    });
    const home = makeHome();
    await home.do('init', address);
    expect(await home.json('profile', 'show', 'default')).toMatchObject({
      baseUrl: address,
      oaiBase: address,
      kind: 'production',
    });
  });

  test('reports a server that is not a finds service', async () => {
    const address = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Hello</html>');
    });
    const home = makeHome();
    await expectEnded(
      home.pas('init', `${address}/a/b`),
      12,
      `${address} answers, but is not a finds service.`,
    );
    expect(await home.json('profile', 'list')).toEqual([]);
  });

  test('gives up an address that does not answer', async () => {
    const address = await serve(() => {});
    const startedAt = performance.now();
    await expectEnded(
      makeHome().pas('init', address),
      12,
      'does not answer: the answer took longer than 5 seconds.',
    );
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  test.each(['https://eva:planted@finds.invalid', 'finds', ''])(
    'refuses an invalid address: %s',
    async (text) => {
      const run = await makeHome().pas('init', text);
      await expectEnded(run, 12, 'This is not an address of a service');
      expect(run.stderr).not.toContain('planted');
    },
  );

  test('reads a profile of an institution from a file or an address', async () => {
    const { base_url, schema_base } = mock.service;
    const profile = `base_url = "${base_url}"\nschema_base = "${schema_base}"\nkind = "training"\n`;
    const address = await serve((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/profile.toml' }).end();
      else response.end(profile);
    });
    const home = makeHome();
    await home.do('init', '--from', `${address}/finds-profile.toml`);
    await home.do('init', '--from', home.file('finds.toml', profile), '--name', 'file');
    const part = home.file('part.toml', `[profiles.training]\n${profile}`);
    await home.do('init', '--from', part, '--name', 'part', '--username', 'eva');
    for (const name of ['default', 'file', 'part'])
      expect(await home.json('profile', 'show', name)).toMatchObject({ baseUrl: base_url });
    expect(await home.json('profile', 'show', 'part')).toMatchObject({ username: 'eva' });
    for (const [from, says] of [
      [`${address}/moved`, 'answered with status 302'],
      ['http://museum.example.org/profile.toml', 'not protected by TLS'],
    ] as const)
      await expectEnded(home.pas('init', '--from', from, '--name', 'other'), 12, says);
    const both = await home.pas('init', address, '--from', 'finds.toml');
    await expectEnded(both, 2, 'not both');
    const refused = await home.pas('init', '--from', 'https://eva:planted@127.0.0.1:9/x.toml');
    await expectEnded(refused, 5, 'https://***@127.0.0.1:9/x.toml did not answer');
  });

  test.each(['https://', 'http://eva:planted@', 'https://eva:plan/ted@museum.example.org/x.toml'])(
    'refuses %s as the address of a profile',
    async (from) => {
      const run = await makeHome().pas('init', '--from', from);
      await expectEnded(run, 12, 'This is not an address of a profile');
      expect(run.stderr).not.toContain('eva');
    },
  );

  test.each([
    ['is no TOML', '<html>', 'is not valid TOML'],
    ['has an unknown key', 'colour = "red"', 'unknown key colour'],
    ['allows addresses without TLS', 'allow_http = true', 'allows addresses without TLS'],
  ])(
    'makes no profile, and shows no password, of an address whose profile %s',
    async (_, text, says) => {
      const { host } = new URL(await serve((_request, response) => response.end(text)));
      const home = makeHome();
      const run = await home.pas('init', '--from', `http://eva:planted@${host}/x.toml`);
      await expectEnded(run, 12, `http://***@${host}/x.toml`);
      expect(run.stderr).toContain(says);
      expect(run.stderr).not.toContain('planted');
      expect(await home.json('profile', 'list')).toEqual([]);
    },
  );
});

test('pas init without an address says that it needs one', async () => {
  const { code, stderr } = await makeHome().pas('init');
  expect(code).toBe(2);
  expect(stderr).toContain('pas init needs an address of the service');
  expect(stderr).not.toContain('does not provide');
});
