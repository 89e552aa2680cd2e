import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import {
  contentDigest,
  fetchToken,
  importXml,
  multipart,
  type Part,
} from '../support/contract-requests.ts';
import { tinyPng } from '../support/season.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { Described } from './openapi.ts';

const DESCRIPTIONS = ['service', 'control'] as const;

describe.each(DESCRIPTIONS)('the description of the %s', (of) => {
  test('is served with the address that it describes, for each tenant its own', async () => {
    await using mock = await startMock();
    await mock.control('POST', '/tenants', { name: 'other' });
    const described = (base: string) =>
      of === 'service' ? `${base}/openapi.json` : `${base}/__mock__/openapi.json`;
    for (const base of [mock.url, `${mock.url}/t/other`]) {
      const { servers, ...rest } = (await (await fetch(described(base))).json()) as {
        servers: unknown;
        paths: object;
      };
      expect(servers).toEqual([{ url: of === 'service' ? base : `${base}/__mock__` }]);
      expect(rest.paths).toEqual(new Described(of).description.paths);
    }
  });
});

describe('every documented status of the service occurs', () => {
  const service = new Described('service');
  const PATHS = {
    token: '/api/token-auth/',
    info: '/api/uzivatel-info/',
    import: '/api/pas/import-xml',
    number: '/api/pas/nalez/C-202400101-N00001/evidencni-cislo',
    photo: '/api/pas/nalez/C-202400101-N00001/upload-foto',
  } as const;
  const METHODS = {
    token: 'POST',
    info: 'GET',
    import: 'POST',
    number: 'PATCH',
    photo: 'POST',
  } as const;
  type Name = keyof typeof PATHS;
  const NAMES = Object.keys(PATHS) as Name[];

  type Asking = {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string | Buffer;
    readonly query?: string;
    readonly path?: string;
  };
  const ask = async (
    mock: TestMock,
    name: Name,
    { method = METHODS[name], headers = {}, body, query = '', path = PATHS[name] }: Asking,
  ) => {
    const response = await fetch(mock.url + path + query, {
      method,
      headers,
      body,
    });
    const exchanged = {
      method,
      path,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
    expect(service.fault(exchanged)).toBeUndefined();
    return response.status;
  };
  const form = (part: Part | undefined) => ({
    headers: {
      'content-type': 'multipart/form-data; boundary=xYzZY',
      ...(part === undefined ? {} : { 'content-digest': contentDigest(part.bytes) }),
    },
    body: multipart(part === undefined ? [] : [part]),
  });

  test('for a client, an operator or a gateway, and matches its description', async () => {
    await using mock = await startMock();
    const bearer = { authorization: `Bearer ${await fetchToken(mock, 'archaeologist')}` };
    const researcher = { authorization: `Bearer ${await fetchToken(mock, 'researcher')}` };
    const xmlPart = (text: string): Part => ({
      name: 'file',
      fileName: 'find.xml',
      type: 'application/xml',
      bytes: text,
    });
    const photo: Part = { name: 'file', fileName: 'a.png', type: 'image/png', bytes: tinyPng(1) };
    const find = (lines = smallestFind()) => form(xmlPart(makeDocument(mock, lines)));
    const as = (who: Record<string, string>, asking: Asking): Asking => ({
      ...asking,
      headers: { ...asking.headers, ...who },
    });
    const json = (value: unknown): Asking => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    const ownUser = { username: 'archaeologist', password: 'archaeologist' };

    const imported = await importXml(mock, makeDocument(mock, smallestFind()), {
      token: bearer.authorization.slice(7),
    });
    const ident = imported.headers.get('x-record-id') ?? '';
    const number = (value: string) => ({
      path: `/api/pas/nalez/${ident}/evidencni-cislo`,
      query: `?evidencni_cislo=${value}`,
    });
    const photoPath = { path: `/api/pas/nalez/${ident}/upload-foto` };
    const sound: Record<Name, Asking> = {
      token: json(ownUser),
      info: as(bearer, {}),
      import: as(bearer, find()),
      number: as(bearer, number('A9')),
      photo: as(bearer, { ...form(photo), ...photoPath }),
    };
    const inNoProject = smallestFind({ projekt: '<svc:projekt id="C-000000000">x</svc:projekt>' });
    const inNoState = smallestFind({ stav: '<svc:stav>9</svc:stav>' });
    const plain = { headers: { 'content-type': 'text/plain' }, body: 'x' };

    const ofClient: readonly (readonly [status: number, name: Name, asking: Asking])[] = [
      [200, 'token', sound.token],
      [400, 'token', json({ ...ownUser, password: 'x' })],
      [400, 'token', json({})],
      [405, 'token', { method: 'GET' }],
      [413, 'token', json({ ...ownUser, more: 'x'.repeat(70_000) })],
      [415, 'token', plain],
      [200, 'info', sound.info],
      [201, 'import', sound.import],
      [200, 'number', as(bearer, number('A1'))],
      [201, 'photo', sound.photo],
      [400, 'import', as(bearer, form(undefined))],
      [400, 'number', { ...sound.number, query: '' }],
      [400, 'photo', as(bearer, { ...form(undefined), ...photoPath })],
      [403, 'import', as(researcher, find(findLines(3)))],
      [403, 'number', as(researcher, number('A2'))],
      [403, 'photo', as(researcher, sound.photo)],
      [404, 'import', as(bearer, find(inNoProject))],
      [404, 'number', { ...sound.number, path: '/api/pas/nalez/X/evidencni-cislo' }],
      [404, 'photo', { ...sound.photo, path: '/api/pas/nalez/X/upload-foto' }],
      [422, 'import', as(bearer, find(inNoState))],
      [422, 'import', as(bearer, find('<svc:samostatny_nalez/>'))],
      [422, 'number', as(bearer, number(''))],
      [422, 'photo', as(bearer, { ...form({ ...photo, bytes: 'text' }), ...photoPath })],
      [415, 'import', as(bearer, plain)],
      [415, 'photo', as(bearer, { ...plain, ...photoPath })],
      ...(['info', 'import', 'number', 'photo'] as const).flatMap((name) => {
        const served = name === 'info' ? '*/*' : 'text/html';
        const notServed = name === 'info' ? 'application/json' : 'application/xml';
        return [
          [401, name, {}],
          [405, name, as(bearer, { method: 'DELETE' })],
          [406, name, as(bearer, { headers: { accept: notServed } })],
          [401, name, { headers: { accept: served } }],
        ] as const;
      }),
    ];
    for (const [status, name, asking] of ofClient)
      expect([name, asking, await ask(mock, name, asking)]).toEqual([name, asking, status]);

    // Behaviour of an operator, or a gateway.
    await mock.settings({ body_max_bytes: 10 });
    expect(await ask(mock, 'import', sound.import)).toBe(413);
    expect(await ask(mock, 'photo', sound.photo)).toBe(413);
    await mock.settings({ body_max_bytes: 10_000_000 });
    const endpoints = {
      token: 'token',
      info: 'user-info',
      import: 'import',
      number: 'number',
      photo: 'photo',
    } as const;
    for (const fault of ['throttle', '500-before-save', '502', '503', '504'])
      for (const name of NAMES) {
        await mock.faults({ endpoint: endpoints[name], fault, times: 1 });
        const expected = fault === 'throttle' ? 429 : Number(fault.slice(0, 3));
        expect([fault, name, await ask(mock, name, sound[name])]).toEqual([fault, name, expected]);
      }
    await mock.faults();
    await mock.control('POST', `/records/${await fetchUser(mock, 'archaeologist')}/delete`, {});
    expect(await ask(mock, 'info', sound.info)).toBe(404);
    const left = service.all().filter((described) => !service.met.has(described));
    expect(left).toEqual([]);
  });

  async function fetchUser(mock: TestMock, username: string): Promise<string> {
    const { accounts } = (await mock.control('GET', '/state')).value as {
      accounts: { username: string; user: string }[];
    };
    return accounts.find((account) => account.username === username)?.user ?? '';
  }
});

const ODD_TEXTS = [
  '',
  ' ',
  '-1',
  '1e309',
  '../..',
  '%',
  'žluť 😀',
  '<svc/>',
  '&x;',
  '__proto__',
  '{0}',
];
const KNOWN_TEXTS = ['C-202400101-N00001', 'HES-000253', 'archivist', '2030-01-01T00:00:00Z', '1'];

test.each(DESCRIPTIONS)(
  'any request to the %s gets an answer that is described, and no failure',
  async (of) => {
    await using mock = await startMock();
    const described = new Described(of);
    const base = of === 'service' ? mock.url : mock.server.control_url;
    const signedIn = { authorization: `Bearer ${await fetchToken(mock, 'archivist')}` };
    const form = {
      'content-type': 'multipart/form-data; boundary=xYzZY',
      'content-digest': contentDigest('x'),
    };
    const names = [
      ...JSON.stringify(described.description).matchAll(/"name":"(\w+)"|"(\w+)":\{"type"/g),
    ].map(([, parameter, property]) => parameter ?? property ?? '');
    const text = fc.constantFrom(...ODD_TEXTS, ...KNOWN_TEXTS);
    const fields = fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.jsonValue()));
    const asking = fc.record({
      operation: fc.constantFrom(
        ...Object.entries(described.description.paths).flatMap(([path, operations]) =>
          Object.keys(operations).map((method) => ({ path, method: method.toUpperCase() })),
        ),
      ),
      other: fc.option(fc.constantFrom('HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')),
      part: text,
      query: fc.dictionary(fc.constantFrom(...names), text, { maxKeys: 2 }),
      headers: fc.constantFrom(
        {},
        signedIn,
        { ...signedIn, ...form },
        { ...signedIn, accept: ';,' },
      ),
      body: fc.oneof(
        fields.map((value) => JSON.stringify(value)),
        text.map((bytes) => multipart([{ name: 'file', fileName: 'a.xml', bytes }])),
      ),
    });
    await fc.assert(
      fc.asyncProperty(asking, async ({ operation, other, part, query, headers, body }) => {
        const method = other ?? operation.method;
        const path = operation.path.replaceAll(/\{[^}]*\}/g, () => encodeURIComponent(part) || 'x');
        const response = await fetch(`${base}${path}?${new URLSearchParams(query)}`, {
          method,
          headers,
          redirect: 'manual',
          body: /GET|HEAD/.test(method) ? undefined : body,
        });
        expect(response.status).toBeLessThan(500);
        const answered = {
          method,
          path,
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await response.text(),
        };
        expect(described.fault(answered)).toBeUndefined();
      }),
      { numRuns: 4 * (fc.readConfigureGlobal().numRuns ?? 50) },
    );
  },
);
