import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type RequestListener } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { listen } from '../support/raw-server.ts';
import {
  accountFlags,
  atHost,
  expectEnded,
  type Home,
  makeHome,
  PROJECT,
  serviceAt,
  settledAfter,
} from '../support/run-pas.ts';
import { importSeason, sendSeason } from '../support/season.ts';
import { serve } from '../support/serve.ts';
import { useMock } from '../support/use-mock.ts';
import { HIDDEN_HOST, startProxy } from './start-proxy.ts';

const pem = (name: string): string => join(PROJECT, 'test', 'fixtures', 'tls', `${name}.pem`);

/** A home whose service has a name that only a proxy knows. */
async function homeBehind(
  service: RunningMock,
  more: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Home> {
  const home = makeHome({ PAS_PASSWORD: 'archaeologist', ...environment });
  await home.init(atHost(HIDDEN_HOST, service), '--name', 'mock', ...accountFlags(), ...more);
  return home;
}

describe('a service behind a proxy', () => {
  const mock = useMock();
  const PLAIN = ['--set', 'allow_http=true', '--set', 'min_interval_ms=0'];

  test('is reached through a tunnel for https, with user and password of the proxy', async () => {
    await using service = await serveMock(
      '--tls-cert',
      pem('server'),
      '--tls-key',
      pem('server-key'),
    );
    await using proxy = await startProxy({ account: 'eva:pl@nted 100%' });
    // The last % stands for itself.
    const address = `http://eva:pl%40nted%20100%@${proxy.host}`;
    const home = await homeBehind(service, ['--set', `ca_file=${pem('authority')}`], {
      HTTPS_PROXY: address,
    });
    await home.do('login');
    const who = await home.do('whoami', '--verbose');
    expect(proxy.asked).toContain(`CONNECT ${HIDDEN_HOST}:${new URL(service.base_url).port}`);
    const doctor = await home.pas('doctor');
    expect(doctor.stdout).toMatch(
      new RegExp(
        `connection +through the proxy http://${proxy.host}, to 127\\.0\\.0\\.1 \\(IPv4\\); certificates: ${HIDDEN_HOST} \\(until .*\\) ← Authority of a museum`,
      ),
    );
    for (const { stdout, stderr } of [who, doctor])
      expect(stdout + stderr).not.toMatch(/pl@nted|pl%40nted/);
    // The tunnel does not weaken the check of the certificate.
    const untrusting = await homeBehind(service, [], {
      https_proxy: address,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    });
    await expectEnded(
      untrusting.pas('login'),
      5,
      /authority that this computer does not know[\s\S]*ca_file/,
    );
  });

  test('gets each request of a push by http from the proxy of config.toml', async () => {
    await using proxy = await startProxy();
    const home = await homeBehind(mock.service, PLAIN, { HTTP_PROXY: 'http://127.0.0.1:9' });
    const config = join(home.folder, 'pas', 'config.toml');
    home.file('pas/config.toml', `proxy = "http://${proxy.host}"\n${readFileSync(config, 'utf8')}`);
    await home.do('login');
    await sendSeason(home, 3, { photos: true });
    await mock.expectMade({ finds: 3, photos: 3 });
    expect(proxy.asked.filter((line) => line.startsWith('POST http://'))).not.toEqual([]);
  });

  test('has a photograph once, though the proxy closed before the answer', async () => {
    await using proxy = await startProxy();
    const flags = [...settledAfter(0, 0), '--set', 'allow_http=true'];
    const home = await homeBehind(mock.service, flags, { http_proxy: `http://${proxy.host}` });
    await home.do('login');
    await importSeason(home, 1, { photos: true });
    await home.do('push', '--only', 'import');
    proxy.closeAfter(200);
    await home.pas('push');
    await home.do('push');
    await mock.expectMade({ finds: 1, photos: 1 });
  });

  test.each([
    [
      'refusing',
      /proxy http:\/\/127\.0\.0\.1:\d+ failed: it refuses the connection \(status 403\)/,
    ],
    ['closing', /proxy http:\/\/127\.0\.0\.1:\d+ failed: (?:it closed the|the) connection/],
    ['silent', /proxy http:\/\/127\.0\.0\.1:\d+ failed: it did not answer within 15 seconds/],
    ['no proxy', /failed: its answer is not HTTP[\s\S]*Check the proxy's address/],
  ] as const)(
    'is unreachable where the proxy is %s, which the error says',
    async (manner, says) => {
      await using proxy = await startProxy({ manner });
      const home = makeHome({ PAS_PASSWORD: 'a', HTTPS_PROXY: `http://${proxy.host}` });
      const address = `https://${HIDDEN_HOST}`;
      await home.init(serviceAt(address), '--username', 'a');
      await expectEnded(home.pas('login'), 5, says);
    },
  );

  test('names the proxy that wants a password, also for http', async () => {
    await using proxy = await startProxy({ account: 'eva:planted' });
    const home = await homeBehind(mock.service, PLAIN, { HTTP_PROXY: proxy.host });
    await expectEnded(
      home.pas('login'),
      5,
      /the proxy http:\S+ failed: it wants a user name and a password/,
    );
  });

  test('names the proxy that does not speak TLS', async () => {
    await using proxy = await startProxy();
    const home = await homeBehind(mock.service, PLAIN, { HTTP_PROXY: `https://${proxy.host}` });
    await expectEnded(home.pas('login'), 5, /the proxy https:\S+ failed: it does not speak TLS/);
  });
});

describe('a page of a firewall', () => {
  const PAGE = '<!DOCTYPE html><html><title>Museum</title><p>Sign in to the network.</p></html>';

  test.each([
    [200, PAGE],
    [200, '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">'],
    [200, '<meta http-equiv="refresh" content="0;url=https://portal.example">'],
    [403, `<!-- a --><!-- b -->\n${PAGE.slice(15)}`],
    [404, PAGE],
    [511, PAGE],
  ])('with status %i is one, at sign-in and in a harvest: %s', async (status, page) => {
    const asked: string[] = [];
    const address = await serve((request, response) => {
      asked.push(`${request.method}`);
      response.writeHead(status, { 'content-type': 'text/html' }).end(page);
    });
    const home = makeHome({ PAS_PASSWORD: 'a' });
    await home.init(serviceAt(address), '--username', 'a');
    for (const command of [['login'], ['harvest-vocab', 'obdobi']]) {
      await expectEnded(home.pas(...command), 5, /web page[\s\S]*wrong address/);
    }
    expect(asked.filter((method) => method === 'GET').length).toBeGreaterThan(2);
  });
});

describe('a connection that TLS refuses', () => {
  const certificate = (name: string, key = 'server-key'): ServerOptions => ({
    key: readFileSync(pem(key)),
    cert: readFileSync(pem(name)),
  });
  const old = {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  } as const;
  const asking = { requestCert: true, rejectUnauthorized: true };

  test.each<[string, ServerOptions | undefined, RegExp]>([
    [
      'unknown authority',
      certificate('cert', 'key'),
      /does not know[\s\S]*ca_file=FILE[\s\S]*NODE_EXTRA_CA_CERTS/,
    ],
    ['wrong host', certificate('other-host'), /belongs to another host[\s\S]*Check the address/],
    ['expired', certificate('expired'), /has expired[\s\S]*date of this computer/],
    ['not yet valid', certificate('early'), /is not valid yet[\s\S]*date of this computer/],
    [
      'old protocol',
      { ...certificate('server'), ...old },
      /only old versions of TLS[\s\S]*TLS 1\.2/,
    ],
    ['client certificate', { ...certificate('server'), ...asking }, /client certificate/],
    ['plain http', undefined, /does not speak TLS[\s\S]*server for http/],
  ])('says cause and remedy: %s', async (_, options, says) => {
    const answer: RequestListener = (_request, response) => response.end();
    await using server = await listen(
      options === undefined ? createPlainServer(answer) : createServer(options, answer),
    );
    const home = makeHome({ PAS_PASSWORD: 'a' });
    const trust = ['--set', `ca_file=${pem('authority')}`];
    const address = `https://127.0.0.1:${server.port}`;
    await home.init(serviceAt(address), '--username', 'a', ...trust);
    const run = await home.pas('login');
    await expectEnded(run, 5, says);
    expect(run.stderr).not.toContain('SSL routines');
  });
});

test('a server that does not speak HTTP is called that', async () => {
  await using server = await listen(createTcpServer((socket) => socket.end('SSH-2.0-x\r\n')));
  const home = makeHome({ PAS_PASSWORD: 'a' });
  await home.init(serviceAt(server.url), '--username', 'a');
  await expectEnded(home.pas('login'), 5, /its answer is not HTTP[\s\S]*no web server/);
});

test.each([
  ['missing.pem', 'cannot be read'],
  ['empty.pem', 'has no certificate'],
])('%s as the file of certificates is an error of the configuration', async (name, says) => {
  const home = makeHome({ PAS_PASSWORD: 'a' });
  home.file('empty.pem', 'text\n');
  const address = 'https://127.0.0.1:9';
  const trust = ['--set', `ca_file=${join(home.folder, name)}`];
  await home.init(serviceAt(address), '--username', 'a', ...trust);
  await expectEnded(home.pas('login'), 12, says);
});

// A newer Node reads that file itself.
test.skipIf('getCACertificates' in tls)(
  'an unreadable file of NODE_EXTRA_CA_CERTS is reported with that name',
  async () => {
    const home = makeHome({ PAS_PASSWORD: 'a' });
    const address = 'https://127.0.0.1:9';
    const trust = ['--set', `ca_file=${pem('authority')}`];
    await home.init(serviceAt(address), '--username', 'a', ...trust);
    const missing = join(home.folder, 'missing.pem');
    const run = await home.with({ NODE_EXTRA_CA_CERTS: missing }).pas('login');
    await expectEnded(run, 12, /missing\.pem cannot be read[\s\S]*NODE_EXTRA_CA_CERTS/);
  },
);
