import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { AuthError, InterruptedError, OaiError } from '../../../src/base/errors.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import type { OaiCredentials } from '../../../src/harvest/send-request.ts';
import { TransportError } from '../../../src/service/http/exchange.ts';
import { openSession } from '../../../src/service/session.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  oaiXml,
  recordXml,
  scripted,
} from '../../support/scripted-oai.ts';
import { makeClient, RECORDS } from './scripted-client.ts';

describe('signing in', () => {
  test('sends Basic with the first request, since the service never asks for it', async () => {
    const exchange = scripted(oaiError('noRecordsMatch'));
    await makeClient(exchange, {
      kind: 'basic',
      username: 'eva@example.org',
      password: 'háčky:a dvojtečka',
    }).listRecords(RECORDS);
    const authorization = exchange.requests[0]?.headers?.['authorization'] ?? '';
    expect(Buffer.from(authorization.slice('Basic '.length), 'base64').toString()).toBe(
      'eva@example.org:háčky:a dvojtečka',
    );
  });
});

describe('an expired bearer token', () => {
  const LIST = listXml('ListRecords', [recordXml('A')], 'T');
  const unlessOld =
    (refused: string) => (request: { headers?: Readonly<Record<string, string>> }) =>
      request.headers?.['authorization'] === `Bearer ${refused}`
        ? answer('', { status: 401 })
        : LIST;

  /** A session of the write interface, at which signing in gives `t1`, `t2`, …, or what is said. */
  function session(first: string, give: (nth: number) => string = (nth) => `t${nth}`) {
    let signIns = 0;
    const opened = openSession({
      clock: systemClock,
      baseUrl: OAI_BASE,
      username: 'eva@example.org',
      password: 'password',
      keeper: { read: () => first, write: () => undefined },
      send: async () => answer(JSON.stringify({ token: give(++signIns) })),
    });
    return { credentials: { kind: 'bearer', ...opened } as const, signIns: () => signIns };
  }

  test('is renewed for the page where it expired, and the list continues', async () => {
    const exchange = scripted(LIST, unlessOld('old'));
    const { credentials, signIns } = session('old');
    const client = makeClient(exchange, credentials);
    const pages = [RECORDS, { resumptionToken: 'T' }, { resumptionToken: 'T' }];
    for (const page of pages)
      expect((await client.listRecords(page as typeof RECORDS)).items).toHaveLength(1);
    expect(signIns()).toBe(1);
    expect(exchange.requests.map(({ headers }) => headers?.['authorization'])).toEqual([
      'Bearer old',
      'Bearer old',
      'Bearer t1',
      'Bearer t1',
    ]);
  });

  test('is renewed once for requests that are refused at the same time', async () => {
    const { credentials, signIns } = session('old');
    const client = makeClient(scripted(unlessOld('old')), credentials);
    await Promise.all([
      client.listRecords(RECORDS),
      client.listRecords(RECORDS),
      client.listRecords(RECORDS),
    ]);
    expect(signIns()).toBe(1);
  });

  test('of a service that refuses each token is not asked for again and again', async () => {
    const { credentials, signIns } = session('old');
    for (const refused of ['old', 't1', 't2']) await credentials.renew(refused);
    // A late answer about an older token: the newest one was not refused yet.
    expect(await credentials.renew('t2')).toBe('t3');
    await expect(credentials.renew('t3')).rejects.toBeInstanceOf(AuthError);
    expect(signIns()).toBe(3);
  });

  test('that is refused again, or issued unchanged, is a fault of the account', async () => {
    const never = scripted(answer('', { status: 401 }));
    const other = session('old');
    await expect(makeClient(never, other.credentials).listRecords(RECORDS)).rejects.toBeInstanceOf(
      AuthError,
    );
    expect([never.requests.length, other.signIns()]).toEqual([2, 1]);
    const refusing = scripted(answer('', { status: 401 }));
    const same = session('old', () => 'old');
    await expect(
      makeClient(refusing, same.credentials).listRecords(RECORDS),
    ).rejects.toBeInstanceOf(AuthError);
    expect(refusing.requests).toHaveLength(1);
  });

  test('ends a harvest that was stopped meanwhile as stopped', async () => {
    const stop = new AbortController();
    const hanging = openSession({
      clock: systemClock,
      baseUrl: OAI_BASE,
      username: 'eva@example.org',
      password: 'password',
      keeper: { read: () => undefined, write: () => undefined },
      send: (request) =>
        new Promise((_resolve, reject) => {
          request.signal?.addEventListener('abort', () =>
            reject(new TransportError('aborted', true, 'stopped')),
          );
        }),
    });
    const listed = makeClient(scripted(LIST), { kind: 'bearer', ...hanging }).listRecords(
      RECORDS,
      stop.signal,
    );
    stop.abort();
    await expect(listed).rejects.toBeInstanceOf(InterruptedError);
  });
});

