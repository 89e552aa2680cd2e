import { request } from 'node:http';
import { createConnection } from 'node:net';
import { describe, expect, test } from 'vitest';
import { findLines, makeDocument } from '../support/contract-find.ts';
import { fetchToken, importXml, postFile } from '../support/contract-requests.ts';
import { tinyPng } from '../support/season.ts';
import { useTestMock } from '../support/start-mock.ts';

const mock = await useTestMock();

type Find = {
  ident: string;
  state: number;
  point: [number, number] | null;
  photos: { id: string; type: string; size_bytes: number }[];
};
type Finds = {
  revision: number;
  matching: number;
  by_state: Record<string, number>;
  finds: Find[];
};

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(mock.server.control_url + path, { headers });

async function finds(query = ''): Promise<Finds> {
  return (await mock.control('GET', `/finds${query}`)).value as Finds;
}

async function importFind(state: 1 | 2 = 2): Promise<string> {
  const token = await fetchToken(mock, 'archaeologist');
  const answer = await importXml(mock, makeDocument(mock, findLines(state)), { token });
  return answer.headers.get('x-record-id') ?? '';
}

/** Sends a path exactly as typed: `fetch` would tidy it up. */
function statusOfRawPath(path: string): Promise<number> {
  const { hostname, port } = new URL(mock.url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.once('error', reject);
    socket.once('data', (bytes) => {
      resolve(Number(bytes.toString('latin1').split(' ')[1]));
      socket.destroy();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`);
  });
}

describe('the page of the control interface', () => {
  test('is served at the control address, which redirects to its trailing slash', async () => {
    const redirect = await fetch(mock.server.control_url, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, '/__mock__/']);
    const page = await get('/');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each(['page', 'docs'])(
    'serves every file that it names, and names none from elsewhere: %s',
    async (name) => {
      const html = await (await get(name === 'page' ? '/' : `/${name}`)).text();
      const named = [...html.matchAll(/(?:src|href)="([^"#][^"]*\.\w+)"/g)].map(
        ([, address = '']) => address,
      );
      expect(html).not.toMatch(/(?:src|href)="(?:\w+:|\/)/);
      expect(named.length).toBeGreaterThan(4);
      const scripts = [`${name}.js`];
      for (const script of scripts) {
        const text = await (await get(`/${script}`)).text();
        for (const [, target = ''] of text.matchAll(/from '\.\/([^']+)'/g))
          if (!scripts.includes(target)) scripts.push(target);
      }
      const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const;
      for (const file of [...named, ...scripts]) {
        const answer = await get(`/${file}`);
        expect([file, answer.status]).toEqual([file, 200]);
        expect(answer.headers.get('content-type')).toContain(
          types[file.split('.').at(-1) as keyof typeof types],
        );
      }
    },
  );

  test.each([
    '/__mock__/../package.json',
    '/__mock__/%2e%2e/package.json',
    '/__mock__/..%2fserver.ts',
    '/__mock__/tsconfig.json',
    '/__mock__/no-such-file.js',
    '/__mock__/photos/..%2f..%2fetc%2fpasswd',
    '/__mock__/photos/00000000-0000-0000-0000-000000000000',
  ])('answers 404 to %s', async (path) => {
    expect(await statusOfRawPath(path)).toBe(404);
  });
});

describe('a web page whose host name points at this machine', () => {
  /** `fetch` sends the host that it connects to; a browser sends the name that it was given. */
  const fetchStatus = (method: string, host: string, origin?: string): Promise<number> => {
    const { hostname, port } = new URL(mock.url);
    const headers = { host, ...(origin === undefined ? {} : { origin }) };
    return new Promise((resolve, reject) => {
      const clientRequest = request(
        { host: hostname, port, method, path: '/__mock__/settings', headers },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      clientRequest.once('error', reject).end(method === 'PUT' ? '{"page_size": 7}' : undefined);
    });
  };

  test.each([
    'rebound.example',
    'rebound.example:8099',
    '127.0.0.1.rebound.example',
    'localhost.',
    'xn--localhost',
    '8.8.8.8',
  ])('cannot read or change anything as "%s"', async (host) => {
    expect(await fetchStatus('GET', host)).toBe(403);
    expect(await fetchStatus('PUT', host, `http://${host}`)).toBe(403);
    expect((await mock.control('GET', '/settings')).value).not.toMatchObject({ page_size: 7 });
  });

  test.each(['127.0.0.1', '127.0.0.1:9', 'localhost:8099', 'LOCALHOST', '[::1]:8099', '127.8.8.8'])(
    'is refused as "%s", even through a forwarded port',
    async (host) => {
      expect(await fetchStatus('GET', host)).toBe(200);
      expect(await fetchStatus('PUT', host, `http://${host}`)).toBe(200);
      expect(await fetchStatus('PUT', host, 'http://elsewhere.example')).toBe(403);
      expect(await fetchStatus('PUT', host, 'null')).toBe(403);
    },
  );
});

