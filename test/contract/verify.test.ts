import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { useMock } from '../support/contract-import.ts';
import { setNumber } from '../support/contract-requests.ts';
import { startMock } from '../support/start-mock.ts';

const { mock, control, send, token } = useMock();

const find = (note: string) => smallestFind({ poznamka: `<svc:poznamka>${note}</svc:poznamka>` });
const IMPORT = { method: 'post', path: '/api/pas/import-xml' };
type Verified = { ok: boolean; entries: number[]; reason: string | null };
const verify = async (question: unknown) => {
  const { status, value } = await control('POST', '/verify', question);
  return { status, ...(value as Verified) };
};

describe('An assertion about what was asked', () => {
  test('counts requests by what they were, held and were answered', async () => {
    await control('DELETE', '/journal');
    const ident = (await send(find('first'))).headers.get('x-record-id') ?? '';
    await send(find('second'));
    await setNumber(mock(), ident, '?evidencni_cislo=A1', token());
    await setNumber(mock(), ident, '', token());
    const met = async (request: unknown, count?: unknown) =>
      (await verify({ request, ...(count === undefined ? {} : { count }) })).status;
    expect(await met(IMPORT, 2)).toBe(200);
    expect(await met(IMPORT, 1)).toBe(406);
    expect(await met({ path_matches: '^/api/.*evidencni_cislo=A1$', status: 200, user: 'archaeologist' }, 1)).toBe(200);
    expect(await met({ rule: 'number-missing', find: ident }, { at_least: 1, at_most: 1 })).toBe(200);
    expect(await met({ ...IMPORT, request_body: [{ xpath: '//svc:poznamka', equals: 'second' }] }, 1)).toBe(200);
    expect(await met({ ...IMPORT, request_body: [{ xpath: '//svc:poznamka', equals: 'third' }] }, 0)).toBe(200);
    expect(await met({ ...IMPORT, request_body: [{ xpath: 'count(//svc:projekt/@id)', equals: '1' }] }, 2)).toBe(200);
    expect(await met({ ...IMPORT, answer_body: [{ xpath: '//svc:ident_cely', equals: ident }] }, 1)).toBe(200);
    expect(await met({ status: 400, answer_body: [{ json: '$.detail', matches: '.' }] })).toBe(200);
    expect(await met({ status: 400, answer_body: [{ json: '$.nothing' }] })).toBe(406);
    expect(await met({ fault: '503' })).toBe(406);
  });

  test('says what was met and why it does not hold', async () => {
    await control('DELETE', '/journal');
    await send(find('one'));
    const { ok, entries, reason } = await verify({ request: IMPORT, count: { at_least: 2 } });
    expect([ok, entries.length, reason]).toEqual([false, 1, 'expected at least 2 such requests, and there were 1']);
  });

  test('holds the order: such requests, each after the one before', async () => {
    await control('DELETE', '/journal');
    const ident = (await send(find('one'))).headers.get('x-record-id') ?? '';
    await setNumber(mock(), ident, '?evidencni_cislo=A1', token());
    const number = { method: 'PATCH', find: ident };
    expect(await verify({ order: [IMPORT, number] })).toMatchObject({ status: 200, ok: true, reason: null });
    expect(await verify({ order: [number, IMPORT] })).toMatchObject({ status: 406, ok: false });
    expect(await verify({ order: [IMPORT, IMPORT] })).toMatchObject({ status: 406 });
  });

  test.each([
    [{}, 400],
    [{ request: {}, order: [] }, 400],
    [{ order: [{}], count: 1 }, 400],
    // What would hold whatever was asked.
    [{ order: [] }, 400],
    [{ request: IMPORT, count: {} }, 400],
    [{ request: { rule: 'no-such-rule' }, count: 0 }, 400],
    [{ request: { fault: 'no-such-fault' }, count: 0 }, 400],
    [{ request: { path: '/nowhere', answer_body: [{ json: 'not a path' }] }, count: 0 }, 400],
    [{ request: { path_matches: '(' } }, 400],
    [{ request: { verb: 'GET' } }, 400],
    [{ request: { request_body: [{ equals: 'x' }] } }, 400],
    [{ request: { answer_body: [{ json: 'not a path', equals: 'x' }] } }, 400],
    [{ request: { request_body: [{ xpath: '//[', equals: 'x' }], ...IMPORT } }, 400],
  ])('%j is refused', async (question, status) => {
    await send(find('one'));
    await setNumber(mock(), 'X', '', token());
    expect((await verify(question)).status).toBe(status);
  });

  test('a body of which only the beginning is kept decides nothing', async () => {
    await control('DELETE', '/journal');
    await send(find('x'.repeat(20_000)));
    expect((await verify({ request: { ...IMPORT, request_body: [{ xpath: '//svc:poznamka' }] } })).status).toBe(422);
    expect((await verify({ request: IMPORT })).status).toBe(200);
  });
});

describe('A control token', () => {
  const asked = async (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });

  test('is asked of everybody but for the sign of life, and lets others in', async () => {
    await using guarded = await startMock({ controlToken: 'open sesame' });
    const state = `${guarded.server.control_url}/state`;
    const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}` });
    const refused = await asked(state);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Basic')]);
    expect((await asked(state, { authorization: 'Bearer open-sesame' })).status).toBe(401);
    expect((await asked(state, basic('wrong'))).status).toBe(401);
    expect((await asked(state, basic('open sesame'))).status).toBe(200);
    expect((await asked(`${guarded.server.control_url}/`, basic('open sesame'))).status).toBe(200);
    expect((await asked(`${guarded.server.control_url}/health`)).status).toBe(200);
    expect((await asked(state, { ...basic('open sesame'), origin: 'http://evil.example' })).status).toBe(403);
    expect((await asked(state, { ...basic('open sesame'), origin: new URL(state).origin })).status).toBe(200);
  });

  test('is the token of each tenant as well', async () => {
    await using guarded = await startMock({ controlToken: 'secret' });
    const authorization = 'Bearer secret';
    const made = await fetch(`${guarded.server.control_url}/tenants`, { method: 'POST', headers: { authorization }, body: '{}' });
    const { control_url } = (await made.json()) as { control_url: string };
    expect([
      (await asked(`${control_url}/state`)).status,
      (await asked(`${control_url}/state`, { authorization })).status,
    ]).toEqual([401, 200]);
  });
});
