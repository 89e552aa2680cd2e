import { describe, expect, test } from 'vitest';
import { BodySample, makeExchange } from '../../mock-server/base/exchange.ts';
import { Journal } from '../../mock-server/state/journal.ts';
import { smallestFind } from '../support/contract-find.ts';
import { setNumber } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';

const { mock, control, send, token } = await useMock();

type Message = {
  headers: Record<string, string>;
  body: string | null;
  size_bytes: number;
  cut: boolean;
};
type Whole = {
  rules: { rule: string; clause: string | null; clause_id: string | null }[];
  change: unknown;
  request: Message;
  answer: Message | null;
};

async function entries(
  query = '',
): Promise<{ id: number; path: string; status: number; rules: string[] }[]> {
  return (await control('GET', `/journal${query}`)).value as {
    id: number;
    path: string;
    status: number;
    rules: string[];
  }[];
}

async function newest(): Promise<Whole> {
  const { id = 0 } = (await entries()).at(-1) ?? {};
  return (await control('GET', `/journal/${id}`)).value as Whole;
}

describe('An entry of the journal, requested by its id', () => {
  test('shows the document that was sent, the answer, and that the find was created', async () => {
    const answer = await send(smallestFind());
    const { request, answer: shown, change, rules } = await newest();
    expect(request.body).toContain('samostatny_nalez');
    expect(request).toMatchObject({
      cut: false,
      headers: { 'content-type': expect.stringContaining('multipart/form-data') },
    });
    expect(shown?.body).toContain(answer.headers.get('x-record-id'));
    expect([change, rules]).toEqual([
      { kind: 'find-created', ident: answer.headers.get('x-record-id') },
      [],
    ]);
  });

  test('names the rule that refused a request, and the clause of the contract by id and text', async () => {
    await setNumber(mock, 'M-202400202-N00003', '', token());
    expect((await newest()).rules).toEqual([
      {
        rule: 'number-missing',
        clause: 'Endpoints, PATCH evidencni-cislo, 2',
        clause_id: 'A-NUMBER-8',
      },
    ]);
    await send('<nonsense/>');
    expect((await newest()).rules).toEqual([
      { rule: 'schema', clause: 'Endpoints, POST import-xml, 1', clause_id: 'A-DECLARE-5' },
    ]);
  });

  test('records a change even if the client received a failure', async () => {
    await control('PUT', '/faults', [{ endpoint: 'import', fault: '500-after-save' }]);
    await send(smallestFind());
    expect(await newest()).toMatchObject({
      status: 500,
      fault: '500-after-save',
      change: { kind: 'find-created' },
    });
    await control('DELETE', '/faults');
  });

  test('contains no password and no token', async () => {
    const credentials = { username: 'archaeologist', password: 'archaeologist' };
    const address = `${mock.server.base_url}/api/token-auth/`;
    const headers = { 'content-type': 'application/json', cookie: 'sessionid=secret' };
    await fetch(address, { method: 'POST', headers, body: JSON.stringify(credentials) });
    const signIn = await newest();
    expect([signIn.request.body, signIn.answer?.body, signIn.request.headers['cookie']]).toEqual([
      '{"username":"archaeologist","password":"•••"}',
      '{"token":"•••"}',
      '•••',
    ]);
    for (const body of [
      '{"username":"a","passwd":"secret"}',
      '{"password":"secret"',
      '["secret"]',
    ]) {
      await fetch(address, { method: 'POST', headers, body });
      expect(JSON.stringify(await newest())).not.toContain('secret');
    }
    await fetch(address, {
      method: 'POST',
      body: new URLSearchParams({ username: 'a b', password: 'secret' }),
    });
    expect((await newest()).request.body).toBe('username=a+b&password=%E2%80%A2%E2%80%A2%E2%80%A2');
    await setNumber(mock, 'X', '', token());
    const { request } = await newest();
    expect(request.headers['authorization']).toBe('Bearer •••');
    expect(JSON.stringify(await newest())).not.toContain(token());
  });

  test('shows the beginning of a harvested page as text, whatever its compression', async () => {
    const address = `${mock.server.oai_base}/2.2/oai?verb=ListRecords&metadataPrefix=oai_dc`;
    await (await fetch(address, { headers: { 'accept-encoding': 'gzip' } })).text();
    const { answer } = await newest();
    expect(answer?.headers['content-encoding']).toBe('gzip');
    expect(answer?.body).toMatch(/^<\?xml/);
    expect(answer).toMatchObject({ cut: true });
    await (await fetch(`${mock.server.oai_base}/2.2/oai?verb=Nothing`)).text();
    expect((await newest()).rules).toEqual([
      { rule: 'badVerb', clause: 'OAI-PMH 2.0, 3.6', clause_id: 'B-ERROR-2' },
    ]);
  });

  test('shows a body as received if it is only declared as compressed', async () => {
    const address = `${mock.server.base_url}/api/pas/import-xml`;
    const headers = {
      authorization: `Bearer ${token()}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-encoding': 'gzip',
    };
    await fetch(address, { method: 'POST', headers, body: 'no gzip' });
    expect((await newest()).request.body).toBe('no gzip');
  });

  test('answers an unknown id with a named error', async () => {
    expect(await control('GET', '/journal/999999')).toMatchObject({
      status: 404,
      value: { error: expect.stringContaining('999999') },
    });
  });
});

describe('The journal, filtered', () => {
  test('lists entries by find, by status, or by the rule that refused them', async () => {
    await control('DELETE', '/journal');
    const ident = (await send(smallestFind())).headers.get('x-record-id') ?? '';
    await setNumber(mock, ident, '?evidencni_cislo=A1', token());
    await setNumber(mock, 'M-202400202-N00003', '', token());
    const statuses = async (query: string) => (await entries(query)).map(({ status }) => status);
    expect(await statuses(`?find=${ident}`)).toEqual([201, 200]);
    expect(await statuses('?status=400')).toEqual([400]);
    expect(await statuses('?rule=number-missing')).toEqual([400]);
    expect(await statuses('?rule=number-long')).toEqual([]);
    expect(await statuses('?method=patch')).toEqual([200, 400]);
    expect(await statuses('?user=archaeologist&method=POST')).toEqual([201]);
    expect(await statuses('?user=archivist')).toEqual([]);
    expect(await statuses('?rule=badVerb')).toEqual([]);
  });

  test.each(['status=many', 'state=201', 'status=200&status=201', 'rule=number-absent'])(
    'does not decode %s',
    async (query) => {
      const { status, value } = await control('GET', `/journal?${query}`);
      const [name] = query.split('=');
      expect([status, value]).toEqual([400, { error: expect.stringMatching(`^${name}: `) }]);
    },
  );

  test('limits the memory for bodies: the oldest are dropped', () => {
    const journal = new Journal(32 * 1024 * 1024);
    const body = Buffer.alloc(64 * 1024, 'x');
    const ids = Array.from({ length: 3000 }, () => {
      const entry = journal.open(
        { method: 'POST', path: '/api/pas/import-xml', address: '127.0.0.1', atMs: 0 },
        true,
      );
      const sample = new BodySample();
      sample.take(body);
      journal.close(entry, { rules: [], change: null, ms: 1 }, () =>
        makeExchange({ headers: {}, sample }, undefined),
      );
      return entry.id;
    });
    const isKept = (id: number | undefined) =>
      (journal.viewWhole(id ?? 0) as { request: unknown }).request !== null;
    expect([isKept(ids[0]), isKept(ids.at(-1))]).toEqual([false, true]);
    const keptBytes = ids.filter(isKept).length * 16 * 1024;
    expect(keptBytes).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(keptBytes).toBeGreaterThan(24 * 1024 * 1024);
  });
});
