import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import {
  contentDigest,
  fetchToken,
  importXml,
  multipart,
  rawAnswer,
  setNumber,
} from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, send, token, finds } = await useMock();

const MINE = 'C-202400101-N00007';
const faults = (...rules: Record<string, unknown>[]) => mock.control('PUT', '/faults', rules);
const number = (value: string) => setNumber(mock, MINE, `?evidencni_cislo=${value}`, token());
const statuses = async (count: number) => {
  const seenStatuses: number[] = [];
  for (let index = 0; index < count; index += 1)
    seenStatuses.push((await send(smallestFind())).status);
  return seenStatuses;
};
/** Imports, and takes what comes as it comes. */
const sendRaw = async (signal?: AbortSignal) => {
  const xml = makeDocument(mock, smallestFind());
  return fetch(`${mock.url}/api/pas/import-xml`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token()}`,
      'content-type': 'multipart/form-data; boundary=xYzZY',
      'content-digest': contentDigest(xml),
    },
    body: multipart([{ name: 'file', fileName: 'find.xml', bytes: xml }]),
    signal,
  });
};

describe('When a fault applies', () => {
  test('nth, every, times', async () => {
    await faults({ endpoint: 'import', fault: '503', when: { nth: 2 } });
    expect(await statuses(4)).toEqual([201, 503, 201, 201]);
    await faults({ endpoint: 'import', fault: '503', when: { every: 2 } });
    expect(await statuses(4)).toEqual([201, 503, 201, 503]);
    await faults({ endpoint: 'import', fault: '503', times: 2 });
    expect(await statuses(4)).toEqual([503, 503, 201, 201]);
  });

  test('probability is reproducible by its seed', async () => {
    const rule = { endpoint: 'number', fault: '503', when: { probability: 0.5, seed: 7 } };
    const run = async () => {
      await faults(rule);
      const seenStatuses: number[] = [];
      for (let index = 0; index < 12; index += 1) seenStatuses.push((await number('')).status);
      return seenStatuses;
    };
    const first = await run();
    expect(await run()).toEqual(first);
    expect(new Set(first)).toEqual(new Set([422, 503]));
  });

  test('ident limits a fault to one record', async () => {
    await faults({ endpoint: 'number', fault: '503', when: { ident: MINE } });
    expect(
      (await setNumber(mock, 'C-202400101-N00006', '?evidencni_cislo=Z1', token())).status,
    ).toBe(200);
    expect((await number('Z1')).status).toBe(503);
  });

  test('requests that the gates refuse are not counted', async () => {
    await faults({ endpoint: 'import', fault: '503', when: { nth: 1 } });
    expect((await send(smallestFind(), { token: 'unknown' })).status).toBe(401);
    expect(await statuses(2)).toEqual([503, 201]);
  });

  test('GET /faults shows how often a rule matched and applied', async () => {
    await faults({ endpoint: 'import', fault: '503', when: { every: 2 } });
    await statuses(3);
    expect((await mock.control('GET', '/faults')).value).toMatchObject([
      { fault: '503', seen: 3, struck: 1 },
    ]);
  });
});

describe('What faults do', () => {
  test.each([
    ['500-before-save', 21],
    ['500-after-save', 22],
  ])('%s answers 500 with %i finds in the archive', async (fault, stored) => {
    await faults({ endpoint: 'import', fault });
    expectDetail(await send(smallestFind()), 500);
    expect(await finds()).toBe(stored);
  });

  test.each([
    ['status-before-save', undefined, 409, 21],
    ['status-after-save', 451, 451, 22],
  ])(
    '%s with the status %s answers %i with a detail, with %i finds in the archive',
    async (fault, status, answered, stored) => {
      await faults({ endpoint: 'import', fault, status });
      expectDetail(await send(smallestFind()), answered);
      expect(await finds()).toBe(stored);
    },
  );

  test.each([
    ['hang-before-save', 21],
    ['hang-after-save', 22],
  ])('%s never answers, with %i finds in the archive', async (fault, stored) => {
    await faults({ endpoint: 'import', fault });
    const leaving = new AbortController();
    const answer = sendRaw(leaving.signal);
    // An ended request without an answer will not be answered.
    const last = async () =>
      ((await mock.control('GET', '/journal')).value as { status: number | null }[]).at(-1);
    await eventually(last).toMatchObject({ status: 0 });
    expect(await finds()).toBe(stored);
    leaving.abort();
    await expect(answer).rejects.toThrow(/aborted/i);
  });

  test.each([
    ['reset-before-save', 21],
    ['reset-after-save', 22],
  ])('%s cuts the connection, with %i finds in the archive', async (fault, stored) => {
    await faults({ endpoint: 'import', fault });
    await expect(sendRaw()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect(await finds()).toBe(stored);
  });

  test('truncate sends half of the body under its full length', async () => {
    await faults({ endpoint: 'import', fault: 'truncate' });
    const response = await sendRaw();
    expect(response.status).toBe(201);
    await expect(response.text()).rejects.toThrow();
    expect(await finds()).toBe(22);
  });

  test('malformed answers with the right status and no XML', async () => {
    await faults({ endpoint: 'import', fault: 'malformed' });
    const answer = await send(smallestFind());
    expect([answer.status, answer.headers.get('content-type')]).toEqual([201, 'application/xml']);
    expect(answer.text).toContain('</html');
  });

  test('throttle answers 429 with or without Retry-After', async () => {
    await faults({ endpoint: 'import', fault: 'throttle', retry_after: 7 });
    expect((await send(smallestFind())).headers.get('retry-after')).toBe('7');
    await faults({ endpoint: 'import', fault: 'throttle' });
    const bare = await send(smallestFind());
    expectDetail(bare, 429);
    expect(bare.headers.get('retry-after')).toBeNull();
  });

  test('503 may name a Retry-After; 502 and 504 are pages of the proxy', async () => {
    await faults({ endpoint: 'import', fault: '503', retry_after: 3 });
    expect((await send(smallestFind())).headers.get('retry-after')).toBe('3');
    for (const fault of ['502', '504']) {
      await faults({ endpoint: 'import', fault });
      const answer = await send(smallestFind());
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        Number(fault),
        'text/html; charset=utf-8',
      ]);
    }
  });

  test('slow delays the answer', async () => {
    await faults({ endpoint: 'import', fault: 'slow', ms: 120 });
    const startedMs = performance.now();
    expect((await send(smallestFind())).status).toBe(201);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(115);
  });

  test('token-expired invalidates the token permanently; a new one works', async () => {
    await faults({ endpoint: 'import', fault: 'token-expired', times: 1 });
    expectDetail(await send(smallestFind()), 401);
    expectDetail(await send(smallestFind()), 401);
    const renewed = await fetchToken(mock, 'archaeologist');
    expect(renewed).not.toBe(token());
    expect((await send(smallestFind(), { token: renewed })).status).toBe(201);
  });

  test('token-expired at the token endpoint issues a token that has already expired', async () => {
    await faults({ endpoint: 'token', fault: 'token-expired', times: 1 });
    const stale = await fetchToken(mock, 'archaeologist');
    expectDetail(await importXml(mock, makeDocument(mock, smallestFind()), { token: stale }), 401);
  });

  test('a refused request is never saved: only faults before the save apply', async () => {
    await faults({ endpoint: 'import', fault: '500-after-save' });
    expect((await send('')).status).toBe(400);
  });

  test('the token and user-info endpoints fail with HTML pages', async () => {
    await faults(
      { endpoint: 'user-info', fault: '500-before-save' },
      { endpoint: 'token', fault: '503' },
    );
    const info = await rawAnswer(
      await fetch(`${mock.url}/api/uzivatel-info/`, {
        headers: { authorization: `Bearer ${token()}` },
      }),
    );
    expect([info.status, info.headers.get('content-type')]).toEqual([
      500,
      'text/html; charset=utf-8',
    ]);
    const login = await fetch(`${mock.url}/api/token-auth/`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'a', password: 'b' }),
    });
    expect([login.status, login.headers.get('content-type')]).toEqual([
      503,
      'text/html; charset=utf-8',
    ]);
  });
});

describe('A fault', () => {
  test.each(['500-before-save', '503', 'throttle', 'status-before-save'])(
    '%s speaks the language asked for',
    async (fault) => {
      await faults({ endpoint: 'import', fault });
      const sendIn = async (language: string) =>
        (await send(smallestFind(), { headers: { 'accept-language': language } })).json?.['detail'];
      const english = await sendIn('en');
      const czech = await sendIn('cs');
      expect([english, czech]).toEqual([
        expect.stringMatching(/^[A-Z][ -~]+$/),
        expect.any(String),
      ]);
      expect(czech).not.toBe(english);
    },
  );

  test('also applies to the download of a photograph', async () => {
    const address = `${mock.url}/2.2/oai?verb=GetRecord&metadataPrefix=oai_svc&identifier=${mock.url}/id/C-202400101-N00005`;
    const url = /<svc:url>(.*?)<\/svc:url>/.exec(await (await fetch(address)).text())?.[1] ?? '';
    const whole = await (await fetch(url)).arrayBuffer();
    await faults({
      endpoint: 'download',
      fault: 'truncate',
      when: { ident: 'C-202400101-N00005' },
      times: 1,
    });
    await expect(fetch(url).then((answer) => answer.arrayBuffer())).rejects.toThrow();
    await faults(
      { endpoint: 'download', fault: '503', times: 1 },
      { endpoint: 'download', fault: 'status-before-save', times: 1 },
    );
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([503, 409]);
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(whole.byteLength);
    const { value } = await mock.control('GET', '/journal');
    expect((value as { fault: string | null }[]).slice(-4).map(({ fault }) => fault)).toEqual([
      'truncate',
      '503',
      'status-before-save',
      null,
    ]);
  });
});

describe('Invalid fault rules are refused with the reason', () => {
  test.each([
    [{}, /list/],
    [[{ endpoint: 'import' }], /fault/],
    [[{ endpoint: 'imports', fault: '503' }], /\[0\]\.endpoint.*import, number/],
    [[{ endpoint: 'import', fault: 'lock' }], /lock.*number, photo/],
    [[{ endpoint: 'import', fault: '503', when: { nth: 0 } }], /nth.*at least 1/],
    [[{ endpoint: 'import', fault: '503', when: { probability: 2 } }], /probability.*at most 1/],
    [[{ endpoint: 'import', fault: '503', when: { ident: 'X' } }], /ident/],
    [[{ endpoint: 'import', fault: '503', tims: 1 }], /tims/],
    [[{ endpoint: 'import', fault: 'slow', ms: '5' }], /ms.*number/],
    [
      [{ endpoint: 'import', fault: 'throttle', status: 503 }],
      /"status" means nothing for fault "throttle"/,
    ],
    [[{ endpoint: 'import', fault: '502', ms: 5 }], /"ms" means nothing/],
  ])('%j', async (rules, reason) => {
    await faults({ endpoint: 'import', fault: '503' });
    const { status, value } = await mock.control('PUT', '/faults', rules);
    expect(status).toBe(400);
    expect((value as { error: string }).error).toMatch(reason);
    expect((await mock.control('GET', '/faults')).value).toHaveLength(1);
  });
});
