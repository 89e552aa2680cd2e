import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { documentOf, findLines, smallestFind } from '../support/contract-find.ts';
import { jpeg } from '../support/contract-photographs.ts';
import { elementText, importXml, postFile, setNumber, tokenOf } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

let folder: string;
let data: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pas-mock-data-'));
  data = join(folder, 'deeper', 'mock.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const counts = async (mock: TestMock) =>
  ((await mock.control('GET', '/state')).value as { counts: Record<string, unknown> }).counts;

describe('The data file', () => {
  test('finds, numbers, photographs, new people and tokens are there after a restart', async () => {
    const first = await startMock({ data });
    const token = await tokenOf(first, 'archaeologist');
    const nalezce = '<svc:nalezce id=":tba">Trvalá, Jana</svc:nalezce>';
    const ident =
      (await importXml(first, documentOf(first, findLines(2, { nalezce })), { token })).headers.get('x-record-id') ?? '';
    await setNumber(first, ident, '?evidencni_cislo=T1', token);
    await postFile(
      first,
      `/api/pas/nalez/${ident}/upload-foto`,
      { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) },
      { token },
    );
    const before = await counts(first);
    await first.close();

    await using second = await startMock({ data });
    expect({ ...(await counts(second)), journal: 0 }).toEqual({ ...before, journal: 0 });
    const answer = await setNumber(second, ident, '?evidencni_cislo=T2', token);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.text).toContain('>Trvalá, Jana<');
    expect(elementText(answer.text, 'url')?.startsWith(second.url)).toBe(true);
    const basic = `Basic ${Buffer.from('archaeologist:archaeologist').toString('base64')}`;
    const photo = await fetch(elementText(answer.text, 'url') ?? '', { headers: { authorization: basic } });
    expect(Buffer.from(await photo.arrayBuffer()).equals(jpeg(undefined))).toBe(true);
  });

  test('time does not run backwards after a restart', async () => {
    const first = await startMock({ data });
    await first.control('POST', '/clock', { advance_ms: 90_000_000 });
    await first.control('POST', '/records', { ident: 'HES-000253', changes: { zkratka: { '@lang': 'cs', '#': 'p' } } });
    await first.close();
    await using second = await startMock({ data });
    const { now_ms } = (await second.control('GET', '/clock')).value as { now_ms: number };
    expect(now_ms).toBeGreaterThan(Date.now() + 86_400_000);
  });

  test('reset goes back to the seed and takes the photographs away', async () => {
    await using mock = await startMock({ data });
    const token = await tokenOf(mock, 'archaeologist');
    const photos = () => readdirSync(`${data}.photographs`).filter((name) => name !== 'incoming').length;
    await postFile(
      mock,
      '/api/pas/nalez/C-202400101-N00007/upload-foto',
      { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) },
      { token },
    );
    expect(photos()).toBe(10);
    await mock.reset();
    expect(photos()).toBe(9);
    expect(await counts(mock)).toMatchObject({ finds: 21, photos: 9 });
  });

  test('a file that is no database is refused with the reason', async () => {
    const file = join(folder, 'notes.txt');
    writeFileSync(file, 'not a database, and long enough to be looked at as one'.repeat(40));
    await expect(startMock({ data: file })).rejects.toThrow(/notes\.txt/);
  });
});

describe('SIGKILL at any moment', () => {
  test('every acknowledged write is there when the server comes back, and no half of another', async () => {
    const server = await startMockProcess('--data', data, '--min-interval', '0');
    const mock = { url: server.base_url, server };
    const token = await tokenOf(mock, 'archaeologist');
    const acknowledged: string[] = [];
    const photographed: string[] = [];
    const work = async () => {
      for (;;) {
        const ident = (await importXml(mock, documentOf(mock, smallestFind()), { token })).headers.get('x-record-id');
        if (ident === null) continue;
        acknowledged.push(ident);
        const file = { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) };
        if ((await postFile(mock, `/api/pas/nalez/${ident}/upload-foto`, file, { token })).status === 201)
          photographed.push(ident);
      }
    };
    const workers = [work(), work(), work()].map((worker) => worker.catch(() => {}));
    await eventually(() => photographed.length).toBeGreaterThanOrEqual(10);
    server.child.kill('SIGKILL');
    await Promise.all(workers);

    await using again = await startMock({ data });
    for (const ident of acknowledged) expect((await again.control('GET', `/records/${ident}`)).status, ident).toBe(200);
    const project = (await again.control('GET', '/records/C-202400101')).value as {
      body: { samostatny_nalez: { '@id': string }[] };
    };
    expect(project.body.samostatny_nalez.map((find) => find['@id'])).toEqual(expect.arrayContaining(acknowledged));
    const state = await counts(again);
    expect(state['finds']).toBeGreaterThanOrEqual(21 + acknowledged.length);
    expect(state['finds']).toBeLessThanOrEqual(21 + acknowledged.length + 3);
    for (const ident of photographed) {
      const { body } = (await again.control('GET', `/records/${ident}`)).value as { body: { soubor: { url: string }[] } };
      const url = body.soubor[0]?.url.replace('{file_base}', `${again.url}/id`) ?? '';
      const basic = `Basic ${Buffer.from('archivist:archivist').toString('base64')}`;
      const bytes = Buffer.from(await (await fetch(url, { headers: { authorization: basic } })).arrayBuffer());
      expect(bytes.equals(jpeg(undefined)), ident).toBe(true);
    }
  });
});
