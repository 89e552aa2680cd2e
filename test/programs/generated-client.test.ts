import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest } from '../support/contract-requests.ts';
import { PROJECT } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';

const STRICT = [
  '--ignoreConfig',
  '--strict',
  '--target',
  'es2022',
  '--lib',
  'es2022,dom',
  '--module',
  'nodenext',
];
const OPTIONS = [...STRICT, '--types', '', '--skipLibCheck'];

/**
 * A folder in which an outside user makes a client of served descriptions: types by
 * openapi-typescript, requests by openapi-fetch.
 */
function makeClientFolder() {
  // Below the packages, so that the generated code finds openapi-fetch as a client's does.
  const folder = mkdtempSync(join(PROJECT, 'node_modules', '.generated-client-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  const run = (program: string, ...args: string[]): void => {
    const path = join(PROJECT, 'node_modules', program);
    const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`);
  };
  return {
    /** Makes the types of a description, to be imported from `./<name>.js`. */
    async describe(name: string, address: string): Promise<void> {
      writeFileSync(join(folder, `${name}.json`), await (await fetch(address)).text());
      run('openapi-typescript/bin/cli.js', `${name}.json`, '--output', `${name}.d.ts`);
    },
    /**
     * Compiles a source as strictly as can be, and loads it.
     * @throws Error with what the compiler says
     */
    async load<T>(name: string, source: string): Promise<T> {
      writeFileSync(join(folder, `${name}.ts`), source);
      run('typescript/bin/tsc', ...OPTIONS, `${name}.ts`);
      return (await import(pathToFileURL(join(folder, `${name}.js`)).href)) as T;
    },
  };
}

/** Sends a find, gives it a number and attaches a photograph; of `service.js`. */
const SERVICE_CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './service.js';

export type Story = { statuses: number[]; ident: string };

export async function story(baseUrl: string, xml: string, xmlDigest: string, photo: Blob, photoDigest: string): Promise<Story> {
  const client = createClient<paths>({ baseUrl });
  const body = { username: 'archaeologist', password: 'archaeologist' };
  const signedIn = await client.POST('/api/token-auth/', { body });
  const token: string = signedIn.data?.token ?? '';
  const headers = { Authorization: \`Bearer \${token}\`, Accept: '*/*' };
  const formOf = (file: Blob, name: string): FormData => {
    const form = new FormData();
    form.append('file', file, name);
    return form;
  };
  const imported = await client.POST('/api/pas/import-xml', {
    params: { header: { 'Content-Digest': xmlDigest } },
    body: { file: 'find.xml' },
    bodySerializer: () => formOf(new Blob([xml], { type: 'application/xml' }), 'find.xml'),
    headers,
    parseAs: 'text',
  });
  const ident = imported.response.headers.get('X-Record-ID') ?? '';
  const numbered = await client.PATCH('/api/pas/nalez/{ident_cely}/evidencni-cislo', {
    params: { path: { ident_cely: ident }, query: { evidencni_cislo: 'G 1' } },
    headers,
    parseAs: 'text',
  });
  const attached = await client.POST('/api/pas/nalez/{ident_cely}/upload-foto', {
    params: { path: { ident_cely: ident }, header: { 'Content-Digest': photoDigest } },
    body: { file: 'a.png' },
    bodySerializer: () => formOf(photo, 'a.png'),
    headers,
    parseAs: 'text',
  });
  return { statuses: [signedIn, imported, numbered, attached].map(({ response }) => response.status), ident };
}
`;

type ServiceClient = {
  story(
    ...given: [baseUrl: string, xml: string, xmlDigest: string, photo: Blob, photoDigest: string]
  ): Promise<{ statuses: number[]; ident: string }>;
};

/** A client made from the types in `control.js`. */
const CONTROL_CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './control.js';

export async function advance(baseUrl: string, ms: number): Promise<number> {
  const client = createClient<paths>({ baseUrl });
  return (await client.POST('/clock', { body: { advance_ms: ms } })).response.status;
}
`;

const folder = makeClientFolder();

test('a client generated from the served description imports a find, sets its number and attaches a photograph', async () => {
  await using mock = await startMock();
  await folder.describe('service', `${mock.url}/openapi.json`);
  const { story } = await folder.load<ServiceClient>('client', SERVICE_CLIENT);
  const xml = makeDocument(mock, smallestFind());
  const photo = tinyPng(2);
  const { statuses, ident } = await story(
    mock.url,
    xml,
    contentDigest(xml),
    new Blob([new Uint8Array(photo)]),
    contentDigest(photo),
  );
  expect(statuses).toEqual([200, 201, 200, 201]);
  expect(
    ((await mock.control('GET', `/finds?text=${ident}`)).value as { finds: unknown[] }).finds,
  ).toMatchObject([{ ident, photos: [{}] }]);
  // A client does not compile with members that the description lacks.
  await expect(
    folder.load('wrong', SERVICE_CLIENT.replace('evidencni_cislo: ', 'number: ')),
  ).rejects.toThrow(/evidencni_cislo/);
});

test('a client generated from the description of the control interface moves the clock', async () => {
  await using mock = await startMock();
  const { control_url } = mock.server;
  await folder.describe('control', `${control_url}/openapi.json`);
  type Control = { advance(baseUrl: string, ms: number): Promise<number> };
  const { advance } = await folder.load<Control>('control-client', CONTROL_CLIENT);
  expect(await advance(control_url, 1000)).toBe(200);
});
