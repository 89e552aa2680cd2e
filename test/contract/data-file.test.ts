import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openState } from '../../mock-server/state/database.ts';
import { findLines, makeDocument } from '../support/contract-find.ts';
import {
  elementText,
  fetchToken,
  importXml,
  postFile,
  setNumber,
} from '../support/contract-requests.ts';
import { startMockProcess, startMockProcessIn } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { jpeg } from './contract-photographs.ts';

let folder: string;
let data: string;
beforeEach(() => {
  folder = tempFolder();
  data = join(folder, 'deeper', 'mock.sqlite');
});

const ORGANISATION = 'ORG-000002';

const counts = async (mock: TestMock) =>
  ((await mock.control('GET', '/state')).value as { counts: Record<string, unknown> }).counts;

describe('The data file', () => {
  test('finds, numbers, photographs, new people and tokens are there after a restart', async () => {
    const first = await startMock({ data });
    const token = await fetchToken(first, 'archaeologist');
    const nalezce = '<svc:nalezce id=":tba">Trvalá, Jana</svc:nalezce>';
    const ident =
      (
        await importXml(first, makeDocument(first, findLines(2, { nalezce })), { token })
      ).headers.get('x-record-id') ?? '';
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
    const photo = await fetch(elementText(answer.text, 'url') ?? '', {
      headers: { authorization: basic },
    });
    expect(Buffer.from(await photo.arrayBuffer()).equals(jpeg(undefined))).toBe(true);
  });

  test('a restart resets the clock, settings and faults; a future datestamp does not move the clock', async () => {
    const first = await startMock({ data });
    await first.control('POST', '/records', {
      ident: 'HES-000253',
      changes: { zkratka: { '@lang': 'cs', '#': 'p' } },
      datestamp: '2090-01-01T00:00:00Z',
    });
    await first.clock({ advance_ms: 90_000_000, frozen: true });
    await first.settings({ page_size: 7 });
    await first.faults({ endpoint: 'import', fault: '502' });
    await first.close();
    await using second = await startMock({ data });
    const { now_ms, frozen } = (await second.control('GET', '/clock')).value as {
      now_ms: number;
      frozen: boolean;
    };
    expect([Math.abs(now_ms - Date.now()) < 60_000, frozen]).toEqual([true, false]);
    expect((await second.control('GET', '/settings')).value).toMatchObject({ page_size: 100 });
    expect((await second.control('GET', '/faults')).value).toEqual([]);
    expect((await second.control('GET', '/records/HES-000253')).value).toMatchObject({
      datestamp: '2090-01-01T00:00:00.000Z',
    });
  });

  test('can be used by one server at a time; the second server is refused until the first has ended', async () => {
    await using other = await startMock({ data: join(folder, 'other.sqlite') });
    const first = await startMock({ data });
    await expect(startMock({ data })).rejects.toThrow(
      `${data} is in use by another server: end that one, or name another file`,
    );
    await expect(startMockProcess('--data', data)).rejects.toThrow('ended with 5');
    await first.close();
    const process = await startMockProcess('--data', data);
    await expect(startMock({ data })).rejects.toThrow('is in use');
    const gone = once(process.child, 'exit');
    process.child.kill('SIGKILL');
    await gone;
    await using again = await startMock({ data });
    expect(await counts(again)).toEqual(await counts(other));
  });

  test('takes photographs also where the folder that it was started in was removed', async () => {
    await using server = await startMockProcessIn(
      folder,
      '--data',
      'mock.sqlite',
      '--min-interval',
      '0',
    );
    const mock = { url: server.base_url, server };
    rmSync(folder, { recursive: true });
    const token = await fetchToken(mock, 'archaeologist');
    const imported = await importXml(mock, makeDocument(mock, findLines(2)), { token });
    const added = await postFile(
      mock,
      `/api/pas/nalez/${imported.headers.get('x-record-id')}/upload-foto`,
      { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) },
      { token },
    );
    expect([imported.status, added.status]).toEqual([201, 201]);
  });

  test('keeps what was written whatever seed filled it, even without accounts', async () => {
    const seed = join(folder, 'seed');
    cpSync(join(PROJECT, 'mock-server', 'seed', 'empty'), seed, { recursive: true });
    rmSync(join(seed, 'accounts.json'));
    const first = await startMock({ data, seed });
    const change = { ident: ORGANISATION, changes: { email: 'new@example.org' } };
    expect((await first.control('POST', '/records', change)).status).toBe(200);
    await first.close();
    const body = async (mock: TestMock) =>
      (await mock.control('GET', `/records/${ORGANISATION}`)).value;
    const second = await startMock({ data, seed });
    expect(await body(second)).toMatchObject({ body: { email: 'new@example.org' } });
    await second.close();
    // Its own seed is what a reset goes back to, also where none is named.
    const third = await startMock({ data });
    expect(await body(third)).toMatchObject({ body: { email: 'new@example.org' } });
    await third.reset();
    expect(await body(third)).not.toMatchObject({ body: { email: 'new@example.org' } });
    expect(await counts(third)).toMatchObject({ finds: 0 });
    await third.close();
    await expect(startMock({ data, seed: 'demo' })).rejects.toThrow(
      `${data} was filled from the seed ${seed}, not demo: leave --seed away, or name another data file`,
    );
    renameSync(seed, `${seed}-moved`);
    await using moved = await startMock({ data, seed: `${seed}-moved` });
    expect(await counts(moved)).toMatchObject({ finds: 0 });
  });

  test('is filled again if the first filling was cut short, and photographs without a record are removed', async () => {
    const first = await startMock({ data });
    await first.close();
    const database = openState(data);
    database.exec('delete from origin; delete from photographs');
    database.close();
    const orphan = join(`${data}.photographs`, '01234567-89ab-cdef-0123-456789abcdef');
    const photographs = () => readdirSync(`${data}.photographs`).length;
    const second = await startMock({ data });
    expect(await counts(second)).toMatchObject({ finds: 21, photos: 9 });
    expect(photographs()).toBe(9);
    await second.close();
    writeFileSync(orphan, 'x');
    mkdirSync(join(`${data}.photographs`, 'incoming'), { recursive: true });
    writeFileSync(join(`${data}.photographs`, 'incoming', 'half'), 'x');
    await using third = await startMock({ data });
    expect(await counts(third)).toMatchObject({ photos: 9 });
    expect(photographs()).toBe(9);
  });

  test('reset restores the seed and removes the photographs', async () => {
    await using mock = await startMock({ data });
    const token = await fetchToken(mock, 'archaeologist');
    const photos = () =>
      readdirSync(`${data}.photographs`).filter((name) => name !== 'incoming').length;
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

  test('a file that is not a database is refused with the reason', async () => {
    const file = join(folder, 'notes.txt');
    writeFileSync(file, 'not a database, and long enough to be looked at as one'.repeat(40));
    await expect(startMock({ data: file })).rejects.toThrow(/notes\.txt/);
  });
});