describe('redirects', () => {
  const to = (location: string, status = 302) => answer('', { status, headers: { location } });
  const BASIC: OaiCredentials = { kind: 'basic', username: 'u', password: 'p' };

  test('of the generic endpoint are followed once, not once a page', async () => {
    const exchange = scripted((request) =>
      request.url.includes('/2.2/')
        ? listXml('ListRecords', [recordXml('A')], 'T')
        : to(request.url.replace('/oai?', '/2.2/oai?')),
    );
    const client = makeClient(exchange, BASIC, 'generic');
    for (let page = 0; page < 4; page++)
      await client.listRecords(page === 0 ? RECORDS : { resumptionToken: 'T' });
    expect(exchange.requests.filter(({ url }) => !url.includes('/2.2/'))).toHaveLength(1);
    expect(exchange.requests.every(({ headers }) => headers?.['authorization'] !== undefined)).toBe(
      true,
    );
  });

  test.each([503, 200])(
    'to an announcement of an outage with status %i are not remembered',
    async (status) => {
      const script = scripted(
        answer('', { status: 302, headers: { location: '/outage?verb=Identify' } }),
        answer('<p>Closed</p>', { status, headers: { 'content-type': 'text/html' } }),
        oaiXml('<Identify/>'),
      );
      const client = makeClient(script);
      await expect(client.identify()).rejects.toThrow();
      await client.identify();
      expect(script.requests.map(({ url }) => new URL(url).pathname)).toEqual([
        '/2.2/oai',
        '/outage',
        '/2.2/oai',
      ]);
    },
  );

  test('with a relative address and without arguments are understood', async () => {
    for (const location of ['/2.2/oai', '2.2/oai?verb=Identify']) {
      const exchange = scripted((request) =>
        request.url.includes('/2.2/') ? oaiXml('<Identify/>') : to(location),
      );
      await makeClient(exchange, BASIC, 'generic').identify();
      expect(exchange.requests.at(-1)?.url).toBe(`${OAI_BASE}/2.2/oai?verb=Identify`);
    }
  });

  test('never send a password to another host, where nothing is harvested anonymously either', async () => {
    const exchange = scripted((request) =>
      request.url.startsWith(OAI_BASE)
        ? to('https://elsewhere.example.org/oai?verb=Identify')
        : oaiXml('<Identify/>'),
    );
    const failure = makeClient(exchange, BASIC).identify();
    await expect(failure).rejects.toMatchObject({
      oaiCode: 'malformed',
      hint: expect.stringContaining('set oai_base'),
    });
    await expect(failure).rejects.toThrow(
      'redirects to https://elsewhere.example.org, to which your sign-in is not sent',
    );
    expect(exchange.requests.every(({ url }) => url.startsWith(OAI_BASE))).toBe(true);
    await makeClient(exchange, { kind: 'none' }).identify();
    expect(exchange.requests.at(-1)?.url).toContain('elsewhere');
  });

  const CHECK = 'Check oai_base in the profile.';
  const HERE = `${OAI_BASE}/2.2/oai`;
  test.each([
    ['a circle', to('/2.2/oai?verb=Identify'), `${HERE}: the service redirects in a loop.`, CHECK],
    [
      'no address',
      answer('', { status: 302 }),
      `${HERE}: it redirects to "", which pas does not follow.`,
      CHECK,
    ],
    [
      'what is no address',
      to('https://'),
      `${HERE}: it redirects to "https://", which pas does not follow.`,
      CHECK,
    ],
    [
      'a file',
      to('file:///etc/passwd?resumptionToken=x'),
      `${HERE}: it redirects to "file:///etc/passwd", which pas does not follow.`,
      CHECK,
    ],
    [
      'an address without TLS',
      to('http://harvest.example.org/2.2/oai?verb=Identify'),
      `${HERE} redirects to http://harvest.example.org, which is not protected by TLS.`,
      'Ask the operator of the service.',
    ],
  ])('to %s are refused', async (_, step, message, hint) => {
    await expect(makeClient(scripted(step)).identify()).rejects.toMatchObject({
      oaiCode: 'malformed',
      message,
      hint,
    });
  });

  test('to a host that does not answer name that host', async () => {
    const exchange = scripted((request) => {
      if (request.url.startsWith(OAI_BASE)) return to('https://portal.example/login');
      throw new TransportError('connect', false, 'no such host');
    });
    await expect(makeClient(exchange).identify()).rejects.toThrow(
      'https://portal.example did not answer: no such host.',
    );
  });

  test.each([301, 302, 303, 307, 308])('are followed five times, not six (%s)', async (status) => {
    const after = (hops: number) =>
      makeClient(
        scripted((request) => {
          const hop = Number(/hop-(\d+)/.exec(request.url)?.[1] ?? 0);
          return hop < hops ? to(`/hop-${hop + 1}?verb=Identify`, status) : oaiXml('<Identify/>');
        }),
      ).identify();
    await expect(after(5)).resolves.toBeDefined();
    await expect(after(6)).rejects.toThrow('redirects in a loop');
  });

  test('do not include other statuses, whatever their location', async () => {
    const exchange = scripted(
      answer(oaiXml('<Identify/>'), { headers: { location: '/elsewhere' } }),
    );
    await makeClient(exchange).identify();
    expect(exchange.requests).toHaveLength(1);
    await expect(
      makeClient(scripted(to('/2.2/oai?verb=Identify', 304))).identify(),
    ).rejects.toBeInstanceOf(OaiError);
  });

  test('without TLS may lead to TLS and among each other', async () => {
    const base = 'http://harvest.example.org';
    for (const location of [`${OAI_BASE}/x?verb=Identify`, `${base}/x?verb=Identify`]) {
      const exchange = scripted((request) =>
        request.url.includes('/x') ? oaiXml('<Identify/>') : to(location),
      );
      await openOaiClient({ oaiBase: base, exchange, credentials: { kind: 'none' } }).identify();
      expect(exchange.requests.at(-1)?.url).toBe(location);
    }
  });

  test('with other arguments are followed and not remembered, and fragments are not sent', async () => {
    const exchange = scripted((request) =>
      request.url.includes('/2.2/') ? to('/moved?key=1#top') : oaiXml('<Identify/>'),
    );
    const client = makeClient(exchange);
    for (let time = 0; time < 2; time += 1) await client.identify();
    expect(exchange.requests.map(({ url }) => url.slice(OAI_BASE.length))).toEqual([
      '/2.2/oai?verb=Identify',
      '/moved?key=1',
      '/2.2/oai?verb=Identify',
      '/moved?key=1',
    ]);
  });

  test('with differently encoded arguments are remembered', async () => {
    const exchange = scripted((request) =>
      request.url.includes('/2.2/')
        ? to('/moved?verb=ListRecords&metadataPrefix=oai_svc&set=a%3ab')
        : listXml('ListRecords', [recordXml('A')]),
    );
    const client = makeClient(exchange);
    for (let time = 0; time < 2; time += 1)
      await client.listRecords({ metadataPrefix: 'oai_svc', set: 'a:b' });
    expect(exchange.requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/2.2/oai',
      '/moved',
      '/moved',
    ]);
    expect(exchange.requests.at(-1)?.url).toBe(
      `${OAI_BASE}/moved?verb=ListRecords&metadataPrefix=oai_svc&set=a%3Ab`,
    );
  });
});

