import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { type Listening, listen } from '../support/raw-server.ts';
import { expectEnded, type Home, makeHome, PROJECT, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { serve } from '../support/serve.ts';

type Shown = {
  change?: string;
  in_use: 'own' | 'bundled';
  file: string | null;
  sha512: string;
  fetched_at: string | null;
};

/** A deployment that serves whatever schema the test gives it. */
let server: Listening;
let answer: (response: ServerResponse) => void;
let schemaBase: string;
let home: Home;
/** With a profile and no schema of its own, and with the deployment's. */
let fresh: Home;
let updatedHome: Home;
let ownSha512: string;

beforeAll(async () => {
  answer = (response) => response.end(deployed());
  server = await listen(
    createServer((request, response) => {
      if (request.url === '/moved.xsd') response.end(deployed());
      else answer(response);
    }),
  );
  schemaBase = `${server.url}/schema/svc`;
  fresh = makeHome();
  await fresh.init({ base_url: 'http://127.0.0.1:9', schema_base: schemaBase }, '--name', 'here');
  updatedHome = fresh.copy();
  ownSha512 = (await updatedHome.json<Shown>('schema', '--update')).sha512;
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  home = fresh.copy();
  answer = (response) => response.end(deployed());
});

/** The deployment's schema: ours with its addresses, and with one element that ours has not. */
function deployed(change: (text: string) => string = (text) => text): string {
  const ours = readFileSync(join(PROJECT, 'schemas', 'svc', '2.2', 'svc.xsd'), 'utf8');
  const text = ours
    .replaceAll('{schema_base}', schemaBase)
    .replaceAll('{prefix}', 'svc')
    .replace('../../xml/xml.xsd', 'https://www.w3.org/2001/xml.xsd')
    .replace(
      '<xs:element name="poznamka" type="xs:string" minOccurs="0"/>\n      <xs:element name="nalezce"',
      '<xs:element name="nove" type="xs:string" minOccurs="0"/>\n      <xs:element name="nalezce"',
    );
  return change(text);
}

const document = (element: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="${schemaBase}/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${schemaBase}/2.2/ ${schemaBase}/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:${element}>slovo</svc:${element}>
    <svc:stav>1</svc:stav>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000867">archeolog</svc:pristupnost>
  </svc:samostatny_nalez>
</svc:svc>`;

/** Tells if a document with this element satisfies the schema in use. */
async function accepts(element: string): Promise<boolean> {
  const run = await home.pas('validate', home.file(`${element}.xml`, document(element)), '--json');
  const { issues } = JSON.parse(run.stdout) as {
    issues: { rule: string; element: string | null }[];
  };
  return !issues.some((issue) => issue.rule === 'schema');
}

describe('the deployment’s own schema', () => {
  test('is fetched, distinguished from the bundled one, and used offline from then on', async () => {
    expect(await home.json<Shown>('schema')).toMatchObject({
      in_use: 'bundled',
      file: null,
    });
    expect([await accepts('poznamka'), await accepts('nove')]).toEqual([true, false]);

    const updated = await home.json<Shown>('schema', '--update');
    expect(updated).toMatchObject({ change: 'fetched', in_use: 'own' });
    expect(readFileSync(updated.file ?? '', 'utf8')).toBe(deployed());
    answer = (response) => response.destroy();
    expect([await accepts('poznamka'), await accepts('nove')]).toEqual([false, true]);
    const { change: _change, ...shown } = updated;
    expect(await home.json('schema')).toEqual(shown);
  });

  test('is fetched again only if it changes', async () => {
    const first = await home.json<Shown>('schema', '--update');
    expect(await home.json('schema', '--update')).toMatchObject({
      change: 'unchanged',
      fetched_at: first.fetched_at,
    });
    answer = (response) => response.end(deployed((text) => text.replaceAll('nove', 'novejsi')));
    expect(await home.json('schema', '--update')).toMatchObject({
      change: 'updated',
      in_use: 'own',
    });
    expect([await accepts('nove'), await accepts('novejsi')]).toEqual([false, true]);
  });

  test('can be dropped in favour of the bundled one', async () => {
    home = updatedHome.copy();
    expect(await home.json('schema', '--bundled')).toMatchObject({
      change: 'forgotten',
      in_use: 'bundled',
    });
    expect(await accepts('poznamka')).toBe(true);
    expect(await home.json('schema', '--bundled')).toMatchObject({ change: 'unchanged' });
  });

  test('belongs to its deployment and version', async () => {
    home = updatedHome.copy();
    await home.init(
      { base_url: 'http://127.0.0.1:9', schema_base: `${schemaBase}2` },
      '--name',
      'other',
    );
    expect(await home.json('schema', '--profile', 'other')).toMatchObject({
      in_use: 'bundled',
    });
    expect(await home.json('schema', '--profile', 'here')).toMatchObject({ in_use: 'own' });
  });

  test('is followed to a new address of its service, but to no other host, not even on this machine', async () => {
    answer = (response) => response.writeHead(302, { location: '/moved.xsd' }).end();
    expect(await home.json('schema', '--update')).toMatchObject({ change: 'fetched' });
    let askedCount = 0;
    const neighbour = await serve((_request, response) => {
      askedCount++;
      response.end(deployed());
    });
    for (const location of [`${neighbour}/svc.xsd`, 'https://schema.example.org/svc.xsd']) {
      answer = (response) => response.writeHead(302, { location }).end();
      await expectEnded(home.pas('schema', '--update'), 15, /another service/);
    }
    expect(askedCount).toBe(0);
  });
});

describe('an invalid schema is refused, and the old one stays:', () => {
  const redirect = (response: ServerResponse) =>
    response.writeHead(302, { location: `${schemaBase}/2.2/svc.xsd` }).end();

  test.each<[string, (response: ServerResponse) => void, number, RegExp]>([
    [
      'the page of a network',
      (response) => response.end('<!DOCTYPE html><p>Sign in</p>'),
      5,
      /web page \(status 200\)[\s\S]*in a browser/,
    ],
    ['with a DTD', (response) => response.end('<!DOCTYPE xs:schema><xs:schema/>'), 15, /DTD/],
    [
      'cut off on its way',
      (response) =>
        void response
          .writeHead(200, { 'content-length': 90_000 })
          .write('<xs:', () => response.destroy()),
      5,
      /did not answer/,
    ],
    [
      'too big',
      (response) => response.end(`${deployed()}${' '.repeat(2_000_000)}`),
      15,
      /larger than/,
    ],
    ['not there', (response) => response.writeHead(404).end('no'), 15, /status 404/],
    [
      'out of order',
      (response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<p>'),
      5,
      /status 503/,
    ],
    ['going round in circles', redirect, 15, /loop/],
    [
      'at a file',
      (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      15,
      /redirects to "file:/,
    ],
  ])('%s', async (_, wrong, code, message) => {
    home = updatedHome.copy();
    answer = wrong;
    const run = await home.pas('schema', '--update');
    expect([run.code, run.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(run.stderr).toMatch(/stays in use|what was stored is kept/);
    expect(await home.json('schema')).toMatchObject({ in_use: 'own', sha512: ownSha512 });
  });

  test('changed on this disk: the bundled one is used with a message, and the next update repairs it', async () => {
    const { file } = await home.json<Shown>('schema', '--update');
    writeFileSync(
      file ?? '',
      deployed((text) => text.replace('nove', 'jine')),
    );
    const run = await home.pas('validate', home.file('a.xml', document('poznamka')));
    expect(run.stderr).toMatch(/is damaged.*pas schema --update/s);
    expect(await accepts('poznamka')).toBe(true);
    await expectEnded(home.pas('schema'), 12);
    expect(await home.json('schema', '--update')).toMatchObject({ in_use: 'own' });
    expect(readdirSync(join(file ?? '', '..'))).toHaveLength(1);
  });
});

describe('against the mock server', () => {
  let service: RunningMock;
  beforeAll(async () => {
    service = await serveMock();
  });
  afterAll(() => service.stop());

  test.each(['2.0', '2.1', '2.2'])(
    'its schema %s equals the bundled one, and finds are validated with it',
    async (version) => {
      const signed = await signedIn(service, ['--set', `schema_version=${version}`]);
      expect(await signed.json('schema', '--update')).toMatchObject({
        change: 'fetched',
      });
      await importSeason(signed, 2);
      expect(await signed.json('validate')).toMatchObject({ valid: 2, invalid: 0 });
    },
  );
});
