import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { tinyPng } from '../support/a-season.ts';
import { documentOf, smallestFind } from '../support/contract-find.ts';
import { PROJECT } from '../support/run-pas.ts';
import { startMock } from '../support/start-mock.ts';

// Below the packages, so that what is generated finds openapi-fetch as anybody's client does.
const folder = mkdtempSync(join(PROJECT, 'node_modules', '.generated-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Somebody else's client: types from the description, requests by openapi-fetch, nothing of this project. */
const CLIENT = `
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

const OPTIONS = [
  '--ignoreConfig',
  '--strict',
  '--target',
  'es2022',
  '--lib',
  'es2022,dom',
  '--module',
  'nodenext',
  '--types',
  '',
  '--skipLibCheck',
];

type Client = {
  story(
    ...given: [baseUrl: string, xml: string, xmlDigest: string, photo: Blob, photoDigest: string]
  ): Promise<{ statuses: number[]; ident: string }>;
};

/** @throws Error with what the program says, where it fails */
function inFolder(program: string, ...args: string[]): void {
  const path = join(PROJECT, 'node_modules', program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`);
}

const compile = (): void => inFolder('typescript/bin/tsc', ...OPTIONS, 'client.ts');

test('a client that is generated from the served description imports a find, sets its number and attaches a photograph', async () => {
  await using mock = await startMock();
  writeFileSync(join(folder, 'service.json'), await (await fetch(`${mock.url}/openapi.json`)).text());
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  inFolder('openapi-typescript/bin/cli.js', 'service.json', '--output', 'service.d.ts');
  writeFileSync(join(folder, 'client.ts'), CLIENT);
  compile();
  const { story } = (await import(pathToFileURL(join(folder, 'client.js')).href)) as Client;
  const xml = documentOf(mock, smallestFind());
  const photo = tinyPng(2);
  const digest = (bytes: Buffer | string): string => `sha-512=:${createHash('sha512').update(bytes).digest('base64')}:`;
  const { statuses, ident } = await story(mock.url, xml, digest(xml), new Blob([new Uint8Array(photo)]), digest(photo));
  expect(statuses).toEqual([200, 201, 200, 201]);
  expect(((await mock.control('GET', `/finds?text=${ident}`)).value as { finds: unknown[] }).finds).toMatchObject([
    { ident, photos: [{}] },
  ]);
  // What the description does not have is no client: the types know it.
  writeFileSync(
    join(folder, 'client.ts'),
    readFileSync(join(folder, 'client.ts'), 'utf8').replace('evidencni_cislo: ', 'number: '),
  );
  expect(compile).toThrow(/evidencni_cislo/);
});
