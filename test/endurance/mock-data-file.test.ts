import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { jpeg } from '../contract/contract-photographs.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml, postFile } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { canMountDisks } from '../support/hostile-disk.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { tied } from '../support/tied.ts';

let folder: string;
let data: string;
beforeEach(() => {
  folder = tempFolder();
  data = join(folder, 'deeper', 'mock.sqlite');
});

const counts = async (mock: TestMock) =>
  ((await mock.control('GET', '/state')).value as { counts: Record<string, unknown> }).counts;

describe.skipIf(!canMountDisks)('A full disk', () => {
  const MIB = 1024 * 1024;

  /** Arguments of `unshare` to run a server on a disk of its own. */
  const makeFilesOnDisk = (kilobytes: number, ...program: readonly string[]): string[] => [
    ...(process.getuid?.() === 0 ? ['-m'] : ['-rm']),
    'sh',
    '-c',
    'mount -t tmpfs -o size="$1"k none "$2" && disk=$2 && shift 2 && exec "$@" --json --min-interval 0 --data "$disk/state.sqlite"',
    'sh',
    `${kilobytes}`,
    folder,
    process.execPath,
    ...(program.length === 0 ? [join(PROJECT, 'bin', 'pas-mock-server.js')] : program),
  ];

  test.each([16, 1000])('of %d kB prevents the start, with a clear error', (kilobytes) => {
    const { status, stderr } = spawnSync('unshare', makeFilesOnDisk(kilobytes), {
      encoding: 'utf8',
    });
    expect(stderr).toMatch(
      /^pas-mock-server: .*state\.sqlite cannot be (written|used as a data file): /,
    );
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(status).toBe(5);
  });

  /** A server on a small disk, and the disk as this process sees it. */
  async function onSmallDisk(): Promise<{
    readonly url: string;
    readonly disk: string;
    readonly child: ChildProcess;
  }> {
    const child = tied(
      spawn('unshare', makeFilesOnDisk(12 * 1024), { stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { base_url } = JSON.parse(line.toString()) as { base_url: string };
    return { url: base_url, disk: join('/proc', `${child.pid}`, 'root', folder), child };
  }

  test('refuses with JSON a photograph for which there is no space, and keeps no part of it', async () => {
    const { url, disk, child } = await onSmallDisk();
    const token = await fetchToken({ url }, 'archaeologist');
    const post = (bytes: Buffer) =>
      postFile(
        { url },
        '/api/pas/nalez/C-202400101-N00007/upload-foto',
        { name: 'file', fileName: 'a.jpg', bytes },
        { token },
      );
    const before = readdirSync(join(disk, 'state.sqlite.photographs')).length;
    const large = Buffer.concat([jpeg(undefined), Buffer.alloc(20 * MIB)]);
    for (let time = 0; time < 3; time += 1) {
      const { status, text } = await post(large);
      expect([status, JSON.parse(text)]).toEqual([500, { detail: expect.any(String) }]);
    }
    expect(readdirSync(join(disk, 'state.sqlite.photographs', 'incoming'))).toEqual([]);
    expect((await post(jpeg(undefined))).status).toBe(201);
    expect(readdirSync(join(disk, 'state.sqlite.photographs')).length).toBe(before + 2);
    child.kill('SIGKILL');
  });

  test('refuses imports with JSON until there is space, and keeps no photograph that cannot be recorded', async () => {
    const { url, disk, child } = await onSmallDisk();
    const served = { url, server: { schema_base: `${url}/schema/svc` } };
    const token = await fetchToken(served, 'archaeologist');
    const send = () => importXml(served, makeDocument(served, smallestFind()), { token });
    const answers = await send();
    const ballast = join(disk, 'ballast');
    const fill = () =>
      spawnSync('sh', ['-c', 'cat /dev/zero >>"$0"', ballast], { stdio: 'ignore' });
    let refused = answers;
    for (let time = 0; time < 50 && refused.status === 201; time += 1) {
      fill();
      refused = await send();
    }
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      500,
      { detail: expect.any(String) },
    ]);
    const photo = { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) };
    const path = `/api/pas/nalez/${answers.headers.get('x-record-id')}/upload-foto`;
    const unkept = await postFile(served, path, photo, { token });
    expect([unkept.status, JSON.parse(unkept.text)]).toEqual([500, { detail: expect.any(String) }]);
    rmSync(ballast);
    expect((await send()).status).toBe(201);
    expect((await postFile(served, path, photo, { token })).status).toBe(201);
    expect(
      readdirSync(join(disk, 'state.sqlite.photographs')).filter((name) => name !== 'incoming'),
    ).toHaveLength(10);
    child.kill('SIGKILL');
  });
});

describe('SIGKILL at any moment', () => {
  test('every acknowledged write is there after a restart, and no write is there in part', async () => {
    const server = await startMockProcess('--data', data, '--min-interval', '0');
    const mock = { url: server.base_url, server };
    const token = await fetchToken(mock, 'archaeologist');
    const acknowledged: string[] = [];
    const photographed: string[] = [];
    const work = async () => {
      for (;;) {
        const ident = (
          await importXml(mock, makeDocument(mock, smallestFind()), { token })
        ).headers.get('x-record-id');
        if (ident === null) continue;
        acknowledged.push(ident);
        const file = { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined) };
        if (
          (await postFile(mock, `/api/pas/nalez/${ident}/upload-foto`, file, { token })).status ===
          201
        )
          photographed.push(ident);
      }
    };
    const workers = [work(), work(), work()].map((worker) => worker.catch(() => {}));
    await eventually(() => photographed.length).toBeGreaterThanOrEqual(10);
    server.child.kill('SIGKILL');
    await Promise.all(workers);

    await using again = await startMock({ data });
    for (const ident of acknowledged)
      expect((await again.control('GET', `/records/${ident}`)).status, ident).toBe(200);
    const project = (await again.control('GET', '/records/C-202400101')).value as {
      body: { samostatny_nalez: { '@id': string }[] };
    };
    expect(project.body.samostatny_nalez.map((find) => find['@id'])).toEqual(
      expect.arrayContaining(acknowledged),
    );
    const state = await counts(again);
    expect(state['finds']).toBeGreaterThanOrEqual(21 + acknowledged.length);
    expect(state['finds']).toBeLessThanOrEqual(21 + acknowledged.length + 3);
    for (const ident of photographed) {
      const { body } = (await again.control('GET', `/records/${ident}`)).value as {
        body: { soubor: { url: string }[] };
      };
      const url = body.soubor[0]?.url.replace('{file_base}', `${again.url}/id`) ?? '';
      const basic = `Basic ${Buffer.from('archivist:archivist').toString('base64')}`;
      const bytes = Buffer.from(
        await (await fetch(url, { headers: { authorization: basic } })).arrayBuffer(),
      );
      expect(bytes.equals(jpeg(undefined)), ident).toBe(true);
    }
  });
});