test('a list request accepts any format, compressed, and names the program', async () => {
  const exchange = scripted(oaiXml('<Identify/>'));
  await makeClient(exchange, { kind: 'bearer', token: async () => 't1' }).identify();
  expect(exchange.requests[0]).toMatchObject({
    method: 'GET',
    headers: { accept: '*/*', 'accept-encoding': 'gzip', authorization: 'Bearer t1' },
  });
  const nobody = scripted(oaiXml('<Identify/>'));
  await makeClient(nobody).identify();
  expect(nobody.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('a sign-in repeated by an answer is never shown', async () => {
  const exchange = scripted(({ headers }) =>
    oaiError('badArgument', `you sent ${headers?.['authorization']}`),
  );
  const failure = makeClient(exchange, {
    kind: 'bearer',
    token: async () => 'a-token-that-is-secret',
  }).identify();
  await expect(failure).rejects.toThrow(/you sent Bearer/);
  await expect(failure).rejects.not.toThrow(/a-token/);
});

test('a token in an odd answer to the sign-in is not shown', async () => {
  const { token } = openSession({
    clock: systemClock,
    baseUrl: OAI_BASE,
    username: 'eva@example.org',
    password: 'password',
    keeper: { read: () => undefined, write: () => undefined },
    send: async () => answer('{"token":"a-token-that-is-secret"}', { status: 201 }),
  });
  await expect(token()).rejects.toThrow(
    `${OAI_BASE} answered the sign-in with status 201, not with a token.`,
  );
});