describe('GET /finds', () => {
  test('shows the newest find first, with its state, point and photographs', async () => {
    const ident = await importFind();
    const png = { name: 'file', fileName: 'nalez.png', type: 'image/png', bytes: tinyPng(7) };
    await postFile(mock, `/api/pas/nalez/${ident}/upload-foto`, png, {
      token: await fetchToken(mock, 'archaeologist'),
    });
    const [newest] = (await finds()).finds;
    expect(newest).toMatchObject({ ident, state: 2, label: 'lahev', point: [15.1700002, 49.84] });
    const photo = newest?.photos[0];
    expect([photo?.type, photo?.size_bytes]).toEqual(['image/png', tinyPng(7).length]);
    const bytes = await get(`/photos/${photo?.id}`);
    expect(bytes.headers.get('content-type')).toBe('image/png');
    expect(bytes.headers.get('content-security-policy')).toContain('sandbox');
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(tinyPng(7));
  });

  test('has a revision that stays the same until a find changes', async () => {
    const { revision } = await finds();
    expect((await finds()).revision).toBe(revision);
    const ident = await importFind();
    const after = (await finds()).revision;
    expect(after).toBeGreaterThan(revision);
    await mock.control('POST', `/records/${ident}/delete`);
    const { finds: left, revision: last } = await finds();
    expect(last).toBeGreaterThan(after);
    expect(left.map((find) => find.ident)).not.toContain(ident);
  });

  test('filters and limits, and counts what is left out', async () => {
    const all = await finds();
    const archived = await finds('?state=4');
    expect(new Set(archived.finds.map((find) => find.state))).toEqual(new Set([4]));
    expect(archived.matching).toBe(all.by_state['4']);
    const one = await finds('?limit=1');
    expect([one.finds.length, one.matching]).toEqual([1, all.matching]);
    expect((await finds('?text=100%25')).matching).toBe(0);
    expect((await finds(`?text=${encodeURIComponent('"')}`)).matching).toBe(0);
  });

  test.each(['?state=5', '?state=', '?limit=-1', '?limit=many', '?limit=5001'])(
    'refuses %s',
    async (query) => {
      expect((await mock.control('GET', `/finds${query}`)).status).toBe(400);
    },
  );
});

describe('single fault rules', () => {
  const rule = { endpoint: 'import', fault: '503' };

  test('are added, switched and removed by their id', async () => {
    await mock.control('POST', '/faults', rule);
    const [added] = (await mock.control('POST', '/faults', { ...rule, active: false })).value as {
      id: number;
    }[];
    await mock.control('PUT', `/faults/${added?.id}`, { active: false });
    expect(await importFind()).not.toBe('');
    await mock.control('PUT', `/faults/${added?.id}`, { active: true });
    expect(await importFind()).toBe('');
    const { value } = await mock.control('DELETE', `/faults/${added?.id}`);
    expect(value).toMatchObject([{ ...rule, active: false, seen: 0, struck: 0 }]);
    expect((await mock.control('DELETE', '/faults')).value).toEqual([]);
  });

  test('are refused where they are malformed or unknown', async () => {
    expect(
      (await mock.control('POST', '/faults', { endpoint: 'import', fault: 'lock' })).status,
    ).toBe(400);
    expect((await mock.control('PUT', '/faults/999', { active: true })).status).toBe(404);
    expect((await mock.control('PUT', '/faults/999', { on: true })).status).toBe(400);
    expect((await mock.control('DELETE', '/faults/999')).status).toBe(404);
  });
});

test('The journal answers from a given entry on, and limits the answer to the newest entries', async () => {
  for (const _ of [1, 2, 3]) await importFind();
  const entries = (await mock.control('GET', '/journal')).value as { id: number }[];
  const after = entries.at(-3)?.id;
  expect((await mock.control('GET', `/journal?after=${after}`)).value).toEqual(entries.slice(-2));
  expect((await mock.control('GET', '/journal?limit=1')).value).toEqual(entries.slice(-1));
  expect((await mock.control('GET', '/pulse')).value).toMatchObject({
    oldest_entry: entries[0]?.id,
    pid: process.pid,
  });
  expect((await mock.control('GET', '/journal?after=yesterday')).status).toBe(400);
  expect((await mock.control('GET', '/journal?limit=-1')).status).toBe(400);
});

test('The map has the outlines of regions, districts and cadastral areas in WGS 84', async () => {
  type Shape = { name: string; at: [number, number]; rings: [number, number][][] };
  const map = (await mock.control('GET', '/map')).value as Record<
    'regions' | 'districts' | 'areas',
    Shape[]
  >;
  const { counts } = (await mock.control('GET', '/state')).value as {
    counts: { records: Record<string, number> };
  };
  expect(map.regions.length).toBe(counts.records['ruian_kraj']);
  expect(map.districts.length).toBe(counts.records['ruian_okres']);
  expect(map.areas.length).toBe(counts.records['ruian_katastr']);
  const points = map.districts.flatMap(({ rings }) => rings.flat());
  expect(
    points.every(
      ([longitude, latitude]) =>
        longitude > 12 && longitude < 19 && latitude > 48.5 && latitude < 51.1,
    ),
  ).toBe(true);
});
